#pragma once

#include <cstdint>
#include <vector>

#include "world/operation_records.hpp"

namespace reprise::sim {

class world;

// Every client's budget, counted a second time: charges and refunds.
class budget_checks {
public:
    explicit budget_checks(world& owner);

    // Whether a retry may have been too expensive.
    [[nodiscard]] bool can_be_poor(const operation_record& record) const;
    void take_charge(operation_record& record);
    void return_charge(const operation_record& record);
    void on_success(operation_record& record);
    void after_engine_run(std::uint32_t client);

private:
    // All amounts are in milli-units.
    struct account {
        std::int64_t level = 0;             // after the last iteration; now at most this much
        std::vector<std::uint32_t> capped;  // operations that pay when they are woken
        // Since the last iteration. Returns are seen when an operation's end is reported, which is
        // later than they happen.
        std::int64_t charged = 0;
        std::int64_t returned = 0;
        std::int64_t perhaps_returned = 0;  // by capped retries that may have been woken
    };

    [[nodiscard]] bool brings_budget(const operation_record& record) const;
    [[nodiscard]] bool is_paid_by_client(const operation_record& record) const;

    world& world_;
    std::vector<account> accounts_;  // by client
};

}  // namespace reprise::sim
