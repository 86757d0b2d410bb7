#include <gtest/gtest.h>

#include <deque>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <reprise/retry/circuit_breaker.hpp>
#include <reprise/retry/retry_observer.hpp>

#include "engine_driver.hpp"

// The parts of a strategy work in the client as they do in loops: the delay of its initial token,
// its circuit breaker, its observer and its tracer.

namespace reprise::engine::testing::strategy_parts_tests {

class equipped_strategy final : public driver::retry_strategy {
public:
    explicit equipped_strategy(driver::strategy_traits traits) : retry_strategy(traits) {}
    duration first_delay{};
    int starts = 0;

    driver::decision on_start(
        driver::token_state& token, const driver::decision_context&) override {
        ++starts;
        token = driver::token_state{.delay = first_delay};
        return {};
    }
    void retry_after(const driver::retry_question& question, driver::retry_sink& sink) override {
        sink.answer(
            question.token.attempt < 3
                ? driver::retry_action::after(1ms)
                : driver::retry_action::no(refusal_reason::attempts_exhausted));
    }
};

class watching_observer final : public retry_observer {
public:
    std::vector<std::string> names;
    std::vector<retry_history::entry> decisions;
    std::vector<call_summary> ended;

    void on_decision(const decision_event& event) noexcept override {
        names.emplace_back(event.call);
        decisions.push_back(event.entry);
    }
    void on_completion(const call_summary& summary) noexcept override { ended.push_back(summary); }
};

// Keeps what each span was given; its text shows the spans in the order of their starts.
class recording_tracer final : public retry_tracer {
public:
    struct record {
        std::string name;
        bool has_parent = false;
        int ends = 0;
        std::string attributes;
    };
    std::deque<record> spans;  // live spans refer to the records

    std::unique_ptr<span> start_span(std::string_view name, span* parent) noexcept override {
        spans.push_back(
            {.name = std::string(name), .has_parent = parent != nullptr, .attributes = {}});
        return std::make_unique<recording_span>(spans.back());
    }
    std::string text() const {
        std::string all;
        for (const record& each : spans) {
            all += (each.has_parent ? "  " : "") + each.name + each.attributes;
            all += each.ends == 0 ? ": open\n" : each.ends == 1 ? "\n" : ": ended twice\n";
        }
        return all;
    }

private:
    class recording_span final : public span {
    public:
        explicit recording_span(record& kept) : kept_(kept) {}
        void set_attribute(std::string_view name, std::int64_t value) noexcept override {
            set_attribute(name, std::to_string(value));
        }
        void set_attribute(std::string_view name, std::string_view value) noexcept override {
            kept_.attributes += ' ' + std::string(name.substr(name.rfind('.') + 1)) + '=';
            kept_.attributes += value;
        }
        void end(bool is_error) noexcept override {
            ++kept_.ends;
            kept_.attributes += is_error ? " error" : " ok";
        }

    private:
        record& kept_;
    };
};

// Keeps the question until the test answers it.
class deferring_strategy final : public driver::retry_strategy {
public:
    explicit deferring_strategy(driver::strategy_traits traits) : retry_strategy(traits) {}
    driver::deferred_answer pending;

