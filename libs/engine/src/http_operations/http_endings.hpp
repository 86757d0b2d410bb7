#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <system_error>

#include <reprise/engine/http_operation.hpp>

#include "engine_context.hpp"
#include "http_operations/http_connection.hpp"
#include "http_operations/http_nodes.hpp"
#include "operations/operation_lifecycle.hpp"
#include "topology/topology.hpp"

namespace reprise::engine {

// Owns the slots of HTTP operations. An operation ends here, once, with a result or an error. Its
// slot is then gone.
class http_endings {
public:
    http_endings(
        const engine_context& context, topology& nodes, operation_lifecycle& life,
        const http_nodes& candidates) noexcept
        : context_(context), nodes_(nodes), life_(life), candidates_(candidates) {}

    // The ids of HTTP operations have this bit set, those of key-value operations never.
    static constexpr std::uint64_t id_mark = std::uint64_t{1} << 63U;
    [[nodiscard]] static bool is_own(std::uint64_t operation) noexcept {
        return (operation & id_mark) != 0;
    }

    [[nodiscard]] http_slot& make_slot(http_request&& request);
    // A request of the client itself. Its end is reported to the circuit breaker of its endpoint.
    [[nodiscard]] http_slot& make_canary(http_request&& request);
    // Null if the operation has ended.
    [[nodiscard]] http_slot* find(std::uint64_t operation) const noexcept;
    // Any operation that has not ended. Null if there is none.
    [[nodiscard]] http_slot* any() const noexcept;
    // Operations of users. The client's own canaries do not count.
    [[nodiscard]] std::size_t open_count() const noexcept { return slots_.size() - canary_count_; }

    void complete(http_slot& slot, time_point now);
    void complete_error(
        http_slot& slot, std::error_code code, bool is_ambiguous, std::string detail,
        time_point now);

private:
    void end_canary(http_slot& slot, bool is_answered, time_point now);
    void end(http_slot& slot, operation_result&& result, time_point now);

    const engine_context& context_;
    topology& nodes_;
    operation_lifecycle& life_;
    const http_nodes& candidates_;
    std::map<std::uint64_t, std::unique_ptr<http_slot>> slots_;
    std::uint64_t next_id_ = id_mark + 1;
    std::size_t canary_count_ = 0;
};

}  // namespace reprise::engine
