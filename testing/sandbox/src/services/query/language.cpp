#include "services/query/language.hpp"

#include <algorithm>
#include <array>

#include <reprise/http/message.hpp>

namespace reprise::sandbox::detail {

namespace {

using at = construct_place;

// The keywords of the implemented grammar.
constexpr std::array<std::string_view, 46> own_keywords{
    "select",  "from",   "where",     "use",   "keys",    "as",      "order",    "by",
    "limit",   "offset", "returning", "set",   "unset",   "values",  "and",      "or",
    "not",     "is",     "in",        "like",  "null",    "missing", "valued",   "true",
    "false",   "raw",    "element",   "value", "insert",  "upsert",  "into",     "delete",
    "update",  "create", "drop",      "build", "prepare", "execute", "distinct", "all",
    "between", "with",   "desc",      "asc",   "on",      "using"};

// The error names the longest construct that matches.
// clang-format off
constexpr missing_construct construct_table[] = {
    // Statements.
    {at::statement, "advise"}, {at::statement, "alter"}, {at::statement, "analyze"},
    {at::statement, "begin", "BEGIN TRANSACTION"}, {at::statement, "commit"},
    {at::statement, "connect", "CONNECT LINK"}, {at::statement, "copy"},
    {at::statement, "create analytics"}, {at::statement, "create bucket"},
    {at::statement, "create collection"}, {at::statement, "create dataset"},
    {at::statement, "create dataverse"}, {at::statement, "create external"},
    {at::statement, "create function"}, {at::statement, "create group"},
    {at::statement, "create link"}, {at::statement, "create or replace"},
    {at::statement, "create scope"}, {at::statement, "create sequence"},
    {at::statement, "create synonym"}, {at::statement, "create user"},
    {at::statement, "create vector", "CREATE VECTOR INDEX"}, {at::statement, "create view"},
    {at::statement, "disconnect", "DISCONNECT LINK"}, {at::statement, "drop analytics"},
    {at::statement, "drop bucket"}, {at::statement, "drop collection"},
    {at::statement, "drop dataset"}, {at::statement, "drop dataverse"},
    {at::statement, "drop function"}, {at::statement, "drop group"}, {at::statement, "drop link"},
    {at::statement, "drop scope"}, {at::statement, "drop sequence"},
    {at::statement, "drop synonym"}, {at::statement, "drop user"},
    {at::statement, "drop vector", "DROP VECTOR INDEX"}, {at::statement, "drop view"},
    {at::statement, "execute function"}, {at::statement, "explain"},
    {at::statement, "flush", "FLUSH COLLECTION"}, {at::statement, "from", "FROM before SELECT"},
    {at::statement, "grant"}, {at::statement, "infer"}, {at::statement, "merge"},
    {at::statement, "revoke"}, {at::statement, "rollback"}, {at::statement, "savepoint"},
    {at::statement, "set transaction"}, {at::statement, "start transaction"},
    {at::statement, "truncate"}, {at::statement, "update statistics"}, {at::statement, "with"},
    // Clauses.
    {at::clause, "cross", "CROSS JOIN"}, {at::clause, "except"}, {at::clause, "exclude"},
    {at::clause, "filter"}, {at::clause, "flatten"}, {at::clause, "for"},
    {at::clause, "group", "GROUP BY"}, {at::clause, "having"},
    {at::clause, "include", "INCLUDE MISSING"}, {at::clause, "inner", "INNER JOIN"},
    {at::clause, "intersect"}, {at::clause, "join"}, {at::clause, "lateral"},
    {at::clause, "left", "LEFT JOIN"}, {at::clause, "let"}, {at::clause, "letting"},
    {at::clause, "minus"}, {at::clause, "nest"}, {at::clause, "nulls", "NULLS FIRST or LAST"},
    {at::clause, "over", "OVER (a window function)"}, {at::clause, "partition", "PARTITION BY"},
    {at::clause, "right", "RIGHT JOIN"}, {at::clause, "union"}, {at::clause, "unnest"},
    {at::clause, "use hash"}, {at::clause, "use index"}, {at::clause, "use nl"},
    {at::clause, "window"},
    // Expressions.
    {at::expression, "any", "ANY ... SATISFIES"}, {at::expression, "array", "ARRAY ... FOR"},
    {at::expression, "case"}, {at::expression, "collate"}, {at::expression, "cover"},
    {at::expression, "escape", "LIKE ... ESCAPE"}, {at::expression, "every", "EVERY ... SATISFIES"},
    {at::expression, "exists"}, {at::expression, "first", "FIRST ... FOR"},
    {at::expression, "is distinct", "IS DISTINCT FROM"},
    {at::expression, "is not distinct", "IS NOT DISTINCT FROM"}, {at::expression, "nextval"},
    {at::expression, "object", "OBJECT ... FOR"}, {at::expression, "prevval"},
    {at::expression, "some", "SOME ... SATISFIES"}, {at::expression, "within"},
};
// clang-format on

// Second words that must not be parsed as a name after the first one.
constexpr std::array<std::string_view, 3> further_keywords{"function", "known", "unknown"};

constexpr grammar_line expressions[] = {
    {"constants", "JSON values; strings in either quotes; `MISSING`"},
    {"parameters", "`$name`, `$1`, `?`"},
    {"paths", "`a.b`, `a[0]`, `a[-1]`"},
    {"comparisons", "`= == != <> < <= > >=`, `[NOT] BETWEEN a AND b`"},
    {"tests", "`IS [NOT] NULL`, `MISSING`, `VALUED`, `KNOWN`, `UNKNOWN`"},
    {"membership and patterns", "`[NOT] IN list`, `[NOT] LIKE pattern` (`%`, `_`, `\\` escapes)"},
    {"logic", "`AND`, `OR`, `NOT`; 0, empty strings, lists and objects count as false"},
    {"arithmetic and text", "`+ - * / %`, `||`"},
    {"constructors", "`[a, b]`, `{\"name\": a}`, parentheses"},
    {"functions", "`META([alias])`, `COUNT(*)` as the only item, `ARRAY_RANGE` in `FROM`"},
};

}  // namespace

std::string not_in_sandbox_text(std::string_view what) {
    return std::string(what) + " is not in the sandbox; docs/sandbox.md lists what is";
}

statement_error not_in_sandbox(std::string_view what) {
    return {not_in_sandbox_code, not_in_sandbox_text(what), 0, {}};
}

std::string upper_case(std::string_view text) {
    std::string made(text);
    std::ranges::transform(made, made.begin(), [](char c) {
        return c >= 'a' && c <= 'z' ? static_cast<char>(c - 32) : c;
    });
    return made;
}

std::string missing_construct::name() const {
    return shown.empty() ? upper_case(words) : std::string(shown);
}

std::span<const missing_construct> missing_constructs() noexcept {
    return construct_table;
}

bool is_reserved_word(std::string_view word) noexcept {
    const auto is_word = [word](std::string_view keyword) {
        return http::equal_ignoring_case(keyword, word);
    };
    // A statement is recognised by its first word, where a name is impossible.
    return std::ranges::any_of(own_keywords, is_word) ||
           std::ranges::any_of(further_keywords, is_word) ||
           std::ranges::any_of(construct_table, [&](const missing_construct& each) {
               return each.place != construct_place::statement && is_word(each.words);
           });
}

std::span<const grammar_line> expression_grammar() noexcept {
    return expressions;
}

}  // namespace reprise::sandbox::detail
