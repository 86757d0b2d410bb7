#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <expected>
#include <limits>
#include <string>
#include <string_view>
#include <type_traits>

#include <reprise/couchbase/codec.hpp>

// Values inside a document: what a sub-document call writes to a path and reads from it. A codec
// speaks for whole documents; here text is a JSON string, a number a JSON number.

namespace reprise::couchbase {

// Filled in by the server at the moment of the write; for extended attributes.
enum class mutation_macro : std::uint8_t {
    cas,          // the version that the write gives the document
    seqno,        // its number among the changes of its vbucket
    value_crc32c  // checksum of the document's body
};

// One JSON value on its way to a path. Converts from null, booleans, numbers, text (which is
// quoted), json_text (which goes as it is), a macro, and every type whose codec makes JSON. What is
// no JSON is refused when the call is made, as errc::encoding_failure that names the path.
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

    // JSON text; empty if there is a problem.
    [[nodiscard]] const std::string& text() const noexcept { return text_; }
    [[nodiscard]] bool is_macro() const noexcept { return is_macro_; }
    // Why it is no JSON; empty: it is.
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

// What can be read from a path.
template <class T>
concept readable_fragment = std::is_arithmetic_v<T> || std::same_as<T, std::string> || decodable<T>;

// The value at a path as a T: booleans, numbers that fit (an integer with a fraction does not),
// strings without their quotes; everything else through codec<T>, which sees JSON. Otherwise
// errc::decoding_failure. Never throws.
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
