#include <reprise/couchbase/detail/calls.hpp>

#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <optional>
#include <system_error>
#include <utility>

#include "session.hpp"

// The cancellation of calls that start operations one after another. The client belongs to the
// test's thread, which decides what has happened when the request comes.

namespace reprise::couchbase::step_cancellation_test {

using namespace std::chrono_literals;

class step_cancellation : public ::testing::Test {
protected:
    step_cancellation() {
        auto plan = detail::plan_connect(
            "couchbase://127.0.0.1:1",
            {.username = "app", .password = "secret", .threads = thread_mode::caller_drives});
        auto made = net::client::make(std::move(plan->options));
        client_ = std::make_shared<detail::session>(std::move(*made), std::move(plan->facts));
    }
    // Starts an operation that no server answers.
    void start(detail::call_ticket ticket) {
        engine::operation_request request;
        request.kind = engine::operation_kind::noop;
        const auto refused = client_->client().start(
            client_->client().keyspace("travel"), std::move(request),
            [this](engine::operation_result&& result) { ended_ = result.ec; }, ticket);
        ASSERT_EQ(refused, net::refusal::none);
    }
    void drive() { ASSERT_EQ(client_->client().drive(20ms), net::refusal::none); }

    std::optional<std::error_code> ended_;  // before the client, whose end completes operations
    std::shared_ptr<detail::session> client_;
};

TEST_F(step_cancellation, is_known_to_the_next_step) {
    const detail::step_cancellation given(client_);
    const detail::step_cancellation copy = given;
    EXPECT_FALSE(copy.is_requested());
    given.request();
    EXPECT_TRUE(copy.is_requested());
    EXPECT_TRUE(given.is_requested());
}

TEST_F(step_cancellation, ends_the_operation_that_runs) {
    const detail::step_cancellation given(client_);
    start(given.ticket());
    drive();
    EXPECT_FALSE(ended_);
    given.request();
    drive();
    EXPECT_EQ(ended_, errc::request_canceled);
}

// The request finds no operation. It ends the next one.
TEST_F(step_cancellation, between_two_operations_ends_the_second_one) {
    const detail::step_cancellation given(client_);
    given.request();
    drive();
    start(given.ticket());
    given.apply();
    drive();
    EXPECT_EQ(ended_, errc::request_canceled);
}

TEST_F(step_cancellation, that_nobody_requests_ends_nothing) {
    const detail::step_cancellation given(client_);
    start(given.ticket());
    given.apply();
    drive();
    EXPECT_FALSE(ended_);
    detail::step_cancellation().request();
    EXPECT_FALSE(detail::step_cancellation().is_requested());
    EXPECT_EQ(detail::step_cancellation().ticket(), 0U);
}

}  // namespace reprise::couchbase::step_cancellation_test
