#pragma once

#include <string_view>
#include <system_error>

namespace reprise::http {

/// Why bytes are not an HTTP/1.1 message, or a message cannot be encoded. After a parsing error the
/// next message cannot be found: a server answers 400, and both sides close.
enum class http_errc {
    /// Reading.
    start_line_invalid = 1,  ///< malformed method, target, status code or line ending
    version_unsupported,     ///< neither HTTP/1.0 nor HTTP/1.1
    header_invalid,          ///< malformed field name, field value or line ending
    header_too_large,        ///< start line and fields exceed parser_limits
    content_length_invalid,  ///< not a number, two different numbers, or combined with chunked
    transfer_encoding_unsupported,  ///< anything other than exactly `chunked`
    chunk_invalid,                  ///< malformed chunk size, extension, ending or trailer
    body_too_large,                 ///< the announced or received body exceeds parser_limits
    too_many_informational,         ///< too many consecutive 1xx responses
    unexpected_data,                ///< bytes follow the response although no request was sent
    /// The stream ended.
    message_truncated,  ///< inside a message
    no_message,         ///< before its first byte: the server closed an idle connection

    /// Writing: nothing was appended.
    method_invalid,        ///< not a token
    target_invalid,        ///< empty, or contains a space or control character
    header_name_invalid,   ///< not a token
    header_value_invalid,  ///< contains a line break, NUL or other control character
    header_reserved,  ///< a field that the encoder writes: Content-Length, Transfer-Encoding, ...
    status_invalid,   ///< not 100..999
};

/// The category "reprise.http".
const std::error_category& http_category() noexcept;
std::error_code make_error_code(http_errc error) noexcept;

/// Returns the enumerator's name, for example "header_too_large".
std::string_view to_string(http_errc error) noexcept;

}  // namespace reprise::http

template <>
struct std::is_error_code_enum<reprise::http::http_errc> : std::true_type {};
