#pragma once

#include <any>
#include <cstdint>
#include <string_view>
#include <system_error>

#include <reprise/engine/vocabulary.hpp>

#include "engine_context.hpp"
#include "operations/operation_base.hpp"
#include "operations/operation_names.hpp"
#include "topology/endpoint_table.hpp"

namespace reprise::engine {

// Informs the client's observers about operations. Callers ask `is_on` first, so that a client
// without observers pays one comparison.
class operation_watch {
public:
    operation_watch(const engine_context& context, const endpoint_table& endpoints) noexcept
        : context_(context),
          endpoints_(endpoints),
          is_on_(!context.options.operation_observers.empty()) {}

    [[nodiscard]] bool is_on() const noexcept { return is_on_; }
    void on_start(const operation_names& which, std::string_view bucket, const std::any* user_data)
        const noexcept;
    // How a request was sent.
    struct sent_attempt {
        std::uint64_t connection = 0;
        std::uint32_t opaque = 0;
        bool is_idempotent = false;
        bool is_continued = false;
        time_point at{};
    };
    void on_attempt(
        const operation_names& which, const operation_base& operation,
        const sent_attempt& sent) const noexcept;
    void on_decision(const operation_names& which, const decision_record& record) const noexcept;
    void on_end(
        const operation_names& which, const operation_base& operation, std::error_code error,
        time_point now) const noexcept;

private:
    [[nodiscard]] operation_identity identity_of(const operation_names& which) const noexcept;
    // Empty if there is no such endpoint.
    [[nodiscard]] std::string_view name_of(std::int32_t endpoint) const noexcept;

    const engine_context& context_;
    const endpoint_table& endpoints_;
    const bool is_on_;
};

}  // namespace reprise::engine
