#pragma once

#include <any>
#include <functional>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "engine_context.hpp"
#include "operations/decision_log.hpp"
#include "operations/fail_fast_strategy.hpp"
#include "operations/late_answer_queue.hpp"
#include "operations/operation_base.hpp"
#include "operations/operation_names.hpp"
#include "operations/operation_watch.hpp"
#include "operations/retry_rules.hpp"
#include "topology/endpoint_table.hpp"
#include "topology/own_requests.hpp"

namespace reprise::engine {

// Facts about an operation that the orchestrator needs.
struct retry_subject {
    operation_names names{};
    operation_base* operation = nullptr;  // null: a request of the client itself
    time_point started{};
    time_point deadline = driver::no_deadline;
    const std::any* user_data = nullptr;
    driver::retry_strategy* strategy = nullptr;  // null: the client's
    driver::retry_allowance* allowance = nullptr;
    driver::retry_budget* budget = nullptr;  // charged unless the strategy has its own; null: none
    driver::decision_ticket ticket{};
    driver::retry_progress* progress = nullptr;  // never null
    reprise::detail::call_attachments* attached = nullptr;
    std::int32_t asked = -1;  // the client's own requests: number of the endpoint
};

// Drives the retry library's orchestrator for the operations of all services and for the client's
// own requests. Records each decision in the operation's history and in the log.
//
//     begin -> try_start_attempt -> on_end
//                 note_failure, decide -> an outcome: retry or fail
//                                      -> nothing: the strategy answers later
//                                         -> take_answers -> on_answer -> an outcome
//
class operation_retries final : public own_request_rules {
public:
    operation_retries(engine_context& context, endpoint_table& endpoints);

    // `names_of(slot)` is found by the type of the slot. It is only called where a name is needed,
    // which is not the case for an operation that succeeds at once.
    template <class Slot>
    [[nodiscard]] retry_subject subject_of(Slot& slot);

    // The operation starts. Returns the delay before its first attempt.
    template <class Slot>
    [[nodiscard]] duration begin(Slot& slot, time_point now) {
        const driver::retry_strategy* const own = slot.request.own_strategy();
        slot.is_plain = own == nullptr ? has_plain_strategy_ : is_plain(own->traits());
        if (slot.is_plain) [[likely]] {
            slot.progress.on_start({});
            return duration::zero();
        }
        return begin(subject_of(slot), now);
    }
    // Before each request. One that continues an attempt is always allowed. An outcome: the circuit
    // breaker of the operation's strategy is open, and the attempt is not made.
    template <class Slot>
    [[nodiscard]] std::optional<retry_outcome> try_start_attempt(Slot& slot, time_point now) {
        return slot.attached == nullptr ? std::nullopt : start_attempt(subject_of(slot), now);
    }
    // The attempt was answered so far and waits for its next request or its reader. What goes wrong
    // until `resume_attempt` or the next request is not held against the server.
    static void pause_attempt(operation_base& operation, time_point now) noexcept {
        if (operation.attached != nullptr) {
            operation.attached->pause(now);
        }
    }
    static void resume_attempt(operation_base& operation) noexcept {
        if (operation.attached != nullptr) {
            operation.attached->resume();
        }
    }

    // Stores the failed attempt that the next question is about.
    static void note_failure(operation_base& operation, const failed_attempt& failed) noexcept {
        operation.failed = failed;
        operation.last_reason = failed.reason;
        operation.has_attempt = false;
        ++operation.decision;
    }
    // Empty if the strategy will answer later.
    [[nodiscard]] std::optional<retry_outcome> decide(
        const retry_case& failed, const retry_subject& subject, time_point now);
    [[nodiscard]] retry_outcome on_answer(
        const retry_subject& subject, late_answer_queue::entry& late, time_point now);
    // A capped retry is woken before the deadline: it is charged now. An outcome: it is not made.
    [[nodiscard]] std::optional<retry_outcome> on_woken(
        const retry_subject& subject, time_point now);
    // Returns what was taken for a retry that is not made after all: its wait was canceled, there
    // is no place for it, or a circuit breaker is open.
    void forgo_retry(const retry_subject& subject, time_point now);
    // The operation has ended, with an error or without.
    template <class Slot>
    void end(Slot& slot, const std::error_code& error, time_point now) {
        const bool is_silent = slot.is_plain && !slot.progress.has_unmade_retry() &&
                               context_.client.budgets.of(names_of(slot).service) == nullptr;
        if (!is_silent) [[unlikely]] {
            end_with_strategy(slot, error, now);
        }
    }

