#pragma once

#include <cstddef>
#include <string_view>

namespace bench {

// Runs `count` operations of the scenario through the public API: "api_get_64", "api_upsert_1", ...
// Returns false if there is no such scenario. Prints the number of allocations.
bool run_api(std::string_view name, std::size_t count);

}  // namespace bench
