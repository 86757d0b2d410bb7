#include <string>

#include <reprise/base/enum_table.hpp>
#include <reprise/http/http_error.hpp>

namespace reprise::http {

namespace {

constexpr base::enumerator_texts<http_errc> messages({
    {http_errc::start_line_invalid, "the start line is not HTTP"},
    {http_errc::version_unsupported, "neither HTTP/1.0 nor HTTP/1.1"},
    {http_errc::header_invalid, "malformed header field"},
    {http_errc::header_too_large, "the header exceeds its size limit"},
    {http_errc::content_length_invalid, "invalid Content-Length"},
    {http_errc::transfer_encoding_unsupported, "only the transfer encoding 'chunked' is supported"},
    {http_errc::chunk_invalid, "malformed chunked body"},
    {http_errc::body_too_large, "the body exceeds its size limit"},
    {http_errc::too_many_informational, "too many informational responses"},
    {http_errc::unexpected_data, "bytes after the end of the response"},
    {http_errc::message_truncated, "the stream ended inside a message"},
    {http_errc::no_message, "the stream ended before a message started"},
    {http_errc::method_invalid, "the method is not a token"},
    {http_errc::target_invalid, "the request target is empty or contains spaces"},
    {http_errc::header_name_invalid, "a header name is not a token"},
    {http_errc::header_value_invalid,
     "a header value contains a line break or other control character"},
    {http_errc::header_reserved, "the encoder writes this header field itself"},
    {http_errc::status_invalid, "the status code is not 100..999"},
});

class http_error_category final : public std::error_category {
public:
    const char* name() const noexcept override { return "reprise.http"; }
    std::string message(int value) const override {
        return std::string(messages[static_cast<http_errc>(value)]);
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
    return base::name_of(error);
}

}  // namespace reprise::http
