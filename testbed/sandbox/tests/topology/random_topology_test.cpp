#include "conversation.hpp"

#include <algorithm>
#include <map>
#include <memory>
#include <random>
#include <set>

namespace random_topology_test {

using namespace sandbox_testing;
using sandbox::node_id;
using sandbox::node_state;
using sandbox::restart_kind;

constexpr std::uint16_t vbucket_count = 16;

// Runs random commands on a cluster with two buckets and compares it with a plain map of the stored
// documents. A document may be lost only if no other node had a copy.
class random_topology {
public:
    explicit random_topology(std::uint64_t seed) : rng_(seed), cluster_(make(seed)) {}

    void run(int command_count) {
        for (int i = 0; i < command_count && !testing::Test::HasFailure(); ++i) {
            store_some();
            const std::string done = command();
            SCOPED_TRACE("command " + std::to_string(i) + ": " + done);
            check_copies();
            check_documents();
        }
    }
    const std::map<std::string, int>& done_counts() const { return done_counts_; }

private:
    static sandbox::cluster make(std::uint64_t seed) {
        sandbox::cluster_options options = small_options(4);
        options.seed = seed;
        options.buckets.push_back({.name = "second"});
        options.buckets.back().replica_count = 2;
        return make_cluster(options);
    }
    std::size_t pick(std::size_t count) { return static_cast<std::size_t>(rng_() % count); }
    node_id pick_node() { return node_id{static_cast<std::uint32_t>(pick(node_count_))}; }
    wire::vbucket_id vbucket_of(const std::string& key) const {
        return wire::vbucket_of(key, vbucket_count);
    }
    // The node that must answer for a key; empty: no node can at the moment.
    std::optional<node_id> owner(const std::string& bucket, const std::string& key) const {
        const auto node = cluster_.topology().active_node(bucket, vbucket_of(key));
        return node && cluster_.topology().state_of(*node) == node_state::up ? node : std::nullopt;
    }
    peer& at(node_id node, const std::string& bucket) {
        auto& slot = peers_[{node.value, bucket}];
        if (slot == nullptr || slot->connection().is_closing()) {
            slot = std::make_unique<peer>(cluster_, node.value);
            slot->hello(usual_features());
            EXPECT_EQ(slot->login(), status::success);
            EXPECT_EQ(slot->select(bucket), status::success);
        }
        return *slot;
    }
    void store_some() {
        for (const std::string bucket : {"travel", "second"}) {
            const std::string key = "k" + std::to_string(pick(60));
            if (const auto node = owner(bucket, key)) {
                const std::string value = std::to_string(++value_last_);
                ASSERT_EQ(at(*node, bucket).set(key, value).status, status::success);
                stored_[bucket][key] = value;
            }
        }
    }
    void forget(const std::string& bucket, wire::vbucket_id vbucket) {
        std::erase_if(
            stored_[bucket], [&](const auto& entry) { return vbucket_of(entry.first) == vbucket; });
    }
    // Forgets the documents that a hard failover or a crash of `node` loses.
    void forget_losses(node_id node, bool is_crash) {
        for (auto& [bucket, documents] : stored_) {
            for (std::uint16_t number = 0; number < vbucket_count; ++number) {
                const wire::vbucket_id vbucket{number};
                const auto row = cluster_.topology().copies_of(bucket, vbucket);
                if (row[0] != static_cast<std::int16_t>(node.value)) {
                    continue;
                }
                const bool has_heir =
                    !is_crash && std::any_of(row.begin() + 1, row.end(), [this](std::int16_t n) {
                        return n >= 0 && cluster_.topology().state_of(node_id{
                                             static_cast<std::uint32_t>(n)}) == node_state::up;
                    });
                if (!has_heir) {
                    forget(bucket, vbucket);
                }
            }
        }
    }
    std::string note(std::string name, bool is_done) {
        if (is_done) {
            ++done_counts_[name];
        }
        return name + (is_done ? "" : " (refused)");
    }
    std::string command();
    void check_copies();
    void check_documents();

