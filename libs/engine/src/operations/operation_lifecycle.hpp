#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <utility>

#include "engine_context.hpp"
#include "operations/completions.hpp"
#include "operations/operation_base.hpp"
#include "operations/operation_retries.hpp"

namespace reprise::engine {

// The owner's next step after the decision about a failed attempt.
enum class next_step : std::uint8_t {
    fail,      // ends it with the error of the decision
    dispatch,  // tries it again now
    park,      // parks it for the delay of the decision, in a list that the end of its cause wakes
};

// How long an operation may take.
struct operation_time {
    std::optional<duration> timeout{};          // set by the user
    duration usual = duration::max();           // the default without it
    time_point deadline = driver::no_deadline;  // set by the user; the earlier one applies
};

// The life cycle of operations of all services. It owns the rules: state, timer, waiting place,
// decisions and exactly one completion. Key-value and HTTP own their slots and dispatch them.
//
//     start -> running -> queued -> in_flight -> complete
//               |   ^                   |
//               |   | leave: due, woken | leave: failed
//               v   |                   v
//              parked  <----------- decide -> deciding -> on_answer
//
// It never calls its owner: functions return what to do next.
class operation_lifecycle {
public:
    using ended_operation = completions::ended_operation;

    operation_lifecycle(
        engine_context& context, operation_retries& decider, completions& ended) noexcept
        : context_(context), decider_(decider), ended_(ended) {}

    // Starts a free operation, which is then running.
    void start(
        operation_base& operation, completion&& done, const operation_time& time, time_point now);

    // --- waiting ---

    // Whether one more operation may wait. The admission of a retry has already checked this.
    [[nodiscard]] bool has_place() const noexcept { return context_.client.waiting.has_place(); }
    // Parks the operation until its retry is due.
    template <class Slot>
    void park(Slot& slot, intrusive_list<Slot>& list, time_point due) {
        list.push_back(slot);
        wait(slot, operation_state::parked, due);
        slot.is_silent = false;
    }
    // Parks the operation without a retry until a resource is available. There must be a place.
    template <class Slot>
    void park_without_retry(Slot& slot, intrusive_list<Slot>& list, time_point due) {
        list.push_back(slot);
        wait(slot, operation_state::parked, due);
        slot.is_silent = true;
    }
    // Queues the operation for a connection that is not open yet. This takes a place.
    template <class Slot>
    void queue_waiting(Slot& slot, intrusive_list<Slot>& list, time_point due) {
        list.push_back(slot);
        wait(slot, operation_state::queued, due);
    }
    // Queues the operation on an open connection, whose list has its own bound.
    template <class Slot>
    [[gnu::always_inline]] void queue_ready(Slot& slot, intrusive_list<Slot>& list) {
        list.push_back(slot);
        slot.state = operation_state::queued;
        arm(slot, slot.deadline);
    }
    // A connection has taken the request.
    void send(operation_base& operation);
    // The same for the first operation of a connection's list, whose timer is armed already.
    template <class Slot>
    [[gnu::always_inline]] static void send_first(intrusive_list<Slot>& list) {
        Slot& slot = *list.front();
        list.drop_front();
        slot.state = operation_state::in_flight;
        slot.progress.on_made();
    }
    // Makes the operation run again: removes it from its list, its timer and its place. The owner
    // removes it from its connection.
    void leave(operation_base& operation) noexcept;

    // Visits the operations that are in `list` now, in order and at most `count_max`. If `goes`
    // returns true, `go` must remove the operation from the list. The others keep their places and
    // times.
    template <class Slot, class Goes, class Go>
    static void wake_if(
        intrusive_list<Slot>& list, Goes&& goes, Go&& go,
        std::size_t count_max = std::numeric_limits<std::size_t>::max()) {
        for (std::size_t left = std::min(list.size(), count_max); left > 0 && !list.empty();
             --left) {
            Slot& slot = *list.front();
            if (goes(slot)) {
                go(slot);
            } else {
                list.erase(slot);
                list.push_back(slot);
            }
        }
    }

    // --- failed attempts ---

