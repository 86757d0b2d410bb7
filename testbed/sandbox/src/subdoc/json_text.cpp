#include "subdoc/json_text.hpp"

#include <algorithm>
#include <cstdint>

#include <reprise/base/hex.hpp>
#include <reprise/json/parse.hpp>

namespace reprise::sandbox::detail {

namespace {

bool is_space(char c) noexcept {
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}
bool is_digit(char c) noexcept {
    return c >= '0' && c <= '9';
}

// Recursive descent over untrusted text. Every function leaves `at` after the text it accepted.
class json_checker {
public:
    explicit json_checker(std::string_view text) noexcept : text_(text) {}

    std::optional<std::size_t> run() noexcept {
        skip();
        if (!value(1)) {
            return std::nullopt;
        }
        skip();
        return at_ == text_.size() ? std::optional(depth_) : std::nullopt;
    }

private:
    char peek() const noexcept { return at_ < text_.size() ? text_[at_] : '\0'; }
    bool take(char c) noexcept {
        if (at_ < text_.size() && text_[at_] == c) {
            ++at_;
            return true;
        }
        return false;
    }
    void skip() noexcept {
        while (at_ < text_.size() && is_space(text_[at_])) {
            ++at_;
        }
    }
    bool word(std::string_view expected) noexcept {
        if (text_.substr(at_, expected.size()) != expected) {
            return false;
        }
        at_ += expected.size();
        return true;
    }

    bool value(std::size_t depth) noexcept {
        if (depth > json_depth_max) {
            return false;
        }
        depth_ = std::max(depth_, depth);
        switch (peek()) {
            case '{':
                return object(depth);
            case '[':
                return array(depth);
            case '"':
                return string();
            case 't':
                return word("true");
            case 'f':
                return word("false");
            case 'n':
                return word("null");
            default:
                return number();
        }
    }

    bool object(std::size_t depth) noexcept {
        ++at_;
        skip();
        if (take('}')) {
            return true;
        }
        for (;;) {
            skip();
            if (!string()) {
                return false;
            }
            skip();
            if (!take(':')) {
                return false;
            }
            skip();
            if (!value(depth + 1)) {
                return false;
            }
            skip();
            if (!take(',')) {
                return take('}');
            }
        }
    }

    bool array(std::size_t depth) noexcept {
        ++at_;
        skip();
        if (take(']')) {
            return true;
        }
        for (;;) {
            skip();
            if (!value(depth + 1)) {
                return false;
            }
            skip();
            if (!take(',')) {
                return take(']');
            }
        }
    }

    bool string() noexcept {
        if (!take('"')) {
            return false;
        }
        while (at_ < text_.size()) {
            const char c = text_[at_++];
            if (c == '"') {
                return true;
            }
            if (static_cast<unsigned char>(c) < 0x20) {
                return false;
            }
            if (c == '\\' && !escape()) {
                return false;
            }
        }
        return false;
    }

    bool escape() noexcept {
        const char c = peek();
        ++at_;
        if (c != 'u') {
            return c != '\0' && std::string_view("\"\\/bfnrt").contains(c);
        }
        for (int i = 0; i < 4; ++i) {
            if (!base::parse_hex_digit(peek())) {
                return false;
            }
            ++at_;
        }
        return true;
    }

    bool digits() noexcept {
        const std::size_t start = at_;
        while (at_ < text_.size() && is_digit(text_[at_])) {
            ++at_;
        }
        return at_ > start;
    }

    bool number() noexcept {
        take('-');
        if (!take('0') && !digits()) {
            return false;
        }
        if (take('.') && !digits()) {
            return false;
        }
        if (take('e') || take('E')) {
            if (!take('+')) {
                take('-');
            }
            return digits();
        }
        return true;
    }

