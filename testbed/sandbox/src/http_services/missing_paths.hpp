#pragma once

#include <optional>
#include <span>
#include <string_view>

#include <reprise/wire/service.hpp>

#include "http_services/service_state.hpp"

namespace reprise::sandbox::detail {

// A path of real servers that the sandbox does not have, with any method. docs/sandbox.md is
// printed from this table, too.
struct missing_path {
    wire::service service;
    std::string_view path;   // parts in braces match any text
    std::string_view shown;  // what it is for
};
std::span<const missing_path> missing_paths() noexcept;

// Answers a request for such a path with status 400 and the name of what is missing, in the format
// of the service's own errors. Empty: the path is not in the table.
std::optional<service_response> refuse_missing_path(const service_exchange& with);

}  // namespace reprise::sandbox::detail
