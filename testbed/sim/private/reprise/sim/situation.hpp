#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <string_view>

#include <reprise/base/enum_table.hpp>

namespace reprise::sim {

/// Situations that the simulation once missed: seen on real clusters, or used in attacks. Scenarios
/// draw them; a run counts how often a client was in each. One that no run meets proves nothing.
enum class situation : std::uint8_t {
    bucket_not_there_yet,         // a node that restarts answers 0x01 to SELECT_BUCKET
    restart_in_silence,           // a node that restarts does not answer SELECT_BUCKET
    search_starts,                // search answers 400, `pindex not available`
    own_timeout_flagged,          // a write was applied, then answered with 1080, `retry: true`
    own_timeout_unflagged,        // the same without the flag
    error_after_effect,           // a write was applied, then answered with another error
    bytes_behind_answer,          // HTTP: an answer and further bytes, read at once
    bytes_while_idle,             // HTTP: bytes on a connection without a request
    bytes_instead_of_answer,      // HTTP: bytes of no answer, when one is expected
    default_collection_dropped,   // an operation learns that the default collection is gone
    default_collection_restored,  // an operation succeeds in a restored default collection
    refusing_node_left,           // a node that refused the client's login leaves the topology
    untrusted_node_left,          // the same with a node whose TLS failed
    configuration_flood,          // large configurations arrive one after another
    hostile_seed_first,  // a seed without the password refuses before a healthy one answers
    srv_foreign_target,  // an SRV record names a host outside the name that the user wrote
    srv_no_service,      // an SRV record names no host at all
    srv_hundreds_of_targets,
};

inline constexpr std::size_t situation_count = base::enumerator_count<situation>();

/// "search_starts"
[[nodiscard]] std::string_view to_string(situation which) noexcept;

/// How often each situation was met, over any number of runs.
struct situation_counts {
    std::array<std::uint64_t, situation_count> counts{};

    void note(situation which) noexcept { ++counts[static_cast<std::size_t>(which)]; }
    void add(const situation_counts& other) noexcept {
        for (std::size_t index = 0; index < situation_count; ++index) {
            counts[index] += other.counts[index];
        }
    }
    [[nodiscard]] std::uint64_t of(situation which) const noexcept {
        return counts[static_cast<std::size_t>(which)];
    }
    /// The number of situations that were met at least once.
    [[nodiscard]] std::size_t met() const noexcept {
        return std::accumulate(
            counts.begin(), counts.end(), std::size_t{0},
            [](std::size_t sum, std::uint64_t count) { return sum + (count != 0 ? 1U : 0U); });
    }
};

}  // namespace reprise::sim
