#pragma once

#include <cstddef>
#include <cstdint>
#include <expected>
#include <string>
#include <string_view>
#include <vector>

#include <reprise/json/value.hpp>

namespace reprise::json {

// What to do when an object names a member twice. Real cluster configurations do so and must be
// read; an error map that does so is corrupt.
enum class duplicate_policy : std::uint8_t {
    last_wins,  // the last value is kept, at the place of the first
    report,     // as last_wins, and each case is listed in document::duplicates
    refuse      // parse_errc::duplicate_member
};

struct parse_options {
    // Longer text is refused before it is looked at. Bytes.
    std::size_t size_max_bytes = std::size_t{20} * 1024 * 1024;
    // Arrays and objects inside each other; bounds the recursion of everything that walks a tree.
    std::size_t depth_max = 64;
    duplicate_policy duplicates = duplicate_policy::last_wins;
};

enum class parse_errc : std::uint8_t {
    empty = 1,        // nothing but white space
    syntax,           // not JSON
    incomplete,       // the text ends inside a value
    extra_text,       // something follows the value
    invalid_utf8,     // a byte sequence that is not UTF-8, or a lone surrogate escape
    too_large,        // over parse_options::size_max_bytes
    too_deep,         // over parse_options::depth_max
    duplicate_member  // only with duplicate_policy::refuse
};

std::string_view to_string(parse_errc code) noexcept;

struct parse_error {
    parse_errc code = parse_errc::syntax;
    // Byte at which reading stopped; for a duplicate the end of the object that holds it.
    std::size_t offset = 0;
    // More than the code says, for people: the parser's own words or the member's path.
    std::string detail;
};

// "syntax error at byte 12: expected comma"
std::string to_string(const parse_error& error);

// One member that was given more than once. `path` runs from the root to the member's name; array
// indexes are written in decimal.
struct duplicate_member {
    std::vector<std::string> path;
    std::size_t count = 2;
};

// "errors.1f.name"
std::string to_string(const duplicate_member& duplicate);

struct document {
    value root;
    // Filled only with duplicate_policy::report; at most the first 1000.
    std::vector<duplicate_member> duplicates;
};

// Parses one JSON text (RFC 8259: no comments, no trailing commas). White space around it is
// allowed. Never throws on input; allocation failure aside it always returns.
std::expected<document, parse_error> parse(
    std::string_view text, const parse_options& options = {});

// True if `text` is valid UTF-8 (no overlong forms, no surrogates). On false, `*offset` is the
// first bad byte if the pointer is given.
bool is_valid_utf8(std::string_view text, std::size_t* offset = nullptr) noexcept;

}  // namespace reprise::json
