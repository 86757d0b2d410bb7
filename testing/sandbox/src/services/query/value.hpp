#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <reprise/json/value.hpp>

namespace reprise::sandbox::detail {

// What an expression gives; empty: MISSING.
using maybe_value = std::optional<json::value>;

// The order of values in results and views: null, booleans, numbers, strings by bytes, arrays,
// objects. Negative, zero or positive.
int collate(const json::value& left, const json::value& right);

// An error of a statement as it stands in the answer's `errors`.
struct statement_error {
    int code = 0;
    std::string message{};
    // The cause, where the server knows one.
    int reason_code = 0;
    std::string reason{};
    // Says `"retry": true`: the same statement may succeed later.
    bool is_retry_advised = false;
};

// A name in backticks.
std::string quoted_name(std::string_view name);

}  // namespace reprise::sandbox::detail
