#include "topology/vbucket_placement.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

namespace vbucket_placement_test {

using reprise::sandbox::detail::place_evenly;
using rows_type = reprise::wire::vbucket_rows;

// Copies by node, of the actives or of the replicas.
std::map<std::int16_t, std::size_t> count_copies(const rows_type& rows, bool is_active) {
    std::map<std::int16_t, std::size_t> counts;
    for (const auto& row : rows) {
        for (std::size_t k = 0; k < row.size(); ++k) {
            counts[row[k]] += (k == 0) == is_active ? 1u : 0u;
        }
    }
    return counts;
}

std::size_t spread(const rows_type& rows, const std::vector<std::int16_t>& keep, bool is_active) {
    auto counts = count_copies(rows, is_active);
    std::size_t least = SIZE_MAX;
    std::size_t most = 0;
    for (const std::int16_t node : keep) {
        least = std::min(least, counts[node]);
        most = std::max(most, counts[node]);
    }
    return most - least;
}

std::size_t count_new_copies(const rows_type& from, const rows_type& to) {
    std::size_t count = 0;
    for (std::size_t v = 0; v < from.size(); ++v) {
        for (const std::int16_t node : to[v]) {
            count += node >= 0 && std::ranges::find(from[v], node) == from[v].end() ? 1u : 0u;
        }
    }
    return count;
}

void expect_sound(
    const rows_type& rows, const std::vector<std::int16_t>& keep, std::size_t replica_count) {
    for (const auto& row : rows) {
        ASSERT_EQ(row.size(), 1 + replica_count);
        std::set<std::int16_t> seen;
        for (std::size_t k = 0; k < row.size(); ++k) {
            if (k >= keep.size()) {
                EXPECT_EQ(row[k], -1);
                continue;
            }
            EXPECT_NE(std::ranges::find(keep, row[k]), keep.end()) << row[k];
            EXPECT_TRUE(seen.insert(row[k]).second);
        }
    }
}

TEST(vbucket_placement, an_even_map_does_not_change) {
    const rows_type rows = place_evenly(rows_type(16, {-1, -1}), {0, 1, 2, 3}, 1);
    expect_sound(rows, {0, 1, 2, 3}, 1);
    EXPECT_EQ(place_evenly(rows, {0, 1, 2, 3}, 1), rows);
}

TEST(vbucket_placement, a_new_node_takes_its_share_and_nothing_else_moves) {
    const rows_type before = place_evenly(rows_type(1024, {-1, -1}), {0, 1, 2, 3}, 1);
    const std::vector<std::int16_t> keep{0, 1, 2, 3, 4};
    const rows_type after = place_evenly(before, keep, 1);
    expect_sound(after, keep, 1);
    EXPECT_LE(spread(after, keep, true), 1u);
    EXPECT_LE(spread(after, keep, false), 1u);
    std::size_t moved_actives = 0;
    for (std::size_t v = 0; v < before.size(); ++v) {
        moved_actives += before[v][0] != after[v][0] ? 1u : 0u;
    }
    EXPECT_EQ(moved_actives, 204u);  // 1024 / 5
    EXPECT_LE(count_new_copies(before, after), 2 * 205u);
}

TEST(vbucket_placement, an_ejected_nodes_actives_go_to_nodes_that_have_replicas) {
    const rows_type before = place_evenly(rows_type(1024, {-1, -1}), {0, 1, 2, 3}, 1);
    const std::vector<std::int16_t> keep{0, 1, 3};
    const rows_type after = place_evenly(before, keep, 1);
    expect_sound(after, keep, 1);
    EXPECT_LE(spread(after, keep, true), 1u);
    EXPECT_LE(spread(after, keep, false), 1u);
    std::size_t taken_over = 0;
    std::size_t moved = 0;
    for (std::size_t v = 0; v < before.size(); ++v) {
        if (before[v][0] != after[v][0]) {
            ++moved;
            taken_over += before[v][1] == after[v][0] ? 1u : 0u;
        }
    }
    EXPECT_LE(moved, 260u);
    EXPECT_GE(taken_over, 80u);
}

TEST(vbucket_placement, every_cluster_size_has_a_valid_and_even_map) {
    for (std::size_t replica_count = 0; replica_count <= 3; ++replica_count) {
        rows_type rows(64, std::vector<std::int16_t>(1 + replica_count, -1));
        // Grows and shrinks through all sizes, with gaps between node numbers.
        for (const std::size_t node_count : {1u, 2u, 3u, 5u, 7u, 6u, 4u, 3u, 2u, 1u}) {
            std::vector<std::int16_t> keep;
            for (std::size_t i = 0; i < node_count; ++i) {
                keep.push_back(static_cast<std::int16_t>((i * 3 + node_count) % 11));
            }
            rows = place_evenly(rows, keep, replica_count);
            expect_sound(rows, keep, replica_count);
            EXPECT_LE(spread(rows, keep, true), 1u) << node_count << " nodes";
            EXPECT_LE(spread(rows, keep, false), 2u) << node_count << " nodes";
        }
    }
}

}  // namespace vbucket_placement_test
