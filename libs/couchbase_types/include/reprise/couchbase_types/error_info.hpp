#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <system_error>
#include <vector>

#include <reprise/couchbase_types/errc.hpp>
#include <reprise/couchbase_types/retry_reason.hpp>
#include <reprise/retry/retry_history.hpp>

namespace reprise::couchbase {

/// The node's error map on a status that is unknown to this client.
struct error_map_note {
    std::string name{};
    std::string description{};
    /// As on the wire: "retry-later". Unknown ones come last.
    std::vector<std::string> attributes{};
};

/// Everything known about a failed operation. A plain value, made once when the operation ends,
/// then shared as const.
struct error_info {
    std::error_code code{};
    std::string operation{};  ///< "get", "upsert", ...
    std::string bucket{};
    std::string scope{};
    std::string collection{};
    /// The document's key; for HTTP services the statement, cut at 1 KiB. The client itself never
    /// logs it unless asked to.
    std::string key{};
    /// Whether to_string shows the key: the client was asked to (`cluster_options::log_keys`).
    bool shows_key = false;

    /// True: the server may have acted. Never true for an idempotent operation.
    bool is_ambiguous = false;
    /// Why it was retried last, or could not be; `unknown` if the answer was a plain error.
    retry_reason last_reason = retry_reason::unknown;
    retry_reason_set retry_reasons{};
    std::uint32_t retry_attempts = 0;
    /// The server's status; absent without an answer.
    std::optional<std::uint16_t> status{};
    std::optional<error_map_note> error_map{};
    /// The server's own words as they came, so they may contain control characters. Those of HTTP
    /// services are cut at 1 KiB.
    std::string server_context{};
    std::string server_ref{};  ///< Look it up in the server's logs.
    /// Index of the first failed path of a sub-document mutation.
    std::optional<std::uint8_t> failed_path{};
    std::string last_dispatched_to{};  ///< "host:port"; empty if nothing was ever sent.
    std::uint64_t connection = 0;      ///< Connection id of the last attempt, as given in HELLO.
    std::uint32_t opaque = 0;          ///< Opaque of the last attempt.
    /// More, for people: the strategy's exception, why the connection ended, ...
    std::string detail{};
    /// Null if nothing was retried.
    std::shared_ptr<const retry_history> history{};
};

/// One paragraph: what failed, why, where, and each attempt on a line of its own. Control
/// characters in names and in the server's texts are escaped. Key and statement are left out
/// unless `shows_key` is set; the server's texts are shown, whatever they quote.
[[nodiscard]] std::string to_string(const error_info& error);

/// Facts for the retry library (customisation point of reprise::facts_of).
[[nodiscard]] failure_facts retry_facts(const error_info& error) noexcept;

}  // namespace reprise::couchbase
