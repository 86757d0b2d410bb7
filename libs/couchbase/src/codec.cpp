#include <reprise/couchbase/codec.hpp>

#include <reprise/json/parse.hpp>

namespace reprise::couchbase {

error decode_mismatch(std::string_view wanted, const document_view& document) {
    std::string text("wanted ");
    text.append(wanted).append(", the document is ").append(to_string(document.format()));
    return {make_error_code(errc::decoding_failure), std::move(text)};
}

bool is_valid_utf8(std::string_view text) noexcept {
    return json::is_valid_utf8(text);
}

std::expected<std::string, error> codec<std::string>::decode(const document_view& document) {
    if (document.format() != document_format::string) {
        return std::unexpected(decode_mismatch("string", document));
    }
    return std::string(document.text());
}

std::expected<plain_text, error> codec<plain_text>::decode(const document_view& document) {
    if (document.format() != document_format::string) {
        return std::unexpected(decode_mismatch("string", document));
    }
    return plain_text{std::string(document.text())};
}

std::expected<json_text, error> codec<json_text>::decode(const document_view& document) {
    if (!document.may_be_json()) {
        return std::unexpected(decode_mismatch("json", document));
    }
    return json_text{std::string(document.text())};
}

std::expected<std::vector<std::byte>, error> codec<std::vector<std::byte>>::decode(
    const document_view& document) {
    const auto format = document.format();
    if (format != document_format::binary && format != document_format::none) {
        return std::unexpected(decode_mismatch("binary", document));
    }
    return std::vector<std::byte>(document.bytes.begin(), document.bytes.end());
}

}  // namespace reprise::couchbase
