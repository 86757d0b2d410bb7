#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace reprise::http {

// One field of a header. The name is kept as it was written; compare it without case.
struct header {
    std::string name;
    std::string value;  // without the blanks around it

    friend bool operator==(const header&, const header&) = default;
};

// Fields in the order in which they stand in the message; a name may come more than once.
using header_list = std::vector<header>;

// ASCII, the only case folding HTTP knows.
bool equal_ignoring_case(std::string_view left, std::string_view right) noexcept;

// The value of the first field of that name. The view lives as long as the list is not changed.
std::optional<std::string_view> find_header(
    const header_list& headers, std::string_view name) noexcept;

// How the body was encoded beyond its transfer, if it was: the value of a Content-Encoding field
// that is not `identity`. We never ask for any, so a body that has one cannot be read.
std::optional<std::string_view> find_content_encoding(const header_list& headers) noexcept;

// A whole request as a server receives it.
struct request {
    std::string method;  // as sent: methods are case-sensitive
    std::string target;  // path and query, still percent-encoded
    header_list headers;
    std::string body;                // unchunked
    bool is_kept_alive = true;       // the peer allows another request on this connection
    std::uint8_t minor_version = 1;  // HTTP/1.x
};

// Everything of a response but its body.
struct response_head {
    int status = 0;
    std::string reason;
    header_list headers;
    // As announced; empty for a chunked body and for one that ends with the connection.
    std::optional<std::uint64_t> content_length;
    std::uint8_t minor_version = 1;  // HTTP/1.x
};

// Bounds on what a peer may send.
struct parser_limits {
    // Start line and fields together; also a chunk's size line and the trailer. Bytes.
    std::size_t header_size_max_bytes = std::size_t{64} * 1024;
    // Body of one request, unchunked. Bytes. Responses have no bound: their body is handed out
    // piece by piece and never kept.
    std::size_t body_size_max_bytes = std::size_t{1024} * 1024;
};

}  // namespace reprise::http
