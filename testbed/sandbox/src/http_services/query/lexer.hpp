#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace reprise::sandbox::detail {

enum class token_kind : std::uint8_t {
    end,        // always the last one
    word,       // a name or keyword
    name,       // in backticks: never a keyword
    text,       // a string, escapes resolved
    number,     // in JSON syntax
    parameter,  // `$name`, `$1` or `?`; the text does not contain the `$`
    sign,       // punctuation, one or two characters
    invalid     // not valid in any statement
};

struct token {
    token_kind kind = token_kind::end;
    std::string text;
    // Its position in the statement.
    std::size_t begin = 0;
    std::size_t end = 0;
};

// If there are more tokens than this, the last one is invalid.
inline constexpr std::size_t token_count_max = 1'000'000;

// Splits a statement into tokens and stops after the first invalid one.
std::vector<token> tokenize(std::string_view statement);

}  // namespace reprise::sandbox::detail
