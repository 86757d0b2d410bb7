#include <reprise/json/write.hpp>

#include <array>
#include <charconv>
#include <cmath>
#include <cstddef>

#include <reprise/base/hex.hpp>

#include "utf8.hpp"

namespace reprise::json {

namespace {

constexpr std::size_t indent_width = 2;

// Uses the short forms where JSON has them.
void append_escape(std::string& out, unsigned char character) {
    switch (character) {
        case '"':
            out += "\\\"";
            return;
        case '\\':
            out += "\\\\";
            return;
        case '\b':
            out += "\\b";
            return;
        case '\f':
            out += "\\f";
            return;
        case '\n':
            out += "\\n";
            return;
        case '\r':
            out += "\\r";
            return;
        case '\t':
            out += "\\t";
            return;
        default:
            out += "\\u00";
            base::append_hex(out, character, 2);
    }
}

// Appends the shortest text that parses as the same number.
void append_double(std::string& out, double number) {
    if (!std::isfinite(number)) {
        out += "null";
        return;
    }
    std::array<char, 32> buffer{};
    const auto result = std::to_chars(buffer.data(), buffer.data() + buffer.size(), number);
    const std::string_view text(
        buffer.data(), static_cast<std::size_t>(result.ptr - buffer.data()));
    out += text;
    // Otherwise a whole number would parse as an integer.
    if (text.find_first_of(".e") == std::string_view::npos) {
        out += ".0";
    }
}

// The depth of the tree, which the parser limits, limits the recursion.
void write_tree(writer& out, const value& content) {
    switch (content.what()) {
        case kind::null:
            out.value(nullptr);
            return;
        case kind::boolean:
            out.value(*content.as_bool());
            return;
        case kind::integer:
            out.value(*content.as_int64());
            return;
        case kind::unsigned_integer:
            out.value(*content.as_uint64());
            return;
        case kind::decimal:
            if (const real* number = content.as_real(); !number->text.empty()) {
                out.raw(number->text);
            } else {
                out.value(number->number);
            }
            return;
        case kind::string:
            out.value(*content.as_string());
            return;
        case kind::list:
            out.begin_array();
            for (const value& element : *content.as_array()) {
                write_tree(out, element);
            }
            out.end_array();
            return;
        case kind::map:
            out.begin_object();
            for (const member& each : *content.as_object()) {
                write_tree(out.key(each.name), each.content);
            }
            out.end_object();
            return;
    }
}

}  // namespace

void append_quoted(std::string& out, std::string_view text) {
    out += '"';
    while (!text.empty()) {
        const auto first = static_cast<unsigned char>(text.front());
        if (first < 0x20 || first == '"' || first == '\\') {
            append_escape(out, first);
            text.remove_prefix(1);
            continue;
        }
        const std::size_t size = detail::utf8_sequence_size(text);
        if (size == 0) {
            out += "\xef\xbf\xbd";  // U+FFFD
            text.remove_prefix(1);
            continue;
        }
        out += text.substr(0, size);
        text.remove_prefix(size);
    }
    out += '"';
}

void serialize_to(std::string& out, const value& content, layout style) {
    writer tree_writer(out, style);
    write_tree(tree_writer, content);
}

std::string serialize(const value& content, layout style) {
    std::string out;
    serialize_to(out, content, style);
    return out;
}

writer::writer(std::string& out, layout style) noexcept : out_(&out), style_(style) {}

// Breaks the line between elements, only in the indented layout.
void writer::line_break() {
    if (style_ == layout::indented) {
        *out_ += '\n';
        out_->append(levels_.size() * indent_width, ' ');
    }
}

// Writes the separator before this value. Returns false if no value is allowed here.
bool writer::before_value() {
    if (out_of_order_) {
        return false;
    }
    if (levels_.empty()) {
        out_of_order_ = root_written_;
        root_written_ = true;
        return !out_of_order_;
    }
    level& current = levels_.back();
    if (current.inside == scope::members) {
        out_of_order_ = !current.key_pending;
        current.key_pending = false;
        return !out_of_order_;
    }
    if (current.has_elements) {
        *out_ += ',';
    }
    current.has_elements = true;
    line_break();
    return true;
}

// A key writes the comma of its member; the value after it needs none.
writer& writer::key(std::string_view name) {
    if (levels_.empty() || levels_.back().inside != scope::members || levels_.back().key_pending) {
        out_of_order_ = true;
    }
    if (out_of_order_) {
        return *this;
    }
    level& current = levels_.back();
    if (current.has_elements) {
        *out_ += ',';
    }
    current.has_elements = true;
    current.key_pending = true;
    line_break();
    append_quoted(*out_, name);
    *out_ += style_ == layout::indented ? ": " : ":";
    return *this;
}

writer& writer::open(scope inside, char bracket) {
    if (before_value()) {
        *out_ += bracket;
        levels_.push_back({inside});
    }
    return *this;
}

// Closes an empty container on the line where it was opened.
writer& writer::close(scope inside, char bracket) {
    if (levels_.empty() || levels_.back().inside != inside || levels_.back().key_pending) {
        out_of_order_ = true;
    }
    if (out_of_order_) {
        return *this;
    }
    const bool had_elements = levels_.back().has_elements;
    levels_.pop_back();
    if (had_elements) {
        line_break();
    }
    *out_ += bracket;
    return *this;
}

writer& writer::token(std::string_view text) {
    if (before_value()) {
        *out_ += text;
    }
    return *this;
}

writer& writer::begin_object() {
    return open(scope::members, '{');
}
writer& writer::end_object() {
    return close(scope::members, '}');
}
writer& writer::begin_array() {
    return open(scope::elements, '[');
}
writer& writer::end_array() {
    return close(scope::elements, ']');
}

writer& writer::value(std::nullptr_t) {
    return token("null");
}

writer& writer::value(double number) {
    if (before_value()) {
        append_double(*out_, number);
    }
    return *this;
}

writer& writer::value(std::string_view text) {
    if (before_value()) {
        append_quoted(*out_, text);
    }
    return *this;
}

writer& writer::value(const json::value& tree) {
    write_tree(*this, tree);
    return *this;
}

bool writer::is_complete() const noexcept {
    return root_written_ && levels_.empty() && !out_of_order_;
}

}  // namespace reprise::json