    void on_end(const retry_subject& subject, std::error_code error, time_point now);

    // The client's observers of operations.
    [[nodiscard]] const operation_watch& watch() const noexcept { return watch_; }

    // --- the client's own requests ---

    [[nodiscard]] std::optional<duration> decide(
        const own_failure& what, const retry_case& failed, time_point now) override;
    void report_retry(
        const own_failure& what, const failed_attempt& failed, duration delay,
        time_point now) override;
    [[nodiscard]] driver::retry_strategy& own_strategy() noexcept { return own_strategy_; }

    // --- late answers, and the log's timer ---

    [[nodiscard]] std::vector<late_answer_queue::entry> take_answers() {
        return late_answers_->take();
    }
    void set_wake_hook(std::function<void()> hook) { late_answers_->set_hook(std::move(hook)); }
    void on_log_due(time_point now);
    // Writes the pending summaries, because no timer will fire any more.
    void flush_log();
    // Ignores late answers from now on.
    void close_late_answers() noexcept { late_answers_->close(); }

private:
    class recorder;
    struct reported_attempt {
        const operation_names& names;
        const failed_attempt& failed;
        const retry_outcome& decided;
        std::uint32_t retries = 0;  // before this failure
        std::int32_t endpoint = -1;
    };

    // Nothing happens when a request of such a strategy starts or succeeds.
    [[nodiscard]] static bool is_plain(const driver::strategy_traits& traits) noexcept {
        return traits.only_answers && !traits.has_attachments();
    }
    [[nodiscard]] driver::retry_strategy& strategy_of(
        driver::retry_strategy* of_request) const noexcept {
        return of_request != nullptr ? *of_request : *strategy_;
    }
    // Apart, so that the ends that nobody asks about need no room for a subject.
    template <class Slot>
    [[gnu::noinline]] void end_with_strategy(
        Slot& slot, const std::error_code& error, time_point now) {
        on_end(subject_of(slot), error, now);
    }
    [[nodiscard]] driver::orchestrator<driver::retry_strategy> core_of(
        const retry_subject& subject) const;
    [[nodiscard]] duration begin(const retry_subject& subject, time_point now);
    [[nodiscard]] std::optional<retry_outcome> start_attempt(
        const retry_subject& subject, time_point now);
    [[nodiscard]] driver::request_terms terms_of(
        const retry_subject& subject, const driver::waiting_bound& bound);
    [[nodiscard]] driver::waiting_bound bound() const noexcept;
    void record(
        const retry_subject& subject, const failed_attempt& failed,
        const retry_history::entry& entry, const driver::retry_step& step, time_point now);
    void report(const reported_attempt& what, time_point now);
    static std::shared_ptr<driver::answer_channel> channel_of(void* self);

    engine_context& context_;
    endpoint_table& endpoints_;
    std::shared_ptr<late_answer_queue> late_answers_;
    std::shared_ptr<driver::retry_strategy> strategy_;
    bool has_plain_strategy_ = is_plain(strategy_->traits());
    fail_fast_strategy own_strategy_;
    decision_log& log_;  // the client's
    operation_watch watch_;
    engine_timer log_timer_{timer_kind::log};
};

template <class Slot>
retry_subject operation_retries::subject_of(Slot& slot) {
    retry_subject subject;
    subject.names = names_of(slot);
    subject.operation = &slot;
    subject.started = slot.started;
    subject.deadline = slot.deadline;
    subject.user_data = slot.request.own_user_data();
    subject.strategy = slot.request.own_strategy();
    subject.allowance = std::to_address(slot.request.outer_allowance);
    subject.budget = context_.client.budgets.of(subject.names.service);
    subject.ticket = {subject.names.id.value, slot.decision};
    subject.progress = &slot.progress;
    subject.attached = slot.attached.get();
    return subject;
}

}  // namespace reprise::engine
