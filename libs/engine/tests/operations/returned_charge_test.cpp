#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <utility>

#include <reprise/retry/circuit_breaker.hpp>

#include "engine_driver.hpp"

// A retry is paid for when it is decided. If it is then not made, its price and its allowance are
// returned, in the client as in loops: a budget must not pay for requests that nobody received.

namespace reprise::engine::testing::returned_charge_tests {

// Retries after ten milliseconds.
class patient_strategy final : public driver::retry_strategy {
public:
    explicit patient_strategy(driver::strategy_traits traits = {}) : retry_strategy(traits) {}
    void retry_after(const driver::retry_question&, driver::retry_sink& sink) override {
        sink.answer(driver::retry_action::after(10ms));
    }
};

struct paying_client {
    explicit paying_client(driver::strategy_traits traits = {})
        : driver(
              cluster, {{.strategy = std::make_shared<patient_strategy>(traits),
                         .retry_budget = driver::token_bucket_budget(bucket)}}) {
        driver.connect();
        cluster.answer_all(opcode::get, {.status = status::etmpfail});
    }
    engine_driver::outcome_ptr start_read() {
        auto request = driver.request(operation_kind::get, "k");
        request.outer_allowance = &allowance;
        return driver.start(std::move(request));
    }
    void cancel() { EXPECT_TRUE(driver.engine().cancel(driver.last_id, driver.now)); }
    [[nodiscard]] std::int64_t taken() const {
        return bucket->milli_capacity() - bucket->milli_level();
    }

    std::shared_ptr<token_bucket> bucket =
        std::make_shared<token_bucket>(token_bucket::options{.capacity = 100});
    driver::retry_allowance allowance{3};
    scripted_cluster cluster{1};
    engine_driver driver;
};

TEST(returned_charge, RH_33_a_read_that_is_canceled_while_it_waits_pays_for_no_retry) {
    paying_client with;
    const auto read = with.start_read();
    with.driver.advance(5ms);
    EXPECT_GT(with.taken(), 0) << "the retry was decided";
    EXPECT_EQ(with.allowance.left(), 2U);
    with.cancel();
    with.driver.settle();
    ASSERT_EQ(read->calls, 1);
    EXPECT_EQ(with.cluster.count(opcode::get), 1U);
    EXPECT_EQ(with.taken(), 0);
    EXPECT_EQ(with.allowance.left(), 3U);
}

TEST(returned_charge, RH_33_a_retry_that_was_sent_stays_paid_for) {
    paying_client with;
    with.start_read();
    with.driver.advance(5ms);
    const std::int64_t price = with.taken();
    with.cluster.answer_all(opcode::get, {.is_silent = true});
    with.driver.advance(10ms);
    ASSERT_EQ(with.cluster.count(opcode::get), 2U);
    with.cancel();
    with.driver.settle();
    EXPECT_EQ(with.taken(), price);
    EXPECT_EQ(with.allowance.left(), 2U);
}

TEST(returned_charge, RH_33_only_the_retry_that_is_not_made_is_returned) {
    paying_client with;
    with.start_read();
    with.driver.advance(5ms);
    const std::int64_t price = with.taken();
    with.driver.advance(10ms);
    ASSERT_EQ(with.cluster.count(opcode::get), 2U);
    EXPECT_EQ(with.taken(), 2 * price);
    with.cancel();
    with.driver.settle();
    EXPECT_EQ(with.taken(), price);
    EXPECT_EQ(with.allowance.left(), 2U);
}

TEST(returned_charge, a_retry_that_a_breaker_refuses_at_its_start_is_not_paid_for) {
    circuit_breaker breaker(
        {.volume_threshold = 2, .error_threshold_percent = 100, .sleep_window = 1h});
    paying_client with({.circuit = &breaker});
    const auto first = with.start_read();
    with.driver.advance(5ms);
    const std::int64_t price = with.taken();
    // A second read fails and opens the breaker while the first one waits.
    with.driver.get("k");
    with.driver.advance(1ms);
    ASSERT_EQ(breaker.state(), circuit_state::open);
    EXPECT_EQ(with.taken(), price) << "no retry of the second one";
    with.driver.advance(10ms);
    ASSERT_EQ(first->calls, 1);
    EXPECT_EQ(first->result.history->refusal(), refusal_reason::circuit_open);
    EXPECT_EQ(with.taken(), 0);
    EXPECT_EQ(with.allowance.left(), 3U);
}

}  // namespace reprise::engine::testing::returned_charge_tests
