#include <reprise/json/location.hpp>

#include <algorithm>

#include <reprise/json/parse.hpp>

namespace reprise::json {

namespace {

// Walks over a text without building a tree. It assumes valid JSON; on other text it only
// guarantees to stop.
class scanner {
public:
    explicit scanner(std::string_view text) : text_(text) {}

    std::size_t find(std::span<const std::string> path) {
        skip_blank();
        std::size_t found = at_;
        for (const std::string& step : path) {
            const bool is_object = peek() == '{';
            if (!is_object && peek() != '[') {
                return found;
            }
            ++at_;
            const std::size_t element = is_object ? enter_member(step) : enter_element(step);
            if (element == none) {
                return found;
            }
            found = element;
        }
        return found;
    }

private:
    static constexpr std::size_t none = static_cast<std::size_t>(-1);

    char peek() const { return at_ < text_.size() ? text_[at_] : '\0'; }

    // Stops at the value of the member; returns the offset of its name.
    std::size_t enter_member(std::string_view name) {
        for (skip_blank(); peek() == '"'; skip_separator()) {
            const std::size_t start = at_;
            skip_string();
            const bool is_wanted = unescaped(text_.substr(start, at_ - start)) == name;
            skip_blank();
            at_ = std::min(at_ + 1, text_.size());  // the colon
            skip_blank();
            if (is_wanted) {
                return start;
            }
            skip_value();
        }
        return none;
    }

    std::size_t enter_element(std::string_view index) {
        std::size_t current = 0;
        for (skip_blank(); at_ < text_.size() && peek() != ']'; skip_separator()) {
            if (std::to_string(current++) == index) {
                return at_;
            }
            skip_value();
        }
        return none;
    }

    void skip_separator() {
        skip_blank();
        if (peek() == ',') {
            ++at_;
        }
        skip_blank();
    }

    // Nested containers are skipped by counting brackets, so depth costs no stack.
    void skip_value() {
        std::size_t depth = 0;
        const std::size_t start = at_;
        while (at_ < text_.size()) {
            const char c = peek();
            if (c == '"') {
                skip_string();
            } else if (c == '{' || c == '[') {
                ++depth;
                ++at_;
            } else if (c == '}' || c == ']') {
                if (depth == 0) {
                    break;
                }
                --depth;
                ++at_;
            } else if (c == ',' && depth == 0) {
                break;
            } else if (!skip_comment()) {
                ++at_;
            }
        }
        if (at_ == start) {
            ++at_;  // Invalid text; every step must advance.
        }
    }

    void skip_string() {
        for (++at_; at_ < text_.size() && peek() != '"'; ++at_) {
            at_ += peek() == '\\' ? 1U : 0U;
        }
        at_ = std::min(at_ + 1, text_.size());
    }

    void skip_blank() {
        while (at_ < text_.size()) {
            if (std::string_view(" \t\r\n").find(peek()) != std::string_view::npos) {
                ++at_;
            } else if (!skip_comment()) {
                return;
            }
        }
    }

    bool skip_comment() {
        const std::string_view rest = text_.substr(at_);
        const bool is_line = rest.starts_with("//");
        if (!is_line && !rest.starts_with("/*")) {
            return false;
        }
        const std::string_view end = is_line ? "\n" : "*/";
        const std::size_t found = rest.find(end, 2);
        at_ = found == rest.npos ? text_.size() : at_ + found + end.size();
        return true;
    }

    static std::string unescaped(std::string_view quoted) {
        const auto parsed = parse(quoted);
        const auto name = parsed ? parsed->root.as_string() : std::nullopt;
        return name ? std::string(*name) : std::string();
    }

    std::string_view text_;
    std::size_t at_ = 0;
};

}  // namespace

std::size_t find_offset(std::string_view text, std::span<const std::string> path) {
    return std::min(scanner(text).find(path), text.size());
}

text_position position_at(std::string_view text, std::size_t offset) noexcept {
    const std::string_view before = text.substr(0, std::min(offset, text.size()));
    const auto breaks = std::ranges::count(before, '\n');
    const std::size_t line_start = before.rfind('\n') + 1;  // npos + 1 is 0.
    return {static_cast<std::size_t>(breaks) + 1, before.size() - line_start + 1};
}

}  // namespace reprise::json
