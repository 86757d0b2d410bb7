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
    run_report report{};        // of the shrunk scenario, with a finding of the same checker
    std::size_t run_count = 0;  // number of runs needed
};

/// Shrinks a failing scenario as long as the same checker still finds a problem: drops faults,
/// drops operations (halves first), then simplifies the network and the clients. Takes at most
/// `run_count_max` runs. If `should_stop`, which is called before each run, returns true, it ends
/// early with the best result so far (empty: never). The scenario must fail; otherwise it is
/// returned unchanged.
[[nodiscard]] shrunk_scenario shrink(
    const scenario& plan, std::size_t run_count_max = shrink_run_count_max,
    const std::function<bool()>& should_stop = {});

}  // namespace reprise::sim
