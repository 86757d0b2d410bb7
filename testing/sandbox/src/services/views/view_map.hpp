#pragma once

#include <cstdint>
#include <expected>
#include <string>
#include <string_view>
#include <vector>

#include <reprise/json/value.hpp>

#include "services/query/value.hpp"

namespace reprise::sandbox::detail {

// One row that a map function emits.
struct view_row {
    std::string id{};
    json::value key{};
    json::value value{};
    std::size_t order = 0;  // the order in which equal rows were emitted
};

enum class map_operation : std::uint8_t {
    literal,    // `content`; if it is empty: undefined
    document,   // the first parameter
    meta,       // the second
    member,     // operand 0, field `text`
    element,    // operand 0 at operand 1
    list,       // the operands
    map,        // the operands under `names`
    negate,     // -operand 0
    type_name,  // typeof operand 0
    is_not,     // !operand 0
    binary      // operand 0 `text` operand 1
};

struct map_expression {
    map_operation what = map_operation::literal;
    maybe_value content{};
    std::string text{};
    std::vector<std::string> names{};
    std::vector<map_expression> operands{};
};

enum class map_step : std::uint8_t {
    emit,   // expression 0: key, expression 1: value
    check,  // expression 0 selects `then` or `otherwise`
    leave   // return
};

struct map_statement {
    map_step what = map_step::emit;
    std::vector<map_expression> expressions{};
    std::vector<map_statement> then{};
    std::vector<map_statement> otherwise{};
};

// The supported subset of JavaScript, for the page that lists it.
inline constexpr std::string_view map_function_grammar[] = {
    "`function (doc, meta) { ... }`, with any names for the two",
    "`emit(key, value);`",
    "`if (e) ... else ...`, blocks, `return;`",
    "JSON constants, `undefined`, lists, objects, `doc.a.b`, `doc[\"a\"]`, `.length`",
    "items of lists: `doc.list[0]`",
    "`meta.id`, `.rev`, `.cas`, `.flags`, `.expiration`, `.type`",
    "`== === != !== < <= > >= && || ! + -`, `typeof`, parentheses, comments",
};

// A map function of a view.
class map_function {
public:
    // The error names what the sandbox does not support.
    static std::expected<map_function, std::string> parse(std::string_view text);

    // Appends the rows of one document; `id` is the id of the rows. A function that fails (for
    // example by reading a field of undefined) emits none.
    void run(
        const std::string& id, const json::value& document, const json::value& meta,
        std::vector<view_row>& out) const;

private:
    std::vector<map_statement> body_;
};

}  // namespace reprise::sandbox::detail
