#include "service_parser.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include <reprise/http/message.hpp>
#include <reprise/json/parse.hpp>

namespace reprise::sandbox::detail {

namespace {

// Parentheses, lists and NOTs inside each other.
constexpr std::size_t expression_depth_max = 64;
// Operators, fields and elements of one statement.
constexpr std::size_t operation_count_max = 2000;

constexpr std::array<std::string_view, 38> keywords{
    "select", "from",   "where",     "use",    "keys",   "as",      "order",  "by",
    "limit",  "offset", "returning", "set",    "unset",  "values",  "and",    "or",
    "not",    "is",     "in",        "like",   "null",   "missing", "valued", "true",
    "false",  "raw",    "element",   "value",  "insert", "upsert",  "into",   "delete",
    "update", "join",   "group",     "having", "union",  "let"};

expression make_operation(std::string_view name, expression left) {
    expression made;
    made.what = expression_kind::operation;
    made.text = name;
    made.operands.push_back(std::move(left));
    return made;
}

expression make_operation(std::string_view name, expression left, expression right) {
    expression made = make_operation(name, std::move(left));
    made.operands.push_back(std::move(right));
    return made;
}

expression make_literal(json::value content) {
    expression made;
    made.literal = std::move(content);
    return made;
}

}  // namespace

std::string_view expression_parser::text_between(
    std::size_t begin, std::size_t end) const noexcept {
    if (end <= begin || has_failed_) {
        return {};
    }
    const std::size_t from = tokens_[begin].begin;
    return text_.substr(from, tokens_[end - 1].end - from);
}

statement_error expression_parser::error() const {
    const token& at = peek();
    const std::string_view before = text_.substr(0, at.begin);
    const auto line = 1 + std::ranges::count(before, '\n');
    const std::size_t line_begin = before.rfind('\n') + 1;  // npos + 1 is 0
    const std::size_t near_begin = before.size() > 16 ? before.size() - 16 : 0;
    std::string message = "syntax error - line " + std::to_string(line) + ", column " +
                          std::to_string(at.begin - line_begin + 1) + ", near '" +
                          std::string(before.substr(near_begin)) + "', at: ";
    message += at.kind == token_kind::end ? "<end of statement>"
                                          : text_.substr(at.begin, at.end - at.begin).substr(0, 40);
    return {3000, std::move(message), 0, {}};
}

bool expression_parser::is_word(std::string_view keyword, std::size_t ahead) const noexcept {
    return !has_failed_ && peek(ahead).kind == token_kind::word &&
           http::equal_ignoring_case(peek(ahead).text, keyword);
}

bool expression_parser::is_sign(std::string_view sign, std::size_t ahead) const noexcept {
    return !has_failed_ && peek(ahead).kind == token_kind::sign && peek(ahead).text == sign;
}

bool expression_parser::accept(std::initializer_list<std::string_view> wanted) {
    std::size_t ahead = 0;
    for (const std::string_view keyword : wanted) {
        if (!is_word(keyword, ahead++)) {
            return false;
        }
    }
    at_ += ahead;
    return true;
}

bool expression_parser::accept_sign(std::string_view sign) {
    if (!is_sign(sign)) {
        return false;
    }
    ++at_;
    return true;
}

void expression_parser::expect(std::initializer_list<std::string_view> wanted) {
    if (!accept(wanted)) {
        fail();
    }
}

void expression_parser::expect_sign(std::string_view sign) {
    if (!accept_sign(sign)) {
        fail();
    }
}

bool expression_parser::is_name(std::size_t ahead) const noexcept {
    const token& at = peek(ahead);
    if (has_failed_) {
        return false;
    }
    return at.kind == token_kind::name ||
           (at.kind == token_kind::word && std::ranges::none_of(keywords, [&at](auto each) {
                return http::equal_ignoring_case(each, at.text);
            }));
}

std::string expression_parser::expect_name() {
    if (!is_name()) {
        fail();
        return {};
    }
    return tokens_[at_++].text;
}

std::string expression_parser::expect_member_name() {
    const token_kind kind = peek().kind;
    if (has_failed_ || (kind != token_kind::name && kind != token_kind::word)) {
        fail();
        return {};
    }
    return tokens_[at_++].text;
}

expression expression_parser::read_expression() {
    if (depth_ >= expression_depth_max) {
        fail();
    }
    if (has_failed_) {
        return {};
    }
    ++depth_;
    expression made = read_or();
    --depth_;
    return made;
}

void expression_parser::count_operation() noexcept {
    if (++operation_count_ > operation_count_max) {
        fail();
    }
}

expression expression_parser::read_or() {
    expression left = read_and();
    while (accept({"or"})) {
        count_operation();
        left = make_operation("OR", std::move(left), read_and());
    }
    return left;
}

expression expression_parser::read_and() {
    expression left = read_not();
    while (accept({"and"})) {
        count_operation();
        left = make_operation("AND", std::move(left), read_not());
    }
    return left;
}

expression expression_parser::read_not() {
    std::size_t count = 0;
    while (accept({"not"})) {
        ++count;
    }
    expression made = read_comparison();
    return count % 2 == 0 ? made : make_operation("NOT", std::move(made));
}

expression expression_parser::read_comparison() {
    expression left = read_sum();
    for (const std::string_view sign : {"==", "=", "!=", "<>", "<=", ">=", "<", ">"}) {
        if (accept_sign(sign)) {
            return make_operation(sign, std::move(left), read_sum());
        }
    }
    if (accept({"is"})) {
        const bool is_negated = accept({"not"});
        for (const std::string_view what : {"NULL", "MISSING", "VALUED"}) {
            if (accept({what})) {
                expression test = make_operation(what, std::move(left));
                test.what = expression_kind::is_test;
                return is_negated ? make_operation("NOT", std::move(test)) : test;
            }
        }
        fail();
        return left;
    }
    const bool is_negated = accept({"not"});
    for (const std::string_view what : {"IN", "LIKE"}) {
        if (accept({what})) {
            expression made = make_operation(what, std::move(left), read_sum());
            return is_negated ? make_operation("NOT", std::move(made)) : made;
        }
    }
    if (is_negated) {
        fail();
    }
    return left;
}

expression expression_parser::read_sum() {
    expression left = read_product();
    for (bool is_more = true; is_more;) {
        is_more = false;
        for (const std::string_view sign : {"+", "-", "||"}) {
            if (accept_sign(sign)) {
                count_operation();
                left = make_operation(sign, std::move(left), read_product());
                is_more = true;
            }
        }
    }
    return left;
}

expression expression_parser::read_product() {
    expression left = read_path();
    for (bool is_more = true; is_more;) {
        is_more = false;
        for (const std::string_view sign : {"*", "/", "%"}) {
            if (accept_sign(sign)) {
                count_operation();
                left = make_operation(sign, std::move(left), read_path());
                is_more = true;
            }
        }
    }
    return left;
}

expression expression_parser::read_path() {
    if (accept_sign("-")) {
        if (depth_ >= expression_depth_max) {
            fail();
            return {};
        }
        ++depth_;
        expression made = make_operation("NEGATE", read_path());
        --depth_;
        return made;
    }
    expression made = read_primary();
    for (;; count_operation()) {
        if (is_sign(".") && !is_sign("*", 1) && accept_sign(".")) {
            expression member = make_operation(expect_member_name(), std::move(made));
            member.what = expression_kind::member;
            made = std::move(member);
        } else if (accept_sign("[")) {
            expression element = make_operation("", std::move(made), read_expression());
            element.what = expression_kind::element;
            expect_sign("]");
            made = std::move(element);
        } else {
            return made;
        }
    }
}

expression expression_parser::read_primary() {
    if (has_failed_) {
        return {};
    }
    if (accept_sign("(")) {
        expression made = read_expression();
        expect_sign(")");
        return made;
    }
    if (is_sign("[")) {
        return read_list();
    }
    if (is_sign("{")) {
        return read_map();
    }
    const token& at = peek();
    expression made;
    switch (at.kind) {
        case token_kind::text:
            ++at_;
            return make_literal(at.text);
        case token_kind::number:
            ++at_;
            return make_literal(json::parse(at.text)->root);
        case token_kind::parameter:
            ++at_;
            made.what = expression_kind::parameter;
            made.text = at.text == "?" ? std::to_string(++argument_count_) : at.text;
            return made;
        case token_kind::word:
        case token_kind::name:
            return read_word();
        default:
            fail();
            return made;
    }
}

expression expression_parser::read_word() {
    if (accept({"true"})) {
        return make_literal(true);
    }
    if (accept({"false"})) {
        return make_literal(false);
    }
    if (accept({"null"})) {
        return make_literal(nullptr);
    }
    expression made;
    if (accept({"missing"})) {
        made.what = expression_kind::missing;
        return made;
    }
    if (is_word("meta") && is_sign("(", 1)) {
        at_ += 2;
        made.what = expression_kind::meta;
        if (is_name()) {
            made.text = expect_name();
        }
        expect_sign(")");
        return made;
    }
    if (is_word("count") && is_sign("(", 1) && is_sign("*", 2) && is_sign(")", 3)) {
        at_ += 4;
        made.what = expression_kind::count_all;
        return made;
    }
    made.what = expression_kind::name;
    made.text = expect_name();
    if (is_sign("(")) {
        fail();  // no other function is known
    }
    return made;
}

expression expression_parser::read_list() {
    expression made;
    made.what = expression_kind::list;
    expect_sign("[");
    if (!accept_sign("]")) {
        do {
            made.operands.push_back(read_expression());
        } while (accept_sign(","));
        expect_sign("]");
    }
    return made;
}

expression expression_parser::read_map() {
    expression made;
    made.what = expression_kind::map;
    expect_sign("{");
    if (!accept_sign("}")) {
        do {
            if (peek().kind == token_kind::text) {
                made.names.push_back(tokens_[at_++].text);
            } else {
                made.names.push_back(expect_member_name());
            }
            expect_sign(":");
            made.operands.push_back(read_expression());
        } while (accept_sign(","));
        expect_sign("}");
    }
    return made;
}

}  // namespace reprise::sandbox::detail
