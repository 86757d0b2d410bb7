#include <gtest/gtest.h>

#include "equipped_strategy.hpp"
#include "range_scans.hpp"

// What the breaker, the observer and the tracer of a strategy see. An attempt of an operation is
// one attempt for them, however many requests it takes. Only requests that were sent count, and a
// retry that the protocol demands is no failure.

namespace reprise::engine::testing::strategy_attempts_tests {

engine_options with(driver::strategy_traits traits) {
    engine_options options;
    options.strategy = std::make_shared<three_attempts>(traits);
    return options;
}

// --- retries that are always made ---

// Twenty upserts meet a rebalance: each is refused as not-my-vbucket, or with an outdated
// collection id. Nothing is wrong with the servers.
TEST(strategy_attempts, RH_12_always_retried_answers_do_not_open_the_breaker) {
    for (const status refused : {status::not_my_vbucket, status::unknown_collection}) {
        circuit_breaker breaker({.volume_threshold = 20, .error_threshold_percent = 50});
        scripted_cluster cluster{1};
        connected_driver driver(cluster, with({.circuit = &breaker}));
        cluster.refuse(opcode::set, refused, 40);
        for (const auto& stored : driver.after(2s, driver.upsert_many(20, "k"))) {
            EXPECT_TRUE(stored->has_succeeded()) << stored->result.ec.message();
            EXPECT_EQ(stored->result.retry_attempts, 2U);
        }
        EXPECT_EQ(breaker.state(), circuit_state::closed);
    }
}

// Other operations open the breaker while this one is refused as not-my-vbucket.
TEST(strategy_attempts, RH_12_an_open_breaker_does_not_stop_a_retry_that_is_always_made) {
    circuit_breaker breaker(sensitive_breaker());
    scripted_cluster cluster{1};
    connected_driver driver(cluster, with({.circuit = &breaker}));
    cluster.answer_each(opcode::set, [&](const seen_request&) -> std::optional<answer> {
        if (cluster.count(opcode::set) > 1) {
            return std::nullopt;
        }
        open(breaker, driver.now);
        return answer{.status = status::not_my_vbucket};
    });
    const auto stored = driver.after(100ms, driver.upsert("k", "v"));
    EXPECT_TRUE(stored->has_succeeded()) << stored->result.ec.message();
    EXPECT_EQ(cluster.count(opcode::set), 2U);
    EXPECT_EQ(breaker.state(), circuit_state::open) << "the retry was no probe";
}

// --- requests that were not sent ---

// The server of this connection cannot do durable writes, so nothing is sent and nothing is learned
// about it.
TEST(strategy_attempts, a_request_that_cannot_be_encoded_does_not_close_a_half_open_breaker) {
    kept_summaries observer;
    circuit_breaker breaker(sensitive_breaker());
    scripted_cluster cluster{1};
    cluster.nodes[0].withheld.insert(wire::hello_feature::sync_replication);
    connected_driver driver(cluster, with({.circuit = &breaker, .observer = &observer}));
    open(breaker, driver.now);
    driver.advance(1500ms);
    auto durable = driver.request(operation_kind::upsert, "k", "v");
    durable.durability = couchbase::durability_level::majority;
    const auto failed = driver.after(10ms, driver.start(std::move(durable)));
    EXPECT_EQ(failed->code(), errc::feature_not_available);
    EXPECT_EQ(cluster.count(opcode::set), 0U);
    EXPECT_EQ(observer.ended.back().attempts, 0U);
    EXPECT_NE(breaker.state(), circuit_state::closed);
    const auto stored = driver.after(10ms, driver.upsert("k", "v"));
    EXPECT_TRUE(stored->has_succeeded()) << "it is the probe";
    EXPECT_EQ(breaker.state(), circuit_state::closed);
}

// The bytes of a request that the breaker refuses are taken back: those of its neighbors are sent.
TEST(strategy_attempts, a_refused_request_leaves_no_bytes_between_the_others) {
    circuit_breaker breaker(sensitive_breaker());
    scripted_cluster cluster{1};
    connected_driver driver(cluster);
    open(breaker, driver.now);
    const auto before = driver.upsert("before", "v");
    auto request = driver.request(operation_kind::upsert, "refused", "v");
    request.terms().strategy =
        std::make_shared<three_attempts>(driver::strategy_traits{.circuit = &breaker});
    const auto refused = driver.start(std::move(request));
    const auto behind = driver.after(10ms, driver.upsert("behind", "v"));
    EXPECT_EQ(refused->code(), errc::request_canceled);
    EXPECT_TRUE(before->has_succeeded());
    EXPECT_TRUE(behind->has_succeeded());
    EXPECT_EQ(cluster.count(opcode::set), 2U);
}

// --- the tracer ---

// Such a strategy was taken for one that is only asked about failures, although it has a tracer.
TEST(strategy_attempts, a_strategy_that_only_answers_is_traced) {
    for (const bool only_answers : {false, true}) {
        span_counter tracer;
        scripted_cluster cluster{1};
        connected_driver driver(cluster);
        auto request = driver.request(operation_kind::upsert, "k", "v");
        request.terms().strategy = std::make_shared<three_attempts>(
            driver::strategy_traits{.only_answers = only_answers, .tracer = &tracer});
        EXPECT_TRUE(driver.after(10ms, driver.start(std::move(request)))->has_succeeded());
        EXPECT_EQ(tracer.seen.made, 2) << "the call and its attempt";
        EXPECT_EQ(tracer.seen.open, 0);
    }
}

// --- several requests in one attempt ---

class scan_attempts : public operation_scan_tests::range_scans {
protected:
    std::shared_ptr<three_attempts> strategy(driver::strategy_traits traits) const {
        return std::make_shared<three_attempts>(traits);
    }
    kept_summaries observer;
    circuit_breaker breaker{sensitive_breaker()};
};

// The request that creates the scan is the probe. Those that continue it used to be refused because
// the breaker was half open, so scans alone could never close it.
TEST_F(scan_attempts, a_scan_closes_a_half_open_breaker) {
    open(breaker, driver.now);
    driver.advance(1500ms);
    const auto done = run(all(), strategy({.circuit = &breaker, .observer = &observer}));
    ASSERT_TRUE(done->has_succeeded()) << done->result.ec.message();
    EXPECT_EQ(keys_of(done->result.scan->rows), scans.keys);
    EXPECT_EQ(breaker.state(), circuit_state::closed);
    ASSERT_EQ(observer.ended.size(), 1U);
    EXPECT_EQ(observer.ended[0].attempts, 1U);
}

// The server has sent all that it was asked for.
TEST_F(scan_attempts, a_slow_reader_does_not_open_the_breaker) {
    const auto with_breaker = strategy({.circuit = &breaker});
    for (int round = 0; round < 2; ++round) {
        scans = {};
        const auto done = driver.after(11s, start(part_of(in_small_parts()), with_breaker));
        ASSERT_EQ(done->code(), errc::unambiguous_timeout);
        EXPECT_EQ(breaker.state(), circuit_state::closed);
    }
}

TEST_F(scan_attempts, a_failure_after_the_reader_has_come_back_counts) {
    on_continue(2, [](const seen_request&) { return answer{.is_silent = true}; });
    const auto done = start(part_of(in_small_parts()), strategy({.circuit = &breaker}));
    driver.advance(1s);
    EXPECT_EQ(take().size(), 4U);
    driver.advance(10s);
    ASSERT_EQ(done->code(), errc::unambiguous_timeout);
    EXPECT_EQ(breaker.state(), circuit_state::open) << "a success, then a failure";
}

// However often a reader makes it wait, an attempt has one success: a long scan must not hide the
// failures of others.
TEST_F(scan_attempts, a_scan_with_many_answers_is_one_success) {
    const auto with_breaker = strategy({.circuit = &breaker});
    const auto done = start(part_of(in_small_parts()), with_breaker);
    while (done->calls == 0) {
        driver.advance(1ms);
        row_batch rows;
        static_cast<void>(driver.engine().take_rows(id, rows, driver.now));
    }
    ASSERT_TRUE(done->has_succeeded());
    failure_facts failed;
    failed.fault = failure_fault::server;
    breaker.on_failure(breaker.try_acquire(driver.now), failed, driver.now);
    EXPECT_EQ(breaker.state(), circuit_state::open);
}

TEST_F(scan_attempts, a_scan_has_one_span_for_each_attempt) {
    span_counter tracer;
    EXPECT_TRUE(run(all(), strategy({.tracer = &tracer}))->has_succeeded());
    EXPECT_EQ(tracer.seen.made, 2) << "the call and its attempt";
    EXPECT_EQ(tracer.seen.open_max, 2);
    EXPECT_EQ(tracer.seen.errors, 0);
    // The second request of the next scan is refused, and the retry creates the scan again.
    scans = {};
    on_continue(1, [](const seen_request&) { return answer{.status = status::etmpfail}; });
    const auto done = run(all(), strategy({.tracer = &tracer}));
    EXPECT_TRUE(done->has_succeeded());
    EXPECT_EQ(done->result.retry_attempts, 1U);
    EXPECT_EQ(tracer.seen.made, 5) << "the call and both attempts";
    EXPECT_EQ(tracer.seen.open_max, 2);
    EXPECT_EQ(tracer.seen.errors, 1);
    EXPECT_EQ(tracer.seen.open, 0);
}

}  // namespace reprise::engine::testing::strategy_attempts_tests
