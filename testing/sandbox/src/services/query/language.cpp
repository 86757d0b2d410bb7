#include "services/query/language.hpp"

#include <algorithm>
#include <array>

#include <reprise/http/message.hpp>

namespace reprise::sandbox::detail {

namespace {

using construct_at = construct_place;

// The keywords of the implemented grammar.
constexpr std::array<std::string_view, 46> own_keywords{
    "select",  "from",   "where",     "use",   "keys",    "as",      "order",    "by",
    "limit",   "offset", "returning", "set",   "unset",   "values",  "and",      "or",
    "not",     "is",     "in",        "like",  "null",    "missing", "valued",   "true",
    "false",   "raw",    "element",   "value", "insert",  "upsert",  "into",     "delete",
    "update",  "create", "drop",      "build", "prepare", "execute", "distinct", "all",
    "between", "with",   "desc",      "asc",   "on",      "using"};

// The error names the longest construct that matches.
constexpr missing_construct missing[] = {
    // Statements.
    {construct_at::statement, "advise", "ADVISE"},
    {construct_at::statement, "alter", "ALTER"},
    {construct_at::statement, "analyze", "ANALYZE"},
    {construct_at::statement, "begin", "BEGIN TRANSACTION"},
    {construct_at::statement, "commit", "COMMIT"},
    {construct_at::statement, "connect", "CONNECT LINK"},
    {construct_at::statement, "copy", "COPY"},
    {construct_at::statement, "create analytics", "CREATE ANALYTICS"},
    {construct_at::statement, "create bucket", "CREATE BUCKET"},
    {construct_at::statement, "create collection", "CREATE COLLECTION"},
    {construct_at::statement, "create dataset", "CREATE DATASET"},
    {construct_at::statement, "create dataverse", "CREATE DATAVERSE"},
    {construct_at::statement, "create external", "CREATE EXTERNAL"},
    {construct_at::statement, "create function", "CREATE FUNCTION"},
    {construct_at::statement, "create group", "CREATE GROUP"},
    {construct_at::statement, "create link", "CREATE LINK"},
    {construct_at::statement, "create or replace", "CREATE OR REPLACE"},
    {construct_at::statement, "create scope", "CREATE SCOPE"},
    {construct_at::statement, "create sequence", "CREATE SEQUENCE"},
    {construct_at::statement, "create synonym", "CREATE SYNONYM"},
    {construct_at::statement, "create user", "CREATE USER"},
    {construct_at::statement, "create vector", "CREATE VECTOR INDEX"},
    {construct_at::statement, "create view", "CREATE VIEW"},
    {construct_at::statement, "disconnect", "DISCONNECT LINK"},
    {construct_at::statement, "drop analytics", "DROP ANALYTICS"},
    {construct_at::statement, "drop bucket", "DROP BUCKET"},
    {construct_at::statement, "drop collection", "DROP COLLECTION"},
    {construct_at::statement, "drop dataset", "DROP DATASET"},
    {construct_at::statement, "drop dataverse", "DROP DATAVERSE"},
    {construct_at::statement, "drop function", "DROP FUNCTION"},
    {construct_at::statement, "drop group", "DROP GROUP"},
    {construct_at::statement, "drop link", "DROP LINK"},
    {construct_at::statement, "drop scope", "DROP SCOPE"},
    {construct_at::statement, "drop sequence", "DROP SEQUENCE"},
    {construct_at::statement, "drop synonym", "DROP SYNONYM"},
    {construct_at::statement, "drop user", "DROP USER"},
    {construct_at::statement, "drop vector", "DROP VECTOR INDEX"},
    {construct_at::statement, "drop view", "DROP VIEW"},
    {construct_at::statement, "execute function", "EXECUTE FUNCTION"},
    {construct_at::statement, "explain", "EXPLAIN"},
    {construct_at::statement, "flush", "FLUSH COLLECTION"},
    {construct_at::statement, "from", "FROM before SELECT"},
    {construct_at::statement, "grant", "GRANT"},
    {construct_at::statement, "infer", "INFER"},
    {construct_at::statement, "merge", "MERGE"},
    {construct_at::statement, "revoke", "REVOKE"},
    {construct_at::statement, "rollback", "ROLLBACK"},
    {construct_at::statement, "savepoint", "SAVEPOINT"},
    {construct_at::statement, "set transaction", "SET TRANSACTION"},
    {construct_at::statement, "start transaction", "START TRANSACTION"},
    {construct_at::statement, "truncate", "TRUNCATE"},
    {construct_at::statement, "update statistics", "UPDATE STATISTICS"},
    {construct_at::statement, "with", "WITH"},
    // Clauses.
    {construct_at::clause, "cross", "CROSS JOIN"},
    {construct_at::clause, "except", "EXCEPT"},
    {construct_at::clause, "exclude", "EXCLUDE"},
    {construct_at::clause, "filter", "FILTER"},
    {construct_at::clause, "flatten", "FLATTEN"},
    {construct_at::clause, "for", "FOR"},
    {construct_at::clause, "group", "GROUP BY"},
    {construct_at::clause, "having", "HAVING"},
    {construct_at::clause, "include", "INCLUDE MISSING"},
    {construct_at::clause, "inner", "INNER JOIN"},
    {construct_at::clause, "intersect", "INTERSECT"},
    {construct_at::clause, "join", "JOIN"},
    {construct_at::clause, "lateral", "LATERAL"},
    {construct_at::clause, "left", "LEFT JOIN"},
    {construct_at::clause, "let", "LET"},
    {construct_at::clause, "letting", "LETTING"},
    {construct_at::clause, "minus", "MINUS"},
    {construct_at::clause, "nest", "NEST"},
    {construct_at::clause, "nulls", "NULLS FIRST or LAST"},
    {construct_at::clause, "over", "OVER (a window function)"},
    {construct_at::clause, "partition", "PARTITION BY"},
    {construct_at::clause, "right", "RIGHT JOIN"},
    {construct_at::clause, "union", "UNION"},
    {construct_at::clause, "unnest", "UNNEST"},
    {construct_at::clause, "use hash", "USE HASH"},
    {construct_at::clause, "use index", "USE INDEX"},
    {construct_at::clause, "use nl", "USE NL"},
    {construct_at::clause, "window", "WINDOW"},
    // Expressions.
    {construct_at::expression, "any", "ANY ... SATISFIES"},
    {construct_at::expression, "array", "ARRAY ... FOR"},
    {construct_at::expression, "case", "CASE"},
    {construct_at::expression, "collate", "COLLATE"},
    {construct_at::expression, "cover", "COVER"},
    {construct_at::expression, "escape", "LIKE ... ESCAPE"},
    {construct_at::expression, "every", "EVERY ... SATISFIES"},
    {construct_at::expression, "exists", "EXISTS"},
    {construct_at::expression, "first", "FIRST ... FOR"},
    {construct_at::expression, "is distinct", "IS DISTINCT FROM"},
    {construct_at::expression, "is not distinct", "IS NOT DISTINCT FROM"},
    {construct_at::expression, "nextval", "NEXTVAL"},
    {construct_at::expression, "object", "OBJECT ... FOR"},
    {construct_at::expression, "prevval", "PREVVAL"},
    {construct_at::expression, "some", "SOME ... SATISFIES"},
    {construct_at::expression, "within", "WITHIN"},
};

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
    return std::string(what) + " is not supported by the sandbox";
}

statement_error not_in_sandbox(std::string_view what) {
    return {not_in_sandbox_code, not_in_sandbox_text(what), 0, {}};
}

std::span<const missing_construct> missing_constructs() noexcept {
    return missing;
}

bool is_reserved_word(std::string_view word) noexcept {
    const auto is_word = [word](std::string_view keyword) {
        return http::equal_ignoring_case(keyword, word);
    };
    // A statement is recognised by its first word, where a name is impossible.
    return std::ranges::any_of(own_keywords, is_word) ||
           std::ranges::any_of(further_keywords, is_word) ||
           std::ranges::any_of(missing, [&](const missing_construct& each) {
               return each.place != construct_place::statement && is_word(each.words);
           });
}

std::span<const grammar_line> expression_grammar() noexcept {
    return expressions;
}

}  // namespace reprise::sandbox::detail
