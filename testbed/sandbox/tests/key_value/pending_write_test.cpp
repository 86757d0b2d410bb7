#include "conversation.hpp"

#include <reprise/sandbox/ledger.hpp>

// Durable writes that must wait: these tests cause real contention on a key instead of using a
// rule.

namespace pending_write_test {

using namespace sandbox_testing;
using namespace std::chrono_literals;
using sandbox::answer_fate;
using sandbox::node_id;
using wire::durability_level;

struct pending_write : testing::Test {
    sandbox::cluster cluster = make_cluster(small_options(3));
    std::string key = key_on(cluster, 0);
    peer writer{cluster, 0};
    peer other{cluster, 0};
    pending_write() {
        writer.ready(with(usual_features(), hello_feature::unordered_execution));
        other.ready();
    }

    static wire::request_header durable(
        std::string_view name, durability_level level = durability_level::majority,
        std::optional<std::chrono::milliseconds> timeout = std::nullopt) {
        wire::request_header header = peer::at(name);
        header.frame_infos.emplace().durability = wire::durability_requirement{level, timeout};
        return header;
    }
    std::vector<reply> set_durable(
        std::string_view value, durability_level level = durability_level::majority,
        std::optional<std::chrono::milliseconds> timeout = std::nullopt) {
        return writer.send(writer.bytes_of(
            wire::store_request{opcode::set, writer.key(key), 0, 0, base::as_bytes(value)},
            durable(key, level, timeout)));
    }
    std::string stored(std::optional<node_id> on = std::nullopt) const {
        const auto found = cluster.buckets().find_document(
            "travel", wire::default_collection, key, writer.now, on);
        return found && !found->is_deleted ? found->value : "(none)";
    }
    // The node with the replica of the key.
    node_id replica() const {
        return node_id{static_cast<std::uint32_t>(
            cluster.topology().copies_of("travel", wire::vbucket_of(key, 16))[1])};
    }
    std::size_t applied_count() const {
        return cluster.audit().count({.is_applied = true, .key_pattern = key});
    }
};

TEST_F(pending_write, blocks_other_changes_of_the_key) {
    ASSERT_EQ(other.set(key, "old").status, status::success);
    cluster.durability().hold_replication(true);
    EXPECT_TRUE(set_durable("new").empty());
    EXPECT_EQ(cluster.durability().pending_write_count(), 1u);
    EXPECT_EQ(other.get(key).value, "old");
    EXPECT_EQ(other.set(key, "x").status, status::sync_write_in_progress);
    const auto refused = [&](const auto& message) {
        return other.ask(message, peer::at(key)).status == status::sync_write_in_progress;
    };
    EXPECT_TRUE(refused(wire::document_request{opcode::remove, other.key(key)}));
    EXPECT_TRUE(refused(wire::touch_request{opcode::touch, other.key(key), 100}));
    EXPECT_TRUE(refused(wire::get_locked_request{other.key(key), 5}));
    EXPECT_TRUE(refused(wire::concat_request{opcode::append, other.key(key), base::as_bytes("x")}));
    EXPECT_TRUE(refused(wire::counter_request{opcode::increment, other.key(key), 1, 0, 0}));
    EXPECT_EQ(
        other.ask(wire::store_request{opcode::set, other.key(key), 0, 0, {}}, durable(key)).status,
        status::sync_write_in_progress);
    // Other keys of the vbucket are not affected.
    EXPECT_EQ(
        other.ask(wire::store_request{opcode::set, other.key("free"), 0, 0, {}}, peer::at(key))
            .status,
        status::success);
    EXPECT_EQ(stored(), "old");

    cluster.durability().hold_replication(false);
    EXPECT_EQ(cluster.durability().pending_write_count(), 0u);
    const auto answers = writer.tick();
    ASSERT_EQ(answers.size(), 1u);
    EXPECT_EQ(answers[0].status, status::success);
    EXPECT_EQ(other.get(key).value, "new");
    EXPECT_EQ(other.get(key).cas, answers[0].cas);
    EXPECT_EQ(stored(replica()), "new");
    // The token contains the seqno of the stored change.
    EXPECT_EQ(
        answers[0].u64(8), cluster.buckets()
                               .find_document("travel", wire::default_collection, key, writer.now)
                               ->seqno);
    EXPECT_EQ(other.set(key, "x", answers[0].cas).status, status::success);
}

TEST_F(pending_write, the_audit_counts_the_write_once_when_it_is_applied) {
    sandbox::ledger ledger;
    cluster.audit().set_observer([&ledger](const sandbox::audit_entry& entry) {
        if (entry.is_applied && !entry.value_start.empty()) {
            ledger.on_applied(std::stoull(entry.value_start));
        }
    });
    ledger.begin(7);
    cluster.durability().hold_replication(true);
    set_durable("7");
    const auto prepared = cluster.audit().entries().back();
    EXPECT_EQ(prepared.fate, answer_fate::pending);
    EXPECT_FALSE(prepared.is_applied);
    EXPECT_EQ(applied_count(), 0u);
    cluster.durability().hold_replication(false);
    const auto committed = cluster.audit().entries().back();
    EXPECT_EQ(committed.fate, answer_fate::committed);
    EXPECT_TRUE(committed.is_applied);
    EXPECT_EQ(committed.connection, prepared.connection);
    EXPECT_EQ(committed.opaque, prepared.opaque);
    EXPECT_EQ(committed.key, key);
    EXPECT_GT(committed.number, prepared.number);
    EXPECT_GT(committed.seqno, prepared.seqno);
    EXPECT_EQ(applied_count(), 1u);
    ledger.settle(7, sandbox::write_outcome::applied);
    EXPECT_TRUE(ledger.totals().is_clean());
    cluster.audit().set_observer({});
}

TEST_F(pending_write, a_write_that_times_out_is_ambiguous_and_stays_pending) {
    cluster.durability().hold_replication(true);
    EXPECT_TRUE(set_durable("new", durability_level::majority, 200ms).empty());
    EXPECT_EQ(*writer.connection().next_due(), writer.now + 200ms);
    EXPECT_TRUE(writer.tick(199ms).empty());
    const auto answers = writer.tick(1ms);
    ASSERT_EQ(answers.size(), 1u);
    EXPECT_EQ(answers[0].status, status::sync_write_ambiguous);
    EXPECT_EQ(cluster.audit().count({.status = status::sync_write_ambiguous}), 1u);
    other.now = writer.now;
    EXPECT_EQ(other.set(key, "x").status, status::sync_write_in_progress);
    EXPECT_EQ(stored(), "(none)");
    cluster.durability().hold_replication(false);
    EXPECT_EQ(stored(), "new");
    EXPECT_TRUE(writer.tick().empty());
    EXPECT_EQ(applied_count(), 1u);
}

TEST_F(pending_write, without_a_timeout_the_server_waits_thirty_seconds) {
    cluster.durability().hold_replication(true);
    set_durable("new");
    EXPECT_TRUE(writer.tick(29s).empty());
    const auto answers = writer.tick(1s);
    ASSERT_EQ(answers.size(), 1u);
    EXPECT_EQ(answers[0].status, status::sync_write_ambiguous);
}

TEST_F(pending_write, an_ambiguous_result_closes_connections_without_xerror) {
    peer old(cluster, 0);
    old.ready(without(usual_features(), hello_feature::xerror));
    cluster.durability().hold_replication(true);
    old.send(old.bytes_of(
        wire::store_request{opcode::set, old.key(key), 0, 0, base::as_bytes("1")},
        durable(key, durability_level::majority, 100ms)));
    EXPECT_TRUE(old.tick(100ms).empty());
    EXPECT_TRUE(old.connection().is_closing());
}

TEST_F(pending_write, a_write_stays_pending_for_the_replication_delay) {
    cluster.durability().set_replication_delay(50ms);
    EXPECT_TRUE(set_durable("new").empty());
    EXPECT_EQ(*writer.connection().next_due(), writer.now + 50ms);
    EXPECT_EQ(*cluster.next_due(), writer.now + 50ms);
    EXPECT_EQ(other.set(key, "x").status, status::sync_write_in_progress);
    EXPECT_TRUE(writer.tick(49ms).empty());
    const auto answers = writer.tick(1ms);
    ASSERT_EQ(answers.size(), 1u);
    EXPECT_EQ(answers[0].status, status::success);
    EXPECT_FALSE(cluster.next_due());
    // Plain writes do not wait.
    EXPECT_EQ(other.set("plain", "1").status, status::success);
}

TEST_F(pending_write, a_write_whose_client_is_gone_is_still_applied) {
    cluster.durability().set_replication_delay(50ms);
    const auto due = writer.now + 50ms;
    {
        peer gone = ready_on(cluster, 0);
        gone.send(gone.bytes_of(
            wire::store_request{opcode::set, gone.key(key), 0, 0, base::as_bytes("new")},
            durable(key)));
    }
    cluster.on_time(due - 1ms);
    EXPECT_EQ(stored(), "(none)");
    cluster.on_time(due);
    EXPECT_EQ(stored(), "new");
    EXPECT_EQ(applied_count(), 1u);
}

TEST_F(pending_write, only_levels_that_persist_wait_for_the_disk) {
    cluster.durability().hold_persistence(true);
    ASSERT_EQ(set_durable("1").size(), 1u);
    EXPECT_TRUE(set_durable("2", durability_level::majority_and_persist_to_active).empty());
    EXPECT_EQ(stored(), "1");
    cluster.durability().hold_persistence(false);
    EXPECT_EQ(stored(), "2");
    EXPECT_EQ(writer.tick().size(), 1u);
    cluster.durability().hold_persistence(true);
    EXPECT_TRUE(set_durable("3", durability_level::persist_to_majority).empty());
    cluster.durability().hold_persistence(false);
    EXPECT_EQ(stored(), "3");
}

TEST_F(pending_write, a_write_waits_for_a_replica_that_goes_down) {
    cluster.durability().set_replication_delay(50ms);
    set_durable("new");
    const node_id lost = replica();
    ASSERT_TRUE(cluster.topology().set_node_state(lost, false));
    EXPECT_TRUE(writer.tick(100ms).empty());
    EXPECT_EQ(stored(), "(none)");
    ASSERT_TRUE(cluster.topology().set_node_state(lost, true));
    EXPECT_EQ(writer.tick().size(), 1u);
    EXPECT_EQ(stored(), "new");
}

TEST_F(pending_write, a_bucket_without_replicas_needs_no_acknowledgement) {
    sandbox::cluster_options options = small_options(1);
    options.replica_count = 0;
    sandbox::cluster single = make_cluster(options);
    single.durability().hold_replication(true);
    single.durability().set_replication_delay(1s);
    peer client(single);
    client.ready();
    EXPECT_EQ(
        client.ask(wire::store_request{opcode::set, client.key("k"), 0, 0, {}}, durable("k"))
            .status,
        status::success);
}

TEST_F(pending_write, on_an_ordered_connection_all_later_requests_wait) {
    cluster.durability().set_replication_delay(50ms);
    auto burst = other.bytes_of(
        wire::store_request{opcode::set, other.key(key), 0, 0, base::as_bytes("1")}, durable(key));
    const auto get =
        other.bytes_of(wire::document_request{opcode::get, other.key(key)}, peer::at(key));
    burst.insert(burst.end(), get.begin(), get.end());
    EXPECT_TRUE(other.send(burst).empty());
    EXPECT_TRUE(other.send(other.bytes_of(wire::empty_request{opcode::noop})).empty());
    EXPECT_FALSE(other.connection().has_backlog());
    const auto answers = other.tick(50ms);
    ASSERT_EQ(answers.size(), 3u);
    EXPECT_EQ(answers[0].op, opcode::set);
    EXPECT_EQ(answers[1].value, "1");
    EXPECT_EQ(answers[2].op, opcode::noop);
}

TEST_F(pending_write, on_an_unordered_connection_requests_may_overtake) {
    cluster.durability().set_replication_delay(50ms);
    EXPECT_TRUE(set_durable("1").empty());
    EXPECT_EQ(writer.get(key).status, status::key_enoent);
    EXPECT_EQ(writer.select(), status::not_supported);
    EXPECT_TRUE(writer.send(writer.bytes_of(wire::empty_request{opcode::noop})).empty());
    const auto answers = writer.tick(50ms);
    ASSERT_EQ(answers.size(), 2u);
    EXPECT_EQ(answers[0].op, opcode::set);
    EXPECT_EQ(answers[1].op, opcode::noop);
}

TEST_F(pending_write, rules_also_corrupt_the_late_answer) {
    cluster.durability().set_replication_delay(50ms);
    cluster.faults().add(
        {.ops = {opcode::set}, .when = {.limit = 1}, .effect = sandbox::fault_answer_twice{}});
    set_durable("1");
    EXPECT_EQ(writer.tick(50ms).size(), 2u);
    cluster.faults().add(
        {.ops = {opcode::set}, .when = {.limit = 1}, .effect = sandbox::fault_no_answer{}});
    set_durable("2");
    EXPECT_TRUE(writer.tick(50ms).empty());
    EXPECT_EQ(stored(), "2");
    cluster.faults().add(
        {.ops = {opcode::set}, .when = {.limit = 1}, .effect = sandbox::fault_close_after{}});
    set_durable("3");
    EXPECT_TRUE(writer.connection().is_closing());
    cluster.on_time(writer.now + 50ms);
    EXPECT_EQ(stored(), "3");
}

TEST_F(pending_write, a_prepare_that_reached_no_replica_is_lost_with_its_node) {
    cluster.durability().hold_replication(true);
    set_durable("new");
    ASSERT_TRUE(cluster.topology().failover(node_id{0}));
    EXPECT_EQ(cluster.durability().pending_write_count(), 0u);
    cluster.durability().hold_replication(false);
    EXPECT_EQ(stored(), "(none)");
    EXPECT_EQ(applied_count(), 0u);
}

TEST_F(pending_write, a_failover_re_commits_the_prepares_of_the_replica) {
    ASSERT_EQ(other.set(key, "old").status, status::success);
    cluster.durability().set_replication_delay(50ms);
    cluster.durability().hold_recommit(true);
    set_durable("new");
    const node_id heir = replica();
    ASSERT_TRUE(cluster.topology().failover(node_id{0}));
    peer after(cluster, heir.value);
    after.now = writer.now + 1s;
    after.ready();
    EXPECT_EQ(after.set(key, "x").status, status::sync_write_re_commit_in_progress);
    EXPECT_EQ(after.get(key).status, status::sync_write_re_commit_in_progress);
    EXPECT_EQ(stored(), "old");
    cluster.durability().hold_recommit(false);
    EXPECT_EQ(after.get(key).value, "new");
    EXPECT_EQ(after.set(key, "x").status, status::success);
    EXPECT_EQ(cluster.audit().count({.is_applied = true, .key_pattern = key}), 3u);
    const auto committed = cluster.audit().entries({.node = heir, .is_applied = true});
    EXPECT_EQ(committed.front().fate, answer_fate::committed);
}

TEST_F(pending_write, a_re_commit_takes_its_delay) {
    cluster.durability().set_replication_delay(50ms);
    cluster.durability().set_recommit_delay(200ms);
    set_durable("new");
    const node_id heir = replica();
    ASSERT_TRUE(cluster.topology().failover(node_id{0}));
    peer after(cluster, heir.value);
    after.now = writer.now + 199ms;
    after.ready();
    EXPECT_EQ(after.get(key).status, status::sync_write_re_commit_in_progress);
    EXPECT_EQ(*cluster.next_due(), writer.now + 200ms);
    after.now += 1ms;
    EXPECT_EQ(after.get(key).value, "new");
}

TEST_F(pending_write, a_re_commit_takes_no_time_by_default) {
    cluster.durability().set_replication_delay(50ms);
    set_durable("new");
    ASSERT_TRUE(cluster.topology().failover(node_id{0}));
    EXPECT_EQ(stored(), "new");
    EXPECT_EQ(applied_count(), 1u);
}

TEST_F(pending_write, moves_with_its_vbucket_and_is_reported_as_ambiguous) {
    cluster.durability().set_replication_delay(50ms);
    set_durable("new");
    const std::uint32_t target = replica().value == 1 ? 2 : 1;
    ASSERT_TRUE(
        cluster.topology().move_vbucket("travel", wire::vbucket_of(key, 16), node_id{target}));
    const auto answers = writer.tick();
    ASSERT_EQ(answers.size(), 1u);
    EXPECT_EQ(answers[0].status, status::sync_write_ambiguous);
    EXPECT_EQ(stored(), "new");
    EXPECT_EQ(applied_count(), 1u);
}

TEST_F(pending_write, a_restart_re_commits_the_prepares_it_kept) {
    cluster.durability().set_replication_delay(50ms);
    set_durable("kept");
    ASSERT_TRUE(cluster.topology().restart(node_id{0}, sandbox::restart_kind::with_data));
    EXPECT_EQ(stored(), "kept");
    peer again = ready_on(cluster, 0);
    again.send(again.bytes_of(
        wire::store_request{opcode::set, again.key(key), 0, 0, base::as_bytes("lost")},
        durable(key)));
    EXPECT_EQ(cluster.durability().pending_write_count(), 1u);
    ASSERT_TRUE(cluster.topology().restart(node_id{0}, sandbox::restart_kind::without_data));
    EXPECT_EQ(cluster.durability().pending_write_count(), 0u);
    EXPECT_EQ(stored(), "(none)");
}

TEST_F(pending_write, a_node_that_was_down_re_commits_when_it_comes_up) {
    cluster.durability().set_replication_delay(50ms);
    set_durable("new");
    ASSERT_TRUE(cluster.topology().set_node_state(node_id{0}, false));
    cluster.on_time(writer.now + 1h);
    EXPECT_EQ(cluster.durability().pending_write_count(), 1u);
    ASSERT_TRUE(cluster.topology().set_node_state(node_id{0}, true));
    EXPECT_EQ(stored(), "new");
}

TEST_F(pending_write, pending_writes_are_dropped_with_their_collection_or_bucket) {
    cluster.durability().hold_replication(true);
    const std::uint32_t airline =
        cluster.buckets().manifest("travel")->find_collection("inventory", "airline")->id;
    writer.send(writer.bytes_of(
        wire::store_request{opcode::set, writer.key(key, airline), 0, 0, base::as_bytes("1")},
        durable(key)));
    ASSERT_TRUE(cluster.buckets().drop_collection("travel", "inventory", "airline"));
    EXPECT_EQ(cluster.durability().pending_write_count(), 0u);
    const auto answers = writer.tick();
    ASSERT_EQ(answers.size(), 1u);
    EXPECT_EQ(answers[0].status, status::sync_write_ambiguous);
    set_durable("2");
    EXPECT_EQ(cluster.durability().pending_write_count(), 1u);
    ASSERT_TRUE(cluster.buckets().drop("travel"));
    EXPECT_EQ(cluster.durability().pending_write_count(), 0u);
}

TEST_F(pending_write, counters_and_sub_document_changes_wait_as_well) {
    cluster.durability().set_replication_delay(50ms);
    writer.send(writer.bytes_of(
        wire::counter_request{opcode::increment, writer.key(key), 1, 41, 0}, durable(key)));
    EXPECT_EQ(stored(), "(none)");
    auto answers = writer.tick(50ms);
    ASSERT_EQ(answers.size(), 1u);
    EXPECT_EQ(
        base::byte_reader(base::as_bytes(std::string_view(answers[0].value))).read_u64(), 41u);
    EXPECT_EQ(stored(), "41");
    writer.send(
        writer.bytes_of(wire::document_request{opcode::remove, writer.key(key)}, durable(key)));
    EXPECT_EQ(stored(), "41");
    EXPECT_EQ(writer.tick(50ms).size(), 1u);
    EXPECT_EQ(stored(), "(none)");
}

}  // namespace pending_write_test
