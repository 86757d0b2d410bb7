#pragma once

#include <optional>
#include <string>
#include <string_view>

#include <reprise/json/value.hpp>

#include "services/query/statement.hpp"
#include "services/query/value.hpp"

namespace reprise::sandbox::detail {

// The parameters of a request.
struct statement_parameters {
    json::array positional{};
    json::object named{};  // names without their `$`
};

// One row while expressions are evaluated on it. Views live as long as the evaluation.
struct row_view {
    std::string_view alias{};
    const json::value* content = nullptr;  // null: no row
    const json::value* meta = nullptr;     // null: the row is no document
};

// Evaluates expressions. The first error is sticky; what is evaluated after it does not count.
class evaluator {
public:
    explicit evaluator(const statement_parameters& parameters) : parameters_(parameters) {}

    maybe_value value_of(const expression& from, const row_view& row);
    // NULL, MISSING, false, 0 and what is empty count as false.
    bool is_true(const expression& from, const row_view& row);
    // A whole number of 0 or more, such as LIMIT wants; the error names `clause`.
    std::uint64_t count_of(const expression& from, std::string_view clause);
    json::value row_of(const projection& what, const row_view& row);
    // The row's text, without a separator.
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

// The shape of a projection's rows, as `signature` shows it.
json::value signature_of(const projection& what);

// `%`: any run of characters, `_`: one character, either of them escaped by a backslash: itself.
bool matches_like(std::string_view pattern, std::string_view text);

}  // namespace reprise::sandbox::detail
