#pragma once

#include <cstddef>
#include <cstdint>
#include <expected>
#include <string_view>
#include <vector>

#include <reprise/base/bytes.hpp>
#include <reprise/http/http_error.hpp>
#include <reprise/http/message.hpp>

// Encoding HTTP/1.1. Every encoder appends one whole message head, with its body if given, or
// nothing if it fails. It checks names and values, so that text from users or peers can never start
// another field or message. The encoders write Host, Content-Length, Transfer-Encoding and
// Connection themselves and reject them in `headers`.

namespace reprise::http {

/// Whether the connection stays open afterwards. A Connection field is written only if it does not.
enum class connection_end : std::uint8_t { keep_alive, close };

struct outgoing_request {
    std::string_view method = "GET";
    std::string_view target = "/";         ///< path and query, percent-encoded by the caller
    std::string_view host{};               ///< "host:port"
    const header_list* headers = nullptr;  ///< null means no headers
    base::byte_view body{};
    connection_end end = connection_end::keep_alive;
};

/// Writes Content-Length if there is a body, or if the method usually has one (POST, PUT, PATCH).
/// Fails with method_invalid, target_invalid or header_*.
std::expected<void, http_errc> encode_request(
    std::vector<std::byte>& out, const outgoing_request& request);

enum class body_framing : std::uint8_t {
    with_length,  ///< `body` is the whole body
    chunked       ///< `body`, if any, is the first chunk; encode_chunk and encode_last_chunk follow
};

struct outgoing_response {
    int status = 200;
    const header_list* headers = nullptr;  ///< null means no headers
    base::byte_view body{};                ///< must be empty for 1xx, 204 and 304, which have none
    body_framing framing = body_framing::with_length;
    connection_end end = connection_end::keep_alive;
};

/// Fails with status_invalid or header_*.
std::expected<void, http_errc> encode_response(
    std::vector<std::byte>& out, const outgoing_response& response);

/// Writes nothing if `data` is empty, because an empty chunk would end the body.
void encode_chunk(std::vector<std::byte>& out, base::byte_view data);
void encode_last_chunk(std::vector<std::byte>& out);

/// Returns for example "Not Found", or "Unknown" for codes without a name.
std::string_view reason_phrase(int status) noexcept;

}  // namespace reprise::http
