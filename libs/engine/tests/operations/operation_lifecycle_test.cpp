#include "operations/operation_lifecycle.hpp"

#include <gtest/gtest.h>

#include <array>
#include <vector>

#include "engine_parts.hpp"

// The life cycle of operations without a service: the common part of key-value and HTTP.

namespace reprise::engine::testing::lifecycle_tests {

struct life_request {
    std::shared_ptr<const std::any> user_data;
    std::shared_ptr<driver::retry_strategy> strategy;
    driver::retry_allowance* outer_allowance = nullptr;

    [[nodiscard]] driver::retry_strategy* own_strategy() const { return strategy.get(); }
    [[nodiscard]] const std::any* own_user_data() const { return user_data.get(); }
};

struct life_slot : operation_base {
    life_slot() : operation_base(timer_kind::operation) {}
    life_request request;
};

operation_names names_of(const life_slot&) noexcept {
    return {"get", true, wire::service::key_value, operation_id{5}, "a key"};
}

// Keeps its sink until the test answers.
class late_strategy final : public driver::retry_strategy {
public:
    void retry_after(const driver::retry_question&, driver::retry_sink& sink) override {
        kept.push_back(sink.defer());
    }
    std::vector<driver::deferred_answer> kept;
};

struct one_life {
    explicit one_life(engine_options options = {}) : parts(std::move(options)) {}
    ~one_life() {
        if (slot.state != operation_state::free) {
            life.drop(slot);
        }
        decider.close_late_answers();
    }
    one_life(const one_life&) = delete;
    one_life& operator=(const one_life&) = delete;

    engine_parts parts;
    operation_retries decider{parts.context, parts.endpoints};
    completions ended;
    operation_lifecycle life{parts.context, decider, ended};
    life_slot slot;
    intrusive_list<life_slot> list;
    std::vector<operation_result> results;

