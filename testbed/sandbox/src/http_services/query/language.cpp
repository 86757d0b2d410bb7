#include "http_services/query/language.hpp"

#include <algorithm>
#include <array>

#include <reprise/http/message.hpp>

namespace reprise::sandbox::detail {

namespace {

using is = construct_place;

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
    {is::statement, "advise"}, {is::statement, "alter"}, {is::statement, "analyze"},
    {is::statement, "begin", "BEGIN TRANSACTION"}, {is::statement, "commit"},
    {is::statement, "connect", "CONNECT LINK"}, {is::statement, "copy"},
    {is::statement, "create analytics"}, {is::statement, "create bucket"},
    {is::statement, "create collection"}, {is::statement, "create dataset"},
    {is::statement, "create dataverse"}, {is::statement, "create external"},
    {is::statement, "create function"}, {is::statement, "create group"},
    {is::statement, "create link"}, {is::statement, "create or replace"},
    {is::statement, "create scope"}, {is::statement, "create sequence"},
    {is::statement, "create synonym"}, {is::statement, "create user"},
    {is::statement, "create vector", "CREATE VECTOR INDEX"}, {is::statement, "create view"},
    {is::statement, "disconnect", "DISCONNECT LINK"}, {is::statement, "drop analytics"},
    {is::statement, "drop bucket"}, {is::statement, "drop collection"},
    {is::statement, "drop dataset"}, {is::statement, "drop dataverse"},
    {is::statement, "drop function"}, {is::statement, "drop group"}, {is::statement, "drop link"},
    {is::statement, "drop scope"}, {is::statement, "drop sequence"},
    {is::statement, "drop synonym"}, {is::statement, "drop user"},
    {is::statement, "drop vector", "DROP VECTOR INDEX"}, {is::statement, "drop view"},
    {is::statement, "execute function"}, {is::statement, "explain"},
    {is::statement, "flush", "FLUSH COLLECTION"}, {is::statement, "from", "FROM before SELECT"},
    {is::statement, "grant"}, {is::statement, "infer"}, {is::statement, "merge"},
    {is::statement, "revoke"}, {is::statement, "rollback"}, {is::statement, "savepoint"},
    {is::statement, "set transaction"}, {is::statement, "start transaction"},
    {is::statement, "truncate"}, {is::statement, "update statistics"}, {is::statement, "with"},
    // Clauses.
    {is::clause, "cross", "CROSS JOIN"}, {is::clause, "except"}, {is::clause, "exclude"},
    {is::clause, "filter"}, {is::clause, "flatten"}, {is::clause, "for"},
    {is::clause, "group", "GROUP BY"}, {is::clause, "having"},
    {is::clause, "include", "INCLUDE MISSING"}, {is::clause, "inner", "INNER JOIN"},
    {is::clause, "intersect"}, {is::clause, "join"}, {is::clause, "lateral"},
    {is::clause, "left", "LEFT JOIN"}, {is::clause, "let"}, {is::clause, "letting"},
    {is::clause, "minus"}, {is::clause, "nest"}, {is::clause, "nulls", "NULLS FIRST or LAST"},
    {is::clause, "over", "OVER (a window function)"}, {is::clause, "partition", "PARTITION BY"},
    {is::clause, "right", "RIGHT JOIN"}, {is::clause, "union"}, {is::clause, "unnest"},
    {is::clause, "use hash"}, {is::clause, "use index"}, {is::clause, "use nl"},
    {is::clause, "window"},
    // Expressions.
    {is::expression, "any", "ANY ... SATISFIES"}, {is::expression, "array", "ARRAY ... FOR"},
    {is::expression, "case"}, {is::expression, "collate"}, {is::expression, "cover"},
    {is::expression, "escape", "LIKE ... ESCAPE"}, {is::expression, "every", "EVERY ... SATISFIES"},
    {is::expression, "exists"}, {is::expression, "first", "FIRST ... FOR"},
    {is::expression, "is distinct", "IS DISTINCT FROM"},
    {is::expression, "is not distinct", "IS NOT DISTINCT FROM"}, {is::expression, "nextval"},
    {is::expression, "object", "OBJECT ... FOR"}, {is::expression, "prevval"},
    {is::expression, "some", "SOME ... SATISFIES"}, {is::expression, "within"},
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
