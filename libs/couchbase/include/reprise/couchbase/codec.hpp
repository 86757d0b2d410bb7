#pragma once

/// Documents are bytes with a note of their format. A codec converts a type of yours to both and
/// back; the client itself never looks inside a document.
/// ```
///     template <>
///     struct reprise::couchbase::codec<airline> {
///         static encoded_value encode(const airline& value) {
///             return encoded_value::own(to_json(value), document_format::json);
///         }
///         static std::expected<airline, error> decode(const document_view& document);
///     };
/// ```

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <expected>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <reprise/couchbase/error.hpp>
#include <reprise/couchbase_types/document_request.hpp>

namespace reprise::couchbase {

/// A document as a codec sees it. It does not own the bytes.
struct document_view {
    std::span<const std::byte> bytes;
    std::uint32_t flags = 0;

    [[nodiscard]] std::string_view text() const noexcept {
        return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
    }
    [[nodiscard]] document_format format() const noexcept { return format_of(flags); }
    /// True for JSON, and for documents without a format, which are most likely JSON.
    [[nodiscard]] bool may_be_json() const noexcept {
        return format() == document_format::json || format() == document_format::none;
    }
};

/// A document of UTF-8 text that is not JSON: `plain_text{"Reprise Air"}`. The client does not
/// check the encoding.
struct plain_text {
    plain_text() = default;
    explicit plain_text(std::string given) noexcept : text(std::move(given)) {}

    std::string text;

    friend bool operator==(const plain_text&, const plain_text&) = default;
};

/// A type that can be read.
template <class T>
concept decodable = requires(const document_view& document) {
    { codec<T>::decode(document) } -> std::convertible_to<std::expected<T, error>>;
};

/// Makes an errc::decoding_failure that names the expected and the actual format.
[[nodiscard]] error decode_mismatch(std::string_view wanted, const document_view& document);

/// Whether text is UTF-8, for codecs: documents of the formats json and string must be.
[[nodiscard]] bool is_valid_utf8(std::string_view text) noexcept;

/// Stores what you encoded yourself.
template <>
struct codec<encoded_value> {
    [[nodiscard]] static encoded_value encode(const encoded_value& value) { return value; }
};

/// Reads what plain_text stores. It does not write: a string could be JSON or plain text.
template <>
struct codec<std::string> {
    [[nodiscard]] static std::expected<std::string, error> decode(const document_view& document);
};

/// Stores and reads text that is not JSON.
template <>
struct codec<plain_text> {
    [[nodiscard]] static encoded_value encode(const plain_text& value) noexcept {
        return encoded_value::view(value.text, document_format::string);
    }
    [[nodiscard]] static std::expected<plain_text, error> decode(const document_view& document);
};

/// Stores JSON. Reads JSON and documents without a format.
template <>
struct codec<json_text> {
    [[nodiscard]] static encoded_value encode(const json_text& value) noexcept {
        return encoded_value::view(value.text, document_format::json);
    }
    [[nodiscard]] static std::expected<json_text, error> decode(const document_view& document);
};

/// Stores binary documents. Reads binary documents and those without a format.
template <>
struct codec<std::vector<std::byte>> {
    [[nodiscard]] static encoded_value encode(const std::vector<std::byte>& value) noexcept {
        return encoded_value::view(std::span{value}, document_format::binary);
    }
    [[nodiscard]] static std::expected<std::vector<std::byte>, error> decode(
        const document_view& document);
};

namespace detail {
[[nodiscard]] std::expected<bool, error> read_bool(const document_view& fragment);
[[nodiscard]] std::expected<std::int64_t, error> read_int64(const document_view& fragment);
[[nodiscard]] std::expected<std::uint64_t, error> read_uint64(const document_view& fragment);
[[nodiscard]] std::expected<double, error> read_double(const document_view& fragment);
[[nodiscard]] std::expected<std::string, error> read_string(const document_view& fragment);
[[nodiscard]] error out_of_range(const document_view& fragment);
}  // namespace detail

/// A type that can be read from a path.
template <class T>
concept readable_fragment = std::is_arithmetic_v<T> || std::same_as<T, std::string> || decodable<T>;

/// Converts the value at a path to T: booleans, numbers that fit (1.5 does not fit an integer),
/// strings without their quotes, and everything else by `codec<T>`, which sees JSON. Fails with
/// errc::decoding_failure. Does not throw unless your codec does.
template <readable_fragment T>
[[nodiscard]] std::expected<T, error> read_fragment(const document_view& fragment) {
    if constexpr (std::same_as<T, bool>) {
        return detail::read_bool(fragment);
    } else if constexpr (std::same_as<T, std::string>) {
        return detail::read_string(fragment);
    } else if constexpr (std::floating_point<T>) {
        const auto number = detail::read_double(fragment);
        return number ? std::expected<T, error>(static_cast<T>(*number))
                      : std::unexpected(number.error());
    } else if constexpr (std::integral<T>) {
        const auto number = [&] {
            if constexpr (std::is_signed_v<T>) {
                return detail::read_int64(fragment);
            } else {
                return detail::read_uint64(fragment);
            }
        }();
        if (!number) {
            return std::unexpected(number.error());
        }
        using limits = std::numeric_limits<T>;
        if (*number < limits::min() || *number > limits::max()) {
            return std::unexpected(detail::out_of_range(fragment));
        }
        return static_cast<T>(*number);
    } else {
        return codec<T>::decode(fragment);
    }
}

}  // namespace reprise::couchbase
