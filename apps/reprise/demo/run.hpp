#pragma once

/// The demonstration and the soak run: a test cluster of this process, the public client on real
/// sockets, a steady load, trouble by script, and double-entry bookkeeping of every write and of
/// every statement that changes something.

#include <cstdint>

namespace reprise::demo {

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

/// Runs to the end and prints what happened. The exit code: 0 if no write was lost, duplicated or
/// applied against the answer and every document is as its writer was told; otherwise 1, also when
/// the cluster cannot be started.
[[nodiscard]] int run_demo(const demo_options& options);

/// The same with topology changes and faults without end; 1 also when memory has grown.
[[nodiscard]] int run_soak(const soak_options& options);

}  // namespace reprise::demo
