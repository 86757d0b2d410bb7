#pragma once

#include <cstdint>

#include <reprise/wire/cluster_configuration_encode.hpp>

namespace reprise::sim {

class world;

// Moves vbuckets between nodes, at once or after an announcement, and owns the announced map.
class vbucket_moves {
public:
    explicit vbucket_moves(world& owner) noexcept : world_(owner) {}

    // Moves some vbuckets, which `seed` determines. `is_announced_only`: a forward map announces
    // the moves, and only a few of them happen at once.
    void move_some(std::uint64_t seed, bool is_announced_only);
    // The announced moves happen.
    void follow_announcement();
    void withdraw_announcement();

private:
    world& world_;
    wire::vbucket_rows announced_;
};

}  // namespace reprise::sim
