#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>

#include <reprise/sim/scenario.hpp>
#include <reprise/sim/simulation.hpp>

namespace reprise::sim {

inline constexpr std::size_t shrink_run_count_max = 400;

struct shrunk_scenario {
    scenario plan{};
    run_report report{};        // of the shrunk scenario; the same checker complains
    std::size_t run_count = 0;  // runs it took
};

// Makes a failing scenario smaller as long as the same checker still complains: drops faults, drops
// operations (halves first), then simplifies the network and the clients. At most `run_count_max`
// runs; it ends early, with what it has, when `should_stop` (asked before each run; empty: never)
// returns true. The scenario must fail; if it does not, it comes back unchanged.
[[nodiscard]] shrunk_scenario shrink(
    const scenario& plan, std::size_t run_count_max = shrink_run_count_max,
    const std::function<bool()>& should_stop = {});

}  // namespace reprise::sim
