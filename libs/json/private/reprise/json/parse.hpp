#pragma once

#include <cstddef>
#include <cstdint>
#include <expected>
#include <string>
#include <string_view>
#include <vector>

#include <reprise/json/value.hpp>

namespace reprise::json {

/// Behaviour if an object has a member twice. Real cluster configurations do and must be accepted;
/// an error map that does is corrupt.
enum class duplicate_policy : std::uint8_t {
    last_wins,  ///< keeps the last value, in the place of the first
    report,     ///< like last_wins, and lists each case in document::duplicates
    refuse      ///< fails with parse_errc::duplicate_member
};

struct parse_options {
    /// Longer text is rejected without parsing it. In bytes.
    std::size_t size_max_bytes = std::size_t{20} * 1024 * 1024;
    /// The nesting limit of arrays and objects. It bounds the recursion of everything that walks a
    /// tree.
    std::size_t depth_max = 64;
    duplicate_policy duplicates = duplicate_policy::last_wins;
    /// Accepts `// ...` and `/* ... */` where white space may be, for files that people write.
    bool allows_comments = false;
};

enum class parse_errc : std::uint8_t {
    empty = 1,        ///< only white space
    syntax,           ///< not JSON
    incomplete,       ///< the text ends inside a value
    extra_text,       ///< text follows the value
    invalid_utf8,     ///< a byte sequence that is not UTF-8, or a lone surrogate escape
    too_large,        ///< larger than parse_options::size_max_bytes
    too_deep,         ///< deeper than parse_options::depth_max
    duplicate_member  ///< only with duplicate_policy::refuse
};

std::string_view to_string(parse_errc code) noexcept;

struct parse_error {
    parse_errc code = parse_errc::syntax;
    /// The byte at which parsing stopped. For a duplicate, the end of the object that contains it.
    std::size_t offset = 0;
    /// A readable explanation beyond the code: the parser's message or the member's path.
    std::string detail;
};

/// Returns for example "syntax error at byte 12: expected comma".
std::string to_string(const parse_error& error);

/// A member that appears more than once. `path` leads from the root to the member's name; array
/// indexes are decimal numbers.
struct duplicate_member {
    std::vector<std::string> path;
    std::size_t count = 2;
};

/// Returns for example "errors.1f.name".
std::string to_string(const duplicate_member& duplicate);

struct document {
    value root;
    /// Filled only with duplicate_policy::report, with at most the first 1000.
    std::vector<duplicate_member> duplicates;
};

/// Parses one JSON text (RFC 8259: no trailing commas, comments only on request), which may have
/// white space around it. Never throws on bad input; it can only fail to allocate.
std::expected<document, parse_error> parse(
    std::string_view text, const parse_options& options = {});

/// Whether `text` is valid UTF-8 (no overlong forms, no surrogates). If not, stores the position of
/// the first invalid byte in `*offset`, unless it is null.
bool is_valid_utf8(std::string_view text, std::size_t* offset = nullptr) noexcept;

}  // namespace reprise::json
