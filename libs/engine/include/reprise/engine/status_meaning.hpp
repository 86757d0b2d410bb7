#pragma once

#include <optional>

#include <reprise/engine/vocabulary.hpp>
#include <reprise/wire/status.hpp>

namespace reprise::engine {

// What the client makes of a status that it knows by itself: retried for `reason` or, where that is
// `unknown`, told as `error`.
struct status_meaning {
    errc error{};  // of a retry: what is told if it is not made
    retry_reason reason = retry_reason::unknown;

    friend bool operator==(const status_meaning&, const status_meaning&) = default;
};

// By the very rules that answers are read with, for a plain write without a CAS on a server of
// today: texts and tables for people need no copy of those rules. A few statuses mean something
// else to an insert, an unlock or an extended attribute (0x02, 0x05, 0x09, 0x24). Empty: a success,
// a step of a login or a scan, or a status that only the server's error map knows.
[[nodiscard]] std::optional<status_meaning> usual_meaning(wire::status status) noexcept;

}  // namespace reprise::engine
