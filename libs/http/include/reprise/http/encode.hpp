#pragma once

#include <cstddef>
#include <cstdint>
#include <expected>
#include <string_view>
#include <vector>

#include <reprise/base/bytes.hpp>
#include <reprise/http/http_error.hpp>
#include <reprise/http/message.hpp>

// Writing HTTP/1.1. Every encoder appends one whole message head (with its body, if given) or, on
// an error, nothing. Names and values are checked, so text from users or peers can never start
// another field or message. The encoders write Host, Content-Length, Transfer-Encoding and
// Connection themselves and refuse them among `headers`.

namespace reprise::http {

// Whether the connection stays open afterwards; said in a Connection field only when it does not.
enum class connection_end : std::uint8_t { keep_alive, close };

struct outgoing_request {
    std::string_view method = "GET";
    std::string_view target = "/";         // path and query, percent-encoded by the caller
    std::string_view host{};               // "host:port"
    const header_list* headers = nullptr;  // null: none
    base::byte_view body{};
    connection_end end = connection_end::keep_alive;
};

// Content-Length is written if there is a body, or none but a method that usually has one (POST,
// PUT, PATCH). Errors: method_invalid, target_invalid, header_*.
std::expected<void, http_errc> encode_request(
    std::vector<std::byte>& out, const outgoing_request& request);

enum class body_framing : std::uint8_t {
    with_length,  // `body` is all of it
    chunked       // `body`, if any, is the first chunk; encode_chunk and encode_last_chunk follow
};

struct outgoing_response {
    int status = 200;
    const header_list* headers = nullptr;  // null: none
    base::byte_view body{};                // must be empty for 1xx, 204 and 304 (left out)
    body_framing framing = body_framing::with_length;
    connection_end end = connection_end::keep_alive;
};

// Errors: status_invalid, header_*.
std::expected<void, http_errc> encode_response(
    std::vector<std::byte>& out, const outgoing_response& response);

// An empty chunk would end the body, so it is not written.
void encode_chunk(std::vector<std::byte>& out, base::byte_view data);
void encode_last_chunk(std::vector<std::byte>& out);

// "Not Found"; "Unknown" for codes without a name.
std::string_view reason_phrase(int status) noexcept;

}  // namespace reprise::http
