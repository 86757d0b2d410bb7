#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include <reprise/engine/reason_table.hpp>
#include <reprise/retry/retry_history.hpp>
#include <reprise/sandbox/ledger.hpp>
#include <reprise/sim/finding.hpp>
#include <reprise/sim/scenario.hpp>
#include <reprise/sim/situation.hpp>

namespace reprise::sim {

using driver::attempt_stage;

inline constexpr std::size_t stage_count = engine::attempt_stage_count;

/// How often each class of operations met each retry reason at each stage, over any number of runs.
/// engine/reason_table.hpp lists the cells that are possible.
struct reason_cells {
    using by_class = std::array<std::uint64_t, engine::operation_class_count>;
    std::array<std::array<by_class, stage_count>, couchbase::retry_reason_count> counts{};

    void note(
        couchbase::retry_reason reason, attempt_stage stage, engine::operation_class of) noexcept {
        ++counts[static_cast<std::size_t>(reason)][static_cast<std::size_t>(stage)]
                [static_cast<std::size_t>(of)];
    }
    void add(const reason_cells& other) noexcept;
    /// The number of cells with at least one count.
    [[nodiscard]] std::size_t filled() const noexcept;
    /// The number of possible cells.
    [[nodiscard]] static std::size_t applicable_count() noexcept;
};

/// The figures of one run. Two runs of one scenario produce equal reports, so a difference shows
/// that something outside of the scenario had an influence.
struct run_report {
    std::uint64_t seed = 0;
    /// A hash over everything that happened, in order: events, bytes, decisions, results.
    std::uint64_t fingerprint = 0;
    std::uint64_t operations = 0;  // key-value and calls
    std::uint64_t calls = 0;       // operations of the HTTP services
    std::uint64_t rows = 0;        // delivered by calls
    std::uint64_t succeeded = 0;
    std::uint64_t ambiguous = 0;  // failed, and the server may have acted
    std::uint64_t requests = 0;   // sent by operations
    std::uint64_t retries = 0;
    std::uint64_t connections = 0;
    std::uint64_t events = 0;
    std::uint64_t faults = 0;
    duration virtual_time{};
    sandbox::ledger_totals writes{};
    reason_cells cells{};
    situation_counts situations{};
    /// Empty: every promise was kept. The run ends soon after the first finding.
    std::vector<finding> findings{};

    [[nodiscard]] bool is_clean() const noexcept { return findings.empty(); }
};

struct run_options {
    /// Called in order with one line for everything that happens. Empty: no lines are produced. The
    /// view is valid during the call.
    std::function<void(duration at, std::string_view line)> trace{};
};

/// Runs a scenario to its end: the real clients and the real cluster logic on a virtual network and
/// clock. It reads no clock, starts no thread and opens no socket; the result depends on the
/// scenario alone.
[[nodiscard]] run_report run_scenario(const scenario& plan, const run_options& options = {});

}  // namespace reprise::sim
