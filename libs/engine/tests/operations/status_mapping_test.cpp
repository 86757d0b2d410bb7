#include "operations/status_mapping.hpp"

#include <gtest/gtest.h>

#include <set>

namespace reprise::engine::mapping_tests {

using wire::error_attribute;
using wire::status;

response_outcome outcome_of(
    operation_kind kind, status code, bool has_xerror = true, std::uint64_t cas = 0) {
    response_facts facts;
    facts.kind = kind;
    facts.status = code;
    facts.has_xerror = has_xerror;
    facts.request_cas = cas;
    return classify(facts);
}

response_outcome outcome_by_map(wire::error_attributes attributes, status code) {
    const wire::error_map map(
        2, 1, {{static_cast<std::uint16_t>(code), "NAME", "text", attributes, {}}});
    response_facts facts;
    facts.status = code;
    facts.error_map = &map;
    response_outcome outcome = classify(facts);
    EXPECT_TRUE(outcome.entry == nullptr || outcome.entry->name == "NAME");
    return outcome;
}

constexpr auto test_code = static_cast<status>(0x7ff0);

TEST(status_mapping, RH_19_each_retried_status_has_its_reason) {
    const std::vector<std::pair<status, retry_reason>> expected{
        {status::not_my_vbucket, retry_reason::kv_not_my_vbucket},
        {status::unknown_collection, retry_reason::kv_collection_outdated},
        {status::locked, retry_reason::kv_locked},
        {status::etmpfail, retry_reason::kv_temporary_failure},
        {status::sync_write_in_progress, retry_reason::kv_sync_write_in_progress},
        {status::sync_write_re_commit_in_progress,
         retry_reason::kv_sync_write_re_commit_in_progress}};
    for (const auto& [code, reason] : expected) {
        const response_outcome outcome = outcome_of(operation_kind::upsert, code);
        EXPECT_EQ(outcome.kind, outcome_kind::retry);
        EXPECT_EQ(outcome.reason, reason);
    }
}

TEST(status_mapping, RH_19_locked_on_unlock_is_a_cas_mismatch_and_not_retried) {
    const response_outcome outcome = outcome_of(operation_kind::unlock, status::locked);
    EXPECT_EQ(outcome.kind, outcome_kind::error);
    EXPECT_EQ(outcome.error, errc::cas_mismatch);
}

TEST(status_mapping, RH_24_other_known_statuses_are_not_retried) {
    const std::set<status> retried{status::not_my_vbucket,
                                   status::unknown_collection,
                                   status::locked,
                                   status::etmpfail,
                                   status::sync_write_in_progress,
                                   status::sync_write_re_commit_in_progress};
    for (const wire::status_facts& facts : wire::all_statuses()) {
        if (facts.is_known_to_client && !retried.contains(facts.code)) {
            const response_outcome outcome = outcome_of(operation_kind::get, facts.code);
            EXPECT_NE(outcome.kind, outcome_kind::retry) << facts.name;
        }
    }
}

TEST(status_mapping, every_known_failure_has_an_error_of_the_taxonomy) {
    for (const wire::status_facts& facts : wire::all_statuses()) {
        const bool is_plain = facts.is_known_to_client && !wire::is_success(facts.code) &&
                              facts.code != status::auth_continue &&
                              facts.code != status::range_scan_more &&
                              facts.code != status::range_scan_complete;
        if (is_plain) {
            const response_outcome outcome = outcome_of(operation_kind::get, facts.code);
            EXPECT_NE(outcome.error, errc::unknown_server_status) << facts.name;
            EXPECT_NE(outcome.error, errc{}) << facts.name;
        }
    }
}

TEST(status_mapping, EM_05_the_map_is_not_used_for_known_codes) {
    const response_outcome outcome =
        outcome_by_map({error_attribute::retry_now, error_attribute::temp}, status::ebusy);
    EXPECT_EQ(outcome.kind, outcome_kind::error);
    EXPECT_EQ(outcome.error, errc::temporary_failure);
    EXPECT_EQ(outcome.entry, nullptr);
}

TEST(status_mapping, EM_06_each_retry_attribute_goes_to_the_decider) {
    for (const error_attribute attribute :
         {error_attribute::retry_now, error_attribute::retry_later, error_attribute::auto_retry}) {
        const response_outcome outcome = outcome_by_map({attribute}, test_code);
        EXPECT_EQ(outcome.kind, outcome_kind::retry);
        EXPECT_EQ(outcome.reason, retry_reason::kv_error_map_retry_indicated);
    }
    EXPECT_EQ(outcome_by_map({error_attribute::item_only}, test_code).kind, outcome_kind::error);
}

TEST(status_mapping, EM_06_config_only_follows_the_map_like_every_other_unknown_code) {
    const response_outcome without = outcome_of(operation_kind::get, status::econfig_only);
    EXPECT_EQ(without.kind, outcome_kind::error);
    EXPECT_EQ(without.error, errc::unknown_server_status);
    EXPECT_FALSE(without.fetch_configuration);
    const response_outcome retried = outcome_by_map(
        {error_attribute::fetch_config, error_attribute::retry_now}, status::econfig_only);
    EXPECT_EQ(retried.kind, outcome_kind::retry);
    EXPECT_EQ(retried.reason, retry_reason::kv_error_map_retry_indicated);
    EXPECT_TRUE(retried.fetch_configuration);
    EXPECT_NE(retried.entry, nullptr);
    const response_outcome final =
        outcome_by_map({error_attribute::fetch_config}, status::econfig_only);
    EXPECT_EQ(final.kind, outcome_kind::error);
    const response_outcome forbidden = outcome_by_map(
        {error_attribute::retry_now, error_attribute::no_retry}, status::econfig_only);
    EXPECT_EQ(forbidden.kind, outcome_kind::error);
}

TEST(status_mapping, EM_07_attributes_request_a_configuration_or_close_the_connection) {
    EXPECT_TRUE(outcome_by_map({error_attribute::special_handling}, test_code).drop_connection);
    EXPECT_TRUE(
        outcome_by_map({error_attribute::conn_state_invalidated}, test_code).drop_connection);
    const response_outcome fetch = outcome_by_map({error_attribute::fetch_config}, test_code);
    EXPECT_TRUE(fetch.fetch_configuration);
    EXPECT_FALSE(fetch.drop_connection);
    const response_outcome both = outcome_by_map(
        {error_attribute::conn_state_invalidated, error_attribute::retry_later}, test_code);
    EXPECT_TRUE(both.drop_connection);
    EXPECT_EQ(both.kind, outcome_kind::retry);
}

TEST(status_mapping, EM_13_a_code_without_an_entry_is_a_generic_error_also_in_the_test_range) {
    EXPECT_EQ(
        outcome_of(operation_kind::get, static_cast<status>(0xfff0)).error,
        errc::unknown_server_status);
    EXPECT_EQ(
        outcome_by_map({error_attribute::retry_now}, static_cast<status>(0xfff0)).kind,
        outcome_kind::retry);
}

TEST(status_mapping, EM_14_without_xerror_0x02_on_a_store_without_cas_means_locked) {
    for (const operation_kind kind :
         {operation_kind::upsert, operation_kind::replace, operation_kind::remove}) {
        EXPECT_EQ(outcome_of(kind, status::key_eexists, false).reason, retry_reason::kv_locked);
        EXPECT_EQ(outcome_of(kind, status::key_eexists, false, 5).error, errc::cas_mismatch);
        EXPECT_EQ(outcome_of(kind, status::key_eexists, true).error, errc::cas_mismatch);
    }
    EXPECT_EQ(
        outcome_of(operation_kind::insert, status::key_eexists, false).error,
        errc::document_exists);
    EXPECT_EQ(
        outcome_of(operation_kind::unlock, status::etmpfail, false).kind, outcome_kind::error);
    EXPECT_EQ(outcome_of(operation_kind::unlock, status::etmpfail, true).kind, outcome_kind::retry);
}

TEST(status_mapping, EM_15_unknown_path_statuses_use_the_nodes_map) {
    const wire::error_map map(2, 1, {{0x7ff0, "N", "d", {error_attribute::item_locked}, {}}});
    EXPECT_EQ(path_error(test_code, &map), errc::document_locked);
    EXPECT_EQ(path_error(test_code, nullptr), errc::unknown_server_status);
    EXPECT_EQ(path_error(status::subdoc_path_enoent, &map), errc::path_not_found);
    EXPECT_FALSE(path_error(status::success, &map));
}

TEST(status_mapping, EM_16_temp_alone_does_not_retry_and_no_retry_overrides_the_others) {
    const response_outcome temp = outcome_by_map({error_attribute::temp}, test_code);
    EXPECT_EQ(temp.kind, outcome_kind::error);
    EXPECT_EQ(temp.error, errc::temporary_failure);
    EXPECT_EQ(
        outcome_by_map({error_attribute::retry_now, error_attribute::no_retry}, test_code).kind,
        outcome_kind::error);
    const response_outcome auth = outcome_by_map({error_attribute::auth}, test_code);
    EXPECT_FALSE(auth.drop_connection);
    EXPECT_EQ(auth.error, errc::authentication_failure);
}

TEST(status_mapping, RH_18_idempotent_operations_are_exactly_those_of_the_list) {
    const std::set<operation_kind> idempotent{
        operation_kind::get,
        operation_kind::exists,
        operation_kind::lookup_in,
        operation_kind::get_replica,
        operation_kind::lookup_in_replica,
        operation_kind::noop,
        operation_kind::range_scan,
        operation_kind::range_scan_cancel};
    for (std::size_t value = 0; value < operation_kind_count; ++value) {
        const auto kind = static_cast<operation_kind>(value);
        EXPECT_EQ(is_idempotent(kind), idempotent.contains(kind)) << to_string(kind);
        EXPECT_EQ(wire::opcode_info(opcode_of(kind)).is_idempotent, idempotent.contains(kind))
            << to_string(kind);
    }
}

}  // namespace reprise::engine::mapping_tests
