#include <gtest/gtest.h>

#include <array>

#include "operations/status_mapping.hpp"

// The error of every status and attribute, as users see it.

namespace reprise::engine::status_table_tests {

using wire::error_attribute;
using wire::status;

struct status_row {
    status code;
    errc error;
};

constexpr status_row plain_rows[] = {
    {status::e2big, errc::value_too_large},
    {status::einval, errc::invalid_argument},
    {status::xattr_einval, errc::invalid_argument},
    {status::subdoc_invalid_combo, errc::invalid_argument},
    {status::subdoc_invalid_xattr_order, errc::invalid_argument},
    {status::subdoc_deleted_document_cant_have_value, errc::invalid_argument},
    {status::delta_badval, errc::delta_invalid},
    {status::subdoc_delta_einval, errc::delta_invalid},
    {status::no_bucket, errc::bucket_not_found},
    {status::not_locked, errc::document_not_locked},
    {status::auth_stale, errc::authentication_failure},
    {status::auth_error, errc::authentication_failure},
    {status::eaccess, errc::authentication_failure},
    {status::not_initialized, errc::temporary_failure},
    {status::enomem, errc::temporary_failure},
    {status::ebusy, errc::temporary_failure},
    {status::rate_limited_network_ingress, errc::rate_limited},
    {status::rate_limited_network_egress, errc::rate_limited},
    {status::rate_limited_max_connections, errc::rate_limited},
    {status::rate_limited_max_commands, errc::rate_limited},
    {status::scope_size_limit_exceeded, errc::quota_limited},
    {status::unknown_command, errc::unsupported_operation},
    {status::not_supported, errc::unsupported_operation},
    {status::einternal, errc::internal_server_failure},
    {status::unknown_scope, errc::scope_not_found},
    {status::durability_invalid_level, errc::durability_level_not_available},
    {status::durability_impossible, errc::durability_impossible},
    {status::sync_write_ambiguous, errc::durability_ambiguous},
    {status::range_scan_cancelled, errc::request_canceled},
    {status::vb_uuid_not_equal, errc::mutation_token_outdated}};

constexpr status_row path_rows[] = {
    {status::subdoc_path_enoent, errc::path_not_found},
    {status::subdoc_path_mismatch, errc::path_mismatch},
    {status::subdoc_path_einval, errc::path_invalid},
    {status::subdoc_path_e2big, errc::path_too_big},
    {status::subdoc_doc_e2deep, errc::path_too_deep},
    {status::subdoc_value_cantinsert, errc::value_invalid},
    {status::subdoc_doc_not_json, errc::document_not_json},
    {status::subdoc_num_erange, errc::number_too_big},
    {status::subdoc_path_eexists, errc::path_exists},
    {status::subdoc_value_etoodeep, errc::value_too_deep},
    {status::subdoc_xattr_invalid_flag_combo, errc::xattr_invalid_key_combo},
    {status::subdoc_xattr_invalid_key_combo, errc::xattr_invalid_key_combo},
    {status::subdoc_xattr_unknown_macro, errc::xattr_unknown_macro},
    {status::subdoc_xattr_unknown_vattr_macro, errc::xattr_unknown_macro},
    {status::subdoc_xattr_unknown_vattr, errc::xattr_unknown_virtual_attribute},
    {status::subdoc_xattr_cant_modify_vattr, errc::xattr_cannot_modify_virtual_attribute},
    {status::subdoc_can_only_revive_deleted_documents, errc::cannot_revive_living_document},
    {status::eaccess, errc::xattr_no_access}};

errc error_of(operation_kind kind, status code) {
    response_facts facts;
    facts.kind = kind;
    facts.status = code;
    const response_outcome outcome = classify(facts);
    EXPECT_EQ(outcome.kind, outcome_kind::error);
    return outcome.error;
}

errc error_of(wire::error_attributes attributes) {
    const wire::error_map map(2, 1, {{0x7ff0, "NAME", "text", attributes, {}}});
    response_facts facts;
    facts.status = static_cast<status>(0x7ff0);
    facts.error_map = &map;
    return classify(facts).error;
}

TEST(status_table, RH_24_each_status_that_ends_an_operation_has_its_error) {
    for (const status_row& row : plain_rows) {
        EXPECT_EQ(error_of(operation_kind::get, row.code), row.error) << wire::to_string(row.code);
    }
    EXPECT_EQ(error_of(operation_kind::get, status::key_enoent), errc::document_not_found);
    EXPECT_EQ(error_of(operation_kind::append, status::not_stored), errc::document_not_found);
    EXPECT_EQ(error_of(operation_kind::insert, status::not_stored), errc::document_exists);
}

TEST(status_table, each_status_of_a_path_has_its_error) {
    for (const status_row& row : path_rows) {
        EXPECT_EQ(path_error(row.code, nullptr), row.error) << wire::to_string(row.code);
        EXPECT_EQ(error_of(operation_kind::lookup_in, row.code), row.error);
        EXPECT_EQ(error_of(operation_kind::mutate_in, row.code), row.error);
    }
    EXPECT_EQ(error_of(operation_kind::get, status::eaccess), errc::authentication_failure);
}

// The map's attributes in the order in which they count.
TEST(status_table, EM_13_each_attribute_has_its_error_and_the_first_of_several_counts) {
    constexpr std::array<std::pair<error_attribute, errc>, 7> rows = {
        {{error_attribute::rate_limit, errc::rate_limited},
         {error_attribute::item_locked, errc::document_locked},
         {error_attribute::auth, errc::authentication_failure},
         {error_attribute::temp, errc::temporary_failure},
         {error_attribute::support, errc::unsupported_operation},
         {error_attribute::invalid_input, errc::invalid_argument},
         {error_attribute::internal, errc::internal_server_failure}}};
    for (std::size_t first = 0; first < rows.size(); ++first) {
        EXPECT_EQ(error_of({rows[first].first}), rows[first].second) << first;
        for (std::size_t other = first + 1; other < rows.size(); ++other) {
            EXPECT_EQ(error_of({rows[first].first, rows[other].first}), rows[first].second)
                << first << " and " << other;
        }
    }
    EXPECT_EQ(error_of({error_attribute::item_only}), errc::unknown_server_status);
}

TEST(status_table, EM_07_a_status_that_the_map_calls_a_success_is_one) {
    const wire::error_map map(
        2, 1, {{0x7ff0, "N", "d", {error_attribute::success, error_attribute::retry_now}, {}}});
    response_facts facts;
    facts.status = static_cast<status>(0x7ff0);
    facts.error_map = &map;
    EXPECT_EQ(classify(facts).kind, outcome_kind::success);
    EXPECT_FALSE(path_error(facts.status, &map));
}

// If no strategy allows the retry, the operation ends with this error.
TEST(status_table, each_retried_status_has_an_error_of_its_own) {
    constexpr status_row rows[] = {
        {status::unknown_collection, errc::collection_not_found},
        {status::locked, errc::document_locked},
        {status::etmpfail, errc::temporary_failure},
        {status::sync_write_in_progress, errc::durable_write_in_progress},
        {status::sync_write_re_commit_in_progress, errc::durable_write_re_commit_in_progress},
        {status::not_my_vbucket, errc::request_canceled}};
    for (const status_row& row : rows) {
        response_facts facts;
        facts.kind = operation_kind::upsert;
        facts.status = row.code;
        facts.has_xerror = true;
        EXPECT_EQ(classify(facts).error, row.error) << wire::to_string(row.code);
    }
}

TEST(status_table, EM_14_a_document_that_seems_to_exist_is_reported_as_locked) {
    response_facts facts;
    facts.has_xerror = false;
    facts.kind = operation_kind::replace;
    facts.status = status::key_eexists;
    EXPECT_EQ(classify(facts).error, errc::document_locked);
    facts.kind = operation_kind::unlock;
    facts.status = status::etmpfail;
    EXPECT_EQ(classify(facts).error, errc::temporary_failure);
    facts.kind = operation_kind::mutate_in;
    facts.status = status::key_eexists;
    EXPECT_EQ(classify(facts).error, errc::cas_mismatch);
    facts.doc_flags = wire::doc_flags::add;
    EXPECT_EQ(classify(facts).error, errc::document_exists);
}

TEST(status_table, only_a_lost_identity_or_bucket_drops_the_connection) {
    for (const wire::status_facts& row : wire::all_statuses()) {
        response_facts facts;
        facts.status = row.code;
        const bool is_lost = row.code == status::auth_stale || row.code == status::no_bucket;
        EXPECT_EQ(classify(facts).drop_connection, is_lost) << row.name;
    }
}

// A scan is over, goes on, or continues as another scan that begins after its last row.
TEST(status_table, RH_49_each_answer_to_a_range_scan_has_its_meaning) {
    struct row {
        status code;
        bool is_created;
        outcome_kind kind;
        errc error;
    };
    constexpr row rows[] = {
        {status::range_scan_more, true, outcome_kind::success, errc{}},
        {status::range_scan_complete, true, outcome_kind::success, errc{}},
        {status::key_enoent, false, outcome_kind::success, errc{}},
        {status::key_enoent, true, outcome_kind::retry, errc::request_canceled},
        {status::range_scan_cancelled, true, outcome_kind::retry, errc::request_canceled},
        {status::ebusy, false, outcome_kind::retry, errc::temporary_failure},
        {status::ebusy, true, outcome_kind::retry, errc::temporary_failure},
        {status::vb_uuid_not_equal, false, outcome_kind::error, errc::mutation_token_outdated}};
    for (const row& each : rows) {
        response_facts facts;
        facts.kind = operation_kind::range_scan;
        facts.status = each.code;
        facts.is_scan_created = each.is_created;
        const response_outcome outcome = classify(facts);
        EXPECT_EQ(outcome.kind, each.kind) << wire::to_string(each.code);
        if (each.kind != outcome_kind::success) {
            EXPECT_EQ(outcome.error, each.error) << wire::to_string(each.code);
        }
        if (each.kind == outcome_kind::retry) {
            EXPECT_EQ(outcome.reason, retry_reason::kv_temporary_failure);
        }
    }
}

}  // namespace reprise::engine::status_table_tests
