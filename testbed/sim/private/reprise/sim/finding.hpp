#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <reprise/retry/time.hpp>

namespace reprise::sim {

/// The promises of the client. A finding reports that one was broken.
enum class checker : std::uint8_t {
    completion,     // every operation completes exactly once
    deadline,       // not later than its deadline plus one tick; no timeout before it
    ledger,         // reported applied: applied once; reported not applied: not applied; never
                    // twice
    ambiguity,      // ambiguous exactly when the server may have acted
    repetition,     // what is not idempotent is never repeated unless the server did nothing
    strategy,       // asked exactly when it must be, and its answer is followed
    delay,          // the ladder, the strategy's answer, the limit by the deadline
    wake_up,        // a retry waits as long as planned, unless its cause has ended
    credit,         // requests on the wire and waiting operations stay within their bounds
    opaque,         // never used twice on one connection
    answer,         // the result is the server's answer to this very operation
    routing,        // sent to a node of the map; back to the current map only if it is newer
    configuration,  // only newer configurations are accepted
    terminal,       // a terminal reason has a cause and ends with it
    history,        // the history lists every decision, in order
    budget,         // charges and refunds add up
    error_map,      // the count of a status restarts when another status arrives
    documents,      // counters, lists and values match the applied writes
    liveness,       // after the last fault, everything finishes and works again
    leak,           // nothing is left when the client is closed
    progress,       // virtual time advances
    trust,          // a server that has not proved itself changes nothing and gets no secret
};

inline constexpr std::size_t checker_count = 22;

/// "ledger"
[[nodiscard]] std::string_view to_string(checker which) noexcept;

/// One broken promise.
struct finding {
    checker what = checker::completion;
    duration at{};  // virtual time since the start of the run
    /// Number of the operation within the scenario; absent if the finding concerns none.
    std::optional<std::uint32_t> operation{};
    std::string text{};
};

/// "+1.204 ms ledger, operation 17: reported as applied, but no server applied it"
[[nodiscard]] std::string to_string(const finding& found);

}  // namespace reprise::sim
