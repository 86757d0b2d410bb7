#include "topology/vbucket_placement.hpp"

#include <algorithm>
#include <map>
#include <span>
#include <utility>

#include <reprise/base/assert.hpp>

namespace reprise::sandbox::detail {

namespace {

using row_type = std::vector<std::int16_t>;

bool has_node(std::span<const std::int16_t> row, std::int16_t node) {
    return std::ranges::find(row, node) != row.end();
}

// How many copies each node has and may have, by node number.
struct node_load {
    std::map<std::int16_t, std::size_t> count;
    std::map<std::int16_t, std::size_t> quota;

    bool is_kept(std::int16_t node) const { return quota.contains(node); }
    bool has_room(std::int16_t node) const {
        return is_kept(node) && count.at(node) < quota.at(node);
    }
    // The node that lacks most copies; ties go to the lower number.
    std::int16_t neediest() const {
        std::int16_t best = -1;
        std::size_t most = 0;
        for (const auto& [node, wanted] : quota) {
            const std::size_t have = count.at(node);
            if (have < wanted && wanted - have > most) {
                most = wanted - have;
                best = node;
            }
        }
        return best;
    }
};

// Distributes `total` copies; nodes that have more today get the remainder.
node_load make_load(
    const std::vector<std::int16_t>& keep, const std::map<std::int16_t, std::size_t>& today,
    std::size_t total) {
    node_load load;
    std::vector<std::int16_t> order = keep;
    const auto count_of = [&today](std::int16_t node) {
        const auto it = today.find(node);
        return it == today.end() ? std::size_t{0} : it->second;
    };
    std::ranges::sort(order, [&count_of](std::int16_t left, std::int16_t right) {
        return std::pair(count_of(right), left) < std::pair(count_of(left), right);
    });
    for (std::size_t i = 0; i < order.size(); ++i) {
        load.count[order[i]] = 0;
        load.quota[order[i]] = total / order.size() + (i < total % order.size() ? 1 : 0);
    }
    return load;
}

std::vector<std::int16_t> place_actives(
    const wire::vbucket_rows& current, const std::vector<std::int16_t>& keep) {
    std::map<std::int16_t, std::size_t> today;
    for (const row_type& row : current) {
        ++today[row[0]];
    }
    node_load load = make_load(keep, today, current.size());
    std::vector<std::int16_t> actives(current.size(), -1);
    // Choose which vbuckets stay: while there is room, first those without a replica on a needy
    // node.
    const auto is_movable = [&](const row_type& row) {
        return std::ranges::any_of(std::span(row).subspan(1), [&](std::int16_t node) {
            const auto it = today.find(node);
            const std::size_t have = it == today.end() ? 0 : it->second;
            return load.is_kept(node) && have < load.quota.at(node);
        });
    };
    for (const bool takes_movable : {false, true}) {
        for (std::size_t v = 0; v < current.size(); ++v) {
            const std::int16_t node = current[v][0];
            if (actives[v] < 0 && load.has_room(node) && is_movable(current[v]) == takes_movable) {
                actives[v] = node;
                ++load.count[node];
            }
        }
    }
    for (const bool wants_replica : {true, false}) {
        for (std::size_t v = 0; v < current.size(); ++v) {
            if (actives[v] >= 0) {
                continue;
            }
            std::int16_t to = -1;
            if (wants_replica) {
                const auto replicas = std::span(current[v]).subspan(1);
                const auto found = std::ranges::find_if(
                    replicas, [&load](std::int16_t node) { return load.has_room(node); });
                to = found == replicas.end() ? std::int16_t{-1} : *found;
            } else {
                to = load.neediest();
            }
            if (to >= 0) {
                actives[v] = to;
                ++load.count[to];
            }
        }
    }
    return actives;
}

// Moves single replicas from full to needy nodes until no move reduces the spread.
void level_replicas(wire::vbucket_rows& rows, node_load& load) {
    for (bool is_changed = true; is_changed;) {
        is_changed = false;
        for (row_type& row : rows) {
            for (std::int16_t& place : std::span(row).subspan(1)) {
                if (place < 0) {
                    continue;
                }
                std::int16_t best = place;
                for (const auto& [node, count] : load.count) {
                    if (count + 1 < load.count[place] && count < load.count[best] &&
                        !has_node(row, node)) {
                        best = node;
                    }
                }
                if (best != place) {
                    --load.count[place];
                    ++load.count[best];
                    place = best;
                    is_changed = true;
                }
            }
        }
    }
}

}  // namespace

wire::vbucket_rows place_evenly(
    const wire::vbucket_rows& current, const std::vector<std::int16_t>& keep,
    std::size_t replica_count) {
    REPRISE_ASSERT(!keep.empty());
    const std::vector<std::int16_t> actives = place_actives(current, keep);
    const std::size_t replicas = std::min(replica_count, keep.size() - 1);
    std::map<std::int16_t, std::size_t> today;
    for (std::size_t v = 0; v < current.size(); ++v) {
        for (const std::int16_t node : current[v]) {
            today[node] += node == actives[v] ? 0u : 1u;
        }
    }
    node_load load = make_load(keep, today, current.size() * replicas);
    wire::vbucket_rows rows(current.size());
    // Existing copies stay where there is room, including the active one that moved away.
    for (std::size_t v = 0; v < current.size(); ++v) {
        row_type& row = rows[v];
        row.push_back(actives[v]);
        for (const bool is_old_active : {false, true}) {
            for (std::size_t k = is_old_active ? 0 : 1; k < (is_old_active ? 1 : current[v].size());
                 ++k) {
                const std::int16_t node = current[v][k];
                if (row.size() <= replicas && load.has_room(node) && !has_node(row, node)) {
                    row.push_back(node);
                    ++load.count[node];
                }
            }
        }
    }
    for (row_type& row : rows) {
        while (row.size() <= replicas) {
            std::int16_t least = -1;
            for (const auto& [node, count] : load.count) {
                if (!has_node(row, node) && (least < 0 || count < load.count[least])) {
                    least = node;
                }
            }
            row.push_back(least);
            ++load.count[least];
        }
    }
    level_replicas(rows, load);
    for (row_type& row : rows) {
        row.resize(1 + replica_count, -1);
    }
    return rows;
}

}  // namespace reprise::sandbox::detail
