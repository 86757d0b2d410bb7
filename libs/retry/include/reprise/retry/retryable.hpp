#pragma once

/// The first question of every strategy: does this failure allow a retry at all?

#include <reprise/retry/decision.hpp>

namespace reprise {

/// Stated safety beats fault. `no` is never retried; `yes` may be; `maybe` may be unless the call
/// is marked as not repeatable. Without retry information a server's fault is retried and a
/// client's is not; with neither, nothing is retried.
struct stated_safety {
    [[nodiscard]] constexpr refusal_reason check(
        const failure_facts& facts, repeatability repeat) const noexcept {
        const bool repeatable = repeat != repeatability::not_repeatable;
        if (facts.safety) {
            switch (*facts.safety) {
                case retry_safety::yes:
                    return refusal_reason::none;
                case retry_safety::maybe:
                    return repeatable ? refusal_reason::none : refusal_reason::not_repeatable;
                case retry_safety::no:
                    return refusal_reason::unsafe;
            }
            return refusal_reason::unsafe;  // A value outside the enumeration: not trusted.
        }
        if (facts.fault == failure_fault::server) {
            // The server may have acted before it failed: as `maybe`.
            return repeatable ? refusal_reason::none : refusal_reason::not_repeatable;
        }
        return facts.fault == failure_fault::client ? refusal_reason::client_fault
                                                    : refusal_reason::unclassified;
    }
};

}  // namespace reprise
