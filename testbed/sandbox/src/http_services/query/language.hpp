#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "http_services/query/value.hpp"

namespace reprise::sandbox::detail {

// The sandbox refuses what it does not implement with this code. No server uses it, so that an
// application cannot mistake a gap in the sandbox for an error of its own.
inline constexpr int not_in_sandbox_code = 90000;

// "GROUP BY is not in the sandbox; docs/sandbox.md lists what is"
std::string not_in_sandbox_text(std::string_view what);
statement_error not_in_sandbox(std::string_view what);

std::string upper_case(std::string_view text);

// Where a construct can occur.
enum class construct_place : std::uint8_t { statement, clause, expression };

// A construct of SQL++ that the parser does not support.
struct missing_construct {
    construct_place place;
    // Its first words, in lower case, separated by one space.
    std::string_view words;
    // Its name in messages; empty: its words in upper case.
    std::string_view shown{};

    std::string name() const;
};

std::span<const missing_construct> missing_constructs() noexcept;

// Whether a word is a keyword, and a name only in backticks: a keyword of the sandbox's grammar, or
// the start of a construct that the sandbox does not implement.
bool is_reserved_word(std::string_view word) noexcept;

// A line of the grammar, for the page that lists what is implemented.
struct grammar_line {
    std::string_view what;
    std::string_view syntax;
};

std::span<const grammar_line> expression_grammar() noexcept;

}  // namespace reprise::sandbox::detail
