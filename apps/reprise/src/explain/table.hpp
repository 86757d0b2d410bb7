#pragma once

/// What to do about each reason, status and error, and which strategies there are: the texts behind
/// `reprise explain`. What they mean and how they are retried is told by the libraries themselves.

#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include <reprise/couchbase.hpp>
#include <reprise/wire/status.hpp>

namespace reprise::app {

/// A sentence or two for a person who met it. Empty: not in the table (a test forbids it for every
/// listed reason, status and error).
[[nodiscard]] std::string_view advice_on(couchbase::retry_reason reason) noexcept;
[[nodiscard]] std::string_view advice_on(couchbase::errc error) noexcept;
[[nodiscard]] std::string_view advice_on(wire::status status) noexcept;

/// The error the client tells for a status, whatever the operation; empty if there is none, or if
/// it depends on the server's error map.
[[nodiscard]] std::optional<couchbase::errc> error_of(wire::status status) noexcept;
/// The reason the client gives a status that it retries by itself.
[[nodiscard]] std::optional<couchbase::retry_reason> reason_of(wire::status status) noexcept;

/// All errors, found by asking each number for its name.
[[nodiscard]] std::vector<couchbase::errc> all_errors();

struct strategy_facts {
    std::string_view name;
    std::string_view meaning;
    /// What happens to reasons that are neither always retried nor forbidden.
    std::string_view delays;
    std::string_view advice;
};

/// The strategies that come with the client, the default first.
[[nodiscard]] std::span<const strategy_facts> all_strategies() noexcept;

}  // namespace reprise::app
