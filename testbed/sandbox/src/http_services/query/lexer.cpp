#include "http_services/query/lexer.hpp"

#include <algorithm>
#include <array>

#include <reprise/base/hex.hpp>
#include <reprise/json/parse.hpp>

namespace reprise::sandbox::detail {

namespace {

bool is_number_digit(char c) noexcept {
    return c >= '0' && c <= '9';
}

bool is_word_start(char c) noexcept {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' ||
           static_cast<unsigned char>(c) >= 0x80;
}

bool is_word_part(char c) noexcept {
    return is_word_start(c) || is_number_digit(c);
}

class lexer {
public:
    explicit lexer(std::string_view text) : text_(text) {}

    token next() {
        skip_blanks();
        token made;
        made.begin = at_;
        if (at_ < text_.size()) {
            read(made);
        }
        made.end = at_;
        return made;
    }

private:
    char peek(std::size_t ahead = 0) const noexcept {
        return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0';
    }

    // Skips white space and both kinds of comments.
    void skip_blanks() {
        while (at_ < text_.size()) {
            if (std::string_view(" \t\r\n\f\v").contains(text_[at_])) {
                ++at_;
            } else if (peek() == '-' && peek(1) == '-') {
                at_ = std::min(text_.find('\n', at_), text_.size());
            } else if (peek() == '/' && peek(1) == '*') {
                const std::size_t end = text_.find("*/", at_ + 2);
                at_ = end == std::string_view::npos ? text_.size() : end + 2;
            } else {
                return;
            }
        }
    }

    void read(token& made) {
        const char c = peek();
        if (is_word_start(c)) {
            made.kind = token_kind::word;
            read_while(made, is_word_part);
        } else if (is_number_digit(c) || (c == '.' && is_number_digit(peek(1)))) {
            read_number(made);
        } else if (c == '"' || c == '\'') {
            read_string(made, c);
        } else if (c == '`') {
            read_name(made);
        } else if (c == '?') {
            made.kind = token_kind::parameter;
            made.text = text_.substr(at_++, 1);
        } else if ((c == '$' || c == '@') && is_word_part(peek(1))) {
            ++at_;
            made.kind = token_kind::parameter;
            read_while(made, is_word_part);
        } else {
            read_sign(made);
        }
    }

    template <class Test>
    void read_while(token& made, Test test) {
        const std::size_t begin = at_;
        while (at_ < text_.size() && test(text_[at_])) {
            ++at_;
        }
        made.text = text_.substr(begin, at_ - begin);
    }

    void read_number(token& made) {
        read_while(made, [this](char c) {
            const char before = at_ > 0 ? text_[at_ - 1] : '\0';
            const bool is_exponent_sign =
                (c == '+' || c == '-') && (before == 'e' || before == 'E');
            return is_number_digit(c) || c == '.' || c == 'e' || c == 'E' || is_exponent_sign;
        });
        made.kind = json::parse(made.text) ? token_kind::number : token_kind::invalid;
    }

    // Quotes inside are doubled or escaped; otherwise the syntax is that of JSON.
    void read_string(token& made, char quote) {
        std::string json_text = "\"";
        made.kind = token_kind::invalid;
        for (++at_; at_ < text_.size(); ++at_) {
            const char c = text_[at_];
            if (c == quote && peek(1) == quote) {
                json_text += quote == '"' ? "\\\"" : "'";
                ++at_;
            } else if (c == quote) {
                ++at_;
                const auto parsed = json::parse(json_text + "\"");
                if (parsed) {
                    made.kind = token_kind::text;
                    made.text = parsed->root.as_string().value_or("");
                }
                return;
            } else if (c == '\\' && peek(1) == '\'') {
                json_text += '\'';
                ++at_;
            } else if (c == '\\') {
                json_text += c;
                json_text += peek(1);
                ++at_;
            } else if (c == '"') {
                json_text += "\\\"";
            } else if (static_cast<unsigned char>(c) < 0x20) {
                json_text += "\\u";
                base::append_hex(json_text, static_cast<unsigned char>(c), 4);
            } else {
                json_text += c;
            }
        }
    }

    void read_name(token& made) {
        const std::size_t end = text_.find('`', at_ + 1);
        if (end == std::string_view::npos || end == at_ + 1) {
            made.kind = token_kind::invalid;
            at_ = text_.size();
            return;
        }
        made.kind = token_kind::name;
        made.text = text_.substr(at_ + 1, end - at_ - 1);
        at_ = end + 1;
    }

    void read_sign(token& made) {
        constexpr std::array<std::string_view, 6> pairs{"==", "!=", "<>", "<=", ">=", "||"};
        constexpr std::string_view singles = "()[]{},.:;=<>+-*/%";
        const std::string_view pair = text_.substr(at_, 2);
        const bool is_pair = std::ranges::find(pairs, pair) != pairs.end();
        const bool is_single = singles.contains(text_[at_]);
        made.kind = is_pair || is_single ? token_kind::sign : token_kind::invalid;
        made.text = text_.substr(at_, is_pair ? 2 : 1);
        at_ += made.text.size();
    }

    std::string_view text_;
    std::size_t at_ = 0;
};

}  // namespace

std::vector<token> tokenize(std::string_view statement) {
    lexer from(statement);
    std::vector<token> tokens;
    do {
        tokens.push_back(from.next());
        if (tokens.size() > token_count_max) {
            tokens.back().kind = token_kind::invalid;
        }
    } while (tokens.back().kind != token_kind::end && tokens.back().kind != token_kind::invalid);
    return tokens;
}

}  // namespace reprise::sandbox::detail
