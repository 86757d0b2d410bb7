#pragma once

#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <reprise/json/value.hpp>

namespace reprise::json {

enum class layout : std::uint8_t {
    compact,  // no white space: what goes over a wire
    indented  // two blanks per level, for people and files
};

// The text of a tree. Members keep their order. Reals that were parsed keep their spelling; a
// number that JSON cannot express (not finite) is written as null.
std::string serialize(const value& content, layout style = layout::compact);
// The same, appended to `out`.
void serialize_to(std::string& out, const value& content, layout style = layout::compact);

// Appends `text` in quotes. Control characters, quote and backslash are escaped; bytes that are not
// UTF-8 become U+FFFD, so the output is always valid.
void append_quoted(std::string& out, std::string_view text);

// Writes JSON straight into a string, without a tree.
//
//   writer w(out);
//   w.begin_object();
//   w.member("rev", 7);
//   w.key("nodes").begin_array(); w.value("a"); w.end_array();
//   w.end_object();
//
// Commas and indentation are its job; the order of calls is the caller's. A call out of order (a
// value where a key is due, an end that matches nothing) writes nothing and makes `is_complete`
// false for good: check it once at the end.
class writer {
public:
    // `out` must outlive the writer. Text already there is kept.
    explicit writer(std::string& out, layout style = layout::compact) noexcept;

    writer& begin_object();
    writer& end_object();
    writer& begin_array();
    writer& end_array();
    // Inside an object, before each value.
    writer& key(std::string_view name);

    // One value: the root, an array's next element, or what belongs to the pending key.
    writer& value(std::nullptr_t);
    writer& value(std::same_as<bool> auto flag) { return token(flag ? "true" : "false"); }
    template <std::integral Integer>
        requires(!std::same_as<Integer, bool>)
    writer& value(Integer number) {
        return token(std::to_string(number));
    }
    // Shortest text that reads back as the same double; null if it is not finite.
    writer& value(double number);
    writer& value(std::string_view text);
    writer& value(const char* text) { return value(std::string_view(text)); }
    writer& value(const std::string& text) { return value(std::string_view(text)); }
    writer& value(const json::value& tree);
    // Text that is JSON already; it is not checked.
    writer& raw(std::string_view json_text) { return token(json_text); }

    // A key with its value.
    template <typename T>
    writer& member(std::string_view name, const T& content) {
        key(name);
        return value(content);
    }

    // One whole value was written and nothing was out of order.
    bool is_complete() const noexcept;

private:
    enum class scope : std::uint8_t { members, elements };
    struct level {
        scope inside;
        bool has_elements = false;
        bool key_pending = false;
    };

    bool before_value();
    writer& open(scope inside, char bracket);
    writer& close(scope inside, char bracket);
    writer& token(std::string_view text);
    void line_break();

    std::string* out_;
    layout style_;
    std::vector<level> levels_;
    bool root_written_ = false;
    bool out_of_order_ = false;
};

}  // namespace reprise::json
