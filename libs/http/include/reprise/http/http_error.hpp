#pragma once

#include <string_view>
#include <system_error>

namespace reprise::http {

// Why bytes are no HTTP/1.1 message, or a message cannot be written. After a reading error there is
// no way to find the next message: answer 400 if you are a server, then close.
enum class http_errc {
    // Reading.
    start_line_invalid = 1,         // method, target, status code or line ending malformed
    version_unsupported,            // neither HTTP/1.0 nor HTTP/1.1
    header_invalid,                 // a field name, field value or line ending malformed
    header_too_large,               // start line and fields above parser_limits
    content_length_invalid,         // not a number, two different ones, or beside chunked
    transfer_encoding_unsupported,  // anything but exactly `chunked`
    chunk_invalid,                  // chunk size, extension, ending or trailer malformed
    body_too_large,                 // announced or received body above parser_limits
    too_many_informational,         // more 1xx responses in a row than anybody sends
    unexpected_data,                // bytes follow a response nobody asked for
    // The stream ended.
    message_truncated,  // inside a message
    no_message,         // before its first byte: a server closed an idle connection

    // Writing: nothing was appended.
    method_invalid,        // not a token
    target_invalid,        // empty, or with a blank or a control character
    header_name_invalid,   // not a token
    header_value_invalid,  // with a line break, NUL or another control character
    header_reserved,  // a field the encoder writes itself: Content-Length, Transfer-Encoding...
    status_invalid,   // not 100..999
};

// "reprise.http"; messages are for people.
const std::error_category& http_category() noexcept;
std::error_code make_error_code(http_errc error) noexcept;

// The enumerator's name, e.g. "header_too_large".
std::string_view to_string(http_errc error) noexcept;

}  // namespace reprise::http

template <>
struct std::is_error_code_enum<reprise::http::http_errc> : std::true_type {};
