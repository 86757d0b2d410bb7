#include <reprise/couchbase/codec.hpp>

#include <reprise/json/parse.hpp>

namespace reprise::couchbase {
namespace {

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
