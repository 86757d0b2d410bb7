#include "topology/terminal_state.hpp"

#include <gtest/gtest.h>

#include "engine_parts.hpp"
#include "topology/cause.hpp"

namespace reprise::engine::testing {
namespace terminal_state_tests {

// A bucket that is connecting to three nodes and has no configuration yet.
struct three_links {
    three_links() {
        for (const char* host : {"a", "b", "c"}) {
            endpoint_record& to = parts.endpoints.at(host, 1);
            bucket.links.push_back(std::make_unique<node_link>(bucket, to, 0));
        }
    }
    engine_parts parts;
    bucket_state bucket{"travel"};
    node_link& link(std::size_t index) { return *bucket.links[index]; }
};

}  // namespace terminal_state_tests

using namespace std::chrono_literals;
using terminal_state_tests::three_links;

TEST(terminal_state_rules, raise_authentication_before_tls_before_bucket_access) {
    bucket_state bucket("travel");
    EXPECT_FALSE(terminal_reason(bucket));
    set_missing(bucket, true);
    EXPECT_EQ(terminal_reason(bucket), retry_reason::bucket_access_error);
    bucket.is_tls_failed = true;
    EXPECT_EQ(terminal_reason(bucket), retry_reason::tls_error);
    bucket.is_auth_refused = true;
    EXPECT_EQ(terminal_reason(bucket), retry_reason::authentication_error);
}

TEST(terminal_state_rules, let_a_refusal_by_one_seed_wait_for_the_others) {
    three_links of;
    of.link(0).endpoint->terminal->is_auth_refused = true;
    refresh_terminal_state(of.bucket);
    EXPECT_TRUE(may_other_seeds_answer(of.bucket));
    EXPECT_FALSE(terminal_reason(of.bucket));
    of.bucket.is_seed_refusal_final = true;
    refresh_terminal_state(of.bucket);
    EXPECT_EQ(terminal_reason(of.bucket), retry_reason::authentication_error);
}

TEST(terminal_state_rules, ignore_links_that_are_retired) {
    three_links of;
    of.bucket.is_seed_refusal_final = true;
    of.link(0).endpoint->terminal->is_tls_failed = true;
    of.link(0).is_retired = true;
    refresh_terminal_state(of.bucket);
    EXPECT_FALSE(terminal_reason(of.bucket));
}

TEST(terminal_state_rules, call_a_bucket_missing_once_every_reachable_node_reports_it) {
    three_links of;
    on_bucket_missing(of.link(0), of.parts.now);
    EXPECT_FALSE(terminal_reason(of.bucket)) << "two nodes have not answered";
    EXPECT_FALSE(missing_due(of.bucket, 2s, of.parts.now));
    on_bucket_missing(of.link(1), of.parts.now);
    on_bucket_missing(of.link(2), of.parts.now);
    EXPECT_FALSE(terminal_reason(of.bucket)) << "all of them may be starting";
    EXPECT_EQ(missing_due(of.bucket, 2s, of.parts.now), of.parts.now + 2s);
    EXPECT_EQ(missing_due(of.bucket, 2s, of.parts.now + 1s), of.parts.now + 2s);
    set_missing(of.bucket, true);
    refresh_terminal_state(of.bucket);
    EXPECT_EQ(terminal_reason(of.bucket), retry_reason::bucket_access_error);
    clear_bucket_refusals(of.bucket);
    EXPECT_FALSE(terminal_reason(of.bucket));
}

TEST(terminal_state_rules, RH_27_the_answer_of_the_only_node_is_enough) {
    three_links of;
    of.bucket.links.resize(1);
    on_bucket_missing(of.link(0), of.parts.now);
    EXPECT_TRUE(of.bucket.is_missing_agreed);
}

TEST(terminal_state_rules, RH_27_never_call_a_bucket_missing_that_was_open) {
    three_links of;
    clear_bucket_refusals(of.bucket);
    for (std::size_t index = 0; index < of.bucket.links.size(); ++index) {
        on_bucket_missing(of.link(index), of.parts.now);
    }
    EXPECT_FALSE(missing_due(of.bucket, 2s, of.parts.now));
}

TEST(terminal_state_rules, RH_27_wait_again_after_any_other_answer_to_select_bucket) {
    three_links of;
    for (std::size_t index = 0; index < of.bucket.links.size(); ++index) {
        on_bucket_missing(of.link(index), of.parts.now);
    }
    EXPECT_EQ(missing_due(of.bucket, 2s, of.parts.now), of.parts.now + 2s);
    of.link(1).has_failed = true;
    on_bucket_not_missing(of.link(1));
    EXPECT_EQ(missing_due(of.bucket, 2s, of.parts.now + 1s), of.parts.now + 3s);
}

TEST(terminal_state_rules, need_two_answers_if_a_node_cannot_be_asked) {
    three_links of;
    of.link(1).has_failed = true;
    of.link(2).has_failed = true;
    on_bucket_missing(of.link(0), of.parts.now);
    EXPECT_FALSE(missing_due(of.bucket, 0s, of.parts.now)) << "a single node may be outdated";
    on_bucket_missing(of.link(0), of.parts.now);
    EXPECT_TRUE(missing_due(of.bucket, 0s, of.parts.now));
}

// Found by simulation (swarm 2060342248, hostile 2967906503): every known node was down, so the
// client asked its seeds again. One of them had left the cluster, and its refusal counted.
TEST(terminal_state_rules, RH_25_RH_26_RH_27_do_not_count_a_seed_outside_the_topology) {
    scripted_cluster cluster(1);
    engine_parts parts;  // its seed is node1
    bucket_state& bucket = parts.nodes.buckets().at("travel");
    parts.nodes.open(bucket, parts.now);
    cluster.nodes[0].host = "moved";
    parts.nodes.apply(bucket, cluster.configuration_text(0), "node1", parts.now);
    node_link& named = *parts.nodes.find_link(bucket, parts.endpoints.at("moved", 11210).number);
    named.connection = nullptr;
    parts.nodes.reconnect_later(named, true, parts.now);
    parts.nodes.on_link_failed(named, parts.now);
    node_link& seed = *parts.nodes.find_link(bucket, parts.endpoints.at("node1", 11210).number);
    ASSERT_FALSE(seed.is_retired) << "the client is back at its seeds";

    seed.endpoint->terminal->is_auth_refused = true;
    seed.endpoint->terminal->is_tls_failed = true;
    on_bucket_missing(seed, parts.now);
    on_bucket_missing(seed, parts.now);
    EXPECT_FALSE(terminal_reason(bucket));
    EXPECT_FALSE(missing_due(bucket, 0s, parts.now));
    EXPECT_EQ(terminal_cause(bucket, retry_reason::authentication_error), "");

    named.endpoint->terminal->is_auth_refused = true;
    refresh_terminal_state(bucket);
    EXPECT_EQ(terminal_reason(bucket), retry_reason::authentication_error);
    EXPECT_EQ(terminal_cause(bucket, retry_reason::authentication_error), "moved:11210: ");
}

TEST(terminal_state_rules, give_up_once_every_link_has_failed) {
    three_links of;
    EXPECT_FALSE(has_given_up(of.bucket));
    for (std::size_t index = 0; index < of.bucket.links.size(); ++index) {
        of.link(index).has_failed = true;
    }
    EXPECT_TRUE(has_given_up(of.bucket));
    EXPECT_FALSE(has_given_up(bucket_state("empty")));
}

}  // namespace reprise::engine::testing
