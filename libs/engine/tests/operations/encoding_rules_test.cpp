#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "operations/request_encoding.hpp"

// Which requests a connection can carry, and what is refused before there is one.

namespace reprise::engine::testing {
namespace encoding_rules_tests {

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
    const auto result = encode_operation(out, request, context);
    EXPECT_EQ(bytes.empty(), !result.has_value());
    return result ? std::nullopt : std::optional(result.error());
}

TEST(encoding_rules, durability_needs_two_features) {
    operation_request request = upsert_request();
    request.durability = wire::durability_level::majority;
    EXPECT_FALSE(
        error_of(request, {hello_feature::alt_request_support, hello_feature::sync_replication}));
    for (const hello_feature only :
         {hello_feature::alt_request_support, hello_feature::sync_replication}) {
        const auto error = error_of(request, {only, hello_feature::tracing});
        ASSERT_TRUE(error);
        EXPECT_EQ(error->code, errc::feature_not_available);
        EXPECT_EQ(error->detail, "durability is not available on this connection");
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
        EXPECT_EQ(error->detail, "preserving the expiry is not available on this connection");
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
    wrong.specs.assign(wire::subdoc_spec_count_max + 1, subdoc_spec{});
    EXPECT_EQ(error_of(wrong, {})->code, errc::invalid_argument);
}

TEST(encoding_rules, the_lengths_of_keys_are_checked_before_there_is_a_connection) {
    operation_request request = upsert_request();
    const auto is_good = [&](std::size_t size, bool is_named) {
        request.key = base::slice::copy_of(base::as_bytes(std::string(size, 'k')));
        return check_request(request, is_named).has_value();
    };
    EXPECT_FALSE(is_good(0, false));
    EXPECT_TRUE(is_good(wire::key_size_max_default_collection, false));
    EXPECT_FALSE(is_good(wire::key_size_max_default_collection + 1, false));
    EXPECT_TRUE(is_good(wire::key_size_max_named_collection, true));
    EXPECT_FALSE(is_good(wire::key_size_max_named_collection + 1, true));
}

TEST(encoding_rules, replicas_paths_and_the_cas_of_a_lock_are_checked) {
    operation_request request = upsert_request();
    request.specs.resize(1);
    for (const operation_kind kind :
         {operation_kind::get_replica, operation_kind::lookup_in_replica, operation_kind::get}) {
        request.kind = kind;
        for (const int replica : {0, 1, 3, 4}) {
            request.replica = static_cast<std::uint8_t>(replica);
            const bool is_right =
                kind == operation_kind::get ? replica == 0 : replica == 1 || replica == 3;
            EXPECT_EQ(check_request(request, false).has_value(), is_right) << replica;
        }
    }
    request.replica = 0;
    for (const operation_kind kind : {operation_kind::lookup_in, operation_kind::mutate_in}) {
        request.kind = kind;
        for (const std::size_t count : {0U, 1U, 16U, 17U}) {
            request.specs.assign(count, subdoc_spec{});
            EXPECT_EQ(check_request(request, false).has_value(), count == 1 || count == 16);
        }
    }
    request.kind = operation_kind::unlock;
    request.cas = 0;
    EXPECT_EQ(check_request(request, false).error().detail, "unlock needs the cas of the lock");
    request.cas = 1;
    EXPECT_TRUE(check_request(request, false).has_value());
    request.kind = operation_kind::noop;
    request.key = {};
    EXPECT_TRUE(check_request(request, false).has_value()) << "it has no key";
}

}  // namespace encoding_rules_tests
}  // namespace reprise::engine::testing