    std::string_view text_;
    std::size_t at_ = 0;
    std::size_t depth_ = 0;
};

void append_utf8(std::string& out, std::uint32_t code) {
    const auto put = [&out](std::uint32_t byte) { out += static_cast<char>(byte); };
    if (code < 0x80) {
        put(code);
    } else if (code < 0x800) {
        put(0xc0 | (code >> 6));
        put(0x80 | (code & 0x3f));
    } else if (code < 0x10000) {
        put(0xe0 | (code >> 12));
        put(0x80 | ((code >> 6) & 0x3f));
        put(0x80 | (code & 0x3f));
    } else {
        put(0xf0 | (code >> 18));
        put(0x80 | ((code >> 12) & 0x3f));
        put(0x80 | ((code >> 6) & 0x3f));
        put(0x80 | (code & 0x3f));
    }
}

std::uint32_t read_hex4(std::string_view text) noexcept {
    std::uint32_t code = 0;
    for (const char c : text.substr(0, 4)) {
        code = code * 16 + base::parse_hex_digit(c).value_or(0);
    }
    return code;
}

}  // namespace

std::optional<std::size_t> json_depth(std::string_view text) noexcept {
    const auto depth = json_checker(text).run();
    return depth && json::is_valid_utf8(text) ? depth : std::nullopt;
}

std::size_t skip_space(std::string_view text, std::size_t at) noexcept {
    while (at < text.size() && is_space(text[at])) {
        ++at;
    }
    return at;
}

std::size_t skip_value(std::string_view text, std::size_t at) noexcept {
    std::size_t open = 0;
    while (at < text.size()) {
        const char c = text[at];
        if (c == '"') {
            for (++at; at < text.size() && text[at] != '"'; ++at) {
                at += std::size_t{text[at] == '\\'};
            }
            ++at;
        } else if (c == '{' || c == '[') {
            ++open;
            ++at;
        } else if (c == '}' || c == ']') {
            if (open == 0) {
                return at;
            }
            --open;
            ++at;
        } else if (open == 0 && (c == ',' || c == ':' || is_space(c))) {
            return at;
        } else {
            ++at;
            continue;
        }
        if (open == 0) {
            return std::min(at, text.size());
        }
    }
    return text.size();
}

text_range value_range(std::string_view text) noexcept {
    const std::size_t begin = skip_space(text, 0);
    return {begin, skip_value(text, begin)};
}

json_walker::json_walker(std::string_view text, std::size_t at) noexcept
    : text_(text), is_object_(at < text.size() && text[at] == '{'), at_(at + 1) {}

bool json_walker::next(json_item& item) noexcept {
    item = json_item{};
    item.begin_after_separator = at_;
    std::size_t at = skip_space(text_, at_);
    if (at >= text_.size() || text_[at] == '}' || text_[at] == ']') {
        return false;
    }
    if (is_object_) {
        item.name = {at, skip_value(text_, at)};
        at = skip_space(text_, item.name.end);
        at = skip_space(text_, at + 1);
    }
    item.value = {at, skip_value(text_, at)};
    at_ = skip_space(text_, item.value.end);
    if (at_ < text_.size() && text_[at_] == ',') {
        ++at_;
    }
    return true;
}

std::string unquote(std::string_view quoted) {
    std::string out;
    for (std::size_t at = 1; at + 1 < quoted.size(); ++at) {
        if (quoted[at] != '\\') {
            out += quoted[at];
            continue;
        }
        const char c = quoted[++at];
        if (c != 'u') {
            const std::size_t which = std::string_view("bfnrt").find(c);
            out += which == std::string_view::npos ? c : "\b\f\n\r\t"[which];
            continue;
        }
        std::uint32_t code = read_hex4(quoted.substr(at + 1));
        at += 4;
        if (code >= 0xd800 && code < 0xdc00 && quoted.substr(at + 1, 2) == "\\u") {
            const std::uint32_t low = read_hex4(quoted.substr(at + 3));
            code = 0x10000 + ((code - 0xd800) << 10) + (low & 0x3ff);
            at += 6;
        }
        append_utf8(out, code);
    }
    return out;
}

bool name_equals(std::string_view quoted, std::string_view name) {
    if (quoted.size() < 2) {
        return false;
    }
    const std::string_view inside = quoted.substr(1, quoted.size() - 2);
    if (!inside.contains('\\')) {
        return inside == name;
    }
    return unquote(quoted) == name;
}

}  // namespace reprise::sandbox::detail
