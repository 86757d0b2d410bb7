#include <algorithm>
#include <utility>

#include <reprise/json/parse.hpp>

#include "services/query/language.hpp"
#include "services/views/view_map.hpp"

// Reads map functions.

namespace reprise::sandbox::detail {

namespace {

constexpr std::size_t map_depth_max = 32;
constexpr std::size_t map_text_size_max = std::size_t{64} * 1024;

enum class script_token_kind : std::uint8_t { end, word, number, text, sign };

struct script_token {
    script_token_kind what = script_token_kind::end;
    std::string text;
};

bool is_script_letter(char c) noexcept {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '$';
}

bool is_script_digit(char c) noexcept {
    return c >= '0' && c <= '9';
}

// Reads one token at a time. An unreadable character is a sign.
class script_lexer {
public:
    explicit script_lexer(std::string_view text) noexcept : text_(text) {}

    script_token next() {
        skip_blanks();
        if (at_ == text_.size()) {
            return {};
        }
        const char c = text_[at_];
        if (is_script_letter(c)) {
            return take(script_token_kind::word, [](char each) {
                return is_script_letter(each) || is_script_digit(each);
            });
        }
        if (is_script_digit(c)) {
            return take(script_token_kind::number, [](char each) {
                return is_script_digit(each) || each == '.' || each == 'e' || each == 'E';
            });
        }
        return c == '"' || c == '\'' ? take_text(c) : take_sign();
    }

private:
    void skip_blanks() {
        while (at_ < text_.size()) {
            const std::string_view rest = text_.substr(at_);
            if (std::string_view(" \t\r\n").contains(rest.front())) {
                ++at_;
            } else if (rest.starts_with("//")) {
                at_ += std::min(rest.find('\n'), rest.size());
            } else if (rest.starts_with("/*")) {
                const std::size_t end = rest.find("*/", 2);
                at_ += end == std::string_view::npos ? rest.size() : end + 2;
            } else {
                return;
            }
        }
    }

    template <class Test>
    script_token take(script_token_kind what, Test test) {
        const std::size_t begin = at_;
        while (at_ < text_.size() && test(text_[at_])) {
            ++at_;
        }
        return {what, std::string(text_.substr(begin, at_ - begin))};
    }

    script_token take_text(char quote) {
        std::string spelt = "\"";
        for (std::size_t i = at_ + 1; i < text_.size(); ++i) {
            const char c = text_[i];
            if (c == quote) {
                const auto parsed = json::parse(spelt + "\"");
                if (!parsed) {
                    break;
                }
                at_ = i + 1;
                return {
                    script_token_kind::text, std::string(parsed->root.as_string().value_or(""))};
            }
            if (c == '\\' && i + 1 < text_.size()) {
                const char escaped = text_[++i];
                spelt += escaped == '\'' ? "'" : std::string{c, escaped};
            } else {
                spelt += c == '"' ? "\\\"" : std::string(1, c);
            }
        }
        ++at_;
        return {script_token_kind::sign, std::string(1, quote)};
    }

    script_token take_sign() {
        for (const std::string_view sign :
             {"===", "!==", "==", "!=", "<=", ">=", "&&", "||", "=>", "++", "--", "+=", "-="}) {
            if (text_.substr(at_).starts_with(sign)) {
                at_ += sign.size();
                return {script_token_kind::sign, std::string(sign)};
            }
        }
        return {script_token_kind::sign, std::string(text_.substr(at_++, 1))};
    }

    std::string_view text_;
    std::size_t at_ = 0;
};

// The first failure is sticky; nothing is accepted after it.
class map_parser {
public:
    explicit map_parser(std::string_view text) {
        script_lexer from(text);
        do {
            tokens_.push_back(from.next());
        } while (tokens_.back().what != script_token_kind::end);
    }

    std::expected<std::vector<map_statement>, std::string> read() {
        expect("function");
        if (peek().what == script_token_kind::word) {
            ++at_;  // its own name
        }
        expect("(");
        document_ = parameter();
        if (accept(",")) {
            meta_ = parameter();
        }
        expect(")");
        expect("{");
        std::vector<map_statement> body = read_block();
        accept(";");
        if (peek().what != script_token_kind::end) {
            fail();
        }
        if (!problem_.empty()) {
            return std::unexpected(problem_);
        }
        return body;
    }

private:
    const script_token& peek() const noexcept { return tokens_[at_]; }

    void fail(std::string_view what = {}) {
        if (problem_.empty()) {
            const std::string near =
                peek().what == script_token_kind::end ? "its end" : "'" + peek().text + "'";
            problem_ = not_in_sandbox_text(
                what.empty() ? "A map function with " + near + " at this place"
                             : std::string(what));
        }
    }

    bool accept(std::string_view text) {
        const bool is_text = peek().what == script_token_kind::text;
        if (!problem_.empty() || is_text || peek().text != text) {
            return false;
        }
        ++at_;
        return true;
    }

    void expect(std::string_view text) {
        if (!accept(text)) {
            fail();
        }
    }

    std::string parameter() {
        if (peek().what != script_token_kind::word || !problem_.empty()) {
            fail();
            return {};
        }
        return tokens_[at_++].text;
    }

    std::vector<map_statement> read_block() {
        std::vector<map_statement> body;
        while (problem_.empty() && !accept("}")) {
            read_statement(body);
        }
        return body;
    }

