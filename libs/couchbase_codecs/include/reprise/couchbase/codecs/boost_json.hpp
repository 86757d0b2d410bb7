#pragma once

/// JSON documents through Boost.JSON, which you link yourself (`Boost::json`). Values need no
/// preparation: `found->content_as<boost::json::object>()`.
///
/// A struct needs a conversion of Boost.JSON (BOOST_DESCRIBE_STRUCT, or `tag_invoke`) and one line
/// that selects this codec:
/// ```
///     BOOST_DESCRIBE_STRUCT(hotel, (), (name, stars, tags))
///
///     template <>
///     struct reprise::couchbase::codec<hotel> : reprise::couchbase::boost_json_codec<hotel> {};
/// ```
/// The line gives the type the same codec in every file, whichever headers the file includes. Rows
/// (`row.as<hotel>()`), paths of documents and parameters of queries use that codec, too. See
/// docs/guide/json_codecs.md.

#include <boost/describe/members.hpp>
#include <boost/describe/modifiers.hpp>
#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/parse_options.hpp>
#include <boost/json/parser.hpp>
#include <boost/json/serialize.hpp>
#include <boost/json/value.hpp>
#include <boost/json/value_from.hpp>
#include <boost/json/value_to.hpp>
#include <boost/mp11/algorithm.hpp>
#include <boost/system/system_error.hpp>
#include <cmath>
#include <concepts>
#include <cstddef>
#include <expected>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include <reprise/couchbase/codec.hpp>
#include <reprise/couchbase/codecs/detail/json_conversion.hpp>
#include <reprise/couchbase/error.hpp>

