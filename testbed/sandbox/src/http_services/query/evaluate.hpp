#pragma once

#include <optional>
#include <string>
#include <string_view>

#include <reprise/json/value.hpp>

#include "http_services/query/statement.hpp"
#include "http_services/query/value.hpp"

namespace reprise::sandbox::detail {

// The parameters of a request.
struct statement_parameters {
    json::array positional{};
    json::object named{};  // names without their `$`
};

// The row on which expressions are evaluated. Views are valid during the evaluation.
struct row_view {
    std::string_view alias{};
    const json::value* content = nullptr;  // null: no row
    const json::value* meta = nullptr;     // null: the row is not a document
};

// Evaluates expressions. The first error is sticky; results after it are ignored.
class evaluator {
public:
    explicit evaluator(const statement_parameters& parameters) : parameters_(parameters) {}

    maybe_value value_of(const expression& from, const row_view& row);
    // NULL, MISSING, false, 0 and empty values count as false.
    bool is_true(const expression& from, const row_view& row);
    // Evaluates a whole number, for example for LIMIT; negative ones count as 0. The error names
    // `clause`.
    std::uint64_t count_of(const expression& from, std::string_view clause);
    json::value row_of(const projection& what, const row_view& row);
    // Appends the row's text, without a separator.
    void append_row(std::string& out, const projection& what, const row_view& row);

    const std::optional<statement_error>& error() const noexcept { return error_; }

private:
    maybe_value parameter(const std::string& name);
    maybe_value name(const std::string& name, const row_view& row);
    maybe_value element(const expression& from, const row_view& row);
    maybe_value operation(const expression& from, const row_view& row);
    maybe_value compare(const std::string& sign, const json::value& a, const json::value& b);
    void fail(int code, std::string message);

    const statement_parameters& parameters_;
    std::optional<statement_error> error_;
};

// The shape of a projection's rows, for `signature`.
json::value signature_of(const projection& what);

// `%` matches any run of characters, `_` one character; a backslash escapes either of them.
bool matches_like(std::string_view pattern, std::string_view text);

}  // namespace reprise::sandbox::detail
