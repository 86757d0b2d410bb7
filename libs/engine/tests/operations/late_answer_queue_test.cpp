#include <gtest/gtest.h>

#include <atomic>
#include <latch>
#include <thread>

#include "engine_driver.hpp"
#include "operations/late_answer_queue.hpp"

// Strategies that answer late, twice or never, and requests that have ended by then.

namespace reprise::engine::testing::late_answers_tests {

// Keeps every question.
class hoarding_strategy final : public driver::retry_strategy {
public:
    void retry_after(const driver::retry_question&, driver::retry_sink& sink) override {
        questions.push_back(sink.defer());
    }
    std::vector<driver::deferred_answer> questions;
};

struct hoarding_scene {
    explicit hoarding_scene(status answered = status::etmpfail) {
        options.strategy = strategy;
        driver = std::make_unique<engine_driver>(cluster, options);
        driver->connect();
        cluster.answer_all(opcode::set, {.status = answered});
    }
    void answer_all() {
        for (driver::deferred_answer& question : strategy->questions) {
            question.answer(driver::retry_action::after(0ms));
        }
        driver->engine().on_wake(driver->now);
        driver->settle();
    }

    scripted_cluster cluster{1};
    engine_options options;
    std::shared_ptr<hoarding_strategy> strategy = std::make_shared<hoarding_strategy>();
    std::unique_ptr<engine_driver> driver;
};

TEST(late_answers, RH_44_a_strategy_that_never_answers_costs_the_request_its_timeout_and_no_more) {
    hoarding_scene scene;
    const time_point started = scene.driver->now;
    const auto stored = scene.driver->upsert("k", "v");
    const auto read = scene.driver->get("k");
    scene.driver->advance(2499ms);
    EXPECT_EQ(stored->calls, 0);
    EXPECT_EQ(read->calls, 1) << "no other operation waits";
    scene.driver->advance(1ms);
    ASSERT_EQ(stored->calls, 1);
    EXPECT_EQ(stored->at - started, 2500ms);
    EXPECT_EQ(stored->result.ec, errc::unambiguous_timeout);
    EXPECT_EQ(stored->result.error->last_reason, retry_reason::kv_temporary_failure);
    scene.answer_all();
    scene.driver->advance(5s);
    EXPECT_EQ(stored->calls, 1);
    EXPECT_EQ(scene.cluster.count(opcode::set), 1U);
}

TEST(
    late_answers,
    RH_44_an_answer_for_a_request_that_ended_does_not_reach_the_next_one_in_its_slot) {
    hoarding_scene scene;
    const auto ended = scene.driver->upsert("k", "v");
    scene.driver->settle();
    ASSERT_TRUE(scene.driver->engine().cancel(scene.driver->last_id, scene.driver->now));
    scene.driver->settle();
    const auto next = scene.driver->upsert("k", "v");
    scene.driver->settle();
    ASSERT_EQ(scene.strategy->questions.size(), 2U);
    scene.strategy->questions[0].answer(driver::retry_action::no());
    scene.driver->engine().on_wake(scene.driver->now);
    scene.driver->advance(10ms);
    EXPECT_EQ(ended->calls, 1);
    EXPECT_EQ(next->calls, 0);
    EXPECT_EQ(scene.cluster.count(opcode::set), 2U);
}

TEST(late_answers, RH_44_a_second_answer_to_an_older_question_of_the_same_request_is_ignored) {
    hoarding_scene scene;
    const auto stored = scene.driver->upsert("k", "v");
    scene.driver->settle();
    scene.strategy->questions[0].answer(driver::retry_action::after(1ms));
    scene.driver->engine().on_wake(scene.driver->now);
    scene.driver->advance(2ms);
    ASSERT_EQ(scene.strategy->questions.size(), 2U);
    scene.strategy->questions[0].answer(driver::retry_action::no());
    scene.driver->engine().on_wake(scene.driver->now);
    scene.driver->settle();
    EXPECT_EQ(stored->calls, 0);
    scene.strategy->questions[1].answer(driver::retry_action::no(errc::document_locked));
    scene.driver->engine().on_wake(scene.driver->now);
    scene.driver->settle();
    EXPECT_EQ(stored->code(), errc::document_locked);
    EXPECT_EQ(stored->result.retry_attempts, 1U);
}

TEST(late_answers, RH_44_close_completes_a_thousand_parked_requests_once_each) {
    hoarding_scene scene;
    std::vector<engine_driver::outcome_ptr> all;
    for (int index = 0; index < 500; ++index) {
        const std::string key = "k" + std::to_string(index);
        all.push_back(scene.driver->upsert(key, "v"));  // with the strategy
        auto other = scene.driver->request(operation_kind::upsert, key, "v");
        other.terms().strategy = std::make_shared<best_effort_strategy>();
        all.push_back(scene.driver->start(std::move(other)));  // in a backoff
    }
    scene.driver->settle();
    EXPECT_EQ(scene.driver->engine().statistics().operations_parked, 1000U);
    scene.driver->engine().close(scene.driver->now);
    scene.driver->settle();
    scene.answer_all();
    scene.driver->advance(10s);
    for (const auto& one : all) {
        ASSERT_EQ(one->code(), errc::request_canceled);
        ASSERT_FALSE(one->result.error->is_ambiguous);
    }
    EXPECT_EQ(scene.driver->engine().statistics().operations_parked, 0U);
    EXPECT_FALSE(scene.driver->engine().next_due().has_value());
}

// A strategy answered on a thread of its own while the client was destroyed. Its hook still held
// the driver, posted to a loop that had ended, and dropped the last reference to the engine under
// the lock of the queue: the engine's destructor waited for that lock forever.
TEST(late_answers, RH_44_no_hook_runs_once_close_has_returned) {
    hoarding_scene scene;
    scene.driver->upsert("k", "v");
    scene.driver->upsert("l", "v");
    scene.driver->settle();
    ASSERT_EQ(scene.strategy->questions.size(), 2U);
    std::latch entered(1);
    std::latch closing(1);
    std::atomic<int> begun = 0;
    std::atomic<int> ended = 0;
    scene.driver->engine().set_wake_hook([&] {
        ++begun;
        entered.count_down();
        closing.wait();
        for (int turn = 0; turn < 1000; ++turn) {
            std::this_thread::yield();
        }
        ++ended;
    });
    std::thread answering(
        [&] { scene.strategy->questions[0].answer(driver::retry_action::after(0ms)); });
    entered.wait();
    closing.count_down();
    scene.driver->engine().close(scene.driver->now);
    EXPECT_EQ(ended, 1) << "close waits for a hook that runs";
    scene.strategy->questions[1].answer(driver::retry_action::after(0ms));
    EXPECT_EQ(begun, 1) << "the loop may be gone";
    answering.join();
}

TEST(late_answers, RH_03_a_late_no_may_name_the_error_and_a_negative_delay_is_now) {
    hoarding_scene scene;
    const auto stored = scene.driver->upsert("k", "v");
    scene.driver->settle();
    scene.cluster.on_request = nullptr;
    scene.strategy->questions[0].answer(driver::retry_action::after(-1h));
    scene.driver->engine().on_wake(scene.driver->now);
    const time_point answered = scene.driver->now;
    scene.driver->settle();
    EXPECT_TRUE(stored->has_succeeded());
    EXPECT_EQ(stored->at, answered);
}

TEST(late_answers, a_closed_queue_is_empty_and_takes_no_more_answers) {
    late_answer_queue queue;
    int wakes = 0;
    queue.set_hook([&] { ++wakes; });
    queue.post({1, 1}, driver::retry_action::no(), {});
    EXPECT_EQ(wakes, 1);
    queue.close();
    EXPECT_TRUE(queue.take().empty());
    queue.post({2, 1}, driver::retry_action::no(), {});
    EXPECT_TRUE(queue.take().empty());
    EXPECT_EQ(wakes, 1);
}

}  // namespace reprise::engine::testing::late_answers_tests
