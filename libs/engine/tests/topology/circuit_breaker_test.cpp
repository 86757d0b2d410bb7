#include <gtest/gtest.h>

#include <reprise/couchbase_types/errc.hpp>

#include "engine_driver.hpp"

namespace reprise::engine::testing::circuit_breaker_tests {

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
            refused_field([&](auto& breaker) { breaker.probe_timeout = bad; }),
            "circuit_breaker.probe_timeout");
    }
}

TEST(circuit_breaker, RH_34_is_off_unless_enabled) {
    scripted_cluster cluster(1);
    engine_options options = with_breaker();
    options.circuit_breaker.reset();
    connected_driver driver(cluster, options);
    cluster.on_request = without_reads(true);
    time_out_reads(driver, 40);
    const auto stored = driver.settled(driver.upsert("k", "v"));
    EXPECT_EQ(stored->calls, 1);
}

TEST(
    circuit_breaker,
    RH_15_RH_34_requests_wait_while_it_is_open_and_are_sent_after_the_canary_is_answered) {
    auto [cluster, driver] = connected_node(with_breaker());
    cluster.on_request = without_reads(true);
    time_out_reads(driver, 20);
    const time_point opened = driver.now;
    const auto stored = driver.after(4999ms, driver.upsert("k", "v"));
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
    const retry_history::entry& first = stored->result.history->entries[0];
    EXPECT_EQ(first.reason_as<retry_reason>(), retry_reason::circuit_breaker_open);
    EXPECT_EQ(first.stage(), attempt_stage::dispatch);
}

TEST(circuit_breaker, RH_34_a_canary_without_an_answer_opens_it_again) {
    auto [cluster, driver] = connected_node(with_breaker());
    cluster.on_request = without_reads(false);
    time_out_reads(driver, 20);
    const time_point opened = driver.now;
    const auto stored = driver.after(14999ms, driver.upsert("k", "v"));
    EXPECT_EQ(cluster.count(opcode::noop), 1U);
    cluster.on_request = without_reads(true);
    driver.advance(1ms);
    const auto canaries = cluster.all(opcode::noop);
    ASSERT_EQ(canaries.size(), 2U);
    EXPECT_EQ(canaries[0].at - opened, 5s);
    EXPECT_EQ(canaries[1].at - opened, 15s);
    EXPECT_TRUE(stored->has_succeeded());
}

TEST(circuit_breaker, RH_34_everything_can_be_configured) {
    scripted_cluster cluster(1);
    engine_options options = with_breaker();
    options.circuit_breaker->volume_threshold = 4;
    options.circuit_breaker->error_threshold_percent = 75;
    options.circuit_breaker->rolling_window = 3s;
    options.circuit_breaker->sleep_window = 2s;
    options.circuit_breaker->probe_timeout = 700ms;
    options.is_breaker_failure = [](const std::error_code& outcome) {
        return outcome == errc::document_not_found;
    };
    connected_driver driver(cluster, options);
    cluster.answer_all(opcode::noop, {.is_silent = true});
    const auto read_missing_thrice = [&] {
        for (int index = 0; index < 3; ++index) {
            driver.get("missing");
        }
        driver.settle();
    };
    read_missing_thrice();
    driver.advance(3s);
    EXPECT_EQ(driver.upsert("k", "v")->calls, 0);
    read_missing_thrice();
    ASSERT_EQ(cluster.count(opcode::get), 6U) << "the first three have left the window";
    ASSERT_EQ(cluster.count(opcode::set), 1U);
    const time_point opened = driver.now;
    const auto waiting = driver.after(5s, driver.upsert("k", "v"));
    EXPECT_EQ(waiting->calls, 0) << "three failures of four are 75 %";
    const auto canaries = cluster.all(opcode::noop);
    ASSERT_EQ(canaries.size(), 2U);
    EXPECT_EQ(canaries[0].at - opened, 2s);
    EXPECT_EQ(canaries[1].at - opened, 4700ms) << "the canary's timeout and another sleep later";
}

TEST(circuit_breaker, RH_34_each_endpoint_has_its_own) {
    scripted_cluster cluster(2, 2);
    connected_driver driver(cluster, with_breaker());
    cluster.on_request = without_reads(true);
    time_out_reads(driver, 20);
    std::string other = "x";
    while (wire::vbucket_of(other, 2) == wire::vbucket_of("k", 2)) {
        other += "x";
    }
    const auto good = driver.upsert(other, "v");
    const auto bad = driver.after(100ms, driver.upsert("k", "v"));
    EXPECT_EQ(good->calls, 1);
    EXPECT_EQ(bad->calls, 0);
}

TEST(circuit_breaker, RH_34_a_new_connection_closes_it_and_a_strategy_may_refuse) {
    auto [cluster, driver] = connected_node(with_breaker());
    cluster.on_request = without_reads(true);
    time_out_reads(driver, 20);
    class says_no final : public driver::retry_strategy {
        void retry_after(const driver::retry_question&, driver::retry_sink& sink) override {
            sink.answer(driver::retry_action::no());
        }
    };
    auto request = driver.request(operation_kind::upsert, "k", "v");
    request.terms().strategy = std::make_shared<says_no>();
    const auto refused = driver.settled(driver.start(std::move(request)));
    ASSERT_EQ(refused->calls, 1);
    ASSERT_NE(refused->result.error, nullptr);
    EXPECT_EQ(refused->result.error->last_reason, retry_reason::circuit_breaker_open);
    EXPECT_FALSE(refused->result.error->is_ambiguous);
    driver.close_node(0);
    driver.advance(1s);
    const auto stored = driver.settled(driver.upsert("k", "v"));
    EXPECT_TRUE(stored->has_succeeded());
}

}  // namespace reprise::engine::testing::circuit_breaker_tests
