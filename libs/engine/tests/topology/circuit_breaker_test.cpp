#include "topology/circuit_breaker.hpp"

#include <gtest/gtest.h>

#include <reprise/couchbase_types/errc.hpp>

#include "engine_driver.hpp"

namespace reprise::engine::testing {
namespace circuit_breaker_tests {

using wire::opcode;
using wire::status;
using answer = scripted_cluster::scripted_answer;

constexpr time_point window_begin{1h};
const std::error_code timeout_code = errc::unambiguous_timeout;
const std::error_code no_error{};

void feed(circuit_breaker& breaker, int count, const std::error_code& outcome, time_point now) {
    for (int index = 0; index < count; ++index) {
        breaker.on_outcome(outcome, now);
    }
}

circuit_breaker opened_at(time_point now) {
    circuit_breaker breaker({});
    feed(breaker, 20, timeout_code, now);
    return breaker;
}

engine_options with_breaker() {
    engine_options options;
    options.circuit_breaker.emplace();
    options.kv_timeout = 60s;
    options.probe_after = 1h;
    return options;
}

// Starts reads that are never answered, and lets them time out.
void time_out_reads(engine_driver& driver, int count) {
    for (int index = 0; index < count; ++index) {
        auto request = driver.request(operation_kind::get, "k");
        request.timeout = 10ms;
        driver.start(std::move(request));
    }
    driver.advance(10ms);
}

// Answers everything except reads, and NOOP only if `answers_noop`.
scripted_cluster::hook without_reads(bool answers_noop) {
    return [answers_noop](const seen_request& seen) -> std::optional<answer> {
        const bool is_mute = seen.op == opcode::get || (!answers_noop && seen.op == opcode::noop);
        return is_mute ? std::optional(answer{.is_silent = true}) : std::nullopt;
    };
}

}  // namespace circuit_breaker_tests

using namespace circuit_breaker_tests;

TEST(circuit_breaker, RH_34_opens_at_half_of_twenty_requests_and_not_before) {
    circuit_breaker breaker({});
    feed(breaker, 19, timeout_code, window_begin);
    EXPECT_TRUE(breaker.allows());
    EXPECT_EQ(breaker.next_due(), std::nullopt);
    breaker.on_outcome(timeout_code, window_begin + 1s);
    EXPECT_FALSE(breaker.allows());
    EXPECT_EQ(breaker.next_due(), window_begin + 6s);
    circuit_breaker half({});
    feed(half, 11, no_error, window_begin);
    feed(half, 10, timeout_code, window_begin);
    EXPECT_TRUE(half.allows());  // 10 of 21
    half.on_outcome(timeout_code, window_begin);
    EXPECT_FALSE(half.allows());  // 11 of 22
}

TEST(circuit_breaker, RH_34_only_timeouts_count_unless_the_predicate_decides_otherwise) {
    circuit_breaker usual({});
    feed(usual, 100, errc::temporary_failure, window_begin);
    feed(usual, 100, errc::request_canceled, window_begin);
    EXPECT_TRUE(usual.allows());
    circuit_breaker_options options;
    options.is_failure = [](const std::error_code& outcome) {
        return outcome == errc::temporary_failure;
    };
    circuit_breaker own(options);
    feed(own, 100, timeout_code, window_begin);
    EXPECT_TRUE(own.allows());
    feed(own, 100, errc::temporary_failure, window_begin);
    EXPECT_FALSE(own.allows());
    circuit_breaker ambiguous({});
    feed(ambiguous, 20, errc::ambiguous_timeout, window_begin);
    EXPECT_FALSE(ambiguous.allows());
}

TEST(circuit_breaker, RH_34_outcomes_older_than_the_window_do_not_count) {
    circuit_breaker breaker({});
    feed(breaker, 19, timeout_code, window_begin);
    breaker.on_outcome(timeout_code, window_begin + 60s);
    EXPECT_TRUE(breaker.allows());
    feed(breaker, 18, timeout_code, window_begin + 119s);
    EXPECT_TRUE(breaker.allows());
    breaker.on_outcome(timeout_code, window_begin + 119s);
    EXPECT_FALSE(breaker.allows());
}

TEST(circuit_breaker, RH_34_the_window_rolls_and_is_never_reset) {
    // One request starts the count at 0 s. The failures arrive around 60 s after it.
    circuit_breaker breaker({});
    breaker.on_outcome(no_error, window_begin);
    feed(breaker, 15, timeout_code, window_begin + 59s);
    EXPECT_TRUE(breaker.allows());
    feed(breaker, 4, timeout_code, window_begin + 61s);
    EXPECT_TRUE(breaker.allows());  // 19
    breaker.on_outcome(timeout_code, window_begin + 61s);
    EXPECT_FALSE(breaker.allows());
}

TEST(circuit_breaker, RH_34_old_successes_leave_the_window_one_step_at_a_time) {
    circuit_breaker breaker({});
    for (int second = 0; second < 60; ++second) {
        feed(breaker, 1, no_error, window_begin + second * 1s);
    }
    // Then one failure per second: after about 30 of them they are half of the window.
    int second = 60;
    while (breaker.allows() && second < 200) {
        breaker.on_outcome(timeout_code, window_begin + second * 1s);
        ++second;
    }
    EXPECT_GE(second, 60 + 28);
    EXPECT_LE(second, 60 + 32);
}

TEST(circuit_breaker, RH_34_a_steady_share_below_the_threshold_never_opens_it) {
    circuit_breaker breaker({});
    for (int round = 0; round < 10000; ++round) {
        const time_point now = window_begin + round * 37ms;
        breaker.on_outcome(round % 5 < 2 ? timeout_code : no_error, now);
        ASSERT_TRUE(breaker.allows()) << round;
    }
}

TEST(circuit_breaker, RH_34_after_a_long_silence_nothing_counts_and_short_windows_work) {
    circuit_breaker breaker({});
    feed(breaker, 19, timeout_code, window_begin);
    feed(breaker, 1, timeout_code, window_begin + 24h * 300);
    EXPECT_TRUE(breaker.allows());
    circuit_breaker_options options;
    options.rolling_window = duration{1};  // one nanosecond: counts only simultaneous requests
    circuit_breaker brief(options);
    feed(brief, 19, timeout_code, window_begin);
    feed(brief, 1, timeout_code, window_begin + duration{1});
    EXPECT_TRUE(brief.allows());
    feed(brief, 19, timeout_code, window_begin + duration{1});
    EXPECT_FALSE(brief.allows());
}

TEST(circuit_breaker, RH_34_a_canary_decides_between_closed_and_another_sleep) {
    circuit_breaker breaker = opened_at(window_begin);
    EXPECT_FALSE(breaker.on_due(window_begin + 4999ms));
    EXPECT_EQ(breaker.state(), breaker_state::open);
    EXPECT_TRUE(breaker.on_due(window_begin + 5s));
    EXPECT_EQ(breaker.state(), breaker_state::half_open);
    EXPECT_FALSE(breaker.allows());
    EXPECT_EQ(breaker.next_due(), window_begin + 10s);
    EXPECT_FALSE(breaker.on_due(window_begin + 10s));  // no answer
    EXPECT_EQ(breaker.state(), breaker_state::open);
    EXPECT_EQ(breaker.next_due(), window_begin + 15s);
    EXPECT_TRUE(breaker.on_due(window_begin + 15s));
    breaker.on_canary_lost(window_begin + 16s);
    EXPECT_EQ(breaker.next_due(), window_begin + 21s);
    EXPECT_TRUE(breaker.on_due(window_begin + 21s));
    EXPECT_TRUE(breaker.close());
    EXPECT_TRUE(breaker.allows());
    EXPECT_FALSE(breaker.close());
    feed(breaker, 19, timeout_code, window_begin + 22s);
    EXPECT_TRUE(breaker.allows());  // the counts were reset
}

TEST(circuit_breaker, RH_34_late_outcomes_change_nothing) {
    circuit_breaker breaker = opened_at(window_begin);
    feed(breaker, 100, no_error, window_begin + 1s);
    breaker.on_canary_lost(window_begin + 1s);
    EXPECT_EQ(breaker.state(), breaker_state::open);
    EXPECT_EQ(breaker.next_due(), window_begin + 5s);
}

TEST(circuit_breaker, RH_34_its_options_are_checked) {
    const auto refused_field = [](auto&& change) -> std::string {
        engine_options options = with_breaker();
        options.seeds = {{"host", std::nullopt}};
        change(*options.circuit_breaker);
        const auto error = check(options);
        return error ? error->field : "";
    };
    EXPECT_EQ(refused_field([](auto&) {}), "");
    EXPECT_EQ(
        refused_field([](auto& breaker) { breaker.volume_threshold = 0; }),
        "circuit_breaker.volume_threshold");
    for (const std::uint32_t bad : {0U, 101U}) {
        EXPECT_EQ(
            refused_field([&](auto& breaker) { breaker.error_threshold_percent = bad; }),
            "circuit_breaker.error_threshold_percent");
    }
    for (const duration bad : {duration::zero(), duration{-1ms}, duration::max()}) {
        EXPECT_EQ(
            refused_field([&](auto& breaker) { breaker.rolling_window = bad; }),
            "circuit_breaker.rolling_window");
        EXPECT_EQ(
            refused_field([&](auto& breaker) { breaker.sleep_window = bad; }),
            "circuit_breaker.sleep_window");
        EXPECT_EQ(
            refused_field([&](auto& breaker) { breaker.canary_timeout = bad; }),
            "circuit_breaker.canary_timeout");
    }
}

TEST(circuit_breaker, RH_34_is_off_unless_enabled) {
    scripted_cluster cluster(1);
    engine_options options = with_breaker();
    options.circuit_breaker.reset();
    engine_driver driver(cluster, options);
    driver.connect();
    cluster.on_request = without_reads(true);
    time_out_reads(driver, 40);
    const auto stored = driver.upsert("k", "v");
    driver.settle();
    EXPECT_EQ(stored->calls, 1);
}

TEST(
    circuit_breaker,
    RH_15_RH_34_requests_wait_while_it_is_open_and_are_sent_after_the_canary_is_answered) {
    scripted_cluster cluster(1);
    engine_driver driver(cluster, with_breaker());
    driver.connect();
    cluster.on_request = without_reads(true);
    time_out_reads(driver, 20);
    const time_point opened = driver.now;
    const auto stored = driver.upsert("k", "v");
    driver.advance(4999ms);
    EXPECT_EQ(stored->calls, 0);
    EXPECT_EQ(cluster.count(opcode::set), 0U);
    EXPECT_EQ(cluster.count(opcode::noop), 0U);
    driver.advance(1ms);
    EXPECT_EQ(cluster.count(opcode::noop), 1U);
    // Sent as soon as the canary was answered, not when the backoff ends.
    ASSERT_EQ(stored->calls, 1);
    EXPECT_EQ(stored->at - opened, 5s);
    EXPECT_TRUE(stored->result.has_value());
    ASSERT_NE(stored->result.history, nullptr);
    const history_entry& first = stored->result.history->entries[0];
    EXPECT_EQ(first.reason_as<retry_reason>(), retry_reason::circuit_breaker_open);
    EXPECT_EQ(first.stage(), attempt_stage::dispatch);
}

TEST(circuit_breaker, RH_34_a_canary_without_an_answer_opens_it_again) {
    scripted_cluster cluster(1);
    engine_driver driver(cluster, with_breaker());
    driver.connect();
    cluster.on_request = without_reads(false);
    time_out_reads(driver, 20);
    const time_point opened = driver.now;
    const auto stored = driver.upsert("k", "v");
    driver.advance(14999ms);
    EXPECT_EQ(cluster.count(opcode::noop), 1U);
    cluster.on_request = without_reads(true);
    driver.advance(1ms);
    const auto canaries = cluster.all(opcode::noop);
    ASSERT_EQ(canaries.size(), 2U);
    EXPECT_EQ(canaries[0].at - opened, 5s);
    EXPECT_EQ(canaries[1].at - opened, 15s);
    ASSERT_EQ(stored->calls, 1);
    EXPECT_TRUE(stored->result.has_value());
}

TEST(circuit_breaker, RH_34_each_endpoint_has_its_own) {
    scripted_cluster cluster(2, 2);
    cluster.map = {{0}, {1}};
    engine_driver driver(cluster, with_breaker());
    driver.connect();
    cluster.on_request = without_reads(true);
    time_out_reads(driver, 20);
    std::string other = "x";
    while (wire::vbucket_of(other, 2) == wire::vbucket_of("k", 2)) {
        other += "x";
    }
    const auto good = driver.upsert(other, "v");
    const auto bad = driver.upsert("k", "v");
    driver.advance(100ms);
    EXPECT_EQ(good->calls, 1);
    EXPECT_EQ(bad->calls, 0);
}

TEST(circuit_breaker, RH_34_a_new_connection_closes_it_and_a_strategy_may_refuse) {
    scripted_cluster cluster(1);
    engine_driver driver(cluster, with_breaker());
    driver.connect();
    cluster.on_request = without_reads(true);
    time_out_reads(driver, 20);
    class says_no final : public retry_strategy {
        void retry_after(const retry_question&, retry_sink& sink) override {
            sink.answer(retry_action::no());
        }
    };
    auto request = driver.request(operation_kind::upsert, "k", "v");
    request.strategy = std::make_shared<says_no>();
    const auto refused = driver.start(std::move(request));
    driver.settle();
    ASSERT_EQ(refused->calls, 1);
    ASSERT_NE(refused->result.error, nullptr);
    EXPECT_EQ(refused->result.error->last_reason, retry_reason::circuit_breaker_open);
    EXPECT_FALSE(refused->result.error->is_ambiguous);
    driver.close_node(0);
    driver.advance(1s);
    const auto stored = driver.upsert("k", "v");
    driver.settle();
    ASSERT_EQ(stored->calls, 1);
    EXPECT_TRUE(stored->result.has_value());
}

}  // namespace reprise::engine::testing
