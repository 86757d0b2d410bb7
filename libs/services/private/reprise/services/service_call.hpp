#pragma once

#include <chrono>
#include <cstdint>
#include <expected>
#include <optional>
#include <string>
#include <string_view>

#include <reprise/couchbase_types/services.hpp>
#include <reprise/http/message.hpp>
#include <reprise/wire/service.hpp>

// Shared by requests to the HTTP services. Each service has a function that turns the user's
// options (couchbase_types/services.hpp) into a `service_call`.

namespace reprise::services {

/// One request, ready to be sent to any node that offers the service. The sender adds host, length,
/// credentials and user agent.
struct service_call {
    wire::service service = wire::service::management;
    std::string method = "GET";
    /// Path and query, percent-encoded.
    std::string target = "/";
    /// The type of the body; empty if there is none.
    std::string content_type{};
    std::string body{};
    /// Other header fields.
    http::header_list headers{};
    /// The request may be sent again although a server may have received it. True for readonly
    /// query and analytics requests, every search and view, and every GET and HEAD of management.
    bool is_idempotent = false;
    /// The member of the answer that contains rows, for row_splitter. Empty if the answer is one
    /// document.
    std::string_view rows_member{};
};

/// Why a request cannot be created.
enum class service_call_errc : std::uint8_t {
    text_missing = 1,     ///< a required text is empty
    text_not_utf8,        ///< a statement or name is not UTF-8
    value_not_json,       ///< a parameter or part of a query is not one JSON value
    value_not_encoded,    ///< a value of the user has no JSON form
    name_repeated,        ///< a member or parameter appears twice
    option_out_of_place,  ///< an option excludes another, or needs another
    target_invalid,  ///< a path does not start with `/` or contains spaces or control characters
    /// A name or a part of a path is `.` or `..`. Escaping does not help: servers and proxies
    /// resolve them, and the request would have another target.
    dot_segment
};

std::string_view to_string(service_call_errc code) noexcept;

struct service_call_error {
    service_call_errc code = service_call_errc::text_missing;
    /// The part of the request at fault: "statement", "args[2]", "$name".
    std::string what{};

    friend bool operator==(const service_call_error&, const service_call_error&) = default;
};

/// Returns for example "value_not_json: args[2]".
std::string to_string(const service_call_error& error);

using service_call_result = std::expected<service_call, service_call_error>;

/// Facts on which a request depends in addition to the user's options.
struct request_context {
    /// Where names in a statement or an index are looked up. Both empty: in the cluster.
    std::string_view bucket{};
    std::string_view scope{};
    /// Identifies the request, unless the options do. The answer repeats it; use a new one for each
    /// request.
    std::string client_context_id{};
    /// How long the client waits if the options have no timeout. Empty: no limit is sent.
    std::optional<duration> timeout_default{};
};

/// Returns the timeout to send to a server if the client waits for `timeout`: half a second less if
/// that is above 5 s, so that the server's own answer arrives first.
std::chrono::milliseconds server_timeout(std::chrono::milliseconds timeout) noexcept;

/// Returns `name` in backticks, with inner backticks doubled, which is safe in a statement.
std::string quote_identifier(std::string_view name);

}  // namespace reprise::services