    // Asks what to do. Empty if the strategy answers later; until then the operation waits.
    [[nodiscard]] std::optional<retry_outcome> decide(
        operation_base& operation, const retry_case& failed, const retry_subject& subject,
        time_point now);
    // Whether this late answer is about the operation's current question.
    [[nodiscard]] static bool is_awaited(
        const operation_base& operation, const late_answer_queue::entry& late) noexcept {
        return operation.state == operation_state::deciding &&
               operation.decision == late.ticket.decision;
    }
    [[nodiscard]] retry_outcome on_answer(
        operation_base& operation, const retry_subject& subject, late_answer_queue::entry& late,
        time_point now);
    // The operation is about to be sent. Charges a capped retry that was woken before the deadline.
    // Returns an outcome if nothing pays for it: then it is not sent.
    template <class Slot>
    [[nodiscard]] std::optional<retry_outcome> charge(Slot& slot, time_point now) {
        REPRISE_ASSERT(slot.state == operation_state::running);
        return slot.progress.is_charge_pending() ? decider_.on_woken(decider_.subject_of(slot), now)
                                                 : std::nullopt;
    }
    // Too many operations wait already. The reason is that of the last retry, if there was one.
    template <class Slot>
    [[nodiscard]] retry_outcome refuse_place(Slot& slot, time_point now) {
        const retry_case refused = without_place(slot);
        operation_retries::note_failure(slot, refused);
        const retry_subject subject = decider_.subject_of(slot);
        decider_.forgo_retry(subject, now);
        return *decider_.decide(refused, subject, now);
    }
    // The next step after the decision about the operation's last attempt.
    [[nodiscard]] static next_step step_after(
        const operation_base& operation, const retry_outcome& decided) noexcept;

    // --- the end ---

    // Builds the error from what every operation has recorded about its failure.
    [[nodiscard]] static std::shared_ptr<error_info> make_error(
        const operation_base& operation, std::error_code code);
    // Adds an empty result to the queue of completions. `complete_begun` or `drop_end` must follow
    // before anything else ends. A result that is decoded here is not moved on the way.
    [[nodiscard]] [[gnu::always_inline]] ended_operation& begin_end() { return ended_.add(); }
    void drop_end() noexcept { ended_.remove_last(); }
    // Passes the result that was begun to the user. This is the only way to complete, and a running
    // operation completes once: afterwards it is free. The entry stays where it is, although a
    // strategy or an observer may start an operation that ends at once.
    template <class Slot>
    [[gnu::always_inline]] void complete_begun(Slot& slot, ended_operation& ended, time_point now) {
        REPRISE_ASSERT(slot.state == operation_state::running);
        slot.state = operation_state::free;  // an observer finds nothing that it could cancel
        decider_.end(slot, ended.result.ec, now);
        if (decider_.watch().is_on()) [[unlikely]] {
            report_end(slot, ended.result.ec, now);
        }
        ended.result.retry_attempts = slot.progress.retries();
        ended.done.fill(std::move(slot.done));
        // A running operation has neither a timer nor a place.
        slot.attached.reset();
    }
    template <class Slot>
    void complete(Slot& slot, operation_result&& result, time_point now) {
        ended_operation& ended = begin_end();
        ended.result = std::move(result);
        complete_begun(slot, ended, now);
    }
    // Calls `hook` before the next completions, because rows are available.
    void notify(const std::function<void()>& hook) { ended_.notify(hook); }
    // Ends an operation of the client itself, which has no user.
    void drop(operation_base& operation) noexcept;

private:
    template <class Slot>
    [[gnu::noinline]] void report_end(
        const Slot& slot, const std::error_code& error, time_point now) {
        decider_.watch().on_end(names_of(slot), slot, error, now);
    }
    [[nodiscard]] static retry_case without_place(const operation_base& operation) noexcept;
    void wait(operation_base& operation, operation_state state, time_point due);
    void arm(operation_base& operation, time_point due);

    engine_context& context_;
    operation_retries& decider_;
    completions& ended_;
};

// Inline, because each operation passes through these.

inline void operation_lifecycle::start(
    operation_base& operation, completion&& done, const operation_time& time, time_point now) {
    REPRISE_ASSERT(operation.state == operation_state::free);
    operation.state = operation_state::running;
    operation.done.fill(std::move(done));
    operation.started = now;
    operation.deadline =
        std::min(time.deadline, driver::add_saturated(now, time.timeout.value_or(time.usual)));
}

[[gnu::always_inline]] inline void operation_lifecycle::arm(
    operation_base& operation, time_point due) {
    if (due != driver::no_deadline) {
        context_.wheel.arm(operation, due);
    }
}

inline void operation_lifecycle::wait(
    operation_base& operation, operation_state state, time_point due) {
    REPRISE_ASSERT(!operation.holds_place);
    operation.state = state;
    operation.holds_place = true;
    context_.client.waiting.take();
    arm(operation, due);
}

inline void operation_lifecycle::send(operation_base& operation) {
    if (operation.list() != nullptr) {
        operation.list()->erase(operation);
    }
    operation.state = operation_state::in_flight;
    operation.progress.on_made();
    if (!operation.is_armed()) {
        arm(operation, operation.deadline);
    }
}

[[gnu::always_inline]] inline void operation_lifecycle::leave(operation_base& operation) noexcept {
    REPRISE_ASSERT(operation.state != operation_state::free);
    context_.wheel.disarm(operation);
    if (operation.list() != nullptr) {
        operation.list()->erase(operation);
    }
    if (std::exchange(operation.holds_place, false)) {
        context_.client.waiting.release();
    }
    operation.state = operation_state::running;
}

}  // namespace reprise::engine
