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

namespace reprise::couchbase {

/// The format of a document. All Couchbase SDKs keep it in the top byte of the document's flags.
enum class document_format : std::uint8_t {
    none = 0,            ///< Written by a client that notes no format; most likely JSON.
    private_format = 1,  ///< A format of one SDK only.
    json = 2,
    binary = 3,
    string = 4,  ///< UTF-8 that is not JSON.
    unknown = 255
};

/// Returns the flags for a format.
[[nodiscard]] std::uint32_t flags_of(document_format format) noexcept;
/// Returns the format that flags name. Looks at the top byte only: older clients use the others.
[[nodiscard]] document_format format_of(std::uint32_t flags) noexcept;
/// Returns "json", "string", ...
[[nodiscard]] std::string_view to_string(document_format format) noexcept;

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

/// An encoded document. The client copies the bytes when the operation starts, so a borrowed view
/// must stay valid until that call returns.
class encoded_value {
public:
    /// Borrows the bytes.
    [[nodiscard]] static encoded_value view(std::string_view text, document_format format) noexcept;
    [[nodiscard]] static encoded_value view(
        std::span<const std::byte> bytes, document_format format) noexcept;
    /// Owns the text.
    [[nodiscard]] static encoded_value own(std::string text, document_format format) noexcept;
    /// There is no document, for this reason. The call that would store it sends nothing and fails
    /// with errc::encoding_failure and this text.
    [[nodiscard]] static encoded_value failed(std::string problem);

    [[nodiscard]] std::span<const std::byte> bytes() const noexcept;
    [[nodiscard]] std::uint32_t flags() const noexcept { return flags_; }
    /// For programs that keep numbers of their own in the flags.
    void set_flags(std::uint32_t flags) noexcept { flags_ = flags; }
    /// Why there is no document; empty if there is one.
    [[nodiscard]] const std::string& problem() const noexcept { return problem_; }

private:
    std::string owned_;
    std::string problem_;
    std::span<const std::byte> borrowed_;
    std::uint32_t flags_ = 0;
};

/// A document that is JSON already: `json_text{R"({"n":1})"}`. The client does not check it.
struct json_text {
    json_text() = default;
    explicit json_text(std::string json) noexcept : text(std::move(json)) {}

    std::string text;

    friend bool operator==(const json_text&, const json_text&) = default;
};

/// A document of UTF-8 text that is not JSON: `plain_text{"Reprise Air"}`. The client does not
/// check the encoding.
struct plain_text {
    plain_text() = default;
    explicit plain_text(std::string given) noexcept : text(std::move(given)) {}

    std::string text;

    friend bool operator==(const plain_text&, const plain_text&) = default;
};

/// The customisation point: specialise it with `encode` and `decode` as shown above. `decode` must
/// check the format and must not throw on any input; decode_mismatch makes the error. `encode` must
/// not throw either: encoded_value::failed has the reason why there is no document.
///
/// For types that Boost.JSON or nlohmann/json can convert, both are written already:
/// <reprise/couchbase/codecs/boost_json.hpp> and <reprise/couchbase/codecs/nlohmann.hpp>.
template <class T>
struct codec;

/// A type that can be stored.
template <class T>
concept encodable = requires(const T& value) {
    { codec<T>::encode(value) } -> std::convertible_to<encoded_value>;
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

/// A value that the server fills in when it writes. For extended attributes.
enum class mutation_macro : std::uint8_t {
    cas,          ///< The version that the document gets by the write.
    seqno,        ///< The number of the write among the changes of its vbucket.
    value_crc32c  ///< The checksum of the document's body.
};

/// One JSON value to write. It converts from null, booleans, numbers, text (which is quoted),
/// json_text (which is used as it is), a macro, and every type whose codec makes JSON. If the value
/// is not JSON, the call that uses it fails with errc::encoding_failure and names the path.
class json_fragment {
public:
    json_fragment(std::nullptr_t) : text_("null") {}
    json_fragment(std::same_as<bool> auto flag) : text_(flag ? "true" : "false") {}
    template <std::integral Number>
        requires(!std::same_as<Number, bool> && !std::same_as<Number, char>)
    json_fragment(Number number) : text_(std::to_string(number)) {}
    json_fragment(std::floating_point auto number) { set_number(static_cast<double>(number)); }
    json_fragment(mutation_macro macro);
    template <class T>
        requires std::convertible_to<const T&, std::string_view>
    json_fragment(const T& text) {
        set_string(text);
    }
    template <encodable T>
        requires(!std::convertible_to<const T&, std::string_view>)
    json_fragment(const T& value) {
        set_encoded(codec<T>::encode(value));
    }

    /// The value as JSON; empty if there is a problem.
    [[nodiscard]] const std::string& text() const noexcept { return text_; }
    /// Whether the server fills in the value.
    [[nodiscard]] bool is_macro() const noexcept { return is_macro_; }
    /// Why the value is not JSON; empty if it is.
    [[nodiscard]] const std::string& problem() const noexcept { return problem_; }

private:
    void set_string(std::string_view text);
    void set_number(double number);
    void set_encoded(const encoded_value& value);

    std::string text_;
    std::string problem_;
    bool is_macro_ = false;
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
