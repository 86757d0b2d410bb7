#pragma once

#include <algorithm>
#include <cstddef>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "services/query/lexer.hpp"
#include "services/query/statement.hpp"

namespace reprise::sandbox::detail {

// Reads tokens; expressions stand on it, statements on those. The first failure is sticky: from
// then on nothing is accepted any more, so that every loop ends, and it is looked at once, at the
// end.
class expression_parser {
public:
    explicit expression_parser(std::string_view text) : text_(text), tokens_(tokenize(text)) {}

protected:
    const token& peek(std::size_t ahead = 0) const noexcept {
        return tokens_[std::min(at_ + ahead, tokens_.size() - 1)];
    }
    std::size_t position() const noexcept { return at_; }
    // A statement begins here, possibly inside of another one.
    void note_statement() noexcept { statement_begin_ = at_; }
    // The statement between two tokens.
    std::string_view text_between(std::size_t begin, std::size_t end) const noexcept;
    bool has_failed() const noexcept { return has_failed_; }
    void fail() noexcept { has_failed_ = true; }
    // The same for what the real language has and this one has not: the error names it.
    void refuse(std::string_view what);
    // 90000 for what is not in the sandbox, 3000 for everything else.
    statement_error error() const;

    bool is_word(std::string_view keyword, std::size_t ahead = 0) const noexcept;
    bool is_sign(std::string_view sign, std::size_t ahead = 0) const noexcept;
    // All of them, in this order, or nothing is taken.
    bool accept(std::initializer_list<std::string_view> keywords);
    bool accept_sign(std::string_view sign);
    void expect(std::initializer_list<std::string_view> keywords);
    void expect_sign(std::string_view sign);
    // A name in backticks, or a word that is no keyword.
    bool is_name(std::size_t ahead = 0) const noexcept;
    std::string expect_name();
    // After a dot every word is a name.
    std::string expect_member_name();

    expression read_expression();

    // The longest construct of the real language that stands, or began, where reading is; empty:
    // none.
    std::string_view find_missing() const noexcept;

private:
    bool begins_with(std::size_t at, std::string_view words) const noexcept;
    // One more step down the tree: chains of operators and paths are bounded too.
    void count_operation() noexcept;
    expression read_or();
    expression read_and();
    expression read_not();
    expression read_comparison();
    expression read_test(expression tested);
    expression read_between(expression tested);
    expression read_sum();
    expression read_product();
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
    std::string refused_;  // what `refuse` was told first
};

}  // namespace reprise::sandbox::detail
