#pragma once

#include <cstdint>

#include <reprise/engine/operation_result.hpp>

#include "checks/budget_checks.hpp"
#include "checks/call_checks.hpp"
#include "checks/client_views.hpp"
#include "checks/document_checks.hpp"

namespace reprise::sim {

// The users' results: one for each operation, in time, and true.
class result_checks {
public:
    result_checks(
        world& owner, const client_views& views, budget_checks& budgets, document_checks& documents,
        call_checks& calls);

    void on_started(operation_record& record);
    void on_done(operation_record& record, const engine::operation_result& result);
    void after_engine_run(std::uint32_t client);
    void after_settling();
    void at_end();

    [[nodiscard]] std::uint64_t succeeded_count() const noexcept { return succeeded_count_; }
    [[nodiscard]] std::uint64_t ambiguous_count() const noexcept { return ambiguous_count_; }

private:
    void check_time(const operation_record& record, const engine::operation_result& result);
    void check_ambiguity(const operation_record& record, const engine::operation_result& result);
    void check_history(const operation_record& record, const engine::operation_result& result);
    void check_answer(const operation_record& record, const engine::operation_result& result);
    void check_final_round(const operation_record& record, const engine::operation_result& result);

    world& world_;
    const client_views& views_;
    budget_checks& budgets_;
    document_checks& documents_;
    call_checks& calls_;
    std::uint64_t succeeded_count_ = 0;
    std::uint64_t ambiguous_count_ = 0;
};

}  // namespace reprise::sim
