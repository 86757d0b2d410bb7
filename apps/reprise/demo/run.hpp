#pragma once

/// The demonstration and the soak run: a test cluster of this process, the public client on real
/// sockets, a steady load, trouble by script, and double-entry bookkeeping of every write and of
/// every statement that changes something.

#include <cstdint>
#include <expected>
#include <functional>
#include <string>
#include <string_view>

namespace reprise::demo {

/// What a run has of the program around it. Both are needed, and called on the caller's thread.
struct run_surroundings {
    /// Takes text for standard output; may throw, which ends the run.
    std::function<void(std::string_view)> print;
    /// True: the run ends now, with the audit of what was done so far.
    std::function<bool()> should_stop;
};

struct demo_options {
    /// Length of all phases together.
    double seconds = 60;
    /// All randomness follows from it, except what sockets and threads add.
    std::uint64_t seed = 1;
    /// One line for each event, also on a terminal.
    bool is_plain = false;
    /// Prints one JSON object at the end and nothing else.
    bool is_json = false;
};

struct soak_options {
    double minutes = 5;
    std::uint64_t seed = 1;
    bool is_plain = false;
    bool is_json = false;
};

/// Runs to the end, or until `should_stop`, and prints what happened. True if no write was lost,
/// duplicated or applied against the answer and every document is as its writer was told. The error
/// says why the run could not begin.
[[nodiscard]] std::expected<bool, std::string> run_demo(
    const demo_options& options, const run_surroundings& around);

/// The same with topology changes and faults without end; false also when memory has grown.
[[nodiscard]] std::expected<bool, std::string> run_soak(
    const soak_options& options, const run_surroundings& around);

}  // namespace reprise::demo
