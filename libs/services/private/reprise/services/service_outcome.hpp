#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <reprise/couchbase_types/errc.hpp>
#include <reprise/couchbase_types/retry_reason.hpp>

// Shared by the parsers of the HTTP services' answers.

namespace reprise::services {

using couchbase::errc;
using couchbase::retry_reason;

/// Why an answer, or one of its rows, cannot be parsed.
enum class outcome_errc : std::uint8_t {
    not_json = 1,    ///< not valid JSON; the detail gives the position
    missing_member,  ///< a required member is missing
    wrong_type       ///< a member has the wrong JSON type, or a number does not fit
};

std::string_view to_string(outcome_errc code) noexcept;

struct outcome_error {
    outcome_errc code = outcome_errc::not_json;
    std::string path;    ///< for example "errors[0].code"; empty for the whole answer
    std::string detail;  ///< a readable explanation
};

/// Returns for example "wrong_type at errors[0].code: not a number".
std::string to_string(const outcome_error& error);

/// Whether a request may change data, by its own options. Its text is never interpreted.
enum class request_access : std::uint8_t { reads, may_write };

/// The classification of one answer.
struct service_verdict {
    std::optional<errc> error{};  ///< empty means success
    /// Why the RFC allows a retry; `unknown` if it does not. The engine decides whether to retry,
    /// and never does once a row was delivered.
    retry_reason reason = retry_reason::unknown;
    /// The request failed, and may have changed data all the same.
    bool may_have_acted = false;

    friend bool operator==(const service_verdict&, const service_verdict&) = default;
};

/// The status alone proves that nothing was executed: the request was refused (3xx, 4xx). A 5xx
/// proves nothing, since it may come from a gateway, or from the middle of the execution.
[[nodiscard]] constexpr bool refuses_request(int http_status) noexcept {
    return http_status >= 300 && http_status < 500;
}

/// The state of a body without usable JSON.
enum class body_state : std::uint8_t { empty, unreadable };

/// Classifies an answer of which only the HTTP status is known. 401 and 403 are
/// authentication_failure, and 503 is service_not_available. For other codes an empty body is
/// internal_server_failure, and an unreadable one is parsing_failure.
errc classify_bare_status(int http_status, body_state body) noexcept;

}  // namespace reprise::services
