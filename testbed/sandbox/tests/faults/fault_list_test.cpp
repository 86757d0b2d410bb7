#include "conversation.hpp"

#include <algorithm>

#include <reprise/wire/cluster_configuration.hpp>
#include <reprise/wire/error_context.hpp>

namespace faults_test {

using namespace sandbox_testing;
using namespace std::chrono_literals;

struct faults : testing::Test {
    sandbox::cluster cluster = make_cluster();
    peer client{cluster};
    faults() { client.ready(); }

    std::uint64_t add(sandbox::fault_rule rule) { return cluster.faults().add(std::move(rule)); }
    std::string stored(std::string_view key) const {
        const auto found =
            cluster.buckets().find_document("travel", wire::default_collection, key, start_of_time);
        return found ? found->value : "(none)";
    }
    std::vector<std::byte> set_bytes(std::string_view name, std::string_view value) {
        return client.bytes_of(
            wire::store_request{opcode::set, client.key(name), 0, 0, base::as_bytes(value)},
            peer::at(name));
    }
    sandbox::audit_entry last() const { return cluster.audit().entries().back(); }
};

TEST_F(faults, a_status_is_answered_and_nothing_is_applied) {
    sandbox::fault_status effect{status::etmpfail, {}};
    effect.context.context = "made up";
    add({.ops = {opcode::set}, .when = {.limit = 1}, .effect = effect});
    const reply refused = client.set("k", "1");
    EXPECT_EQ(refused.status, status::etmpfail);
    EXPECT_EQ(wire::parse_error_context(base::as_bytes(refused.value))->context, "made up");
    EXPECT_EQ(stored("k"), "(none)");
    EXPECT_FALSE(last().is_applied);
    EXPECT_EQ(last().fault_id, 1u);
    EXPECT_EQ(client.set("k", "1").status, status::success);
}

TEST_F(faults, any_code_may_be_answered_even_to_a_login) {
    add({.ops = {opcode::get}, .effect = sandbox::fault_status{static_cast<status>(0x7ff0), {}}});
    EXPECT_EQ(client.get("k").status, static_cast<status>(0x7ff0));
    add({.ops = {opcode::sasl_auth}, .effect = sandbox::fault_status{status::auth_error, {}}});
    peer other(cluster);
    EXPECT_EQ(other.login(), status::auth_error);
}

TEST_F(faults, not_my_vbucket_carries_a_configuration) {
    add({.ops = {opcode::get}, .effect = sandbox::fault_status{status::not_my_vbucket, {}}});
    const reply answer = client.get("k");
    EXPECT_EQ(answer.status, status::not_my_vbucket);
    EXPECT_TRUE(wire::parse_cluster_configuration(answer.value));
}

TEST_F(faults, a_delayed_request_is_applied_at_once_and_answered_when_due) {
    add({.ops = {opcode::set}, .when = {.limit = 1}, .effect = sandbox::fault_delay{50ms}});
    EXPECT_TRUE(client.send(set_bytes("k", "1")).empty());
    EXPECT_EQ(stored("k"), "1");
    EXPECT_EQ(last().fate, sandbox::answer_fate::delayed);
    ASSERT_TRUE(client.connection().next_due());
    EXPECT_EQ(*client.connection().next_due(), start_of_time + 50ms);
    EXPECT_TRUE(client.tick(49ms).empty());
    const auto answers = client.tick(1ms);
    ASSERT_EQ(answers.size(), 1u);
    EXPECT_EQ(answers[0].status, status::success);
    EXPECT_FALSE(client.connection().next_due());
}

TEST_F(faults, later_answers_wait_for_a_delayed_one_on_an_ordered_connection) {
    add({.ops = {opcode::set}, .when = {.limit = 1}, .effect = sandbox::fault_delay{50ms}});
    EXPECT_TRUE(client.send(set_bytes("k", "1")).empty());
    EXPECT_TRUE(client.send(client.bytes_of(wire::empty_request{opcode::noop})).empty());
    const auto answers = client.tick(50ms);
    ASSERT_EQ(answers.size(), 2u);
    EXPECT_EQ(answers[0].op, opcode::set);
    EXPECT_EQ(answers[1].op, opcode::noop);
}

TEST_F(faults, later_answers_overtake_a_delayed_one_on_an_unordered_connection) {
    peer unordered(cluster);
    unordered.ready(with(usual_features(), hello_feature::unordered_execution));
    add({.ops = {opcode::set}, .when = {.limit = 1}, .effect = sandbox::fault_delay{50ms}});
    EXPECT_TRUE(
        unordered
            .send(unordered.bytes_of(
                wire::store_request{opcode::set, unordered.key("k"), 0, 0, base::as_bytes("1")},
                peer::at("k")))
            .empty());
    EXPECT_EQ(unordered.get("k").value, "1");
    // Ordered requests wait, and those that change the connection are refused in the meantime.
    EXPECT_TRUE(unordered.send(unordered.bytes_of(wire::empty_request{opcode::noop})).empty());
    EXPECT_TRUE(unordered.send(unordered.bytes_of(wire::select_bucket_request{"travel"})).empty());
    const auto answers = unordered.tick(50ms);
    ASSERT_EQ(answers.size(), 3u);
    EXPECT_EQ(answers[0].op, opcode::set);
    EXPECT_EQ(answers[2].status, status::not_supported);
}

TEST_F(faults, no_answer_applies_the_request_and_stays_silent) {
    add({.ops = {opcode::set}, .when = {.limit = 1}, .effect = sandbox::fault_no_answer{}});
    EXPECT_TRUE(client.send(set_bytes("k", "1")).empty());
    EXPECT_EQ(stored("k"), "1");
    EXPECT_TRUE(last().is_applied);
    EXPECT_EQ(last().fate, sandbox::answer_fate::withheld);
    EXPECT_TRUE(client.tick(1h).empty());
    EXPECT_EQ(client.get("k").value, "1");
}

TEST_F(faults, close_before_applies_nothing_and_close_after_does) {
    add({.ops = {opcode::set}, .when = {.limit = 1}, .effect = sandbox::fault_close_before{}});
    EXPECT_TRUE(client.send(set_bytes("k", "1")).empty());
    EXPECT_TRUE(client.connection().is_closing());
    EXPECT_EQ(stored("k"), "(none)");
    EXPECT_FALSE(last().is_applied);

    add({.ops = {opcode::set}, .when = {.limit = 1}, .effect = sandbox::fault_close_after{}});
    peer other(cluster);
    other.ready();
    EXPECT_TRUE(other
                    .send(other.bytes_of(
                        wire::store_request{opcode::set, other.key("k"), 0, 0, base::as_bytes("2")},
                        peer::at("k")))
                    .empty());
    EXPECT_TRUE(other.connection().is_closing());
    EXPECT_EQ(stored("k"), "2");
    EXPECT_TRUE(last().is_applied);
    EXPECT_EQ(last().fate, sandbox::answer_fate::closed);
}

TEST_F(faults, rules_match_by_key_node_and_bucket) {
    const sandbox::fault_status busy{status::ebusy, {}};
    add({.key_pattern = "u:*", .effect = busy});
    EXPECT_EQ(client.get("u:1").status, status::ebusy);
    EXPECT_EQ(client.get("v:1").status, status::key_enoent);
    cluster.faults().clear();
    add({.node = sandbox::node_id{7}, .effect = busy});
    add({.bucket = "other", .effect = busy});
    EXPECT_EQ(client.get("u:1").status, status::key_enoent);
    add({.node = sandbox::node_id{0}, .bucket = "travel", .effect = busy});
    EXPECT_EQ(client.get("u:1").status, status::ebusy);
}

TEST_F(faults, skip_every_and_limit_select_by_count) {
    add({.ops = {opcode::get}, .when = {.skip = 1, .every = 3, .limit = 2}});
    std::string seen;
    for (int i = 0; i < 12; ++i) {
        seen += client.get("k").status == status::etmpfail ? 'x' : '.';
    }
    EXPECT_EQ(seen, ".x..x.......");
    EXPECT_EQ(cluster.faults().entries()[0].effect_count, 2u);
}

TEST_F(faults, the_first_rule_that_takes_a_request_decides) {
    add(
        {.ops = {opcode::get},
         .when = {.limit = 1},
         .effect = sandbox::fault_status{status::ebusy, {}}});
    const auto second = add({.effect = sandbox::fault_status{status::enomem, {}}});
    EXPECT_EQ(client.get("k").status, status::ebusy);
    EXPECT_EQ(cluster.faults().entries()[1].match_count, 0u);
    EXPECT_EQ(client.get("k").status, status::enomem);
    EXPECT_TRUE(cluster.faults().remove(second));
    EXPECT_FALSE(cluster.faults().remove(second));
    EXPECT_EQ(client.get("k").status, status::key_enoent);
}

TEST_F(faults, probability_depends_on_the_seed) {
    const auto run = [](std::uint64_t seed) {
        sandbox::fault_list list(seed);
        list.add({.when = {.probability = 0.25}});
        std::string seen;
        for (int i = 0; i < 1000; ++i) {
            seen += list.decide({}) != nullptr ? 'x' : '.';
        }
        return seen;
    };
    EXPECT_EQ(run(1), run(1));
    EXPECT_NE(run(1), run(2));
    const auto hits = std::ranges::count(run(1), 'x');
    EXPECT_GT(hits, 180);
    EXPECT_LT(hits, 320);
}

TEST(glob, matches_stars_and_question_marks) {
    using sandbox::matches_glob;
    EXPECT_TRUE(matches_glob("*", ""));
    EXPECT_TRUE(matches_glob("a*b*c", "aXXbYYc"));
    EXPECT_TRUE(matches_glob("a?c", "abc"));
    EXPECT_FALSE(matches_glob("a?c", "ac"));
    EXPECT_FALSE(matches_glob("a*b", "abc"));
    EXPECT_TRUE(matches_glob("*ab", "aab"));
    EXPECT_FALSE(matches_glob("", "x"));
    const std::string many(2000, 'a');
    EXPECT_FALSE(matches_glob("*a*a*a*a*a*a*a*a*b", many));
}

TEST(audit, keeps_the_newest_entries_and_counts_all) {
    sandbox::cluster_options options = small_options();
    options.audit_entry_count_max = 4;
    sandbox::cluster cluster = make_cluster(options);
    peer client(cluster);
    client.ready();
    cluster.audit().clear();
    for (int i = 0; i < 10; ++i) {
        client.set("key_" + std::to_string(i % 2), "stamp-" + std::to_string(i));
    }
    client.get("none");
    const auto entries = cluster.audit().entries();
    ASSERT_EQ(entries.size(), 4u);
    EXPECT_EQ(entries[0].value_start, "stamp-7");
    EXPECT_EQ(entries[3].op, opcode::get);
    EXPECT_EQ(cluster.audit().count({.op = opcode::set, .key_pattern = "key_1"}), 2u);
    EXPECT_EQ(cluster.audit().entries({.is_applied = true}, 1)[0].value_start, "stamp-9");
    const auto counters = cluster.audit().counters();
    ASSERT_EQ(counters.size(), 2u);
    EXPECT_EQ(counters[0].op, opcode::get);
    EXPECT_EQ(counters[0].status, status::key_enoent);
    EXPECT_EQ(counters[1].count, 10u);
    EXPECT_EQ(counters[1].applied_count, 10u);
}

TEST(audit, entries_stay_the_same_and_in_order_when_it_is_compacted) {
    sandbox::cluster_options options = small_options();
    options.audit_entry_count_max = 4;
    sandbox::cluster cluster = make_cluster(options);
    peer client(cluster);
    client.ready();
    const auto stamps = [&] {
        std::string all;
        for (const auto& entry : cluster.audit().entries()) {
            all += entry.key + "=" + entry.value_start + " ";
        }
        return all;
    };
    for (int i = 0; i < 6; ++i) {
        client.set("key", "stamp-" + std::to_string(i));
    }
    cluster.audit().compact();
    EXPECT_EQ(stamps(), "key=stamp-2 key=stamp-3 key=stamp-4 key=stamp-5 ");
    client.set("key", "stamp-6");
    EXPECT_EQ(stamps(), "key=stamp-3 key=stamp-4 key=stamp-5 key=stamp-6 ");
}

}  // namespace faults_test
