#include <reprise/couchbase/codec.hpp>

#include <reprise/json/parse.hpp>
#include <reprise/wire/common_flags.hpp>

namespace reprise::couchbase {

std::uint32_t flags_of(document_format format) noexcept {
    return wire::encode_common_flags(static_cast<wire::common_format>(format));
}

document_format format_of(std::uint32_t flags) noexcept {
    return static_cast<document_format>(wire::decode_common_flags(flags));
}

static_assert(
    static_cast<int>(document_format::json) == static_cast<int>(wire::common_format::json) &&
    static_cast<int>(document_format::unknown) == static_cast<int>(wire::common_format::unknown));

std::string_view to_string(document_format format) noexcept {
    switch (format) {
        case document_format::none:
            return "none";
        case document_format::private_format:
            return "private";
        case document_format::json:
            return "json";
        case document_format::binary:
            return "binary";
        case document_format::string:
            return "string";
        case document_format::unknown:
            break;
    }
    return "unknown";
}

encoded_value encoded_value::view(std::string_view text, document_format format) noexcept {
    return view(std::as_bytes(std::span{text}), format);
}

encoded_value encoded_value::view(
    std::span<const std::byte> bytes, document_format format) noexcept {
    encoded_value value;
    value.borrowed_ = bytes;
    value.flags_ = flags_of(format);
    return value;
}

encoded_value encoded_value::own(std::string text, document_format format) noexcept {
    encoded_value value;
    value.owned_ = std::move(text);
    value.flags_ = flags_of(format);
    return value;
}

encoded_value encoded_value::failed(std::string problem) {
    encoded_value value;
    value.problem_ = problem.empty() ? "no reason was given" : std::move(problem);
    return value;
}

std::span<const std::byte> encoded_value::bytes() const noexcept {
    return owned_.empty() ? borrowed_ : std::as_bytes(std::span{owned_});
}

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
