#pragma once

#include <cstdint>
#include <expected>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <reprise/json/value.hpp>

#include "http_services/query/value.hpp"

namespace reprise::sandbox::detail {

enum class expression_kind : std::uint8_t {
    literal,    // `literal`
    missing,    // the keyword
    parameter,  // `text`: a number or a name
    name,       // `text`: the row, by its alias, or a field of it
    member,     // operand 0, field `text`
    element,    // operand 0 at operand 1
    list,       // the operands
    map,        // the operands under `names`
    meta,       // META(): id, cas, expiration, flags, type
    count_all,  // COUNT(*), only as the sole projected item
    operation,  // `text`: NOT, AND, OR, =, <, ..., +, ||, IN, LIKE, NEGATE
    is_test     // operand 0 IS `text`: NULL, MISSING, VALUED
};

struct expression {
    expression_kind what = expression_kind::literal;
    json::value literal{};
    std::string text{};
    std::vector<std::string> names{};
    std::vector<expression> operands{};
};

struct projection_item {
    expression value{};
    std::string alias{};    // the member's name in the row; empty only for a star
    bool is_star = false;   // `*` or `x.*`
    bool is_whole = false;  // `*`: the row under its alias
};

struct projection {
    bool is_raw = false;       // RAW, ELEMENT or VALUE: one item, not wrapped
    bool is_distinct = false;  // equal rows are returned once
    std::vector<projection_item> items{};
};

enum class source_kind : std::uint8_t {
    none,            // a single row without content
    documents,       // of a keyspace
    range,           // ARRAY_RANGE(from, to): integers, produced one at a time
    index_catalogue  // system:indexes
};

struct row_source {
    source_kind what = source_kind::none;
    std::vector<std::string> path{};  // of the keyspace: 1 or 3 names
    std::string alias{};              // empty only for source_kind::none
    std::optional<expression> keys{};
    std::vector<expression> bounds{};
};

struct order_term {
    expression by{};
    bool is_descending = false;
};

struct inserted_row {
    expression key{};
    expression value{};
    std::optional<expression> options{};
};

struct changed_field {
    std::vector<std::string> path{};
    std::optional<expression> value{};  // empty: UNSET
};

struct index_clause {
    std::string name{};
    bool is_primary = false;
    bool is_tolerant = false;  // IF [NOT] EXISTS
    bool is_deferred = false;
    std::uint32_t replica_count = 0;
    std::vector<std::string> keys{};
    std::string condition{};
    std::vector<std::string> built{};  // BUILD INDEX: the names
};

enum class statement_kind : std::uint8_t {
    select,
    insert,
    upsert,
    update,
    remove,
    prepare,
    execute,
    create_index,
    drop_index,
    build_index
};

// Whether the statement must not run with `readonly`.
bool is_writing(statement_kind what) noexcept;

// A parsed statement; `what` determines which fields are used.
struct statement {
    statement_kind what = statement_kind::select;
    row_source from{};
    projection result{};  // of SELECT, or of RETURNING
    bool has_returning = false;
    std::optional<expression> where{};
    std::vector<order_term> order{};
    std::optional<expression> limit{};
    std::optional<expression> offset{};
    std::vector<inserted_row> rows{};
    std::vector<changed_field> fields{};
    index_clause index{};
    std::string name{};                     // PREPARE and EXECUTE; may be empty for PREPARE
    std::string body{};                     // PREPARE: the text of the prepared statement
    std::optional<expression> arguments{};  // EXECUTE ... USING
};

// A statement that the parser supports, for the page that lists them.
struct statement_grammar {
    std::string_view words;   // how it begins, in lower case
    std::string_view syntax;  // its full syntax
};
std::span<const statement_grammar> statement_grammars() noexcept;

// Parses one statement of the small language that docs/sandbox.md lists. The error is 90000 with
// the name of a construct that the sandbox does not implement, or 3000 with the position of the
// syntax error. Input never makes it throw or recurse without bound.
std::expected<statement, statement_error> parse_statement(std::string_view text);

}  // namespace reprise::sandbox::detail
