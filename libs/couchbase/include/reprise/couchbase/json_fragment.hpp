#pragma once

/// Values inside a document: what a sub-document operation writes to a path and reads from it. A
/// codec converts whole documents; here text is a JSON string and a number is a JSON number.

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <expected>
#include <limits>
#include <string>
#include <string_view>
#include <type_traits>

#include <reprise/couchbase/codec.hpp>

namespace reprise::couchbase {

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
