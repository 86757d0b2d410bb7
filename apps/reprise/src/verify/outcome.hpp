#pragma once

/// Results of the checks of `reprise verify`.

#include <cstdint>
#include <expected>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>

#include <reprise/couchbase.hpp>

namespace reprise::app {

enum class check_state : std::uint8_t {
    ok,
    failed,
    skipped,  // this cluster, bucket or user does not support it
};

/// "ok", "FAILED" or "skipped".
[[nodiscard]] std::string_view to_string(check_state state) noexcept;

struct check_outcome {
    check_state state = check_state::ok;
    std::string detail{};
    /// The error behind the outcome, for the report.
    std::optional<couchbase::error> error{};
};

[[nodiscard]] check_outcome passed(std::string detail = {});
[[nodiscard]] check_outcome failed(std::string detail);
[[nodiscard]] check_outcome skipped(std::string reason);
/// Skipped if the error means that the server does not support it, otherwise failed.
[[nodiscard]] check_outcome judge(const couchbase::error& failure);
/// The same for calls that need rights beyond those of documents: also skipped if the user lacks
/// them.
[[nodiscard]] check_outcome judge_privileged(const couchbase::error& failure);

/// Thrown to end a check with this outcome.
struct check_end {
    check_outcome outcome;
};

/// The value of a call that must succeed. Otherwise the check ends with `judge_by` of its error.
template <class Value>
Value need(
    std::expected<Value, couchbase::error> result,
    check_outcome (*judge_by)(const couchbase::error&) = judge) {
    if (!result) {
        throw check_end{judge_by(result.error())};
    }
    if constexpr (!std::is_void_v<Value>) {
        return std::move(*result);
    }
}
template <class Value>
Value need_privileged(std::expected<Value, couchbase::error> result) {
    return need(std::move(result), judge_privileged);
}

/// Passed if `result` failed with exactly this error.
template <class Result>
[[nodiscard]] check_outcome expect_error(
    const std::expected<Result, couchbase::error>& result, couchbase::errc wanted) {
    if (result) {
        return failed(std::string("succeeded, expected ") + std::string(to_string(wanted)));
    }
    if (result.error().code() != make_error_code(wanted)) {
        return judge(result.error());
    }
    return passed(std::string(to_string(wanted)));
}

}  // namespace reprise::app