    void start(operation_time time = {.usual = 1s}) {
        life.start(
            slot, [this](operation_result&& result) { results.push_back(std::move(result)); }, time,
            parts.now);
        static_cast<void>(decider.begin(slot, parts.now));
    }
    std::optional<retry_outcome> fail(retry_reason reason, attempt_stage stage) {
        retry_case failed;
        failed.reason = reason;
        failed.stage = stage;
        failed.own_error = errc::temporary_failure;
        operation_retries::note_failure(slot, failed);
        return life.decide(slot, failed, decider.subject_of(slot), parts.now);
    }
    [[nodiscard]] std::size_t waiting() const { return parts.client.waiting.count(); }
    void complete(operation_result&& result = {}) {
        life.complete(slot, std::move(result), parts.now);
    }
};

engine_options with_places(std::size_t count) {
    engine_options options;
    options.parked_count_max = count;
    return options;
}

TEST(operation_lifecycle, starts_with_the_earlier_of_timeout_and_deadline) {
    one_life with;
    with.start({.usual = 1s, .deadline = with.parts.now + 2s});
    EXPECT_EQ(with.slot.deadline, with.parts.now + 1s);
    with.complete();
    with.start({.timeout = 3s, .usual = 1s, .deadline = with.parts.now + 2s});
    EXPECT_EQ(with.slot.deadline, with.parts.now + 2s);
    EXPECT_EQ(with.slot.state, operation_state::running);
}

TEST(operation_lifecycle, completes_each_operation_once) {
    one_life with;
    with.start();
    with.complete();
    EXPECT_EQ(with.slot.state, operation_state::free);
    EXPECT_TRUE(with.results.empty()) << "users are called by the driver, not from here";
    with.ended.drain();
    EXPECT_EQ(with.results.size(), 1U);
    with.ended.drain();
    EXPECT_EQ(with.results.size(), 1U);
}

TEST(operation_lifecycle, an_operation_that_waits_has_a_place_a_timer_and_a_list_until_it_leaves) {
    one_life with;
    with.start();
    with.life.park(with.slot, with.list, with.parts.now + 10ms);
    EXPECT_EQ(with.slot.state, operation_state::parked);
    EXPECT_EQ(with.waiting(), 1U);
    EXPECT_EQ(with.slot.due(), with.parts.now + 10ms);
    EXPECT_EQ(with.slot.list(), &with.list);
    with.life.leave(with.slot);
    EXPECT_EQ(with.slot.state, operation_state::running);
    EXPECT_EQ(with.waiting(), 0U);
    EXPECT_FALSE(with.slot.is_armed());
    EXPECT_TRUE(with.list.empty());
}

TEST(operation_lifecycle, only_the_ready_list_of_an_open_connection_takes_no_place) {
    one_life with;
    with.start();
    with.life.queue_waiting(with.slot, with.list, with.slot.deadline);
    EXPECT_EQ(with.waiting(), 1U);
    with.life.leave(with.slot);
    with.life.queue_ready(with.slot, with.list);
    EXPECT_EQ(with.slot.state, operation_state::queued);
    EXPECT_EQ(with.waiting(), 0U);
    EXPECT_EQ(with.slot.due(), with.slot.deadline);
    with.life.send(with.slot);
    EXPECT_EQ(with.slot.state, operation_state::in_flight);
    EXPECT_TRUE(with.list.empty());
    EXPECT_EQ(with.slot.due(), with.slot.deadline) << "its deadline still counts";
}

TEST(operation_lifecycle, wakes_waiting_operations_in_order) {
    one_life with;
    std::array<life_slot, 3> slots;
    for (life_slot& each : slots) {
        with.life.start(each, {}, {.usual = 1s}, with.parts.now);
        with.life.park(each, with.list, with.parts.now + 10ms);
    }
    std::vector<life_slot*> woken;
    // The second stays. The others are queued again at once, which must not cause a loop.
    operation_lifecycle::wake_if(
        with.list, [&](const life_slot& each) { return &each != &slots[1]; },
        [&](life_slot& each) {
            woken.push_back(&each);
            with.life.leave(each);
            with.life.park(each, with.list, with.parts.now + 20ms);
        });
    EXPECT_EQ(woken, (std::vector{&slots[0], &slots[2]}));
    EXPECT_EQ(slots[1].due(), with.parts.now + 10ms) << "its backoff continues";
    EXPECT_EQ(with.waiting(), 3U);
    woken.clear();
    operation_lifecycle::wake_if(
        with.list, [](const life_slot&) { return true; },
        [&](life_slot& each) {
            woken.push_back(&each);
            with.life.drop(each);
        },
        2);
    EXPECT_EQ(woken.size(), 2U) << "the third came later";
    with.life.drop(*with.list.front());
    EXPECT_EQ(with.waiting(), 0U);
}

TEST(operation_lifecycle, a_retry_at_once_after_an_answer_skips_the_timer) {
    one_life with;
    with.start();
    retry_outcome at_once;
    at_once.is_retry = true;
    with.slot.failed.stage = attempt_stage::response;
    EXPECT_EQ(operation_lifecycle::step_after(with.slot, at_once), next_step::dispatch);
    with.slot.failed.stage = attempt_stage::dispatch;
    EXPECT_EQ(operation_lifecycle::step_after(with.slot, at_once), next_step::park)
        << "nothing was sent; without the timer this would be a busy loop";
    at_once.delay = 1ms;
    with.slot.failed.stage = attempt_stage::response;
    EXPECT_EQ(operation_lifecycle::step_after(with.slot, at_once), next_step::park);
}

TEST(operation_lifecycle, a_refused_retry_ends_the_operation_with_all_its_reasons) {
    one_life with;
    with.start();
    const auto retried = with.fail(retry_reason::kv_temporary_failure, attempt_stage::response);
    ASSERT_TRUE(retried);
    EXPECT_NE(operation_lifecycle::step_after(with.slot, *retried), next_step::fail);
    const auto refusal = with.fail(retry_reason::unknown, attempt_stage::response);
    ASSERT_TRUE(refusal);
    EXPECT_EQ(operation_lifecycle::step_after(with.slot, *refusal), next_step::fail);
    const auto error = operation_lifecycle::make_error(with.slot, refusal->error);
    EXPECT_EQ(error->code, errc::temporary_failure);
    EXPECT_EQ(error->retry_attempts, 1U);
    EXPECT_TRUE(error->retry_reasons.contains(retry_reason::kv_temporary_failure));
    EXPECT_FALSE(error->retry_reasons.contains(retry_reason::unknown));
}

TEST(operation_lifecycle, RH_13_a_capped_retry_that_is_woken_goes_on_only_if_it_is_paid_for) {
    one_life with;
    const auto strategy = std::make_shared<late_strategy>();
    driver::retry_allowance allowance(1);
    with.slot.request.strategy = strategy;
    with.slot.request.outer_allowance = &allowance;
    with.start();
    const auto wait_until_the_deadline = [&] {
        ASSERT_FALSE(with.fail(retry_reason::kv_temporary_failure, attempt_stage::response));
        strategy->kept.back().answer(driver::retry_action::after(1h));
        auto letters = with.decider.take_answers();
        const retry_outcome decided = with.life.on_answer(
            with.slot, with.decider.subject_of(with.slot), letters.at(0), with.parts.now);
        EXPECT_TRUE(decided.is_capped);
        with.life.park(with.slot, with.list, with.parts.now + decided.delay);
        with.life.leave(with.slot);
    };
    wait_until_the_deadline();
    EXPECT_EQ(allowance.left(), 1U);
    EXPECT_FALSE(with.life.charge(with.slot, with.parts.now));
    EXPECT_EQ(allowance.left(), 0U);
    EXPECT_FALSE(with.life.charge(with.slot, with.parts.now)) << "paid already";
    wait_until_the_deadline();
    const auto refusal = with.life.charge(with.slot, with.parts.now);
    ASSERT_TRUE(refusal);
    EXPECT_EQ(refusal->refusal, refusal_reason::outer_allowance);
    EXPECT_EQ(refusal->error, errc::temporary_failure);
}

TEST(operation_lifecycle, an_operation_without_a_place_fails_with_the_reason_of_its_last_retry) {
    one_life with(with_places(1));
    with.start();
    EXPECT_TRUE(with.life.has_place());
    with.parts.client.waiting.take();
    EXPECT_FALSE(with.life.has_place());
    const retry_outcome first = with.life.refuse_place(with.slot, with.parts.now);
    EXPECT_EQ(first.error, errc::retry_queue_full);
    EXPECT_EQ(first.refusal, refusal_reason::queue_full);
    EXPECT_EQ(with.slot.last_reason, retry_reason::socket_not_available);
    with.slot.last_reason = retry_reason::kv_locked;
    static_cast<void>(with.life.refuse_place(with.slot, with.parts.now));
    EXPECT_EQ(with.slot.last_reason, retry_reason::kv_locked);
    with.parts.client.waiting.release();
}

TEST(operation_lifecycle, an_operation_waits_for_a_late_answer_and_takes_only_its_own) {
    auto strategy = std::make_shared<late_strategy>();
    one_life with;
    with.slot.request.strategy = strategy;
    with.start();
    ASSERT_FALSE(with.fail(retry_reason::kv_temporary_failure, attempt_stage::response));
    EXPECT_EQ(with.slot.state, operation_state::deciding);
    EXPECT_EQ(with.waiting(), 1U);
    EXPECT_EQ(with.slot.due(), with.slot.deadline);
    strategy->kept.back().answer(driver::retry_action::after(5ms));
    auto letters = with.decider.take_answers();
    ASSERT_EQ(letters.size(), 1U);
    late_answer_queue::entry other = letters[0];
    ++other.ticket.decision;
    EXPECT_FALSE(operation_lifecycle::is_awaited(with.slot, other)) << "about another attempt";
    ASSERT_TRUE(operation_lifecycle::is_awaited(with.slot, letters[0]));
    const retry_outcome decided = with.life.on_answer(
        with.slot, with.decider.subject_of(with.slot), letters[0], with.parts.now);
    EXPECT_TRUE(decided.is_retry);
    EXPECT_EQ(decided.delay, 5ms);
    EXPECT_EQ(with.waiting(), 0U);
    EXPECT_FALSE(operation_lifecycle::is_awaited(with.slot, letters[0])) << "it runs";
}

}  // namespace reprise::engine::testing::lifecycle_tests
