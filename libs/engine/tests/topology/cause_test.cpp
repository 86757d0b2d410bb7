#include "topology/cause.hpp"

#include <gtest/gtest.h>

#include "engine_parts.hpp"

namespace reprise::engine::testing {

TEST(cause, of_a_link_is_its_problem_or_its_progress) {
    engine_options options;
    options.seeds = {{"node1", 11210}, {"node2", 11210}};
    options.connecting_count_max = 1;
    engine_parts parts(options);
    bucket_state& bucket = parts.nodes.buckets().at("travel");
    parts.nodes.open(bucket, parts.now);
    node_link& first = *bucket.links[0];
    node_link& second = *bucket.links[1];
    EXPECT_EQ(link_cause(first, parts.context.gate), "node1:11210: still connecting");
    EXPECT_EQ(link_cause(second, parts.context.gate), "node2:11210: waiting to connect");
    first.connection->state = connection_state::bootstrapping;
    EXPECT_EQ(link_cause(first, parts.context.gate), "node1:11210: the login is not complete");
    first.problem = "connection refused";
    EXPECT_EQ(link_cause(first, parts.context.gate), "node1:11210: connection refused");
}

TEST(cause, of_a_bucket_names_three_nodes_at_most) {
    engine_options options;
    options.seeds = {{"a", 1}, {"b", 1}, {"c", 1}, {"d", 1}};
    engine_parts parts(options);
    bucket_state& bucket = parts.nodes.buckets().at("travel");
    EXPECT_EQ(
        bucket_cause(bucket, parts.context), "cannot resolve a: the name service has not answered");
    parts.nodes.open(bucket, parts.now);
    for (const auto& link : bucket.links) {
        link->problem = "refused";
    }
    EXPECT_EQ(
        bucket_cause(bucket, parts.context),
        "a:1: refused; b:1: refused; c:1: refused; and others");
    bucket.configuration_problem = "a: configuration refused";
    EXPECT_EQ(bucket_cause(bucket, parts.context), "a: configuration refused");
}

TEST(cause, of_a_bucket_names_nodes_that_failed_first) {
    engine_options options;
    options.seeds = {{"a", 1}, {"b", 1}, {"c", 1}, {"d", 1}};
    engine_parts parts(options);
    bucket_state& bucket = parts.nodes.buckets().at("travel");
    parts.nodes.open(bucket, parts.now);
    bucket.links[3]->problem = "refused";
    EXPECT_EQ(
        bucket_cause(bucket, parts.context),
        "d:1: refused; a:1: still connecting; b:1: still connecting; and others");
}

TEST(cause, of_a_terminal_state_is_what_the_endpoint_answered) {
    engine_parts parts;
    bucket_state& bucket = parts.nodes.buckets().at("travel");
    parts.nodes.open(bucket, parts.now);
    EXPECT_EQ(terminal_cause(bucket, retry_reason::tls_error), "");
    bucket.links[0]->endpoint->terminal->is_tls_failed = true;
    bucket.links[0]->endpoint->terminal->refusal.set("the certificate is expired");
    EXPECT_EQ(
        terminal_cause(bucket, retry_reason::tls_error), "node1:11210: the certificate is expired");
    bucket.terminal->access_problem.set("node1:11210: no access");
    EXPECT_EQ(terminal_cause(bucket, retry_reason::bucket_access_error), "node1:11210: no access");
}

}  // namespace reprise::engine::testing
