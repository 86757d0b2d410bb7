#pragma once

#include <chrono>
#include <cstdint>
#include <expected>
#include <string>
#include <string_view>
#include <vector>

#include <reprise/http/message.hpp>
#include <reprise/wire/cluster_node.hpp>
#include <reprise/wire/ids.hpp>
#include <reprise/wire/message.hpp>

// Shared by requests to the HTTP services. Each service has a struct with the options of
// a request and a function that turns it into a `service_call`.

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

/// A JSON value with a name. `json` is raw text. The request contains it unchanged, after a check
/// that it is one JSON value.
struct named_json {
    std::string name{};
    std::string json{};

    friend bool operator==(const named_json&, const named_json&) = default;
};

/// The position of a write. A query or search that is consistent with it sees the write. Of several
/// marks for one vbucket the highest sequence number counts.
struct mutation_mark {
    std::string bucket{};
    wire::vbucket_id vbucket{0};
    wire::mutation_token token{};

    friend bool operator==(const mutation_mark&, const mutation_mark&) = default;
};

/// Returns the timeout to send to a server if the client waits for `timeout`: half a second less if
/// that is above 5 s, so that the server's own answer arrives first.
std::chrono::milliseconds server_timeout(std::chrono::milliseconds timeout) noexcept;

/// Returns `name` in backticks, with inner backticks doubled, which is safe in a statement.
std::string quote_identifier(std::string_view name);

/// Returns the bucket and scope to which unqualified names in a statement refer:
/// "default:`bucket`.`scope`".
std::string make_query_context(std::string_view bucket, std::string_view scope);

}  // namespace reprise::services
