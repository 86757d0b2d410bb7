#include "http_services/query/parser.hpp"

#include <algorithm>
#include <utility>

#include <reprise/http/message.hpp>
#include <reprise/json/parse.hpp>

#include "http_services/query/language.hpp"

namespace reprise::sandbox::detail {

namespace {

// Nesting of parentheses, lists and NOTs.
constexpr std::size_t expression_depth_max = 64;
// Operators, fields and elements of one statement.
constexpr std::size_t operation_count_max = 2000;

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

void expression_parser::refuse(std::string_view what) {
    if (!has_failed_) {
        refused_ = what;
        has_failed_ = true;
    }
}

bool expression_parser::begins_with(std::size_t at, std::string_view words) const noexcept {
    while (!words.empty()) {
        const std::string_view word = words.substr(0, words.find(' '));
        words.remove_prefix(std::min(word.size() + 1, words.size()));
        const token& given = tokens_[std::min(at++, tokens_.size() - 1)];
        if (given.kind != token_kind::word || !http::equal_ignoring_case(given.text, word)) {
            return false;
        }
    }
    return true;
}

std::string expression_parser::find_missing() const {
    const missing_construct* longest = nullptr;
    for (const missing_construct& each : missing_constructs()) {
        // A construct of several words is recognised at its last word at the latest.
        const auto before = static_cast<std::size_t>(std::ranges::count(each.words, ' '));
        bool is_here = false;
        for (std::size_t back = 0; back <= std::min(before, at_); ++back) {
            const bool is_place =
                each.place != construct_place::statement || at_ - back == statement_begin_;
            is_here = is_here || (is_place && begins_with(at_ - back, each.words));
        }
        if (is_here && (longest == nullptr || each.words.size() > longest->words.size())) {
            longest = &each;
        }
    }
    return longest == nullptr ? std::string() : longest->name();
}

statement_error expression_parser::error() const {
    if (!refused_.empty()) {
        return not_in_sandbox(refused_);
    }
    if (const std::string name = find_missing(); !name.empty()) {
        return not_in_sandbox(name);
    }
    const token& at = peek();
    if (at.kind == token_kind::end) {
        return {3000, "syntax error - at end of input", 0, {}};
    }
    const std::string_view before = text_.substr(0, at.begin);
    const auto line = 1 + std::ranges::count(before, '\n');
    const std::size_t line_begin = before.rfind('\n') + 1;  // npos + 1 is 0
    const std::size_t near_begin = before.size() > 20 ? before.size() - 20 : 0;
    std::string message = "syntax error - line " + std::to_string(line) + ", column " +
                          std::to_string(at.begin - line_begin + 1) + ", near '" +
                          (near_begin == 0 ? "" : "...") + std::string(before.substr(near_begin)) +
                          "', at: ";
    message += text_.substr(at.begin, at.end - at.begin).substr(0, 40);
    message += is_reserved_word(at.text) ? " (reserved word)" : "";
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
           (at.kind == token_kind::word && !is_reserved_word(at.text));
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
        return read_test(std::move(left));
    }
    const bool is_negated = accept({"not"});
    expression made;
    if (accept({"between"})) {
        made = read_between(std::move(left));
    } else if (accept({"in"})) {
        made = make_operation("IN", std::move(left), read_sum());
    } else if (accept({"like"})) {
        made = make_operation("LIKE", std::move(left), read_sum());
    } else {
        if (is_negated) {
            fail();
        }
        return left;
    }
    return is_negated ? make_operation("NOT", std::move(made)) : made;
}

// Reads what follows IS.
expression expression_parser::read_test(expression tested) {
    bool is_negated = accept({"not"});
    if (accept({"unknown"})) {
        is_negated = !is_negated;
        tested = make_operation("VALUED", std::move(tested));
    } else if (accept({"known"}) || accept({"valued"})) {
        tested = make_operation("VALUED", std::move(tested));
    } else if (accept({"null"})) {
        tested = make_operation("NULL", std::move(tested));
    } else if (accept({"missing"})) {
        tested = make_operation("MISSING", std::move(tested));
    } else {
        fail();
        return tested;
    }
    tested.what = expression_kind::is_test;
    return is_negated ? make_operation("NOT", std::move(tested)) : tested;
}

expression expression_parser::read_between(expression tested) {
    expression low = make_operation(">=", tested, read_sum());
    expect({"and"});
    expression high = make_operation("<=", std::move(tested), read_sum());
    return make_operation("AND", std::move(low), std::move(high));
}

expression expression_parser::read_sum() {
    return read_operations({"+", "-", "||"}, &expression_parser::read_product);
}

expression expression_parser::read_product() {
    return read_operations({"*", "/", "%"}, &expression_parser::read_path);
}

expression expression_parser::read_operations(
    std::initializer_list<std::string_view> signs, expression (expression_parser::*read_part)()) {
    expression left = (this->*read_part)();
    for (bool is_more = true; is_more;) {
        is_more = false;
        for (const std::string_view sign : signs) {
            if (accept_sign(sign)) {
                count_operation();
                left = make_operation(sign, std::move(left), (this->*read_part)());
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
            if (is_sign("[")) {
                refuse("A computed field name (.[])");
            }
            expression member = make_operation(expect_member_name(), std::move(made));
            member.what = expression_kind::member;
            made = std::move(member);
            if (is_sign("(")) {
                refuse("A user-defined function");
            }
        } else if (accept_sign("[")) {
            made = read_element(std::move(made));
        } else {
            return made;
        }
    }
}

expression expression_parser::read_element(expression of) {
    if (is_sign("*")) {
        refuse("[*]");
    }
    if (is_sign(":")) {
        refuse("A slice of an array");
    }
    expression element = make_operation("", std::move(of), read_expression());
    element.what = expression_kind::element;
    if (is_sign(":")) {
        refuse("A slice of an array");
    }
    expect_sign("]");
    return element;
}

expression expression_parser::read_primary() {
    if (has_failed_) {
        return {};
    }
    if (accept_sign("(")) {
        if (is_word("select") || is_word("with") || is_word("from")) {
            refuse("A subquery");
        }
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
        case token_kind::end:
        case token_kind::sign:
        case token_kind::invalid:
            break;
    }
    fail();
    return made;
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
    if (is_name() && peek().kind == token_kind::word && is_sign("(", 1)) {
        refuse(upper_case(peek().text) + "()");
    }
    made.what = expression_kind::name;
    made.text = expect_name();
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
            if (peek().kind == token_kind::word || peek().kind == token_kind::name) {
                refuse("A computed member name of an object");
            } else if (peek().kind != token_kind::text || has_failed_) {
                fail();
                return made;
            }
            made.names.push_back(tokens_[at_++].text);
            expect_sign(":");
            made.operands.push_back(read_expression());
        } while (accept_sign(","));
        expect_sign("}");
    }
    return made;
}

}  // namespace reprise::sandbox::detail
