#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>

#include <reprise/couchbase/asio.hpp>

// Tests the arguments that a completion token stores until it starts the call.

namespace reprise::couchbase::detail::stored_call_test {

TEST(stored_call, a_call_that_starts_at_once_is_not_copied) {
    const call_target target;
    const std::string key = "airline_10";
    document_call call = make_call(operation_kind::get, key, common_options{});
    stored_call stored(target, call);
    EXPECT_EQ(&stored.target(), &target);
    EXPECT_EQ(stored.release().key.data(), key.data());
}

TEST(stored_call, a_call_that_is_kept_owns_its_key_and_its_value) {
    std::string key = "a key that is longer than what a string stores inline";
    const std::string key_before = key;
    std::string value = "v1";
    auto bucket = std::make_shared<const std::string>("travel");
    auto target = std::make_unique<call_target>(call_target{{}, 7, bucket});
    document_call call = make_call(operation_kind::upsert, key, upsert_options{.timeout = {}});
    call.cas = 5;
    call.value = std::as_bytes(std::span{value});
    stored_call borrowing(*target, call);
    stored_call copied(borrowing);
    stored_call moved(std::move(borrowing));
    stored_call moved_again(std::move(moved));
    // The arguments of the asynchronous function end with it.
    key.assign(key.size(), 'x');
    value = "xx";
    target.reset();
    for (stored_call* each : {&copied, &moved_again}) {
        EXPECT_EQ(each->target().keyspace, 7U);
        EXPECT_EQ(each->target().bucket, bucket);
        const document_call started = each->release();
        EXPECT_EQ(started.kind, operation_kind::upsert);
        EXPECT_EQ(started.cas, 5U);
        EXPECT_EQ(started.key, key_before);
        const auto* const bytes = reinterpret_cast<const char*>(started.value.data());
        EXPECT_EQ(std::string_view(bytes, started.value.size()), "v1");
    }
}

}  // namespace reprise::couchbase::detail::stored_call_test
