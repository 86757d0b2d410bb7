#include <reprise/couchbase/codec.hpp>

#include <cmath>

#include <reprise/json/parse.hpp>
#include <reprise/json/write.hpp>
#include <reprise/wire/subdoc_messages.hpp>

namespace reprise::couchbase {
namespace {

std::string_view text_of(mutation_macro macro) noexcept {
    switch (macro) {
        case mutation_macro::seqno:
            return wire::macro_mutation_seqno;
        case mutation_macro::value_crc32c:
            return wire::macro_mutation_value_crc32c;
        case mutation_macro::cas:
            break;
    }
    return wire::macro_mutation_cas;
}

error wrong_kind(std::string_view wanted, std::string_view found) {
    std::string text("wanted ");
    text.append(wanted).append(", the path holds ").append(found);
    return {make_error_code(errc::decoding_failure), std::move(text)};
}

// Parses one JSON value. Any mistake in it is a decoding failure.
std::expected<json::value, error> parse_fragment(
    std::string_view wanted, const document_view& fragment) {
    auto parsed = json::parse(fragment.text());
    if (!parsed) {
        return std::unexpected(wrong_kind(
            wanted, fragment.bytes.empty() ? "nothing" : json::to_string(parsed.error())));
    }
    return std::move(parsed->root);
}

template <class T, class Read>
std::expected<T, error> read_as(
    std::string_view wanted, const document_view& fragment, const Read& read) {
    const auto parsed = parse_fragment(wanted, fragment);
    if (!parsed) {
        return std::unexpected(parsed.error());
    }
    const auto found = read(*parsed);
    if (!found) {
        return std::unexpected(wrong_kind(wanted, json::to_string(parsed->what())));
    }
    return T(*found);
}

}  // namespace

json_fragment::json_fragment(mutation_macro macro) : text_(text_of(macro)), is_macro_(true) {}

void json_fragment::set_string(std::string_view text) {
    if (!json::is_valid_utf8(text)) {
        problem_ = "the text is not UTF-8";
        return;
    }
    json::append_quoted(text_, text);
}

void json_fragment::set_number(double number) {
    if (!std::isfinite(number)) {
        problem_ = "the number is not finite";
        return;
    }
    text_ = json::serialize(json::value(number));
}

void json_fragment::set_encoded(const encoded_value& value) {
    if (!value.problem().empty()) {
        problem_ = value.problem();
        return;
    }
    if (format_of(value.flags()) != document_format::json) {
        problem_ =
            "the value is " + std::string(to_string(format_of(value.flags()))) + ", not json";
        return;
    }
    const auto bytes = value.bytes();
    text_.assign(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    if (text_.empty()) {
        problem_ = "the value is empty";
    }
}

std::expected<bool, error> detail::read_bool(const document_view& fragment) {
    return read_as<bool>("a boolean", fragment, [](const auto& at) { return at.as_bool(); });
}

std::expected<std::int64_t, error> detail::read_int64(const document_view& fragment) {
    return read_as<std::int64_t>(
        "an integer", fragment, [](const auto& at) { return at.as_int64(); });
}

std::expected<std::uint64_t, error> detail::read_uint64(const document_view& fragment) {
    return read_as<std::uint64_t>(
        "an integer that is not negative", fragment, [](const auto& at) { return at.as_uint64(); });
}

std::expected<double, error> detail::read_double(const document_view& fragment) {
    return read_as<double>("a number", fragment, [](const auto& at) { return at.as_double(); });
}

std::expected<std::string, error> detail::read_string(const document_view& fragment) {
    return read_as<std::string>(
        "a string", fragment, [](const auto& at) { return at.as_string(); });
}

error detail::out_of_range(const document_view& fragment) {
    return wrong_kind("a smaller integer", fragment.text());
}

}  // namespace reprise::couchbase