    std::mt19937_64 rng_;
    sandbox::cluster cluster_;
    std::size_t node_count_ = 4;
    std::uint64_t value_last_ = 0;
    std::map<std::string, std::map<std::string, std::string>> stored_;
    std::map<std::pair<std::uint32_t, std::string>, std::unique_ptr<peer>> peers_;
    std::map<std::string, int> done_counts_;
};

std::string random_topology::command() {
    const node_id node = pick_node();
    const bool is_small = cluster_.topology().nodes().size() < 4;
    const bool is_big = cluster_.topology().nodes().size() > 6;
    switch (pick(20)) {
        case 0:
        case 1:
            if (is_big || !cluster_.topology().add_node()) {
                return note("add", false);
            }
            ++node_count_;
            return note("add", true);
        case 2: {
            sandbox::rebalance_options options;
            if (!is_small && pick(2) == 0) {
                options.eject.push_back(node);
            }
            return note("rebalance", cluster_.topology().begin_rebalance(options).has_value());
        }
        case 3:
            return note("stop", pick(3) == 0 && cluster_.topology().stop_rebalance().has_value());
        case 4:
            return note(
                "graceful",
                !is_small && cluster_.topology().begin_graceful_failover(node).has_value());
        case 5:
            if (is_small || pick(3) != 0 ||
                cluster_.topology().state_of(node) == node_state::failed_over) {
                return note("failover", false);
            }
            forget_losses(node, false);
            return note("failover", cluster_.topology().failover(node).has_value());
        case 6:
            return note("add back", cluster_.topology().add_back(node).has_value());
        case 7:
            return note(
                "down",
                pick(3) == 0 && cluster_.topology().set_node_state(node, false).has_value());
        case 8:
        case 9:
            return note("up", cluster_.topology().set_node_state(node, true).has_value());
        case 10:
            return note(
                "restart", cluster_.topology().restart(node, restart_kind::with_data).has_value());
        case 11:
            if (pick(4) != 0) {
                return note("crash", false);
            }
            forget_losses(node, true);
            return note(
                "crash", cluster_.topology().restart(node, restart_kind::without_data).has_value());
        case 12:
            return note(
                "move",
                cluster_.topology()
                    .move_vbucket(
                        "travel", wire::vbucket_id{static_cast<std::uint16_t>(pick(vbucket_count))},
                        node)
                    .has_value());
        default: {
            const auto step = cluster_.topology().step_rebalance();
            return note(step && step->is_end ? "end" : "step", step.has_value());
        }
    }
}

void random_topology::check_copies() {
    for (const std::string bucket : {"travel", "second"}) {
        for (std::uint16_t number = 0; number < vbucket_count; ++number) {
            const auto row = cluster_.topology().copies_of(bucket, wire::vbucket_id{number});
            std::set<std::int16_t> seen;
            for (const std::int16_t entry : row) {
                if (entry < 0) {
                    continue;
                }
                EXPECT_TRUE(seen.insert(entry).second) << bucket << " " << number;
                const auto state =
                    cluster_.topology().state_of(node_id{static_cast<std::uint32_t>(entry)});
                EXPECT_TRUE(state == node_state::up || state == node_state::down);
            }
        }
    }
}

void random_topology::check_documents() {
    for (const auto& [bucket, documents] : stored_) {
        for (const auto& [key, value] : documents) {
            const auto active = owner(bucket, key);
            if (!active) {
                continue;
            }
            const reply got = at(*active, bucket).get(key);
            EXPECT_EQ(got.status, status::success) << bucket << " " << key;
            EXPECT_EQ(got.value, value) << bucket << " " << key;
        }
        // No other node answers for a vbucket.
        const std::string key = "k" + std::to_string(pick(60));
        for (const auto& shown : cluster_.topology().overview()) {
            if (shown.state == node_state::up && !shown.is_joining &&
                owner(bucket, key) != shown.node) {
                EXPECT_EQ(at(shown.node, bucket).get(key).status, status::not_my_vbucket);
            }
        }
    }
}

TEST(random_topology_commands, keep_one_owner_for_each_vbucket_and_every_document) {
    std::map<std::string, int> done;
    for (const std::uint64_t seed : {1u, 2u, 3u}) {
        SCOPED_TRACE("seed " + std::to_string(seed));
        random_topology run(seed);
        run.run(500);
        for (const auto& [name, count] : run.done_counts()) {
            done[name] += count;
        }
    }
    // The run is meaningful only if every command occurred.
    for (const char* name :
         {"add", "rebalance", "step", "end", "stop", "graceful", "failover", "add back", "down",
          "up", "restart", "crash", "move"}) {
        EXPECT_GT(done[name], 0) << name;
    }
}

}  // namespace random_topology_test
