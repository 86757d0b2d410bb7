#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include <reprise/wire/frame_reader.hpp>
#include <reprise/wire/range_scan_messages.hpp>
#include <reprise/wire/subdoc_messages.hpp>

#include "operations/request_encoding.hpp"
#include "operations/scan_progress.hpp"

// Tests which requests a connection can carry, and which are refused before there is one.

namespace reprise::engine::testing::encoding_rules_tests {

using wire::hello_feature;

operation_request upsert_request() {
    operation_request request;
    request.kind = operation_kind::upsert;
    request.key = base::slice::copy_of(base::as_bytes("k"));
    request.value = base::slice::copy_of(base::as_bytes("v"));
    return request;
}

// The error of a request on a connection with these features; empty if it was encoded.
std::optional<encoding_error> error_of(
    const operation_request& request, wire::hello_feature_set features,
    encoding_context context = {}) {
    context.features = features;
    context.time_left = std::chrono::seconds{2};
    std::vector<std::byte> bytes;
    base::byte_writer out(bytes);
    const encoding_error failed = encode_operation(out, request, context).error();
    EXPECT_EQ(bytes.empty(), static_cast<bool>(failed));
    return failed ? std::optional(failed) : std::nullopt;
}

TEST(encoding_rules, durability_needs_two_features) {
    operation_request request = upsert_request();
    request.durability = durability_level::majority;
    EXPECT_FALSE(
        error_of(request, {hello_feature::alt_request_support, hello_feature::sync_replication}));
    for (const hello_feature only :
         {hello_feature::alt_request_support, hello_feature::sync_replication}) {
        const auto error = error_of(request, {only, hello_feature::tracing});
        ASSERT_TRUE(error);
        EXPECT_EQ(error->code, errc::feature_not_available);
        EXPECT_EQ(
            std::string_view(error->detail), "durability is not available on this connection");
    }
}

TEST(encoding_rules, keeping_the_expiry_needs_two_features) {
    operation_request request = upsert_request();
    request.preserve_expiry = true;
    EXPECT_FALSE(
        error_of(request, {hello_feature::alt_request_support, hello_feature::preserve_ttl}));
    for (const hello_feature only :
         {hello_feature::alt_request_support, hello_feature::preserve_ttl}) {
        const auto error = error_of(request, {only, hello_feature::tracing});
        ASSERT_TRUE(error);
        EXPECT_EQ(error->code, errc::feature_not_available);
        EXPECT_EQ(
            std::string_view(error->detail),
            "preserving the expiry is not available on this connection");
    }
}

TEST(encoding_rules, a_collection_that_the_connection_cannot_name_is_not_available) {
    encoding_context context;
    context.collection = wire::collection_id{9};
    context.form = wire::key_form::bare;
    const auto error = error_of(upsert_request(), {}, context);
    ASSERT_TRUE(error);
    EXPECT_EQ(error->code, errc::feature_not_available);
    operation_request wrong = upsert_request();
    wrong.kind = operation_kind::lookup_in;
    wrong.terms().specs.assign(wire::subdoc_spec_count_max + 1, path_spec{});
    EXPECT_EQ(error_of(wrong, {})->code, errc::invalid_argument);
}

TEST(encoding_rules, the_lengths_of_keys_are_checked_before_there_is_a_connection) {
    operation_request request = upsert_request();
    const auto is_good = [&](std::size_t size, bool is_named) {
        request.key = base::slice::copy_of(base::as_bytes(std::string(size, 'k')));
        return !check_request(request, is_named);
    };
    EXPECT_FALSE(is_good(0, false));
    EXPECT_TRUE(is_good(wire::key_size_max_default_collection, false));
    EXPECT_FALSE(is_good(wire::key_size_max_default_collection + 1, false));
    EXPECT_TRUE(is_good(wire::key_size_max_named_collection, true));
    EXPECT_FALSE(is_good(wire::key_size_max_named_collection + 1, true));
}

TEST(encoding_rules, replicas_paths_and_the_cas_of_a_lock_are_checked) {
    operation_request request = upsert_request();
    request.terms().specs.resize(1);
    for (const operation_kind kind :
         {operation_kind::get_replica, operation_kind::lookup_in_replica, operation_kind::get}) {
        request.kind = kind;
        for (const int replica : {0, 1, 3, 4}) {
            request.replica = static_cast<std::uint8_t>(replica);
            const bool is_right =
                kind == operation_kind::get ? replica == 0 : replica == 1 || replica == 3;
            EXPECT_EQ(!check_request(request, false), is_right) << replica;
        }
    }
    request.replica = 0;
    for (const operation_kind kind : {operation_kind::lookup_in, operation_kind::mutate_in}) {
        request.kind = kind;
        for (const std::size_t count : {0U, 1U, 16U, 17U}) {
            request.terms().specs.assign(count, path_spec{});
            EXPECT_EQ(!check_request(request, false), count == 1 || count == 16);
        }
    }
    request.kind = operation_kind::unlock;
    request.cas = 0;
    EXPECT_EQ(
        std::string_view(check_request(request, false).detail), "unlock needs the cas of the lock");
    request.cas = 1;
    EXPECT_TRUE(!check_request(request, false));
    request.kind = operation_kind::noop;
    request.key = {};
    EXPECT_TRUE(!check_request(request, false)) << "it has no key";
}

// The frame that a server receives.
wire::frame_view sent_frame(
    const operation_request& request, const encoding_context& context,
    std::vector<std::byte>& bytes) {
    base::byte_writer out(bytes);
    EXPECT_FALSE(encode_operation(out, request, context).error());
    return *wire::scan_frame(bytes, {})->frame;
}

TEST(encoding_rules, a_value_is_marked_as_json_if_it_is_and_the_connection_supports_json) {
    using wire::datatype;
    operation_request request = upsert_request();
    for (const bool is_json : {false, true}) {
        for (const bool supports_json : {false, true}) {
            request.is_json = is_json;
            encoding_context context;
            context.features = supports_json ? wire::hello_feature_set{hello_feature::json}
                                             : wire::hello_feature_set{hello_feature::tracing};
            std::vector<std::byte> bytes;
            EXPECT_EQ(
                sent_frame(request, context, bytes).datatype(),
                is_json && supports_json ? datatype::json : datatype::raw);
        }
    }
}

TEST(encoding_rules, values_are_compressed_only_if_the_connection_supports_snappy) {
    operation_request request = upsert_request();
    request.value = base::slice::copy_of(base::as_bytes(std::string(1000, 'a')));
    const wire::compression_options compression;
    for (const hello_feature only : {hello_feature::snappy, hello_feature::json}) {
        encoding_context context;
        context.features = {only};
        context.compression = &compression;
        std::vector<std::byte> bytes;
        const auto frame = sent_frame(request, context, bytes);
        const bool is_smaller = only == hello_feature::snappy;
        EXPECT_EQ(frame.value().size() < 1000, is_smaller);
        EXPECT_EQ(wire::has(frame.datatype(), wire::datatype::snappy), is_smaller);
    }
}

TEST(encoding_rules, flags_of_a_document_are_sent_if_there_are_any) {
    using couchbase::store_semantics;
    using wire::doc_flags;
    operation_request request = upsert_request();
    request.terms().specs = {{.verb = couchbase::detail::path_verb::upsert, .path = "a"}};
    request.kind = operation_kind::mutate_in;
    struct row {
        store_semantics store;
        bool access_deleted;
        doc_flags flags;
    };
    for (const row& each :
         {row{store_semantics::replace, false, doc_flags::none},
          row{store_semantics::upsert, false, doc_flags::create},
          row{store_semantics::insert, false, doc_flags::add},
          row{store_semantics::replace, true, doc_flags::access_deleted}}) {
        request.store = each.store;
        request.access_deleted = each.access_deleted;
        std::vector<std::byte> bytes;
        const auto extras = sent_frame(request, {}, bytes).extras();
        ASSERT_EQ(extras.size(), each.flags == doc_flags::none ? 0U : 1U);
        if (!extras.empty()) {
            EXPECT_EQ(static_cast<doc_flags>(extras[0]), each.flags);
        }
    }
    request.access_deleted = false;
    request.kind = operation_kind::lookup_in_replica;
    request.terms().specs[0].verb = couchbase::detail::path_verb::get;
    request.replica = 1;
    std::vector<std::byte> bytes;
    const auto extras = sent_frame(request, {}, bytes).extras();
    ASSERT_EQ(extras.size(), 1U);
    EXPECT_EQ(static_cast<doc_flags>(extras[0]), doc_flags::replica_read);
}

TEST(encoding_rules, too_many_paths_are_named) {
    operation_request request = upsert_request();
    request.terms().specs.assign(wire::subdoc_spec_count_max + 1, path_spec{});
    for (const operation_kind kind : {operation_kind::lookup_in, operation_kind::mutate_in}) {
        request.kind = kind;
        EXPECT_EQ(
            error_of(request, {})->detail, wire::to_string(wire::wire_errc::spec_count_invalid));
    }
}

// A server gets at least a millisecond and at most a second for one answer of a scan.
TEST(encoding_rules, the_time_for_an_answer_of_a_scan_is_bounded_on_both_sides) {
    using namespace std::chrono_literals;
    scan_request asked;
    asked.options.consistent_with = {{{"travel", 0, 1, 2}}};
    const scan_progress scan(asked, wire::vbucket_id{0}, "travel");
    operation_request request;
    request.kind = operation_kind::range_scan;
    const std::vector<std::pair<duration, std::uint32_t>> rows{
        {0ms, 1}, {900us, 1}, {1ms, 1}, {2ms, 2}, {999ms, 999}, {1s, 1000}, {20s, 1000}};
    for (const auto& [left, expected] : rows) {
        encoding_context context;
        context.time_left = left;
        context.scan = &scan;
        std::vector<std::byte> bytes;
        const auto created =
            wire::range_scan_create_request::decode(sent_frame(request, context, bytes));
        ASSERT_TRUE(created && created->snapshot);
        EXPECT_EQ(created->snapshot->timeout_ms, expected);
    }
}

}  // namespace reprise::engine::testing::encoding_rules_tests
