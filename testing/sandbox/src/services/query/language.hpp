#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "services/query/value.hpp"

namespace reprise::sandbox::detail {

// What the sandbox does not have is refused with this code, which no server uses: an application
// must not take a gap of the sandbox for an error of its own.
inline constexpr int not_in_sandbox_code = 90000;

// "GROUP BY is not in the sandbox"
std::string not_in_sandbox_text(std::string_view what);
statement_error not_in_sandbox(std::string_view what);

// Where a construct can stand.
enum class construct_place : std::uint8_t { statement, clause, expression };

// A construct of SQL++ that the parser does not read.
struct missing_construct {
    construct_place place;
    // How it begins, in lower case, words separated by one blank.
    std::string_view words;
    // How it is named to people.
    std::string_view shown;
};

std::span<const missing_construct> missing_constructs() noexcept;

// A keyword that is no name unless it stands in backticks: one of the sandbox's own grammar, or the
// beginning of a construct that it does not have.
bool is_reserved_word(std::string_view word) noexcept;

// A line of the grammar, for the page that lists what is there.
struct grammar_line {
    std::string_view what;
    std::string_view syntax;
};

std::span<const grammar_line> expression_grammar() noexcept;

}  // namespace reprise::sandbox::detail
