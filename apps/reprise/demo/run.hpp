#pragma once

/// The demonstration and the soak run: a test cluster in this process, the public client on real
/// sockets, a steady load, scripted faults, and double-entry bookkeeping of every write and of
/// every statement that changes something.

#include <cstdint>
#include <expected>
#include <functional>
#include <string>
#include <string_view>

namespace reprise::demo {

/// Functions that a run needs from the program. All functions are required, and are called on the
/// caller's thread.
struct run_environment {
    /// Receives text for standard output. It may throw, which ends the run.
    std::function<void(std::string_view)> print;
    /// Receives what moves the cursor of a terminal.
    std::function<void(std::string_view)> print_control;
    /// If it returns true, the run ends now with the audit of what was done so far.
    std::function<bool()> should_stop;
};

/// A run for a page.
struct demo_record {
    bool is_good = false;
    std::string description;  ///< One line about the cluster and the load.
    std::string audit;        ///< The audit as text.
    /// Curves, phases and the result: {"elapsed_s", "sections": [{"name", "start_s", "end_s"}],
    /// "samples": {...}, "result": as `--json` prints it}.
    std::string json;
};

struct demo_options {
    /// Total length of all phases.
    double seconds = 60;
    /// Seed of all randomness, except for the timing of sockets and threads.
    std::uint64_t seed = 1;
    /// Prints one line for each event, even on a terminal.
    bool is_plain = false;
    /// Prints one JSON object at the end and nothing else.
    bool is_json = false;
    /// If set, called at the end.
    std::function<void(const demo_record&)> on_record{};
};

struct soak_options {
    double minutes = 5;
    std::uint64_t seed = 1;
    bool is_plain = false;
    bool is_json = false;
};

/// Runs until the end, or until `should_stop`, and prints what happened. Returns true if no write
/// was lost, duplicated or applied despite a negative answer, and every document is as reported to
/// its writer. The error explains why the run could not start.
[[nodiscard]] std::expected<bool, std::string> run_demo(
    const demo_options& options, const run_environment& around);

/// Like run_demo, with continuous topology changes and faults. Also returns false if memory has
/// grown.
[[nodiscard]] std::expected<bool, std::string> run_soak(
    const soak_options& options, const run_environment& around);

}  // namespace reprise::demo