namespace reprise::couchbase {

namespace detail {
template <class T>
concept written_by_boost_json = boost::json::has_value_from<T>::value;
template <class T>
concept read_by_boost_json = boost::json::has_value_to<T>::value;
}  // namespace detail

/// Converts T with Boost.JSON. Derive `codec<T>` from it, as shown above.
///
/// It writes what `boost::json::value_from` makes, with the format json. A number that is not
/// finite, text that is not UTF-8 and more than 64 levels of nesting are errc::encoding_failure,
/// since such a document could not be read back. It reads documents of the formats json and none;
/// what is not JSON, or not what `boost::json::value_to` accepts, is errc::decoding_failure.
/// Exceptions of your conversions become these errors, with their text; only std::bad_alloc is
/// passed on.
template <class T>
struct boost_json_codec {
    /// Converts a value to a document.
    [[nodiscard]] static encoded_value encode(const T& value)
        requires detail::written_by_boost_json<T>;
    /// Converts a document to a value. For a struct that is described, the error names the member
    /// that does not fit, those that are missing, or the first one that is unknown.
    [[nodiscard]] static std::expected<T, error> decode(const document_view& document)
        requires detail::read_by_boost_json<T>;
};

/// Stores and reads JSON of any kind.
template <>
struct codec<boost::json::value> : boost_json_codec<boost::json::value> {};
/// Stores and reads JSON objects.
template <>
struct codec<boost::json::object> : boost_json_codec<boost::json::object> {};
/// Stores and reads JSON arrays.
template <>
struct codec<boost::json::array> : boost_json_codec<boost::json::array> {};

namespace detail {

// The text of the exception that is being handled. What system_error::what() adds to the message
// is about the sources of Boost.
[[nodiscard]] inline std::string describe_boost_exception() {
    try {
        throw;
    } catch (const boost::system::system_error& problem) {
        return problem.code().message();
    } catch (...) {
        return describe_exception();
    }
}

[[nodiscard]] inline std::string_view std_view(boost::json::string_view text) noexcept {
    return {text.data(), text.size()};
}

// Boost.JSON serializes everything, but these flaws would make the text something else than JSON.
// `depth` counts the arrays and objects around the value.
[[nodiscard]] inline json_flaw find_flaw(const boost::json::value& value, std::size_t depth = 0) {
    if (const double* number = value.if_double(); number && !std::isfinite(*number)) {
        return {{}, "the number is not finite"};
    }
    if (const auto* text = value.if_string(); text && !is_valid_utf8(std_view(*text))) {
        return {{}, "the text is not UTF-8"};
    }
    if (value.is_structured() && depth == json_depth_max) {
        return {{}, too_deep};
    }
    if (const auto* elements = value.if_array()) {
        for (std::size_t index = 0; index < elements->size(); ++index) {
            if (auto flaw = find_flaw((*elements)[index], depth + 1); flaw.is_found()) {
                return std::move(flaw).below(std::to_string(index));
            }
        }
    }
    if (const auto* members = value.if_object()) {
        for (const auto& [name, member] : *members) {
            if (!is_valid_utf8(std_view(name))) {
                return {{}, "the name of a member is not UTF-8"};
            }
            if (auto flaw = find_flaw(member, depth + 1); flaw.is_found()) {
                return std::move(flaw).below(std_view(name));
            }
        }
    }
    return {};
}

[[nodiscard]] inline encoded_value encode_boost_json(const boost::json::value& value) {
    if (const auto flaw = find_flaw(value); flaw.is_found()) {
        return encoded_value::failed(flaw.to_string());
    }
    return encoded_value::own(boost::json::serialize(value), document_format::json);
}

[[nodiscard]] inline std::expected<boost::json::value, error> parse_boost_json(
    const document_view& document) {
    if (!document.may_be_json()) {
        return std::unexpected(decode_mismatch("json", document));
    }
    boost::json::parse_options options;
    options.max_depth = json_depth_max;
    boost::json::parser parser({}, options);
    boost::system::error_code code;
    const std::string_view text = document.text();
    const std::size_t end = parser.write_some(text.data(), text.size(), code);
    if (code == boost::json::error::too_deep) {
        return std::unexpected(syntax_error(too_deep));
    }
    if (!code && end < text.size()) {
        code = boost::json::error::extra_data;
    }
    if (code) {
        return std::unexpected(syntax_error(code.message() + " at byte " + std::to_string(end)));
    }
    return parser.release();
}

// A struct whose members Boost.JSON converts one by one.
template <class T>
concept converted_by_members =
    boost::json::is_described_class<T>::value && !requires(const boost::json::value& json) {
        tag_invoke(boost::json::value_to_tag<T>(), json);
    } && !requires(const boost::json::value& json) {
        tag_invoke(boost::json::try_value_to_tag<T>(), json);
    };

template <class T>
using member_descriptors = boost::describe::describe_members<
    T, boost::describe::mod_public | boost::describe::mod_inherited>;

// The first member that T does not have, as a path; at most 64 bytes of its name, which a stranger
// may have written.
template <class T>
[[nodiscard]] std::string find_unknown_member(const boost::json::object& object) {
    for (const auto& member : object) {
        bool is_known = false;
        boost::mp11::mp_for_each<member_descriptors<T>>(
            [&](auto descriptor) { is_known = is_known || member.key() == descriptor.name; });
        if (!is_known) {
            return "/" + std::string(std_view(member.key()).substr(0, 64));
        }
    }
    return {};
}

// Names the member that does not fit, since Boost.JSON only gives the cause. `path` leads to
// `json`, and `reason` is Boost.JSON's message.
template <class T>
[[nodiscard]] std::string explain_misfit(
    const boost::json::value& json, const std::string& path, std::string_view reason) {
    std::string wrong;
    std::string missing;
    if constexpr (converted_by_members<T>) {
        if (const auto* object = json.if_object()) {
            boost::mp11::mp_for_each<member_descriptors<T>>([&](auto descriptor) {
                using member =
                    std::remove_cvref_t<decltype(std::declval<T&>().*descriptor.pointer)>;
                const auto place = path + "/" + descriptor.name;
                const auto* found = object->if_contains(descriptor.name);
                if (found == nullptr) {
                    missing += missing.empty() ? place : ", " + place;
                } else if (const auto read = boost::json::try_value_to<member>(*found);
                           !read && wrong.empty()) {
                    wrong = explain_misfit<member>(*found, place, read.error().message());
                }
            });
            if (wrong.empty() && missing.empty()) {
                if (const auto unknown = find_unknown_member<T>(*object); !unknown.empty()) {
                    return path + unknown + ": unknown member";
                }
            }
        }
    }
    if (!wrong.empty()) {
        return wrong;
    }
    if (!missing.empty()) {
        return missing + ": missing";
    }
    return path.empty() ? std::string(reason) : path + ": " + std::string(reason);
}

}  // namespace detail

template <class T>
encoded_value boost_json_codec<T>::encode(const T& value)
    requires detail::written_by_boost_json<T>
{
    try {
        if constexpr (std::same_as<T, boost::json::value>) {
            return detail::encode_boost_json(value);
        } else {
            return detail::encode_boost_json(boost::json::value_from(value));
        }
    } catch (...) {
        return encoded_value::failed(detail::describe_boost_exception());
    }
}

template <class T>
std::expected<T, error> boost_json_codec<T>::decode(const document_view& document)
    requires detail::read_by_boost_json<T>
{
    auto parsed = detail::parse_boost_json(document);
    if constexpr (std::same_as<T, boost::json::value>) {
        return parsed;
    } else {
        if (!parsed) {
            return std::unexpected(std::move(parsed.error()));
        }
        try {
            return boost::json::value_to<T>(*parsed);
        } catch (...) {
            return std::unexpected(detail::misfit_error(
                detail::explain_misfit<T>(*parsed, {}, detail::describe_boost_exception())));
        }
    }
}

}  // namespace reprise::couchbase