    // Reads a statement, or those of a block.
    void read_statement(std::vector<map_statement>& out) {
        if (++depth_ > map_depth_max) {
            fail("A map function nested this deeply");
        }
        map_statement made;
        if (accept(";")) {
            // nothing
        } else if (accept("{")) {
            std::vector<map_statement> inner = read_block();
            std::ranges::move(inner, std::back_inserter(out));
        } else if (accept("emit")) {
            expect("(");
            for (int i = 0; i < 2; ++i) {
                const bool is_given = i == 0 ? peek().text != ")" : accept(",");
                made.expressions.push_back(is_given ? read_expression() : map_expression{});
            }
            expect(")");
            end_statement();
            out.push_back(std::move(made));
        } else if (accept("if")) {
            made.what = map_step::check;
            expect("(");
            made.expressions.push_back(read_expression());
            expect(")");
            read_statement(made.then);
            if (accept("else")) {
                read_statement(made.otherwise);
            }
            out.push_back(std::move(made));
        } else if (accept("return")) {
            made.what = map_step::leave;
            end_statement();
            out.push_back(std::move(made));
        } else {
            fail();
        }
        --depth_;
    }

    // The semicolon is optional before a brace.
    void end_statement() {
        if (peek().text != "}") {
            expect(";");
        }
    }

    map_expression read_expression() {
        if (++depth_ > map_depth_max) {
            fail("A map function nested this deeply");
            return {};
        }
        map_expression made = read_binary(0);
        --depth_;
        return made;
    }

    // Starts with the lowest precedence.
    map_expression read_binary(std::size_t level) {
        static const std::vector<std::vector<std::string_view>> levels{
            {"||"}, {"&&"}, {"===", "!==", "==", "!="}, {"<=", ">=", "<", ">"}, {"+", "-"}};
        if (level == levels.size()) {
            return read_unary();
        }
        map_expression left = read_binary(level + 1);
        for (bool is_more = problem_.empty(); is_more;) {
            is_more = false;
            for (const std::string_view sign : levels[level]) {
                if (accept(sign)) {
                    map_expression made;
                    made.what = map_operation::binary;
                    made.text = sign;
                    made.operands.push_back(std::move(left));
                    made.operands.push_back(read_binary(level + 1));
                    left = std::move(made);
                    is_more = problem_.empty() && ++operation_count_ < 500;
                }
            }
        }
        return left;
    }

    map_expression read_unary() {
        map_expression made;
        if (accept("!")) {
            made.what = map_operation::is_not;
        } else if (accept("-")) {
            made.what = map_operation::negate;
        } else if (accept("typeof")) {
            made.what = map_operation::type_name;
        } else {
            return read_path();
        }
        if (++depth_ > map_depth_max) {
            fail("A map function nested this deeply");
            return made;
        }
        made.operands.push_back(read_unary());
        --depth_;
        return made;
    }

    map_expression read_path() {
        map_expression made = read_primary();
        while (problem_.empty() && ++operation_count_ < 500) {
            map_expression outer;
            if (accept(".")) {
                outer.what = map_operation::member;
                outer.text = parameter();
                if (peek().text == "(") {
                    fail("A map function that calls " + outer.text + "()");
                }
                outer.operands.push_back(std::move(made));
            } else if (accept("[")) {
                outer.what = map_operation::element;
                outer.operands.push_back(std::move(made));
                outer.operands.push_back(read_expression());
                expect("]");
            } else {
                break;
            }
            made = std::move(outer);
        }
        return made;
    }

    map_expression read_primary() {
        map_expression made;
        const script_token& at = peek();
        if (accept("(")) {
            made = read_expression();
            expect(")");
        } else if (accept("[")) {
            made.what = map_operation::list;
            while (problem_.empty() && !accept("]")) {
                made.operands.push_back(read_expression());
                if (peek().text != "]") {
                    expect(",");
                }
            }
        } else if (accept("{")) {
            read_object(made);
        } else if (at.what == script_token_kind::text) {
            made.content = json::value(tokens_[at_++].text);
        } else if (at.what == script_token_kind::number) {
            const auto parsed = json::parse(tokens_[at_++].text);
            parsed ? void(made.content = parsed->root) : fail();
        } else {
            read_name(made);
        }
        return made;
    }

    void read_name(map_expression& made) {
        if (accept("null")) {
            made.content = json::value(nullptr);
        } else if (accept("true")) {
            made.content = json::value(true);
        } else if (accept("false")) {
            made.content = json::value(false);
        } else if (accept("undefined")) {
            made.content.reset();
        } else if (!document_.empty() && accept(document_)) {
            made.what = map_operation::document;
        } else if (!meta_.empty() && accept(meta_)) {
            made.what = map_operation::meta;
        } else {
            fail();
        }
    }

    void read_object(map_expression& made) {
        made.what = map_operation::map;
        while (problem_.empty() && !accept("}")) {
            const bool is_name =
                peek().what == script_token_kind::word || peek().what == script_token_kind::text;
            if (!is_name) {
                fail();
                return;
            }
            made.names.push_back(tokens_[at_++].text);
            expect(":");
            made.operands.push_back(read_expression());
            if (peek().text != "}") {
                expect(",");
            }
        }
    }

    std::vector<script_token> tokens_;
    std::size_t at_ = 0;
    std::size_t depth_ = 0;
    std::size_t operation_count_ = 0;
    std::string document_;
    std::string meta_;
    std::string problem_;
};

}  // namespace

std::expected<map_function, std::string> map_function::parse(std::string_view text) {
    if (text.size() > map_text_size_max) {
        return std::unexpected(not_in_sandbox_text("A map function of this size"));
    }
    auto body = map_parser(text).read();
    if (!body) {
        return std::unexpected(std::move(body.error()));
    }
    map_function made;
    made.body_ = *std::move(body);
    return made;
}

}  // namespace reprise::sandbox::detail
