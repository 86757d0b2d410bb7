#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "engine_context.hpp"
#include "operations/answer_mailbox.hpp"
#include "operations/decision_log.hpp"
#include "operations/fail_fast_strategy.hpp"
#include "operations/operation_base.hpp"
#include "operations/operation_names.hpp"
#include "operations/operation_watch.hpp"
#include "operations/retry_decider.hpp"
#include "topology/endpoint_table.hpp"
#include "topology/own_requests.hpp"

namespace reprise::engine {

// Asks the retry decider about the failed attempts of all services and of the client itself.
// Records each decision in the operation's history and in the log.
//
//     note_failure, decide -> an outcome: record, then retry or fail
//                          -> nothing: the strategy answers later -> take_answers -> on_answer:
//                          record, ...
//
class decisions final : public own_request_judge {
public:
    decisions(engine_context& context, endpoint_table& endpoints);

    template <class Slot>
    [[nodiscard]] retry_subject subject_of(Slot& slot, const operation_names& names);

    // Stores the failed attempt that the next question is about.
    static void note_failure(operation_base& operation, const failed_attempt& failed) noexcept {
        operation.failed = failed;
        operation.last_reason = failed.reason;
        ++operation.decision;
    }
    // Empty if the strategy will answer later.
    [[nodiscard]] std::optional<retry_outcome> decide(
        const retry_case& failed, const retry_subject& subject, time_point now);
    [[nodiscard]] retry_outcome on_answer(
        const operation_base& operation, const retry_subject& subject,
        answer_mailbox::letter& letter, time_point now);
    // A capped retry is woken. An outcome: it is not made.
    [[nodiscard]] std::optional<retry_outcome> on_woken(
        const operation_base& operation, const retry_subject& subject, time_point now) {
        return decider_.on_woken(operation.failed, subject, now);
    }
    void on_success(const retry_subject& subject, time_point now) noexcept {
        decider_.on_success(subject, now);
    }
    // Records the decision about the operation's last attempt.
    void record(
        operation_base& operation, const operation_names& names, const retry_outcome& decided,
        time_point now);

    // The client's observers of operations.
    [[nodiscard]] const operation_watch& watch() const noexcept { return watch_; }

    // --- the client's own requests ---

    [[nodiscard]] std::optional<duration> decide(
        const own_failure& what, const retry_case& failed, time_point now) override;
    void report_retry(
        const own_failure& what, const failed_attempt& failed, duration delay,
        time_point now) override;
    [[nodiscard]] retry_strategy& own_strategy() noexcept { return own_strategy_; }

    // --- late answers, and the log's timer ---

    [[nodiscard]] std::vector<answer_mailbox::letter> take_answers() { return mailbox_->take(); }
    void set_wake_hook(std::function<void()> hook) { mailbox_->set_hook(std::move(hook)); }
    void on_log_due(time_point now);
    // Writes the pending summaries, because no timer will fire any more.
    void flush_log();
    // Ignores late answers from now on.
    void close_mailbox() noexcept { mailbox_->close(); }

private:
    struct reported_attempt {
        std::string_view operation;
        const failed_attempt& failed;
        const retry_outcome& decided;
        std::uint32_t retries = 0;  // before this failure
        std::int32_t endpoint = -1;
        std::string_view key{};
        operation_id id{};
        wire::service service = wire::service::key_value;
    };
    void report(const reported_attempt& what, time_point now);

    engine_context& context_;
    endpoint_table& endpoints_;
    std::shared_ptr<answer_mailbox> mailbox_;
    retry_decider decider_;
    fail_fast_strategy own_strategy_;
    decision_log log_;
    operation_watch watch_;
    engine_timer log_timer_{timer_kind::log};
};

template <class Slot>
retry_subject decisions::subject_of(Slot& slot, const operation_names& names) {
    retry_subject subject;
    subject.operation = names.operation;
    subject.service = names.service;
    subject.is_idempotent = names.is_idempotent;
    subject.reasons = slot.reasons;
    subject.deadline = slot.deadline;
    subject.user_data = slot.request.user_data.get();
    subject.strategy = slot.request.strategy.get();
    subject.allowance = slot.request.outer_allowance;
    subject.budget = context_.client.budgets.of(names.service);
    subject.ticket = {names.id.value, slot.decision};
    subject.progress = &slot.progress;
    return subject;
}

}  // namespace reprise::engine