    void retry_after(const driver::retry_question&, driver::retry_sink& sink) override {
        pending = sink.defer();
    }
};

template <class Strategy>
struct client_with {
    explicit client_with(driver::strategy_traits traits = {})
        : strategy(std::make_shared<Strategy>(traits)), driver(cluster, options()) {
        driver.connect();
    }
    engine_options options() {
        engine_options made;
        made.strategy = strategy;
        return made;
    }
    void answer(const driver::retry_action& action) {
        strategy->pending.answer(action);
        driver.engine().on_wake(driver.now);
    }
    std::shared_ptr<Strategy> strategy;
    scripted_cluster cluster{1};
    engine_driver driver;
};

struct equipped_client : client_with<equipped_strategy> {
    explicit equipped_client(driver::strategy_traits traits = {}) : client_with(traits) {
        strategy->starts = 0;
    }
};

TEST(strategy_parts, SM_01_the_client_waits_for_the_delay_of_the_initial_token) {
    equipped_client with;
    with.strategy->first_delay = 20ms;
    const time_point begin = with.driver.now;
    const auto stored = with.driver.upsert("k", "v");
    EXPECT_EQ(with.strategy->starts, 1) << "before the first attempt";
    with.driver.advance(19ms);
    EXPECT_TRUE(with.cluster.all(opcode::set).empty());
    with.driver.advance(10ms);
    ASSERT_EQ(with.cluster.all(opcode::set).size(), 1U);
    EXPECT_EQ(with.cluster.all(opcode::set)[0].at - begin, 20ms);
    EXPECT_TRUE(stored->result.has_value());
    EXPECT_EQ(stored->result.retry_attempts, 0U);
}

TEST(strategy_parts, SM_01_a_first_delay_beyond_the_deadline_ends_in_a_timeout) {
    equipped_client with;
    with.strategy->first_delay = 1h;
    const auto stored = with.driver.after(10s, with.driver.upsert("k", "v"));
    EXPECT_EQ(stored->code(), errc::unambiguous_timeout);
    EXPECT_TRUE(with.cluster.all(opcode::set).empty());
}

TEST(strategy_parts, the_safe_preset_retries_with_jitter_until_its_bucket_is_empty) {
    const auto bucket = std::make_shared<token_bucket>(token_bucket::options{.capacity = 12});
    scripted_cluster cluster{1};
    engine_options options;
    options.strategy =
        std::make_shared<couchbase::budgeted_strategy>(driver::token_bucket_budget(bucket));
    engine_driver driver(cluster, options);
    driver.connect();
    cluster.refuse(opcode::set, status::etmpfail, 4);
    const auto stored = driver.after(100ms, driver.upsert("k", "v"));
    EXPECT_EQ(stored->code(), errc::temporary_failure);
    EXPECT_EQ(stored->result.retry_attempts, 2U) << "two of five units each";
    EXPECT_EQ(stored->result.history->refusal(), refusal_reason::budget_exhausted);
    EXPECT_EQ(bucket->available(), 2.0);
}

TEST(strategy_parts, an_open_breaker_of_the_strategy_keeps_requests_away) {
    for (const bool only_answers : {false, true}) {
        circuit_breaker breaker(
            {.volume_threshold = 2, .error_threshold_percent = 50, .sleep_window = 1s});
        equipped_client with({.only_answers = only_answers, .circuit = &breaker});
        with.cluster.refuse(opcode::set, status::etmpfail, 2);
        const auto failed = with.driver.after(100ms, with.driver.upsert("k", "v"));
        ASSERT_EQ(failed->code(), errc::temporary_failure);
        EXPECT_EQ(failed->result.history->refusal(), refusal_reason::circuit_open);
        ASSERT_EQ(breaker.state(), circuit_state::open);
        const auto refused = with.driver.settled(with.driver.upsert("k", "v"));
        ASSERT_EQ(refused->code(), errc::request_canceled);
        EXPECT_EQ(refused->result.error->last_reason, retry_reason::circuit_breaker_open);
        EXPECT_EQ(refused->result.history->refusal(), refusal_reason::circuit_open);
        EXPECT_EQ(with.cluster.all(opcode::set).size(), 2U) << "nothing more was sent";
        with.driver.advance(1s);
        const auto probe = with.driver.settled(with.driver.upsert("k", "v"));
        EXPECT_TRUE(probe->result.has_value());
        EXPECT_EQ(breaker.state(), circuit_state::closed);
    }
}

TEST(strategy_parts, its_observer_sees_each_decision_and_each_end_once) {
    watching_observer observer;
    equipped_client with({.observer = &observer});
    observer.ended.clear();
    with.cluster.refuse(opcode::set, status::locked, 1);
    with.driver.upsert("k", "v");
    with.driver.advance(100ms);
    ASSERT_EQ(observer.decisions.size(), 1U);
    EXPECT_EQ(observer.names[0], "upsert");
    EXPECT_EQ(observer.decisions[0].reason_as<retry_reason>(), retry_reason::kv_locked);
    EXPECT_EQ(observer.decisions[0].delay(), 1ms);
    ASSERT_EQ(observer.ended.size(), 1U);
    EXPECT_TRUE(observer.ended[0].is_success);
    EXPECT_EQ(observer.ended[0].attempts, 2U);
    EXPECT_EQ(observer.ended[0].total_time, 1ms);
    with.driver.get("nothing");
    with.driver.settle();
    ASSERT_EQ(observer.ended.size(), 2U);
    EXPECT_FALSE(observer.ended[1].is_success);
    EXPECT_EQ(observer.ended[1].attempts, 1U);
    with.cluster.refuse(opcode::set, status::locked, 100);
    with.driver.upsert("k", "v");
    with.driver.advance(100ms);
    ASSERT_EQ(observer.ended.size(), 3U);
    EXPECT_EQ(observer.ended[2].refusal, refusal_reason::attempts_exhausted);
    EXPECT_EQ(observer.ended[2].attempts, 3U);
}

TEST(strategy_parts, its_observer_is_notified_of_ends_without_a_decision) {
    watching_observer observer;
    equipped_client with({.observer = &observer});
    with.cluster.answer_all({opcode::set, opcode::get}, {.is_silent = true});
    const auto write = with.driver.upsert("k", "v");
    const auto read = with.driver.get("k");
    observer.ended.clear();
    with.driver.advance(10s);
    EXPECT_EQ(write->result.ec, errc::ambiguous_timeout);
    EXPECT_EQ(read->result.ec, errc::unambiguous_timeout);
    ASSERT_EQ(observer.ended.size(), 2U);
    EXPECT_EQ(observer.ended[0].refusal, refusal_reason::deadline);
    EXPECT_EQ(observer.ended[1].refusal, refusal_reason::deadline);
}

TEST(strategy_parts, an_operation_that_is_canceled_does_not_count_against_the_breaker) {
    watching_observer observer;
    circuit_breaker breaker(
        {.volume_threshold = 1, .error_threshold_percent = 50, .sleep_window = 1s});
    equipped_client with({.circuit = &breaker, .observer = &observer});
    with.cluster.answer_all(opcode::set, {.is_silent = true});
    observer.ended.clear();
    with.driver.upsert("k", "v");
    with.driver.settle();
    ASSERT_TRUE(with.driver.engine().cancel(with.driver.last_id, with.driver.now));
    with.driver.settle();
    ASSERT_EQ(observer.ended.size(), 1U);
    EXPECT_EQ(observer.ended[0].refusal, refusal_reason::canceled);
    EXPECT_EQ(breaker.state(), circuit_state::closed);
}

// The tracer of a strategy that only answers was ignored, unless it had a breaker or an observer.
TEST(strategy_parts, its_tracer_sees_one_span_for_each_operation_and_each_attempt) {
    for (const bool only_answers : {false, true}) {
        recording_tracer tracer;
        equipped_client with({.only_answers = only_answers, .tracer = &tracer});
        tracer.spans.clear();
        with.cluster.refuse(opcode::set, status::locked, 1);
        with.driver.after(100ms, with.driver.upsert("k", "v"));
        EXPECT_EQ(
            tracer.text(),
            "upsert attempts=2 ok\n"
            "  attempt attempt=1 type=9 error\n"
            "  attempt attempt=2 ok\n");
        tracer.spans.clear();
        with.cluster.refuse(opcode::set, status::locked, 100);
        with.driver.after(100ms, with.driver.upsert("k", "v"));
        EXPECT_EQ(
            tracer.text(),
            "upsert attempts=3 refusal=attempts exhausted type=103 error\n"
            "  attempt attempt=1 type=9 error\n"
            "  attempt attempt=2 type=9 error\n"
            "  attempt attempt=3 type=9 error\n");
    }
}

TEST(strategy_parts, spans_of_an_operation_whose_strategy_answers_late_end_once) {
    recording_tracer tracer;
    client_with<deferring_strategy> with({.tracer = &tracer});
    tracer.spans.clear();
    with.cluster.refuse(opcode::set, status::locked, 2);
    const auto stored = with.driver.after(10ms, with.driver.upsert("k", "v"));
    EXPECT_EQ(tracer.text(), "upsert: open\n  attempt attempt=1 type=9 error\n");
    with.answer(driver::retry_action::after(5ms));
    with.driver.advance(5ms);
    with.answer(driver::retry_action::after(5ms));
    with.driver.advance(5ms);
    ASSERT_TRUE(stored->has_succeeded());
    EXPECT_EQ(
        tracer.text(),
        "upsert attempts=3 ok\n"
        "  attempt attempt=1 type=9 error\n"
        "  attempt attempt=2 type=9 error\n"
        "  attempt attempt=3 ok\n");
}

TEST(strategy_parts, spans_of_canceled_operations_end_once) {
    recording_tracer tracer;
    client_with<deferring_strategy> with({.tracer = &tracer});
    with.cluster.answer_all(opcode::set, {.is_silent = true});
    const auto cancel = [&] {
        with.driver.settle();
        ASSERT_TRUE(with.driver.engine().cancel(with.driver.last_id, with.driver.now));
        with.driver.settle();
    };
    tracer.spans.clear();
    with.driver.upsert("k", "v");  // canceled while it is in flight
    cancel();
    EXPECT_EQ(
        tracer.text(),
        "upsert attempts=1 refusal=canceled type=2 error\n"
        "  attempt attempt=1 type=2 error\n");
    tracer.spans.clear();
    with.cluster.refuse(opcode::get, status::etmpfail, 1);
    with.driver.get("k");  // canceled before the strategy answers
    cancel();
    with.answer(driver::retry_action::after(0ms));
    with.driver.advance(1s);
    EXPECT_EQ(
        tracer.text(),
        "get attempts=1 refusal=canceled type=2 error\n"
        "  attempt attempt=1 type=134 error\n");
}

}  // namespace reprise::engine::testing::strategy_parts_tests
