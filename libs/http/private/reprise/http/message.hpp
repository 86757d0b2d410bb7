#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace reprise::http {

/// One field of a header. The name keeps its spelling; ignore case to compare it.
struct header {
    std::string name;
    std::string value;  ///< without surrounding spaces

    friend bool operator==(const header&, const header&) = default;
};

/// Fields in the order of the message. A name may repeat.
using header_list = std::vector<header>;

/// Ignores the case of ASCII letters, the only case folding in HTTP.
bool equal_ignoring_case(std::string_view left, std::string_view right) noexcept;

/// Returns the value of the first field with that name. The view is valid until the list changes.
std::optional<std::string_view> find_header(
    const header_list& headers, std::string_view name) noexcept;

/// Returns the value of a Content-Encoding field that is not `identity`. We never request an
/// encoding, so such a body cannot be read.
std::optional<std::string_view> find_content_encoding(const header_list& headers) noexcept;

/// A whole request as a server receives it.
struct request {
    std::string method;  ///< as sent, because methods are case-sensitive
    std::string target;  ///< path and query, still percent-encoded
    header_list headers;
    std::string body;                ///< without chunking
    bool is_kept_alive = true;       ///< the peer allows another request on this connection
    std::uint8_t minor_version = 1;  ///< HTTP/1.x
};

/// A response without its body.
struct response_head {
    int status = 0;
    std::string reason;
    header_list headers;
    /// The announced length. Empty for a chunked body and for one that ends with the connection.
    std::optional<std::uint64_t> content_length;
    std::uint8_t minor_version = 1;  ///< HTTP/1.x
};

/// Limits on what a peer may send.
struct parser_limits {
    /// Limits the start line and fields together, and also a chunk's size line and the trailer. In
    /// bytes.
    std::size_t header_size_max_bytes = std::size_t{64} * 1024;
    /// Limits the body of one request, without chunking. In bytes. Responses have no limit: their
    /// body is delivered in pieces and never stored.
    std::size_t body_size_max_bytes = std::size_t{1024} * 1024;
};

}  // namespace reprise::http
