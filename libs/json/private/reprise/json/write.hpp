#pragma once

#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <reprise/json/value.hpp>

namespace reprise::json {

enum class layout : std::uint8_t {
    compact,  ///< without white space, for the wire
    indented  ///< two spaces per level, for people and files
};

/// Returns the text of a tree. Members keep their order, and parsed decimals keep their spelling. A
/// number that JSON cannot express (not finite) becomes null.
std::string serialize(const value& content, layout style = layout::compact);
/// Appends the same text to `out`.
void serialize_to(std::string& out, const value& content, layout style = layout::compact);

/// Appends `text` in quotes. Escapes control characters, quotes and backslashes. Replaces bytes
/// that are not UTF-8 with U+FFFD, so the output is always valid.
void append_quoted(std::string& out, std::string_view text);

/// Writes JSON directly into a string, without a tree.
///
///   writer w(out);
///   w.begin_object();
///   w.member("rev", 7);
///   w.key("nodes").begin_array(); w.value("a"); w.end_array();
///   w.end_object();
///
/// The writer adds commas and indentation; the caller is responsible for the order of calls. A call
/// out of order (a value where a key is expected, an end that matches nothing) writes nothing and
/// makes `is_complete` false from then on: check it once at the end.
class writer {
public:
    /// `out` must outlive the writer, which appends to it.
    explicit writer(std::string& out, layout style = layout::compact) noexcept;

    writer& begin_object();
    writer& end_object();
    writer& begin_array();
    writer& end_array();
    /// Required inside an object before each value.
    writer& key(std::string_view name);

    /// Writes one value: the root, an array's next element, or the value of the pending key.
    writer& value(std::nullptr_t);
    writer& value(std::same_as<bool> auto flag) { return token(flag ? "true" : "false"); }
    template <std::integral Integer>
        requires(!std::same_as<Integer, bool>)
    writer& value(Integer number) {
        return token(std::to_string(number));
    }
    /// Writes the shortest text that parses as the same double, or null if it is not finite.
    writer& value(double number);
    writer& value(std::string_view text);
    writer& value(const char* text) { return value(std::string_view(text)); }
    writer& value(const std::string& text) { return value(std::string_view(text)); }
    writer& value(const json::value& tree);
    /// Writes text that is already JSON, without checking it.
    writer& raw(std::string_view json_text) { return token(json_text); }

    /// Writes a key and its value.
    template <typename T>
    writer& member(std::string_view name, const T& content) {
        key(name);
        return value(content);
    }

    /// Whether one whole value was written and no call was out of order.
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
