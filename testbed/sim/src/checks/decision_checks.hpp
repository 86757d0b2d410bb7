#pragma once

#include <cstdint>
#include <optional>

#include <reprise/couchbase_types/operation_observer.hpp>
#include <reprise/engine/reason_table.hpp>

#include "checks/budget_checks.hpp"
#include "checks/client_views.hpp"
#include "checks/wait_checks.hpp"

namespace reprise::sim {

// Rejected because too many operations wait: the reason is that of the previous retry (RH-32),
// which had a different stage.
[[nodiscard]] inline bool carries_earlier_reason(
    const couchbase::decision_record& record) noexcept {
    return record.refusal == refusal_reason::queue_full &&
           record.stage == attempt_stage::dispatch &&
           engine::detail::stage_of(record.reason) != attempt_stage::dispatch;
}

// Questions to strategies, and the decisions that follow.
class decision_checks {
public:
    decision_checks(world& owner, client_views& views, budget_checks& budgets, wait_checks& waits);

    void on_asked(std::uint32_t operation, const driver::retry_question& asked);
    void on_strategy_answer(std::uint32_t operation, const driver::retry_sink& sink);
    void on_late_answer(std::uint32_t operation, std::optional<driver::retry_action> action);
    void on_decision(std::uint32_t client, const couchbase::decision_record& decision);
    void on_success_reported(std::uint32_t operation);

private:
    void check_allowed(
        operation_record& record, const couchbase::decision_record& decision, duration left);
    void check_always(
        operation_record& record, const couchbase::decision_record& decision, duration left);
    void check_asked(
        operation_record& record, const couchbase::decision_record& decision, duration left);
    void check_refused(operation_record& record, const couchbase::decision_record& decision);
    void check_queue_full(const operation_record& record);
    [[nodiscard]] bool is_refused_when_woken(
        const operation_record& record, const couchbase::decision_record& decision) const;
    void check_stage(
        operation_record& record, couchbase::retry_reason reason, attempt_stage stage,
        std::uint16_t code);
    void check_terminal(const operation_record& record, couchbase::retry_reason reason);
    // Whether not-my-vbucket must be followed at once; empty if both are correct.
    std::optional<bool> is_at_once(const operation_record& record);
    void end_backoff(operation_record& record, const couchbase::decision_record& decision);
    void take_retry(operation_record& record, const couchbase::decision_record& decision);

    world& world_;
    client_views& views_;
    budget_checks& budgets_;
    wait_checks& waits_;
};

}  // namespace reprise::sim
