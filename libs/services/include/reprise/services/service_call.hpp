#pragma once

#include <chrono>
#include <cstdint>
#include <expected>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <reprise/wire/cluster_node.hpp>
#include <reprise/wire/ids.hpp>
#include <reprise/wire/message.hpp>

// What requests to the HTTP services have in common. Each service has a struct of what a user may
// ask for and a function that makes a `service_call` of it.

namespace reprise::services {

// One request, ready to be sent to any node that offers the service. Host, length, credentials and
// user agent are the sender's.
struct service_call {
    wire::service service = wire::service::management;
    std::string method = "GET";
    // Path and query, percent-encoded.
    std::string target = "/";
    // Of the body; empty if there is none.
    std::string content_type{};
    std::string body{};
    // Fields beside those, as names and values.
    std::vector<std::pair<std::string, std::string>> headers{};
    // May be sent again although a server may have seen it: query and analytics that are readonly,
    // every search and view, every GET of management; nothing else.
    bool is_idempotent = false;
    // The member of the answer that holds rows, for row_splitter; empty if the answer is one
    // document.
    std::string_view rows_member{};
};

// Why a request cannot be written.
enum class service_call_errc : std::uint8_t {
    text_missing = 1,     // something that must not be empty is
    text_not_utf8,        // a statement or a name that is not UTF-8
    value_not_json,       // a parameter or a part of a query that is not one JSON value
    name_repeated,        // a member or parameter given twice
    option_out_of_place,  // two options that exclude each other, or one that needs another
    target_invalid,       // a path that does not begin with `/` or holds blanks or controls
    // A name or a part of a path that is `.` or `..`. No spelling of them survives: servers and
    // proxies resolve them, and the request would mean something else.
    dot_segment
};

std::string_view to_string(service_call_errc code) noexcept;

struct service_call_error {
    service_call_errc code = service_call_errc::text_missing;
    // What it is about: "statement", "args[2]", "$name".
    std::string what{};

    friend bool operator==(const service_call_error&, const service_call_error&) = default;
};

// "value_not_json: args[2]"
std::string to_string(const service_call_error& error);

using service_call_result = std::expected<service_call, service_call_error>;

// A JSON value under a name. `json` is raw text and goes into the request as it is once it has been
// checked to be one JSON value.
struct named_json {
    std::string name{};
    std::string json{};

    friend bool operator==(const named_json&, const named_json&) = default;
};

// Where a write landed: a query or search that is consistent with it sees it. Of several marks of
// one vbucket the highest sequence number counts.
struct mutation_mark {
    std::string bucket{};
    wire::vbucket_id vbucket{0};
    wire::mutation_token token{};

    friend bool operator==(const mutation_mark&, const mutation_mark&) = default;
};

// The timeout to ask of a server when the client waits for `timeout`: half a second less if that is
// above 5 s, so that the server's own answer comes first.
std::chrono::milliseconds server_timeout(std::chrono::milliseconds timeout) noexcept;

// `name` between backticks, backticks inside doubled: safe in a statement.
std::string quote_identifier(std::string_view name);

// Which bucket and scope unqualified names in a statement mean: "default:`bucket`.`scope`".
std::string make_query_context(std::string_view bucket, std::string_view scope);

}  // namespace reprise::services
