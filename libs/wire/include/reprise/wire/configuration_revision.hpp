#pragma once

#include <compare>
#include <cstdint>
#include <string>

namespace reprise::wire {

// The version of a cluster configuration: newer means (epoch, rev) lexicographically greater.
// Revisions of different buckets, and of the global configuration, are not comparable.
struct configuration_revision {
    // 0 if the server sent none: below every epoch a server sends. Negative on the wire means that
    // the server is not initialised.
    std::int64_t epoch = 0;
    // 1 to 2^64-1 from a server; 0 only if a full HTTP configuration came without one.
    std::uint64_t rev = 0;

    friend auto operator<=>(const configuration_revision&, const configuration_revision&) = default;
};

// "1:206"
inline std::string to_string(const configuration_revision& revision) {
    return std::to_string(revision.epoch) + ":" + std::to_string(revision.rev);
}

}  // namespace reprise::wire
