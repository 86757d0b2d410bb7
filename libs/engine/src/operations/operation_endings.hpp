#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <system_error>

#include <reprise/wire/error_context.hpp>

#include "engine_context.hpp"
#include "operations/operation_lifecycle.hpp"
#include "operations/operation_routes.hpp"
#include "operations/operation_slot.hpp"
#include "topology/topology.hpp"

namespace reprise::engine {

class scan_operations;

// Details of an error in addition to its code.
struct failure_note {
    bool is_ambiguous = false;
    std::optional<std::uint16_t> status{};
    const wire::error_map_entry* entry = nullptr;
    wire::error_context context{};
    std::optional<std::uint8_t> failed_path{};
    std::string detail{};
};

// Owns the slots of key-value operations. An operation ends here, once, with a result or an error,
// and its slot is free again.
class operation_endings {
public:
    operation_endings(
        const engine_context& context, topology& nodes, operation_lifecycle& life,
        scan_operations& scans) noexcept
        : context_(context), nodes_(nodes), routes_(context, nodes), life_(life), scans_(scans) {}

    [[nodiscard]] operation_pool& slots() noexcept { return slots_; }
    [[nodiscard]] const operation_pool& slots() const noexcept { return slots_; }

    void complete(operation_slot& slot, operation_result&& result, time_point now);
    // The same for a result that was begun; see operation_lifecycle::begin_end.
    [[gnu::always_inline]] void complete_begun(
        operation_slot& slot, operation_lifecycle::ended_operation& ended, time_point now) {
        if (!slot.history.empty() && !ended.result.ec) [[unlikely]] {
            ended.result.history = history_of(slot, false);
        }
        life_.complete_begun(slot, ended, now);
        slots_.release(slot);
    }
    void complete_error(
        operation_slot& slot, std::error_code code, failure_note&& note, time_point now);
    // Why an operation could not be sent, in words.
    [[nodiscard]] std::string dispatch_cause(const operation_slot& slot) const;
    // Describes the cause of the wait of an operation that ran out of time.
    [[nodiscard]] std::string wait_cause(const operation_slot& slot) const;

private:
    // `with_problems` adds why nodes could not be reached. Null if nothing failed.
    [[nodiscard]] std::shared_ptr<const retry_history> history_of(
        const operation_slot& slot, bool with_problems) const {
        return slot.history.empty() ? nullptr : report_of(slot, with_problems);
    }
    [[nodiscard]] std::shared_ptr<const retry_history> report_of(
        const operation_slot& slot, bool with_problems) const;

    const engine_context& context_;
    topology& nodes_;
    operation_routes routes_;
    operation_lifecycle& life_;
    scan_operations& scans_;
    operation_pool slots_{context_.loop};
};

}  // namespace reprise::engine
