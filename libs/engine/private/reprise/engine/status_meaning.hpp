#pragma once

#include <optional>

#include <reprise/engine/vocabulary.hpp>
#include <reprise/wire/status.hpp>

namespace reprise::engine {

// The meaning of a status that the client handles by itself: retried for `reason` or, where that is
// `unknown`, reported as `error`.
struct status_meaning {
    errc error{};  // of a retry: the error if it is refused
    retry_reason reason = retry_reason::unknown;

    friend bool operator==(const status_meaning&, const status_meaning&) = default;
};

// The meaning for a plain write without a CAS on a current server, from the same rules that
// classify answers, so that texts and tables for people do not copy the rules. A few statuses
// (0x02, 0x05, 0x09, 0x24) have another meaning for an insert, an unlock or an extended attribute.
// Empty for a success, for a step of a login or a scan, and for a status that is only in the
// server's error map.
[[nodiscard]] std::optional<status_meaning> usual_meaning(wire::status status) noexcept;

}  // namespace reprise::engine
