#include "topology/srv_trust.hpp"

#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "engine_driver.hpp"

// Goal: a lying name server cannot lead credentials to another host. The checks of certificates
// themselves are in libs/net/tests/srv_trust_test.cpp.

namespace reprise::engine::testing::srv_trust_tests {

engine_options with_srv(wire::transport transport) {
    engine_options options;
    options.dns_srv_name = "_couchbases._tcp.cluster.test";
    options.seeds = {{"cluster.test", {}}};
    options.transport = transport;
    return options;
}

// The nodes of a cluster, and a client that has asked for its SRV record.
struct with_names {
    explicit with_names(std::vector<std::string> hosts, engine_options options)
        : cluster(hosts.size()), driver(cluster, std::move(options)) {
        for (std::size_t index = 0; index < hosts.size(); ++index) {
            cluster.nodes[index].host = hosts[index];
        }
        driver.engine().open("travel", driver.now);
        driver.settle();
    }
    void answer(const std::vector<std::string>& targets) {
        std::vector<wire::bootstrap_address> found;
        for (const std::string& target : targets) {
            found.push_back({target, {}});
        }
        driver.engine().on_resolved(driver.resolutions.at(0).resolution, found, driver.now);
        driver.settle();
    }
    scripted_cluster cluster;
    engine_driver driver;
};

TEST(srv_trust, finds_the_name_that_the_user_wrote) {
    EXPECT_EQ(written_name("_couchbases._tcp.cluster.test"), "cluster.test");
    EXPECT_EQ(written_name("_couchbase._tcp.one"), "one");
    EXPECT_EQ(written_name("_couchbase._tcp"), "");
    EXPECT_EQ(written_name("one"), "");
}

TEST(srv_trust, RH_46_only_the_written_name_and_names_below_it_belong_to_it) {
    for (const char* target :
         {"cluster.test", "CLUSTER.test.", "a.cluster.test", "a.b.Cluster.Test",
          "-.cluster.test"}) {
        EXPECT_TRUE(is_same_or_below(target, "cluster.test")) << target;
    }
    for (const char* target :
         {"evil.test", "test", "test.", "a.test", "evilcluster.test", "cluster.test.evil", "",
          "luster.test", "cluster.tes"}) {
        EXPECT_FALSE(is_same_or_below(target, "cluster.test")) << target;
    }
    EXPECT_FALSE(is_same_or_below("anything", ""));
    EXPECT_TRUE(is_same_or_below("a.cluster.test", "cluster.test.")) << "as in a zone file";
    EXPECT_FALSE(is_same_or_below("a.test", "cluster.test."));
    EXPECT_TRUE(is_same_or_below("a.ABYZ.test", "abyz.TEST"));
    EXPECT_FALSE(is_same_or_below("a@[.test", "A`{.test")) << "only letters have two cases";
}

TEST(srv_trust, RH_46_a_target_elsewhere_must_prove_the_written_name) {
    const auto trust = [](const char* target, const engine_options& options) {
        return trust_in_srv_target(target, "cluster.test", options);
    };
    engine_options unverified = with_srv(wire::transport::tls);
    unverified.tls.is_verified = false;
    engine_options all = with_srv(wire::transport::plain);
    all.trust_srv_targets = true;
    EXPECT_EQ(trust("a.cluster.test", with_srv(wire::transport::plain)), srv_trust::by_name);
    EXPECT_EQ(trust("evil.test", with_srv(wire::transport::tls)), srv_trust::by_certificate);
    EXPECT_EQ(trust("evil.test", with_srv(wire::transport::plain)), srv_trust::none);
    EXPECT_EQ(trust("evil.test", unverified), srv_trust::none);
    EXPECT_EQ(trust("evil.test", all), srv_trust::by_name);
}

TEST(srv_trust, RH_46_a_refusal_names_what_the_target_lacks) {
    EXPECT_NE(
        srv_refusal("evil.test", "cluster.test", srv_trust::by_certificate)
            .find("names evil.test, whose certificate is not valid for cluster.test: "),
        std::string::npos);
    EXPECT_NE(
        srv_refusal("evil.test", "cluster.test", srv_trust::none)
            .find("names evil.test, which does not end in .cluster.test and cannot prove itself: "),
        std::string::npos);
}

TEST(srv_targets, RH_46_a_target_elsewhere_is_verified_under_the_written_name) {
    with_names of({"evil.test", "a.cluster.test"}, with_srv(wire::transport::tls));
    of.answer({"evil.test", "a.cluster.test"});
    ASSERT_EQ(of.driver.connects.size(), 2U);
    EXPECT_EQ(of.driver.connects[0].host, "evil.test");
    EXPECT_EQ(of.driver.connects[0].server_name, "cluster.test");
    EXPECT_EQ(of.driver.connects[0].other_name, "");
    EXPECT_EQ(of.driver.connects[1].server_name, "a.cluster.test");
    EXPECT_EQ(of.driver.connects[1].other_name, "cluster.test");
}

TEST(srv_targets, RH_46_nodes_of_a_configuration_are_verified_under_their_own_names) {
    with_names of({"evil.test", "node2.elsewhere"}, with_srv(wire::transport::tls));
    of.answer({"evil.test"});
    of.driver.advance(1ms);
    ASSERT_EQ(of.driver.connects.size(), 2U);
    EXPECT_EQ(of.driver.connects[1].host, "node2.elsewhere");
    EXPECT_EQ(of.driver.connects[1].server_name, "node2.elsewhere");
    EXPECT_EQ(of.driver.connects[1].other_name, "");
    of.driver.close_node(0);
    of.driver.advance(1s);
    ASSERT_EQ(of.driver.connects.size(), 3U);
    EXPECT_EQ(of.driver.connects[2].host, "evil.test");
    EXPECT_EQ(of.driver.connects[2].server_name, "evil.test") << "the configuration names it now";
}

TEST(srv_targets, RH_46_a_wrong_certificate_is_reported_with_both_names_and_the_option) {
    with_names of({"evil.test"}, with_srv(wire::transport::tls));
    of.cluster.nodes[0].connect_failure_kind = connect_failure::tls_wrong_host;
    const auto read = of.driver.get("k");
    of.answer({"evil.test"});
    of.driver.advance(10ms);
    ASSERT_EQ(read->calls, 1);
    const std::string text = couchbase::to_string(*read->result.error);
    for (const char* part : {"evil.test", "cluster.test", "trust_srv_targets"}) {
        EXPECT_NE(text.find(part), std::string::npos) << text;
    }
}

TEST(srv_targets, RH_46_without_verified_certificates_a_target_elsewhere_gets_no_connection) {
    with_names of({"evil.test"}, with_srv(wire::transport::plain));
    const auto read = of.driver.get("k");
    of.answer({"evil.test"});
    of.driver.advance(10ms);
    EXPECT_TRUE(of.driver.connects.empty());
    ASSERT_EQ(read->code(), errc::authentication_failure);
    const std::string text = couchbase::to_string(*read->result.error);
    for (const char* part :
         {"evil.test", "cluster.test", "cannot prove itself", "trust_srv_targets=true"}) {
        EXPECT_NE(text.find(part), std::string::npos) << text;
    }
    const auto later = of.driver.start(of.driver.request(operation_kind::get, "k"));
    of.driver.advance(10ms);
    EXPECT_EQ(later->calls, 1);
    of.driver.advance(1min);
    EXPECT_TRUE(of.driver.connects.empty());
}

TEST(srv_targets, RH_46_a_trusted_target_is_used_beside_one_that_is_not) {
    with_names of({"a.cluster.test"}, with_srv(wire::transport::plain));
    const auto read = of.driver.get("k");
    of.answer({"evil.test", "a.cluster.test"});
    of.driver.advance(10ms);
    EXPECT_EQ(read->code(), errc::document_not_found);
}

TEST(srv_targets, RH_46_the_option_trusts_every_target) {
    engine_options options = with_srv(wire::transport::plain);
    options.trust_srv_targets = true;
    with_names of({"evil.test"}, options);
    of.answer({"evil.test"});
    ASSERT_EQ(of.driver.connects.size(), 1U);
    EXPECT_EQ(of.driver.connects[0].server_name, "evil.test");
}

TEST(srv_targets, RH_46_a_single_dot_means_that_there_is_no_service) {
    for (const char* dot : {"", "."}) {
        with_names of({"cluster.test"}, with_srv(wire::transport::tls));
        const auto read = of.driver.get("k");
        of.answer({dot});
        of.driver.advance(3s);
        EXPECT_TRUE(of.driver.connects.empty()) << "the given host is not asked either";
        ASSERT_EQ(read->calls, 1);
        const std::string text = couchbase::to_string(*read->result.error);
        EXPECT_NE(text.find("cluster.test names no host"), std::string::npos) << text;
    }
}

TEST(srv_targets, RH_46_their_number_is_bounded) {
    with_names of({"n.cluster.test"}, with_srv(wire::transport::tls));
    std::vector<std::string> many;
    for (int index = 0; index < 800; ++index) {
        many.push_back("n" + std::to_string(index) + ".cluster.test");
    }
    of.answer(many);
    EXPECT_EQ(of.driver.connects.size(), srv_target_count_max);
    // Each attempt to connect asks for an address. Those of 800 targets asked 13,014 times in 4 s.
    of.driver.advance(4s);
    EXPECT_LE(of.driver.connects.size(), 20 * srv_target_count_max);
}

}  // namespace reprise::engine::testing::srv_trust_tests
