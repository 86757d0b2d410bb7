#include "faults/vbucket_moves.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "scenario/random_choice.hpp"
#include "world/world.hpp"

namespace reprise::sim {

using sandbox::node_id;

void vbucket_moves::move_some(std::uint64_t seed, bool is_announced_only) {
    random_stream random(seed, 4);
    const std::vector<node_id> members = world_.cluster.topology().nodes();
    wire::vbucket_rows rows;
    for (std::size_t number = 0; number < world_.plan.vbucket_count; ++number) {
        const wire::vbucket_id vbucket{static_cast<std::uint16_t>(number)};
        std::vector<std::int16_t> row = world_.cluster.topology().copies_of(bucket_name, vbucket);
        if (row.empty()) {
            return;  // no bucket
        }
        if (random.percent(30)) {
            const node_id to = members[random.below(members.size())];
            const auto name = static_cast<std::int16_t>(to.value);
            if (!is_announced_only) {
                (void)world_.cluster.topology().move_vbucket(bucket_name, vbucket, to);
            }
            // A copy that becomes active swaps places with the previous one.
            std::ranges::replace(row, name, row[0]);
            row[0] = name;
        }
        rows.push_back(std::move(row));
    }
    if (!is_announced_only || !world_.cluster.topology().set_forward_map(bucket_name, rows)) {
        return;
    }
    // Some of them move at once without an announcement: their old nodes answer not-my-vbucket.
    for (std::size_t number = 0; number < rows.size(); ++number) {
        if (rows[number][0] >= 0 && random.percent(30)) {
            (void)world_.cluster.topology().move_vbucket(
                bucket_name, wire::vbucket_id{static_cast<std::uint16_t>(number)},
                node_id{static_cast<std::uint32_t>(rows[number][0])});
        }
    }
    announced_ = std::move(rows);
}

void vbucket_moves::follow_announcement() {
    for (std::size_t number = 0; number < announced_.size(); ++number) {
        const wire::vbucket_id vbucket{static_cast<std::uint16_t>(number)};
        const auto active = world_.cluster.topology().active_node(bucket_name, vbucket);
        const std::int16_t to = announced_[number][0];
        if (to >= 0 && active && active->value != static_cast<std::uint32_t>(to)) {
            (void)world_.cluster.topology().move_vbucket(
                bucket_name, vbucket, node_id{static_cast<std::uint32_t>(to)});
        }
    }
    withdraw_announcement();
}

void vbucket_moves::withdraw_announcement() {
    announced_.clear();
    (void)world_.cluster.topology().set_forward_map(bucket_name, {});
}

}  // namespace reprise::sim
