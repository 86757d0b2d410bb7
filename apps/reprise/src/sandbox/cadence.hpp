#pragma once

/// When a fault rule acts, as typed: the same for key-value and for the HTTP services.

#include <cstdint>
#include <optional>

#include <CLI/CLI.hpp>

#include <reprise/json/value.hpp>

#include "output/output.hpp"
#include "sandbox/control_members.hpp"

namespace reprise::app {

/// Absent: the sandbox's default.
struct cadence_options {
    std::optional<std::uint64_t> node;
    std::optional<std::uint64_t> nth;
    std::optional<std::uint64_t> every;
    std::optional<double> probability;
    std::optional<std::uint64_t> count;
};

inline void add_cadence_options(CLI::App& add, cadence_options& typed) {
    add.add_option("--node", typed.node, "Number of a node, from 0 (all)");
    add.add_option(
        "--nth", typed.nth, "Begin with the nth matching request; --count defaults to 1");
    add.add_option("--every", typed.every, "After that, only every nth request (1)");
    add.add_option("--probability", typed.probability, "Probability for each of them, 0 to 1 (1)");
    add.add_option("--count", typed.count, "Stop after this many requests (no limit)");
}

/// Throws `usage_error`.
inline void set_cadence(json::object& command, const cadence_options& typed) {
    set_value(command, "node", typed.node);
    set_value(command, "every", typed.every);
    set_value(command, "probability", typed.probability);
    std::optional<std::uint64_t> limit = typed.count;
    if (typed.nth) {
        if (*typed.nth == 0) {
            throw usage_error("--nth: must be 1 or more");
        }
        command.set("skip", *typed.nth - 1);
        limit = typed.count.value_or(1);
    }
    set_value(command, "limit", limit);
}

}  // namespace reprise::app
