#pragma once

#include <expected>
#include <set>
#include <span>
#include <string>
#include <string_view>

#include <reprise/json/value.hpp>

namespace reprise::sandbox::detail {

// The map function of every view: one row per document, with its id as the key and null as the
// value. There is no JavaScript in the sandbox.
inline constexpr std::string_view map_by_id = "_by_id";

// A design document: its text and the names of its views.
struct design_document {
    json::object text;
    std::set<std::string, std::less<>> views;
};

// The error names what is malformed or not in the sandbox.
std::expected<design_document, std::string> read_design_document(json::object text);

// A parameter of view requests.
struct view_parameter {
    std::string_view name;
    std::string_view other_name;  // empty: there is no second name
    std::string_view meaning;
};
std::span<const view_parameter> view_parameters() noexcept;

}  // namespace reprise::sandbox::detail
