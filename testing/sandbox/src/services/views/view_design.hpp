#pragma once

#include <cstdint>
#include <expected>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include <reprise/json/value.hpp>

#include "services/views/view_map.hpp"

namespace reprise::sandbox::detail {

enum class view_reduce : std::uint8_t { none, count, sum, stats };

struct reduce_name {
    std::string_view name;
    view_reduce what;
};
// The values that `reduce` of a view may have.
std::span<const reduce_name> reduce_names() noexcept;

struct view_definition {
    map_function map;
    view_reduce reduce = view_reduce::none;
};

// A design document: its text and its meaning.
struct design_document {
    json::object text;
    std::map<std::string, view_definition, std::less<>> views;
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
