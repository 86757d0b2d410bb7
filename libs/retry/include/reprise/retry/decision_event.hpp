#pragma once

/// One decision about a retry, as observers see it.

#include <iosfwd>
#include <optional>
#include <string>
#include <string_view>

#include <reprise/retry/detail/export.hpp>
#include <reprise/retry/failure_facts.hpp>
#include <reprise/retry/failure_view.hpp>
#include <reprise/retry/history_entry.hpp>

namespace reprise {

/// A failure and the decision about it. Valid during the call of the observer.
struct REPRISE_EXPORT decision_event {
    /// `call_options::name`; in a client, the name of the operation.
    std::string_view call{};
    /// Attempt, offset, delay, refusal and budget level, as a history keeps them.
    history_entry entry{};
    failure_facts facts{};
    failure_view failure{};   ///< The failure itself.
    failure_reason reason{};  ///< The protocol's name for it; empty in plain loops.

    [[nodiscard]] bool is_retried() const noexcept {
        return entry.refusal() == refusal_reason::none && !entry.is_hedge();
    }
    /// "connection refused", an exception's `what()`, the protocol's reason; empty if nothing is
    /// known. One line, shortened.
    [[nodiscard]] std::string failure_text() const;
};

/// One line without a line break:
///
///     fetch price: attempt 1 failed, connection refused (111); retried after 250 ms (budget 495)
[[nodiscard]] REPRISE_EXPORT std::string to_string(const decision_event& event);
/// Writes `to_string(event)`.
REPRISE_EXPORT std::ostream& operator<<(std::ostream& out, const decision_event& event);

}  // namespace reprise
