#pragma once

/// The rule for HTTP requests that may be sent twice. The adapters of HTTP clients share this rule.

#include <algorithm>
#include <array>
#include <string_view>

#include <reprise/retry/failure_facts.hpp>
#include <reprise/retry/retry_errc.hpp>

namespace reprise::adapters {

/// True for the methods that RFC 9110 defines as idempotent. Methods are case-sensitive; an unknown
/// method is not idempotent.
[[nodiscard]] constexpr bool is_idempotent_method(std::string_view method) noexcept {
    constexpr std::array<std::string_view, 6> idempotent{"GET",    "HEAD",    "PUT",
                                                         "DELETE", "OPTIONS", "TRACE"};
    return std::ranges::find(idempotent, method) != idempotent.end();
}

/// Whether a request that may have reached the server can be sent again. What you state wins. If
/// you state nothing, the method decides.
[[nodiscard]] constexpr bool may_send_twice(
    std::string_view method, repeatability stated) noexcept {
    return stated == repeatability::unspecified ? is_idempotent_method(method)
                                                : stated == repeatability::repeatable;
}

/// The facts of a failure that happened after the request was sent, perhaps only in part. A failure
/// that leaves open whether the server acted is final for a request that must not be sent twice: a
/// POST is repeated only if the server refused it before doing anything (408 and 429).
[[nodiscard]] constexpr failure_facts facts_after_sending(
    failure_facts facts, std::string_view method, repeatability stated) noexcept {
    if (facts.safety != retry_safety::yes && !may_send_twice(method, stated)) {
        facts.safety = retry_safety::no;
    }
    return facts;
}

}  // namespace reprise::adapters
