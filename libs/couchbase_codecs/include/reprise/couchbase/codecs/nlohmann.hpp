#pragma once

/// JSON documents through nlohmann/json (`nlohmann_json::nlohmann_json`). Values need no
/// preparation: `found->content_as<nlohmann::json>()`.
///
/// A struct needs a conversion of nlohmann/json (one of its macros, or `to_json` and `from_json`)
/// and one line that selects this codec:
/// ```
///     NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(hotel, name, stars)
///     template <>
///     struct reprise::couchbase::codec<hotel> : reprise::couchbase::nlohmann_codec<hotel> {};
/// ```
/// The line gives the type the same codec in every file, whichever headers the file includes. Rows
/// (`row.as<hotel>()`), paths of documents and parameters of queries use that codec, too. See
/// docs/guide/json_codecs.md.

#include <cmath>
#include <concepts>
#include <cstddef>
#include <expected>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <utility>

#include <reprise/couchbase/codec.hpp>
#include <reprise/couchbase/codecs/detail/json_conversion.hpp>
#include <reprise/couchbase/error.hpp>

namespace reprise::couchbase {

/// Converts T with nlohmann/json. Derive `codec<T>` from it, as shown above. Members are sorted by
/// name. With `nlohmann::ordered_json` as the second argument, they keep the order in which
/// `to_json` adds them; your conversions must take that type then.
///
/// It writes the text of the value, with the format json. A number that is not finite, text that is
/// not UTF-8 and more than 64 levels of nesting are errc::encoding_failure. It reads documents of
/// the formats json and none; what is not JSON, or not what `from_json` accepts, is
/// errc::decoding_failure. Exceptions of your conversions become these errors, with their text;
/// only std::bad_alloc is passed on.
template <class T, class Json = nlohmann::json>
struct nlohmann_codec {
    /// Converts a value to a document.
    [[nodiscard]] static encoded_value encode(const T& value)
        requires std::constructible_from<Json, const T&>;
    /// Converts a document to a value. The error has the text of nlohmann/json, which names the
    /// path if you define JSON_DIAGNOSTICS.
    [[nodiscard]] static std::expected<T, error> decode(const document_view& document)
        requires requires(const Json& json) {
            { json.template get<T>() } -> std::same_as<T>;
        };
};

/// Stores and reads JSON of any kind; the members of objects are sorted by name.
template <>
struct codec<nlohmann::json> : nlohmann_codec<nlohmann::json> {};
/// The same, with the members of objects in their own order.
template <>
struct codec<nlohmann::ordered_json>
    : nlohmann_codec<nlohmann::ordered_json, nlohmann::ordered_json> {};

namespace detail {

// Values that the library would write as something else: null for a number, a word for a discarded
// value.
// It checks UTF-8 itself. `depth` counts the arrays and objects around the value.
template <class Json>
[[nodiscard]] json_flaw find_nlohmann_flaw(const Json& value, std::size_t depth = 0) {
    if (value.is_discarded()) {
        return {{}, "the value was discarded"};
    }
    if (value.is_number_float() &&
        !std::isfinite(value.template get_ref<const typename Json::number_float_t&>())) {
        return {{}, "the number is not finite"};
    }
    if (value.is_structured() && depth == json_depth_max) {
        return {{}, too_deep};
    }
    if (value.is_array()) {
        for (std::size_t index = 0; index < value.size(); ++index) {
            if (auto flaw = find_nlohmann_flaw(value[index], depth + 1); flaw.is_found()) {
                return std::move(flaw).below(std::to_string(index));
            }
        }
    }
    if (value.is_object()) {
        for (const auto& [name, member] : value.items()) {
            if (auto flaw = find_nlohmann_flaw(member, depth + 1); flaw.is_found()) {
                return std::move(flaw).below(name);
            }
        }
    }
    return {};
}

template <class Json>
[[nodiscard]] encoded_value encode_nlohmann(const Json& value) {
    if (const auto flaw = find_nlohmann_flaw(value); flaw.is_found()) {
        return encoded_value::failed(flaw.to_string());
    }
    return encoded_value::own(value.dump(), document_format::json);
}

// Whether more arrays and objects are nested than allowed. The library's parser has no limit. Text
// that is not JSON may be counted wrongly behind its first error, where the parser stops.
[[nodiscard]] inline bool is_too_deep(std::string_view text) noexcept {
    std::size_t depth = 0;
    bool is_in_string = false;
    for (std::size_t at = 0; at < text.size(); ++at) {
        const char byte = text[at];
        if (is_in_string) {
            at += byte == '\\' ? 1 : 0;
            is_in_string = byte != '"';
        } else if (byte == '"') {
            is_in_string = true;
        } else if (byte == '[' || byte == '{') {
            if (++depth > json_depth_max) {
                return true;
            }
        } else if ((byte == ']' || byte == '}') && depth > 0) {
            --depth;
        }
    }
    return false;
}

template <class Json>
[[nodiscard]] std::expected<Json, error> parse_nlohmann(const document_view& document) {
    if (!document.may_be_json()) {
        return std::unexpected(decode_mismatch("json", document));
    }
    const std::string_view text = document.text();
    if (is_too_deep(text)) {
        return std::unexpected(syntax_error(too_deep));
    }
    try {
        return Json::parse(text.begin(), text.end());
    } catch (const typename Json::parse_error& problem) {
        // The library's own text quotes the document, at any length.
        return std::unexpected(syntax_error("wrong at byte " + std::to_string(problem.byte)));
    } catch (...) {
        return std::unexpected(syntax_error(describe_exception()));
    }
}

}  // namespace detail

template <class T, class Json>
encoded_value nlohmann_codec<T, Json>::encode(const T& value)
    requires std::constructible_from<Json, const T&>
{
    try {
        if constexpr (std::same_as<T, Json>) {
            return detail::encode_nlohmann(value);
        } else {
            return detail::encode_nlohmann(Json(value));
        }
    } catch (...) {
        return encoded_value::failed(detail::describe_exception());
    }
}

template <class T, class Json>
std::expected<T, error> nlohmann_codec<T, Json>::decode(const document_view& document)
    requires requires(const Json& json) {
        { json.template get<T>() } -> std::same_as<T>;
    }
{
    auto parsed = detail::parse_nlohmann<Json>(document);
    if constexpr (std::same_as<T, Json>) {
        return parsed;
    } else {
        if (!parsed) {
            return std::unexpected(std::move(parsed.error()));
        }
        try {
            return parsed->template get<T>();
        } catch (...) {
            return std::unexpected(detail::misfit_error(detail::describe_exception()));
        }
    }
}

}  // namespace reprise::couchbase
