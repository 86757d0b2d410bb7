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
    number,     // as JSON spells it
    parameter,  // `$name`, `$1` or `?`; the text is without the `$`
    sign,       // punctuation, one to two characters
    invalid     // what no statement contains
};

struct token {
    token_kind kind = token_kind::end;
    std::string text;
    // Where it stands in the statement.
    std::size_t begin = 0;
    std::size_t end = 0;
};

// More tokens than this make the last one invalid.
inline constexpr std::size_t token_count_max = 1'000'000;

// Cuts a statement into tokens; stops after the first invalid one.
std::vector<token> tokenize(std::string_view statement);

}  // namespace reprise::sandbox::detail
