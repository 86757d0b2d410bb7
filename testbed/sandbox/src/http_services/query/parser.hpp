#pragma once

#include <algorithm>
#include <cstddef>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "http_services/query/lexer.hpp"
#include "http_services/query/statement.hpp"

namespace reprise::sandbox::detail {

// Reads tokens and expressions; the statement parser is built on it. The first failure is sticky:
// after it nothing is accepted, so every loop ends, and the error needs to be checked only once, at
// the end.
class expression_parser {
public:
    explicit expression_parser(std::string_view text) : text_(text), tokens_(tokenize(text)) {}

protected:
    const token& peek(std::size_t ahead = 0) const noexcept {
        return tokens_[std::min(at_ + ahead, tokens_.size() - 1)];
    }
    std::size_t position() const noexcept { return at_; }
    // A statement begins here, possibly inside another one.
    void note_statement() noexcept { statement_begin_ = at_; }
    // The text of the statement between two tokens.
    std::string_view text_between(std::size_t begin, std::size_t end) const noexcept;
    bool has_failed() const noexcept { return has_failed_; }
    void fail() noexcept { has_failed_ = true; }
    // Fails because of a construct that the real language has and this one lacks. The error names
    // it.
    void refuse(std::string_view what);
    // 90000 for what the sandbox does not implement, 3000 for everything else.
    statement_error error() const;

    bool is_word(std::string_view keyword, std::size_t ahead = 0) const noexcept;
    bool is_sign(std::string_view sign, std::size_t ahead = 0) const noexcept;
    // Accepts all of them in this order, or none.
    bool accept(std::initializer_list<std::string_view> keywords);
    bool accept_sign(std::string_view sign);
    void expect(std::initializer_list<std::string_view> keywords);
    void expect_sign(std::string_view sign);
    // Whether the token is a name in backticks, or a word that is not a keyword.
    bool is_name(std::size_t ahead = 0) const noexcept;
    std::string expect_name();
    // After a dot, every word is a name.
    std::string expect_member_name();

    expression read_expression();

    // The longest construct of the real language that is, or begins, at the current position.
    // Empty: none.
    std::string find_missing() const;

private:
    bool begins_with(std::size_t at, std::string_view words) const noexcept;
    // Counts one more level of the tree, so that chains of operators and paths are bounded, too.
    void count_operation() noexcept;
    expression read_or();
    expression read_and();
    expression read_not();
    expression read_comparison();
    expression read_test(expression tested);
    expression read_between(expression tested);
    expression read_sum();
    expression read_product();
    // A chain of such operations, whose operands `read_part` reads.
    expression read_operations(
        std::initializer_list<std::string_view> signs,
        expression (expression_parser::*read_part)());
    expression read_path();
    expression read_primary();
    expression read_word();
    expression read_element(expression of);
    expression read_list();
    expression read_map();

    std::string_view text_;
    std::vector<token> tokens_;
    std::size_t at_ = 0;
    std::size_t statement_begin_ = 0;
    std::size_t depth_ = 0;
    std::size_t operation_count_ = 0;
    std::size_t argument_count_ = 0;  // of `?`
    bool has_failed_ = false;
    std::string refused_;  // the first argument of `refuse`
};

}  // namespace reprise::sandbox::detail
