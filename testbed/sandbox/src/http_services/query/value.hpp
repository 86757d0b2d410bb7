#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <reprise/json/value.hpp>

namespace reprise::sandbox::detail {

// The result of an expression; empty: MISSING.
using maybe_value = std::optional<json::value>;

// Compares values as results and views sort them: null, booleans, numbers, strings by bytes,
// arrays, objects. Returns a negative number, zero or a positive number.
int collate(const json::value& left, const json::value& right);

// A number as results show it: whole numbers without a point, even beyond 64 bits.
json::value make_number(double number);
// Applies make_number to every decimal and every integer beyond 63 bits of the tree.
void normalize_numbers(json::value& in);

// An error of a statement, as listed in the answer's `errors`.
struct statement_error {
    int code = 0;
    std::string message{};
    // The cause, if there is one.
    int reason_code = 0;
    std::string reason{};
    // Adds `"retry": true`: the same statement may succeed later.
    bool is_retry_advised = false;
    // The statement had begun to run: the answer has status 200, a signature and results.
    bool is_in_execution = false;
};

}  // namespace reprise::sandbox::detail
