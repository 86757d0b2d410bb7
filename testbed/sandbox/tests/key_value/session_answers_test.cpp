#include "conversation.hpp"

// Rules that corrupt the answer: the request is applied once, and the audit records what happened
// to the answer.

namespace answer_faults_test {

using namespace sandbox_testing;
using namespace std::chrono_literals;
using sandbox::answer_fate;

struct answer_faults : testing::Test {
    sandbox::cluster cluster = make_cluster();
    peer client{cluster};
    answer_faults() { client.ready(); }

    void add(sandbox::fault_effect effect, opcode op = opcode::set) {
        cluster.faults().add({.ops = {op}, .when = {.limit = 1}, .effect = effect});
    }
    std::vector<std::byte> set_bytes(std::string_view name, std::string_view value) {
        return client.bytes_of(
            wire::store_request{opcode::set, client.key(name), 0, 0, base::as_bytes(value)},
            peer::at(name));
    }
    std::vector<std::byte> noop_bytes() {
        return client.bytes_of(wire::empty_request{opcode::noop});
    }
    // Returns all bytes that were sent, even if they are not frames.
    std::vector<std::byte> feed(base::byte_view bytes) {
        std::vector<std::byte> out;
        client.connection().on_bytes(client.now, bytes, out);
        return out;
    }
    std::vector<std::byte> wait(std::chrono::nanoseconds time) {
        client.now += time;
        std::vector<std::byte> out;
        client.connection().on_time(client.now, out);
        return out;
    }
    sandbox::audit_entry last() const { return cluster.audit().entries().back(); }
    std::size_t applied_count() const {
        return cluster.audit().count({.op = opcode::set, .is_applied = true});
    }
};

TEST_F(answer_faults, a_request_is_answered_twice_but_applied_once) {
    add(sandbox::fault_answer_twice{});
    const auto answers = client.send(set_bytes("k", "1"));
    ASSERT_EQ(answers.size(), 2u);
    EXPECT_EQ(answers[0].opaque, answers[1].opaque);
    EXPECT_EQ(answers[0].cas, answers[1].cas);
    EXPECT_EQ(applied_count(), 1u);
    EXPECT_EQ(last().fate, answer_fate::doubled);
    EXPECT_EQ(last().fault_id, 1u);
}

TEST_F(answer_faults, a_wrong_opaque_matches_no_request) {
    add(sandbox::fault_wrong_opaque{0x100});
    const auto answers = client.send(set_bytes("k", "1"));
    ASSERT_EQ(answers.size(), 1u);
    EXPECT_EQ(answers[0].status, status::success);
    EXPECT_EQ(answers[0].opaque, last().opaque ^ 0x100u);
    EXPECT_TRUE(last().is_applied);
    EXPECT_EQ(last().fate, answer_fate::misaddressed);
}

TEST_F(answer_faults, every_frame_of_a_long_answer_gets_the_wrong_opaque) {
    add(sandbox::fault_wrong_opaque{1}, opcode::stat);
    const auto answers = client.send(client.bytes_of(wire::stat_request{"", {}}));
    ASSERT_GT(answers.size(), 2u);
    for (const reply& each : answers) {
        EXPECT_EQ(each.opaque, last().opaque ^ 1u);
    }
}

TEST_F(answer_faults, a_truncated_answer_closes_the_connection) {
    add(sandbox::fault_truncate{10});
    EXPECT_EQ(feed(set_bytes("k", "1")).size(), 10u);
    EXPECT_TRUE(client.connection().is_closing());
    EXPECT_TRUE(last().is_applied);
    EXPECT_EQ(last().fate, answer_fate::truncated);
}

TEST_F(answer_faults, a_truncated_answer_waits_for_earlier_answers) {
    add(sandbox::fault_delay{50ms});
    add(sandbox::fault_truncate{3}, opcode::noop);
    EXPECT_TRUE(feed(set_bytes("k", "1")).empty());
    EXPECT_TRUE(feed(noop_bytes()).empty());
    EXPECT_FALSE(client.connection().is_closing());
    const auto out = wait(50ms);
    const auto first = wire::scan_frame(out, {.direction = wire::frame_direction::to_client});
    ASSERT_TRUE(first && first->frame);
    EXPECT_EQ(out.size(), first->size + 3);
    EXPECT_TRUE(client.connection().is_closing());
}

TEST_F(answer_faults, garbage_is_not_a_frame_and_depends_only_on_the_seed) {
    const auto garbage_of = [](std::uint64_t seed) {
        sandbox::cluster_options options = small_options();
        options.seed = seed;
        sandbox::cluster other = make_cluster(options);
        peer talker(other);
        talker.ready();
        other.faults().add({.ops = {opcode::noop}, .effect = sandbox::fault_garbage{40}});
        std::vector<std::byte> out;
        const auto bytes = talker.bytes_of(wire::empty_request{opcode::noop});
        talker.connection().on_bytes(talker.now, bytes, out);
        EXPECT_FALSE(talker.connection().is_closing());
        return out;
    };
    const auto garbage = garbage_of(1);
    EXPECT_EQ(garbage.size(), 40u);
    EXPECT_FALSE(wire::scan_frame(garbage, {.direction = wire::frame_direction::to_client}));
    EXPECT_EQ(garbage, garbage_of(1));
    EXPECT_NE(garbage, garbage_of(2));
    add(sandbox::fault_garbage{});
    feed(set_bytes("k", "1"));
    EXPECT_TRUE(last().is_applied);
    EXPECT_EQ(last().fate, answer_fate::garbled);
}

TEST_F(answer_faults, a_trickled_answer_is_sent_byte_by_byte_and_in_order) {
    add(sandbox::fault_trickle{2ms});
    std::vector<std::byte> all = feed(set_bytes("k", "1"));
    EXPECT_EQ(all.size(), 1u);
    EXPECT_EQ(last().fate, answer_fate::trickled);
    EXPECT_TRUE(last().is_applied);
    EXPECT_TRUE(feed(noop_bytes()).empty());
    EXPECT_EQ(*client.connection().next_due(), client.now + 2ms);
    EXPECT_TRUE(wait(1ms).empty());
    EXPECT_EQ(wait(1ms).size(), 1u);
    all.push_back(std::byte{});  // the second byte, seen above
    std::size_t steps = 0;
    while (client.connection().next_due() && steps < 1000) {
        const auto piece = wait(2ms);
        all.insert(all.end(), piece.begin(), piece.end());
        ++steps;
    }
    // One step for each byte of the header and the mutation token. The noop's answer follows the
    // last one.
    EXPECT_EQ(steps, 24u + 16u - 2u);
    EXPECT_EQ(all.size(), 24u + 16u + 24u);
    EXPECT_EQ(client.set("k", "2").status, status::success);
}

TEST_F(answer_faults, nothing_overtakes_a_trickled_answer_not_even_a_push) {
    peer unordered(cluster);
    unordered.ready(with(
        with(with(usual_features(), hello_feature::unordered_execution), hello_feature::duplex),
        hello_feature::clustermap_change_notification));
    add(sandbox::fault_trickle{1ms}, opcode::get);
    std::vector<std::byte> all;
    unordered.connection().on_bytes(
        unordered.now,
        unordered.bytes_of(wire::document_request{opcode::get, unordered.key("k")}, peer::at("k")),
        all);
    ASSERT_EQ(all.size(), 1u);
    ASSERT_TRUE(cluster.buckets().create_scope("travel", "late"));
    unordered.connection().on_bytes(
        unordered.now,
        unordered.bytes_of(wire::document_request{opcode::get, unordered.key("k")}, peer::at("k")),
        all);
    EXPECT_EQ(all.size(), 1u);
    for (int i = 0; i < 100; ++i) {
        unordered.now += 1ms;
        unordered.connection().on_time(unordered.now, all);
    }
    const auto frames = cut_replies(all);
    ASSERT_EQ(frames.size(), 3u);
    EXPECT_EQ(frames[0].op, opcode::get);
    EXPECT_EQ(frames[1].op, opcode::get);
    EXPECT_EQ(frames[2].magic, wire::magic::server_request);
}

}  // namespace answer_faults_test
