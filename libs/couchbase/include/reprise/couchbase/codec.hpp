#pragma once

#include <cstddef>
#include <cstdint>
#include <expected>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <reprise/couchbase/error.hpp>

// Documents are bytes with a note of their format. A codec turns a type of yours into both and
// back; the client itself never looks inside.
//
//     template <>
//     struct reprise::couchbase::codec<airline> {
//         static encoded_value encode(const airline& value) {
//             return encoded_value::own(to_json(value), document_format::json);
//         }
//         static std::expected<airline, error> decode(const document_view& document);
//     };

namespace reprise::couchbase {

// The format as all Couchbase SDKs note it, in the top byte of the document's flags.
enum class document_format : std::uint8_t {
    none = 0,            // written by a client without such notes: most likely JSON
    private_format = 1,  // of one SDK
    json = 2,
    binary = 3,
    string = 4,  // UTF-8
    unknown = 255
};

// The whole flags field for a format.
[[nodiscard]] std::uint32_t flags_of(document_format format) noexcept;
// Looks at the top byte only: older clients put their own numbers below it.
[[nodiscard]] document_format format_of(std::uint32_t flags) noexcept;
// "json", "string", ...
[[nodiscard]] std::string_view to_string(document_format format) noexcept;

// A document as it lies in a result; does not own.
struct document_view {
    std::span<const std::byte> bytes;
    std::uint32_t flags = 0;

    [[nodiscard]] std::string_view text() const noexcept {
        return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
    }
    [[nodiscard]] document_format format() const noexcept { return format_of(flags); }
};

// A value on its way to the server. The bytes are copied when the operation is started, so a view
// need not outlive that call.
class encoded_value {
public:
    // Borrows.
    [[nodiscard]] static encoded_value view(std::string_view text, document_format format) noexcept;
    [[nodiscard]] static encoded_value view(
        std::span<const std::byte> bytes, document_format format) noexcept;
    // Owns.
    [[nodiscard]] static encoded_value own(std::string text, document_format format) noexcept;

    [[nodiscard]] std::span<const std::byte> bytes() const noexcept;
    [[nodiscard]] std::uint32_t flags() const noexcept { return flags_; }
    // For documents that carry their own numbers in the flags.
    void set_flags(std::uint32_t flags) noexcept { flags_ = flags; }

private:
    std::string owned_;
    std::span<const std::byte> borrowed_;
    std::uint32_t flags_ = 0;
};

// A document that is JSON already: `json_text{R"({"n":1})"}`. Neither checked nor changed.
struct json_text {
    json_text() = default;
    explicit json_text(std::string json) noexcept : text(std::move(json)) {}

    std::string text;

    friend bool operator==(const json_text&, const json_text&) = default;
};

// A document of UTF-8 text that is not JSON: `plain_text{"Reprise Air"}`. Nothing checks the
// encoding.
struct plain_text {
    plain_text() = default;
    explicit plain_text(std::string given) noexcept : text(std::move(given)) {}

    std::string text;

    friend bool operator==(const plain_text&, const plain_text&) = default;
};

// Customisation point: specialise it with `encode` and `decode` as above. Decoding must check the
// format; `decode_mismatch` makes the error. Must not throw on any input.
template <class T>
struct codec;

template <class T>
concept encodable = requires(const T& value) {
    { codec<T>::encode(value) } -> std::convertible_to<encoded_value>;
};
template <class T>
concept decodable = requires(const document_view& document) {
    { codec<T>::decode(document) } -> std::convertible_to<std::expected<T, error>>;
};

// errc::decoding_failure, saying what was wanted and what the document is.
[[nodiscard]] error decode_mismatch(std::string_view wanted, const document_view& document);

// What was encoded by hand goes as it is.
template <>
struct codec<encoded_value> {
    [[nodiscard]] static encoded_value encode(const encoded_value& value) { return value; }
};

// Reads what plain_text stores. Not for writing: a string may be meant as JSON or as plain text.
template <>
struct codec<std::string> {
    [[nodiscard]] static std::expected<std::string, error> decode(const document_view& document);
};

// Reads strings only.
template <>
struct codec<plain_text> {
    [[nodiscard]] static encoded_value encode(const plain_text& value) noexcept {
        return encoded_value::view(value.text, document_format::string);
    }
    [[nodiscard]] static std::expected<plain_text, error> decode(const document_view& document);
};

// Reads JSON, and documents without a note of their format.
template <>
struct codec<json_text> {
    [[nodiscard]] static encoded_value encode(const json_text& value) noexcept {
        return encoded_value::view(value.text, document_format::json);
    }
    [[nodiscard]] static std::expected<json_text, error> decode(const document_view& document);
};

// Reads binary documents, and those without a note of their format.
template <>
struct codec<std::vector<std::byte>> {
    [[nodiscard]] static encoded_value encode(const std::vector<std::byte>& value) noexcept {
        return encoded_value::view(std::span{value}, document_format::binary);
    }
    [[nodiscard]] static std::expected<std::vector<std::byte>, error> decode(
        const document_view& document);
};

}  // namespace reprise::couchbase
