#pragma once

/// The texts of `reprise explain`: what to do about each status, error and refusal, and which
/// strategies there are. The libraries themselves provide the meaning, whether it is retried, and
/// what to do about each reason.

#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include <reprise/couchbase.hpp>
#include <reprise/wire/status.hpp>

namespace reprise::app {

/// A sentence or two of advice. Empty: not in the table (a test forbids that for every listed
/// status and error).
[[nodiscard]] std::string_view advice_on(couchbase::errc error) noexcept;
[[nodiscard]] std::string_view advice_on(wire::status status) noexcept;

/// The error that the client reports for a status, whatever the operation. Empty if there is none,
/// or if it depends on the server's error map.
[[nodiscard]] std::optional<couchbase::errc> error_of(wire::status status) noexcept;
/// The reason of a status that the client retries.
[[nodiscard]] std::optional<couchbase::retry_reason> reason_of(wire::status status) noexcept;

/// All errors, found by requesting the name of each number.
[[nodiscard]] std::vector<couchbase::errc> all_errors();

struct strategy_facts {
    std::string_view name;
    std::string_view meaning;
    /// The delays for reasons that are neither always retried nor never retried.
    std::string_view delays;
    std::string_view advice;
};

struct refusal_facts {
    refusal_reason reason{};
    std::string_view meaning;
    std::string_view advice;
};

/// Why a failure is not retried: all reasons except `none`.
[[nodiscard]] std::span<const refusal_facts> all_refusals() noexcept;
/// "budget_exhausted"; histories print `to_string(reason)`, "budget exhausted".
[[nodiscard]] std::string_view refusal_name(refusal_reason reason) noexcept;

/// The strategies that come with the client, the default first.
[[nodiscard]] std::span<const strategy_facts> all_strategies() noexcept;

}  // namespace reprise::app
