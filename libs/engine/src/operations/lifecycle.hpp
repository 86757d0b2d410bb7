#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>

#include "engine_context.hpp"
#include "operations/completions.hpp"
#include "operations/decisions.hpp"
#include "operations/operation_base.hpp"

namespace reprise::engine {

// What the owner of an operation does after a decision about its failed attempt.
enum class next_step : std::uint8_t {
    fail,      // it ends with the error of the decision
    dispatch,  // it is tried again now
    park,      // it is parked for the delay of the decision, where the end of its cause wakes it
};

// How long an operation may take.
struct operation_time {
    std::optional<duration> timeout{};  // the user's
    duration usual = duration::max();   // without one
    time_point deadline = no_deadline;  // the user's; the earlier of both counts
};

// The one life cycle of operations, whatever their service. It owns the rules (state, timer, place
// among those that wait, decisions, exactly one completion); key-value and HTTP own their slots and
// know how to dispatch them.
//
//     start -> running -> queued -> in_flight -> complete
//               |   ^                   |
//               |   | leave: due, woken | leave: failed
//               v   |                   v
//              parked  <--- record <- decide -> deciding -> on_answer -> record
//
// No function calls back: what follows is returned, and the owner does it.
class lifecycle {
public:
    lifecycle(engine_context& context, decisions& decider, completions& ended) noexcept
        : context_(context), decider_(decider), ended_(ended) {}

    // A free operation runs.
    void start(
        operation_base& operation, completion&& done, const operation_time& time, time_point now);

    // --- waiting ---

    // Whether one more operation may wait. A retry that was admitted has been asked already.
    [[nodiscard]] bool has_place() const noexcept {
        return context_.parked_count < context_.options.parked_count_max;
    }
    // A retry waits for its time.
    template <class Slot>
    void park(Slot& slot, intrusive_list<Slot>& list, time_point due) {
        list.push_back(slot);
        wait(slot, operation_state::parked, due);
        slot.is_silent = false;
    }
    // It waits for what it needs, without a retry. There must be a place.
    template <class Slot>
    void park_silently(Slot& slot, intrusive_list<Slot>& list, time_point due) {
        list.push_back(slot);
        wait(slot, operation_state::parked, due);
        slot.is_silent = true;
    }
    // It waits for a connection to open, which takes a place.
    template <class Slot>
    void queue_waiting(Slot& slot, intrusive_list<Slot>& list, time_point due) {
        list.push_back(slot);
        wait(slot, operation_state::queued, due);
    }
    // It waits for its turn on an open connection, whose list has a bound of its own.
    template <class Slot>
    void queue_ready(Slot& slot, intrusive_list<Slot>& list) {
        list.push_back(slot);
        slot.state = operation_state::queued;
        arm(slot, slot.deadline);
    }
    // A connection has its request.
    void send(operation_base& operation);
    // It runs again: out of its list, its timer and its place. The owner takes it from its
    // connection.
    void leave(operation_base& operation) noexcept;

    // Looks at the operations that are in `list` now, in their order and at most `count_max`: `go`
    // takes those for which `goes` holds out of it, the others keep their places and times.
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

    // Asks what to do. Nothing: the strategy answers later, and until then the operation waits.
    [[nodiscard]] std::optional<retry_outcome> decide(
        operation_base& operation, const retry_case& failed, const retry_subject& subject,
        time_point now);
    // Whether this late answer is about the operation as it is now.
    [[nodiscard]] static bool is_awaited(
        const operation_base& operation, const answer_mailbox::letter& letter) noexcept {
        return operation.state == operation_state::deciding &&
               operation.decision == letter.ticket.decision;
    }
    [[nodiscard]] retry_outcome on_answer(
        operation_base& operation, const retry_subject& subject, answer_mailbox::letter& letter,
        time_point now);
    // There are too many that wait. Its reason is that of the retry before, if there was one.
    [[nodiscard]] static retry_outcome refuse_place(operation_base& operation);
    // Notes the decision about the failed attempt in history and log.
    [[nodiscard]] next_step record(
        operation_base& operation, const operation_names& names, const retry_outcome& decided,
        time_point now);

    // --- the end ---

    // The error with what every operation knows about its failure.
    [[nodiscard]] static std::shared_ptr<error_info> make_error(
        const operation_base& operation, std::error_code code);
    // Passes the result to the user. It is the only way there, and an operation that runs goes it
    // once: afterwards it is free.
    void complete(
        operation_base& operation, const retry_subject& subject, operation_result&& result,
        time_point now);
    // Ends an operation of the client's own, which has no user.
    void drop(operation_base& operation) noexcept;

private:
    void wait(operation_base& operation, operation_state state, time_point due);
    void arm(operation_base& operation, time_point due);

    engine_context& context_;
    decisions& decider_;
    completions& ended_;
};

}  // namespace reprise::engine
