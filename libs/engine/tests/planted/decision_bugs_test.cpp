#include <gtest/gtest.h>

#include <reprise/retry/budget.hpp>

#include "engine_driver.hpp"
#include "planted_choice.hpp"
#include "server_schedule.hpp"

// Each planted bug about decisions and retries, seen on the smallest script that shows it.

namespace reprise::engine::testing {
namespace decision_bugs_tests {

using namespace std::chrono_literals;
using wire::opcode;
using wire::status;
using answer = scripted_cluster::scripted_answer;

constexpr std::size_t always = 1'000'000;

scripted_cluster::hook refuse(opcode op, status code, std::size_t count) {
    return [op, code, left = count](const seen_request& seen) mutable -> std::optional<answer> {
        if (seen.op != op || left == 0) {
            return std::nullopt;
        }
        --left;
        return answer{.status = code};
    };
}

scripted_cluster::hook ignore(opcode op) {
    return [op](const seen_request& seen) -> std::optional<answer> {
        return seen.op == op ? std::optional(answer{.is_silent = true}) : std::nullopt;
    };
}

duration first_gap(const scripted_cluster& cluster, opcode op) {
    const auto seen = cluster.all(op);
    return seen.size() < 2 ? duration::max() : seen[1].at - seen[0].at;
}

class fixed_strategy final : public request_strategy {
public:
    explicit fixed_strategy(std::optional<duration> delay) : delay_(delay) {}
    void retry_after(const request_snapshot&, retry_reason, retry_sink& sink) override {
        ++asked;
        sink.answer(delay_ ? retry_action::after(*delay_) : retry_action::no());
    }
    int asked = 0;

private:
    std::optional<duration> delay_;
};

class slow_strategy final : public request_strategy {
public:
    void retry_after(const request_snapshot&, retry_reason, retry_sink& sink) override {
        pending = sink.defer();
    }
    deferred_answer pending;
};

// How long an upsert with a timeout of 400 ms takes if every answer is not-my-vbucket.
duration time_of_hopeless_upsert() {
    scripted_cluster cluster(1);
    engine_driver driver(cluster);
    driver.connect();
    cluster.on_request = refuse(opcode::set, status::not_my_vbucket, always);
    auto request = driver.request(operation_kind::upsert, "k", "v");
    request.timeout = 400ms;
    const time_point started = driver.now;
    const auto stored = driver.start(std::move(request));
    driver.advance(5s);
    return stored->calls == 0 ? duration::max() : stored->at - started;
}

// How many frames of `op` reach the server if the connection is lost with one in flight.
std::size_t sent_around_a_close(operation_kind kind, opcode op) {
    scripted_cluster cluster(1);
    engine_driver driver(cluster);
    driver.connect();
    cluster.on_request = ignore(op);
    driver.start(driver.request(kind, "k", "v"));
    driver.advance(10ms);
    cluster.on_request = nullptr;
    driver.close_node(0);
    driver.advance(1s);
    return cluster.count(op);
}

std::shared_ptr<token_bucket> bucket_of(double initial) {
    return std::make_shared<token_bucket>(
        token_bucket_options{.capacity = 100, .initial = initial});
}

// Whether an upsert is told as ambiguous when it times out.
bool is_timeout_ambiguous(scripted_cluster::hook hook) {
    scripted_cluster cluster(1);
    engine_driver driver(cluster);
    driver.connect();
    cluster.on_request = std::move(hook);
    auto request = driver.request(operation_kind::upsert, "k", "v");
    request.timeout = 20ms;
    const auto stored = driver.start(std::move(request));
    driver.advance(50ms);
    return stored->calls == 1 && stored->result.error->is_ambiguous;
}

}  // namespace decision_bugs_tests

using namespace decision_bugs_tests;

TEST(planted_decision_bugs, retry_write_after_close) {
    const auto seen = observe_both(bug::retry_write_after_close, [] {
        return sent_around_a_close(operation_kind::upsert, opcode::set);
    });
    EXPECT_EQ(seen.without, 1U);
    EXPECT_EQ(seen.with, 2U);
}

TEST(planted_decision_bugs, partial_write_counts_unsent) {
    const auto seen = observe_both(bug::partial_write_counts_unsent, [] {
        scripted_cluster cluster(1);
        engine_driver driver(cluster);
        driver.connect();
        cluster.on_request = ignore(opcode::set);
        driver.write_room = 60;  // the first of the two, and a part of the second
        driver.upsert("k", "v");
        driver.upsert("l", "v");
        driver.settle();
        driver.write_room = std::size_t(-1);
        cluster.on_request = nullptr;
        driver.close_node(0);
        driver.advance(1s);
        return cluster.count(opcode::set);
    });
    EXPECT_EQ(seen.without, 1U);
    EXPECT_EQ(seen.with, 3U);
}

TEST(planted_decision_bugs, counter_counts_as_read) {
    const auto seen = observe_both(bug::counter_counts_as_read, [] {
        return sent_around_a_close(operation_kind::increment, opcode::increment);
    });
    EXPECT_EQ(seen.without, 1U);
    EXPECT_EQ(seen.with, 2U);
}

TEST(planted_decision_bugs, forget_cap) {
    const auto seen = observe_both(bug::forget_cap, time_of_hopeless_upsert);
    EXPECT_EQ(seen.without, 400ms);
    EXPECT_EQ(seen.with, 661ms);
}

TEST(planted_decision_bugs, deadline_off_by_delay) {
    const auto seen = observe_both(bug::deadline_off_by_delay, time_of_hopeless_upsert);
    EXPECT_EQ(seen.without, 400ms);
    EXPECT_GT(seen.with, 1s);
}

TEST(planted_decision_bugs, ladder_off_by_one) {
    const auto seen = observe_both(bug::ladder_off_by_one, [] {
        scripted_cluster cluster(1);
        engine_driver driver(cluster);
        driver.connect();
        cluster.on_request = refuse(opcode::set, status::not_my_vbucket, 1);
        driver.upsert("k", "v");
        driver.advance(1s);
        return first_gap(cluster, opcode::set);
    });
    EXPECT_EQ(seen.without, 1ms);
    EXPECT_EQ(seen.with, 10ms);
}

TEST(planted_decision_bugs, retry_too_early) {
    const auto seen = observe_both(bug::retry_too_early, [] {
        scripted_cluster cluster(1);
        engine_driver driver(cluster, {.not_my_vbucket_delay = 100ms});
        driver.connect();
        cluster.on_request = refuse(opcode::set, status::not_my_vbucket, 1);
        driver.upsert("k", "v");
        driver.advance(1s);
        return first_gap(cluster, opcode::set);
    });
    EXPECT_EQ(seen.without, 100ms);
    EXPECT_EQ(seen.with, 50ms);
}

TEST(planted_decision_bugs, always_retry_asks_strategy) {
    const auto seen = observe_both(bug::always_retry_asks_strategy, [] {
        const auto strategy = std::make_shared<fixed_strategy>(std::nullopt);
        scripted_cluster cluster(1);
        engine_driver driver(cluster, {.strategy = strategy});
        driver.connect();
        cluster.on_request = refuse(opcode::set, status::not_my_vbucket, 1);
        driver.upsert("k", "v");
        driver.advance(1s);
        return strategy->asked;
    });
    EXPECT_EQ(seen.without, 0);
    EXPECT_EQ(seen.with, 1);
}

TEST(planted_decision_bugs, not_my_vbucket_leaked) {
    const auto seen = observe_both(bug::not_my_vbucket_leaked, [] {
        scripted_cluster cluster(1);
        engine_driver driver(cluster);
        driver.connect();
        cluster.on_request = refuse(opcode::set, status::not_my_vbucket, 4);
        const auto stored = driver.upsert("k", "v");
        driver.advance(1s);
        return stored->result.has_value();
    });
    EXPECT_TRUE(seen.without);
    EXPECT_FALSE(seen.with);
}

TEST(planted_decision_bugs, strategy_delay_ignored) {
    const auto seen = observe_both(bug::strategy_delay_ignored, [] {
        scripted_cluster cluster(1);
        engine_driver driver(cluster, {.strategy = std::make_shared<fixed_strategy>(30ms)});
        driver.connect();
        cluster.on_request = refuse(opcode::set, status::locked, 1);
        driver.upsert("k", "v");
        driver.advance(1s);
        return first_gap(cluster, opcode::set);
    });
    EXPECT_EQ(seen.without, 30ms);
    EXPECT_EQ(seen.with, 1ms);
}

TEST(planted_decision_bugs, late_answer_lost) {
    const auto seen = observe_both(bug::late_answer_lost, [] {
        const auto strategy = std::make_shared<slow_strategy>();
        scripted_cluster cluster(1);
        engine_driver driver(cluster, {.strategy = strategy});
        driver.connect();
        cluster.on_request = refuse(opcode::set, status::locked, 2);
        const auto stored = driver.upsert("k", "v");
        for (int round = 0; round < 2; ++round) {
            driver.advance(10ms);
            strategy->pending.answer(retry_action::after(1ms));
            driver.engine().on_wake(driver.now);
        }
        driver.advance(100ms);
        return stored->calls;
    });
    EXPECT_EQ(seen.without, 1);
    EXPECT_EQ(seen.with, 0);
}

TEST(planted_decision_bugs, double_refund) {
    const auto seen = observe_both(bug::double_refund, [] {
        const auto bucket = bucket_of(50);
        scripted_cluster cluster(1);
        engine_driver driver(cluster, {.retry_budget = bucket_budget(bucket)});
        driver.connect();
        driver.upsert("k", "v");
        driver.advance(10ms);
        return bucket->level();
    });
    EXPECT_EQ(seen.without, 51'000);
    EXPECT_EQ(seen.with, 52'000);
}

TEST(planted_decision_bugs, budget_charged_on_refusal) {
    const auto seen = observe_both(bug::budget_charged_on_refusal, [] {
        const auto bucket = bucket_of(50);
        scripted_cluster cluster(1);
        engine_driver driver(
            cluster, {.strategy = std::make_shared<fixed_strategy>(std::nullopt),
                      .retry_budget = bucket_budget(bucket)});
        driver.connect();
        cluster.on_request = refuse(opcode::set, status::locked, 1);
        driver.upsert("k", "v");
        driver.advance(10ms);
        return bucket->level();
    });
    EXPECT_EQ(seen.without, 50'000);
    EXPECT_EQ(seen.with, 45'000);
}

TEST(planted_decision_bugs, parked_bound_ignored) {
    const auto seen = observe_both(bug::parked_bound_ignored, [] {
        scripted_cluster cluster(1);
        engine_driver driver(cluster, {.not_my_vbucket_delay = 1s, .parked_count_max = 1});
        driver.connect();
        cluster.on_request = refuse(opcode::set, status::not_my_vbucket, always);
        driver.upsert("k", "v");
        driver.upsert("l", "v");
        driver.settle();
        return driver.engine().statistics().operations_parked;
    });
    EXPECT_EQ(seen.without, 1U);
    EXPECT_EQ(seen.with, 2U);
}

TEST(planted_decision_bugs, timeout_hides_ambiguity) {
    const auto seen = observe_both(
        bug::timeout_hides_ambiguity, [] { return is_timeout_ambiguous(ignore(opcode::set)); });
    EXPECT_TRUE(seen.without);
    EXPECT_FALSE(seen.with);
}

TEST(planted_decision_bugs, timeout_invents_ambiguity) {
    const auto seen = observe_both(bug::timeout_invents_ambiguity, [] {
        return is_timeout_ambiguous(refuse(opcode::set, status::locked, always));
    });
    EXPECT_FALSE(seen.without);
    EXPECT_TRUE(seen.with);
}

TEST(planted_decision_bugs, cancel_hides_ambiguity) {
    const auto seen = observe_both(bug::cancel_hides_ambiguity, [] {
        scripted_cluster cluster(1);
        engine_driver driver(cluster);
        driver.connect();
        cluster.on_request = ignore(opcode::set);
        const auto stored = driver.upsert("k", "v");
        driver.advance(10ms);
        driver.engine().cancel(driver.last_id, driver.now);
        driver.settle();
        return stored->calls == 1 && stored->result.error->is_ambiguous;
    });
    EXPECT_TRUE(seen.without);
    EXPECT_FALSE(seen.with);
}

TEST(planted_decision_bugs, error_map_count_not_reset) {
    const auto seen = observe_both(bug::error_map_count_not_reset, [] {
        wire::retry_spec spec;
        spec.interval = 10ms;
        server_schedule schedule;
        static_cast<void>(schedule.on_failure(0x7ff0, &spec, time_point{1h}));
        static_cast<void>(schedule.on_failure(0x7ff0, &spec, time_point{1h}));
        return schedule.on_failure(0x7ff1, &spec, time_point{1h})->retries;
    });
    EXPECT_EQ(seen.without, 0U);
    EXPECT_EQ(seen.with, 2U);
}

TEST(planted_decision_bugs, history_torn) {
    const auto seen = observe_both(bug::history_torn, [] {
        scripted_cluster cluster(1);
        engine_driver driver(cluster);
        driver.connect();
        cluster.on_request = refuse(opcode::set, status::locked, 6);
        const auto stored = driver.upsert("k", "v");
        driver.advance(1s);
        return stored->result.history->entries.size();
    });
    EXPECT_EQ(seen.without, 6U);
    EXPECT_EQ(seen.with, 2U);
}

TEST(planted_decision_bugs, cas_of_answer_lost) {
    const auto seen = observe_both(bug::cas_of_answer_lost, [] {
        scripted_cluster cluster(1);
        engine_driver driver(cluster);
        driver.connect();
        cluster.on_request = refuse(opcode::set, status::locked, 1);
        const auto stored = driver.upsert("k", "v");
        driver.advance(1s);
        return stored->result.cas;
    });
    EXPECT_EQ(seen.without, 1001U);
    EXPECT_EQ(seen.with, 0U);
}

TEST(planted_decision_bugs, increment_doubled_on_retry) {
    const auto seen = observe_both(bug::increment_doubled_on_retry, [] {
        scripted_cluster cluster(1);
        engine_driver driver(cluster);
        driver.connect();
        cluster.on_request = refuse(opcode::increment, status::locked, 1);
        driver.start(driver.request(operation_kind::increment, "k"));
        driver.advance(1s);
        return int{cluster.all(opcode::increment).at(1).extras.at(7)};  // end of the delta
    });
    EXPECT_EQ(seen.without, 1);
    EXPECT_EQ(seen.with, 2);
}

}  // namespace reprise::engine::testing
