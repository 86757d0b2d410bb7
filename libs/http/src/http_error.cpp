#include <array>
#include <string>

#include <reprise/http/http_error.hpp>

namespace reprise::http {

namespace {

struct errc_text {
    http_errc code;
    std::string_view name;
    const char* meaning;
};

constexpr std::array<errc_text, 18> errc_texts{{
    {http_errc::start_line_invalid, "start_line_invalid", "the start line is not HTTP"},
    {http_errc::version_unsupported, "version_unsupported", "neither HTTP/1.0 nor HTTP/1.1"},
    {http_errc::header_invalid, "header_invalid", "malformed header field"},
    {http_errc::header_too_large, "header_too_large", "the header exceeds its size limit"},
    {http_errc::content_length_invalid, "content_length_invalid", "invalid Content-Length"},
    {http_errc::transfer_encoding_unsupported, "transfer_encoding_unsupported",
     "only the transfer encoding 'chunked' is supported"},
    {http_errc::chunk_invalid, "chunk_invalid", "malformed chunked body"},
    {http_errc::body_too_large, "body_too_large", "the body exceeds its size limit"},
    {http_errc::too_many_informational, "too_many_informational",
     "too many informational responses"},
    {http_errc::unexpected_data, "unexpected_data", "bytes after the end of the response"},
    {http_errc::message_truncated, "message_truncated", "the stream ended inside a message"},
    {http_errc::no_message, "no_message", "the stream ended before a message started"},
    {http_errc::method_invalid, "method_invalid", "the method is not a token"},
    {http_errc::target_invalid, "target_invalid", "the request target is empty or contains spaces"},
    {http_errc::header_name_invalid, "header_name_invalid", "a header name is not a token"},
    {http_errc::header_value_invalid, "header_value_invalid",
     "a header value contains a line break or other control character"},
    {http_errc::header_reserved, "header_reserved", "the encoder writes this header field itself"},
    {http_errc::status_invalid, "status_invalid", "the status code is not 100..999"},
}};

const errc_text* find_text(http_errc error) noexcept {
    for (const errc_text& text : errc_texts) {
        if (text.code == error) {
            return &text;
        }
    }
    return nullptr;
}

class http_error_category final : public std::error_category {
public:
    const char* name() const noexcept override { return "reprise.http"; }
    std::string message(int value) const override {
        const errc_text* text = find_text(static_cast<http_errc>(value));
        return text != nullptr ? text->meaning : "unknown HTTP error";
    }
};

}  // namespace

const std::error_category& http_category() noexcept {
    static const http_error_category category;
    return category;
}

std::error_code make_error_code(http_errc error) noexcept {
    return {static_cast<int>(error), http_category()};
}

std::string_view to_string(http_errc error) noexcept {
    const errc_text* text = find_text(error);
    return text != nullptr ? text->name : "unknown";
}

}  // namespace reprise::http
