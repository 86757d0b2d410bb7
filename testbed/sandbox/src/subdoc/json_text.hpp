#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace reprise::sandbox::detail {

// Works on JSON as text, without a tree. Sub-document operations cut and splice, so that every
// other part of a document keeps its bytes.

// Deeper text is not accepted as JSON. Bounds the recursion of the check.
inline constexpr std::size_t json_depth_max = 512;

// Returns the nesting of one complete JSON value (a number is 1, "[1]" is 2), which white space may
// surround. Empty if `text` is not such a value.
std::optional<std::size_t> json_depth(std::string_view text) noexcept;

struct text_range {
    std::size_t begin = 0;
    std::size_t end = 0;
    std::string_view of(std::string_view text) const noexcept {
        return text.substr(begin, end - begin);
    }
};

// The functions below require text that `json_depth` accepted.

// The first byte at or after `at` that is not white space.
std::size_t skip_space(std::string_view text, std::size_t at) noexcept;
// The end of the value that begins at `at`.
std::size_t skip_value(std::string_view text, std::size_t at) noexcept;
// The value without the white space around it.
text_range value_range(std::string_view text) noexcept;

// One member or element of a container, found by json_walker.
struct json_item {
    text_range name;  // with its quotes; empty in arrays
    text_range value;
    // From the end of what precedes it (bracket or comma) to the end of its value.
    std::size_t begin_after_separator = 0;
};

// Iterates over the members or elements of the container that begins at `at`.
class json_walker {
public:
    json_walker(std::string_view text, std::size_t at) noexcept;
    // Returns false at the end.
    bool next(json_item& item) noexcept;

private:
    std::string_view text_;
    bool is_object_;
    std::size_t at_;
};

// Whether a quoted member name equals `name` after escapes are resolved.
bool name_equals(std::string_view quoted, std::string_view name);
// The text of a JSON string without quotes and escapes.
std::string unquote(std::string_view quoted);

}  // namespace reprise::sandbox::detail
