#pragma once

/// The result of a run, as a table and as JSON.

#include <optional>
#include <string>
#include <vector>

#include "final_audit.hpp"
#include "measurements.hpp"

namespace reprise::demo {

struct phase_result {
    std::string name;
    traffic_figures measured{};
};

/// Resident memory of the process, sampled once a second.
struct memory_result {
    double begin_mib = 0;  // after the first minute, or the first third of a shorter run
    double end_mib = 0;    // the mean of the last tenth
    double peak_mib = 0;
    double growth_max_mib = 0;  // the limit

    [[nodiscard]] double growth_mib() const noexcept { return end_mib - begin_mib; }
    [[nodiscard]] bool is_flat() const noexcept { return growth_mib() <= growth_max_mib; }
};

struct run_result {
    std::vector<phase_result> phases{};
    audit_result audit{};
    std::optional<memory_result> memory{};
    /// The run was interrupted; everything else covers the part that was run.
    bool is_interrupted = false;

    [[nodiscard]] bool is_good() const noexcept {
        return audit.is_clean() && (!memory || memory->is_flat());
    }
};

[[nodiscard]] std::string to_text(const run_result& result);
[[nodiscard]] std::string to_json(const run_result& result);

}  // namespace reprise::demo
