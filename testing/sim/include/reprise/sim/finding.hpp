#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <reprise/retry/time.hpp>

namespace reprise::sim {

// What is checked. Each name is a promise of the client that a run found broken.
enum class checker : std::uint8_t {
    completion,     // every operation completes exactly once
    deadline,       // not later than its deadline and a tick; no timeout before it
    ledger,         // told applied: applied once; told not applied: not applied; never twice
    ambiguity,      // ambiguous exactly when the server may have acted
    repetition,     // nothing not idempotent is sent again without "nothing done" between
    strategy,       // asked when it must be, not asked when it must not be, obeyed
    delay,          // the ladder, the answer of the strategy, the cap by the deadline
    wake_up,        // a retry waits as long as planned, unless its cause has ended
    credit,         // requests on the wire and operations that wait stay within their bounds
    opaque,         // never used twice on one connection
    answer,         // the result is the server's answer to this very operation
    routing,        // sent to a node of the map; back to the current map by a newer one only
    configuration,  // only newer configurations are taken
    terminal,       // a terminal reason has a cause; it ends with it
    history,        // the history tells every decision, in order
    budget,         // charges and refunds add up
    error_map,      // the count of a status begins anew with another one
    documents,      // counters, lists and values are what the applied writes make them
    liveness,       // when faults stop, everything finishes and works again
    leak,           // nothing is left when the client is closed
    progress,       // virtual time moves on
    trust,          // a server that has not proved itself changes nothing and gets no secret
};

inline constexpr std::size_t checker_count = 22;

// "ledger"
[[nodiscard]] std::string_view to_string(checker which) noexcept;

// One broken promise.
struct finding {
    checker what = checker::completion;
    duration at{};  // virtual time since the start of the run
    // Number of the operation within the scenario; absent if it is about none.
    std::optional<std::uint32_t> operation{};
    std::string text{};
};

// "+1.204 ms ledger, operation 17: told applied, but no server applied it"
[[nodiscard]] std::string to_string(const finding& found);

}  // namespace reprise::sim
