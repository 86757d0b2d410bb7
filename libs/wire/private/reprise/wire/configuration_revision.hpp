#pragma once

#include <compare>
#include <cstdint>
#include <string>

namespace reprise::wire {

/// The version of a cluster configuration. A configuration is newer if its (epoch, rev) pair is
/// lexicographically greater. Do not compare revisions of different buckets, or of a bucket and the
/// global configuration.
struct configuration_revision {
    /// 0 if the server sent none; every epoch that a server sends is greater. A negative epoch on
    /// the wire means that the server is not initialised.
    std::int64_t epoch = 0;
    /// Servers send 1 to 2^64-1. It is 0 only if a full HTTP configuration has none.
    std::uint64_t rev = 0;

    friend bool operator==(const configuration_revision&, const configuration_revision&) = default;
    // Written out and inline: each operation compares revisions, and GCC calls the default one.
    [[gnu::always_inline]] friend constexpr std::strong_ordering operator<=>(
        const configuration_revision& left, const configuration_revision& right) noexcept {
        return left.epoch != right.epoch ? left.epoch <=> right.epoch : left.rev <=> right.rev;
    }
};

/// Returns "epoch:rev", for example "1:206".
inline std::string to_string(const configuration_revision& revision) {
    return std::to_string(revision.epoch) + ":" + std::to_string(revision.rev);
}

}  // namespace reprise::wire
