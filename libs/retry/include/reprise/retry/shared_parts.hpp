#pragma once

/// What strategies may share beside a budget.

#include <memory>

#include <reprise/retry/circuit_breaker.hpp>
#include <reprise/retry/retry_observer.hpp>

namespace reprise {

/// A strategy that shares nothing of the kind. Costs nothing.
struct no_parts {};

/// Each part is optional.
struct shared_parts {
    /// Asked before each attempt; null: none.
    std::shared_ptr<circuit_breaker> breaker{};
    /// Sees the calls of all strategies that have it, e.g. `retry_metrics`; null: none.
    std::shared_ptr<retry_observer> observer{};
};

namespace detail {

[[nodiscard]] inline shared_parts to_shared(no_parts) {
    return {};
}
[[nodiscard]] inline shared_parts to_shared(shared_parts parts) {
    return parts;
}

}  // namespace detail

}  // namespace reprise
