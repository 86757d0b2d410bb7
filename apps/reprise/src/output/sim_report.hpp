#pragma once

/// The output of `reprise sim`: progress, failures and totals, as text and as JSON.

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <reprise/sim/shrink.hpp>
#include <reprise/sim/simulation.hpp>

namespace reprise::app {

/// Totals over all seeds run so far.
struct sim_totals {
    std::uint64_t seeds = 0;
    std::uint64_t failed = 0;
    std::uint64_t operations = 0;
    std::uint64_t calls = 0;  ///< How many of them used the HTTP services.
    std::uint64_t rows = 0;
    std::uint64_t succeeded = 0;
    std::uint64_t ambiguous = 0;
    std::uint64_t requests = 0;
    std::uint64_t retries = 0;
    std::uint64_t connections = 0;
    std::uint64_t faults = 0;
    std::uint64_t events = 0;
    std::uint64_t fingerprint = 0;  ///< Of all runs, in order.
    duration virtual_time{};
    sim::reason_cells cells{};
    sim::situation_counts situations{};

    void add(const sim::run_report& report) noexcept;
};

/// A seed that broke a promise, and its shrunk scenario.
struct sim_failure {
    std::uint64_t seed = 0;
    std::vector<sim::finding> findings;
    /// Only the first failures are shrunk; `run_count` 0: not shrunk.
    sim::shrunk_scenario shrunk{};
    /// The events around the first finding of the shrunk scenario, one line each.
    std::vector<std::string> events;
};

/// "+1.204 ms", with microseconds.
[[nodiscard]] std::string sim_time(duration at);
/// "312 seeds, 41.7 seeds/s, 55123 operations, cells 140 of 171"
[[nodiscard]] std::string sim_progress(const sim_totals& totals, double seconds);
[[nodiscard]] std::string to_text(const sim_failure& failure, const std::string& replay_options);
[[nodiscard]] std::string to_text(const sim_totals& totals);
/// The reachable cells of the table that were not reached, a line for each reason.
[[nodiscard]] std::string missing_cells(const sim::reason_cells& cells);
/// The situations that no seed met, one per line.
[[nodiscard]] std::string missing_situations(const sim::situation_counts& situations);
/// Everything except the wall time, so that equal seeds produce equal text. `is_interrupted`: not
/// all of the requested seeds were run.
[[nodiscard]] std::string to_json(
    const sim_totals& totals, const std::vector<sim_failure>& failures, const std::string& profile,
    bool is_interrupted);
[[nodiscard]] std::string to_json(const sim::scenario& plan, const sim::run_report& report);

/// Runs a failing scenario again and returns the lines around its first finding.
[[nodiscard]] std::vector<std::string> events_around(
    const sim::scenario& plan, std::size_t before, std::size_t after);

}  // namespace reprise::app
