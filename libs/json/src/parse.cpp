#include <reprise/json/parse.hpp>

#include <boost/json/basic_parser_impl.hpp>
#include <charconv>
#include <utility>

#include <reprise/base/enum_table.hpp>

#include "tree_builder.hpp"

namespace reprise::json {

namespace {

namespace boost_json = boost::json;

// The handler of boost::json::basic_parser. Strings and numbers arrive in parts, which `part_`
// collects.
class parse_handler {
public:
    // The size of the whole text is checked before parsing.
    static constexpr std::size_t max_object_size = static_cast<std::size_t>(-1);
    static constexpr std::size_t max_array_size = static_cast<std::size_t>(-1);
    static constexpr std::size_t max_key_size = static_cast<std::size_t>(-1);
    static constexpr std::size_t max_string_size = static_cast<std::size_t>(-1);

    explicit parse_handler(duplicate_policy policy) : builder_(policy) {}

    detail::tree_builder& builder() noexcept { return builder_; }
    bool is_duplicate_refused() const noexcept { return duplicate_refused_; }

    // Containers. The builder keeps the stack.
    bool on_document_begin(boost_json::error_code&) { return true; }
    bool on_document_end(boost_json::error_code&) { return true; }
    bool on_array_begin(boost_json::error_code&) {
        builder_.begin_array();
        return true;
    }
    bool on_array_end(std::size_t, boost_json::error_code&) {
        builder_.end_array();
        return true;
    }
    bool on_object_begin(boost_json::error_code&) {
        builder_.begin_object();
        return true;
    }
    bool on_object_end(std::size_t, boost_json::error_code& ec) {
        if (!builder_.end_object()) {
            duplicate_refused_ = true;
            ec = boost_json::error::test_failure;  // any code will stop the parser
            return false;
        }
        return true;
    }
    // Text arrives in parts if it contains escapes or is long.
    bool on_key_part(boost_json::string_view text, std::size_t, boost_json::error_code&) {
        part_.append(text.data(), text.size());
        return true;
    }
    bool on_key(boost_json::string_view text, std::size_t, boost_json::error_code&) {
        part_.append(text.data(), text.size());
        builder_.key(std::exchange(part_, {}));
        return true;
    }
    bool on_string_part(boost_json::string_view text, std::size_t, boost_json::error_code&) {
        part_.append(text.data(), text.size());
        return true;
    }
    bool on_string(boost_json::string_view text, std::size_t, boost_json::error_code&) {
        part_.append(text.data(), text.size());
        builder_.add(value(std::exchange(part_, {})));
        return true;
    }
    // The digits of integers are not needed; those of decimals are kept as their spelling.
    bool on_number_part(boost_json::string_view text, boost_json::error_code&) {
        part_.append(text.data(), text.size());
        return true;
    }
    bool on_int64(std::int64_t number, boost_json::string_view, boost_json::error_code&) {
        part_.clear();
        builder_.add(value(number));
        return true;
    }
    bool on_uint64(std::uint64_t number, boost_json::string_view, boost_json::error_code&) {
        part_.clear();
        builder_.add(value(number));
        return true;
    }
    bool on_double(double number, boost_json::string_view text, boost_json::error_code&) {
        part_.append(text.data(), text.size());
        // The parser's own value may be off by a unit in the last place. It is used only if the
        // text is beyond a double's range.
        std::from_chars(part_.data(), part_.data() + part_.size(), number);
        builder_.add(value(real{number, std::exchange(part_, {})}));
        return true;
    }
    bool on_bool(bool flag, boost_json::error_code&) {
        builder_.add(value(flag));
        return true;
    }
    bool on_null(boost_json::error_code&) {
        builder_.add(value(nullptr));
        return true;
    }
    // Comments have no place in the tree.
    bool on_comment_part(boost_json::string_view, boost_json::error_code&) { return true; }
    bool on_comment(boost_json::string_view, boost_json::error_code&) { return true; }

private:
    detail::tree_builder builder_;
    std::string part_;
    bool duplicate_refused_ = false;
};

bool is_blank(std::string_view text) noexcept {
    return text.find_first_not_of(" \t\r\n") == std::string_view::npos;
}

// The parser distinguishes many kinds of syntax errors. They appear only in the detail.
parse_errc to_errc(const boost_json::error_code& ec) noexcept {
    if (ec == boost_json::error::incomplete) {
        return parse_errc::incomplete;
    }
    if (ec == boost_json::error::too_deep) {
        return parse_errc::too_deep;
    }
    if (ec == boost_json::error::extra_data) {
        return parse_errc::extra_text;
    }
    if (ec == boost_json::error::illegal_leading_surrogate ||
        ec == boost_json::error::illegal_trailing_surrogate ||
        ec == boost_json::error::expected_utf16_escape) {
        return parse_errc::invalid_utf8;
    }
    return parse_errc::syntax;
}

}  // namespace

std::string_view to_string(parse_errc code) noexcept {
    static constexpr base::enumerator_texts<parse_errc> texts({
        {parse_errc::empty, "no JSON text"},
        {parse_errc::syntax, "syntax error"},
        {parse_errc::incomplete, "incomplete JSON"},
        {parse_errc::extra_text, "text after the JSON value"},
        {parse_errc::invalid_utf8, "invalid UTF-8"},
        {parse_errc::too_large, "JSON text too large"},
        {parse_errc::too_deep, "JSON nested too deeply"},
        {parse_errc::duplicate_member, "duplicate member"},
    });
    return texts[code];
}

std::string to_string(const parse_error& error) {
    std::string text(to_string(error.code));
    text += " at byte " + std::to_string(error.offset);
    if (!error.detail.empty()) {
        text += ": " + error.detail;
    }
    return text;
}

std::string to_string(const duplicate_member& duplicate) {
    std::string text;
    for (const std::string& name : duplicate.path) {
        text += text.empty() ? name : "." + name;
    }
    return text;
}

std::expected<document, parse_error> parse(std::string_view text, const parse_options& options) {
    if (text.size() > options.size_max_bytes) {
        return std::unexpected(parse_error{
            parse_errc::too_large, options.size_max_bytes,
            std::to_string(text.size()) + " of at most " + std::to_string(options.size_max_bytes)});
    }
    if (is_blank(text)) {
        return std::unexpected(parse_error{parse_errc::empty, text.size(), {}});
    }
    // The parser also checks this, but only inside strings and as a syntax error.
    std::size_t bad_byte = 0;
    if (!is_valid_utf8(text, &bad_byte)) {
        return std::unexpected(parse_error{parse_errc::invalid_utf8, bad_byte, {}});
    }
    // Passes the whole text in one call: `more` is false, so missing text is an error.
    boost_json::parse_options boost_options;
    boost_options.max_depth = options.depth_max;
    boost_options.allow_comments = options.allows_comments;
    boost_json::basic_parser<parse_handler> parser(boost_options, options.duplicates);
    boost_json::error_code ec;
    const std::size_t consumed = parser.write_some(false, text.data(), text.size(), ec);
    if (parser.handler().is_duplicate_refused()) {
        return std::unexpected(parse_error{
            parse_errc::duplicate_member, consumed,
            to_string(parser.handler().builder().refused())});
    }
    if (ec) {
        const parse_errc code = to_errc(ec);
        return std::unexpected(
            parse_error{code, consumed, code == parse_errc::syntax ? ec.message() : ""});
    }
    if (consumed < text.size()) {
        return std::unexpected(parse_error{parse_errc::extra_text, consumed, {}});
    }
    return std::move(parser.handler().builder().result());
}

}  // namespace reprise::json
