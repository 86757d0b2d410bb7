#pragma once

#include <cstddef>
#include <expected>
#include <string>
#include <string_view>
#include <vector>

#include <reprise/json/value.hpp>

namespace reprise::sandbox::detail {

// One row that a map function emits.
struct view_row {
    std::string id{};
    json::value key{};
    json::value value{};
    std::size_t order = 0;  // the order in which equal rows were emitted
};

// A spelling of a map function, for the page that lists them.
struct map_name {
    std::string_view spelling;
    std::string_view rows;
};

// The map functions that a view may have. There is no JavaScript in the sandbox.
inline constexpr map_name map_names[] = {
    {"_by_id", "every document: its id, and null"},
    {"_by_fields:a", "documents with the field `a`: its value, and null"},
    {"_by_fields:a=v", "the same, and the value of `v`"},
    {"_by_fields:a,b=v", "the same with the key `[a, b]`"},
};

// A built-in map function of a view.
class map_function {
public:
    // Accepts one of `map_names`. Any other name is an error.
    static std::expected<map_function, std::string> parse(std::string_view text);

    // Appends the row of one document, if it has one. Missing fields other than the first are null.
    void run(const std::string& id, const json::value& document, std::vector<view_row>& out) const;

private:
    std::vector<std::string> keys_;  // names of fields; none: the id
    std::string value_;              // empty: null
};

}  // namespace reprise::sandbox::detail
