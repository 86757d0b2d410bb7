#include <reprise/wire/cluster_node.hpp>

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include <reprise/wire/cluster_configuration.hpp>

namespace reprise::wire::cluster_node_test {

cluster_node make_node(std::string host, std::uint16_t kv, std::uint16_t mgmt) {
    cluster_node node;
    node.hostname = std::move(host);
    node.ports.set(service::key_value, transport::plain, kv);
    node.ports.set(service::management, transport::plain, mgmt);
    return node;
}

alternate_address make_alternate(
    std::string network, std::string host, std::uint16_t kv, std::uint16_t mgmt) {
    alternate_address address{std::move(network), std::move(host), {}};
    address.ports.set(service::key_value, transport::plain, kv);
    address.ports.set(service::management, transport::plain, mgmt);
    return address;
}

TEST(cluster_node, a_service_without_a_port_has_no_endpoint) {
    const cluster_node node = make_node("h", 11210, 8091);
    EXPECT_EQ(node.endpoint(service::key_value, transport::plain), (endpoint_view{"h", 11210}));
    EXPECT_EQ(node.endpoint(service::key_value, transport::tls), std::nullopt);
    EXPECT_EQ(node.endpoint(service::query, transport::plain), std::nullopt);
}

TEST(cluster_node, ports_of_an_alternate_address_never_mix_with_the_default_ones) {
    cluster_node node = make_node("h", 11210, 8091);
    node.alternates.push_back(make_alternate("external", "e", 31210, 0));
    EXPECT_EQ(
        node.endpoint(service::key_value, transport::plain, "external"),
        (endpoint_view{"e", 31210}));
    EXPECT_EQ(node.endpoint(service::management, transport::plain, "external"), std::nullopt);
}

TEST(cluster_node, an_alternate_address_without_ports_uses_the_default_ones) {
    cluster_node node = make_node("h", 11210, 8091);
    node.alternates.push_back({"external", "e", {}});
    EXPECT_EQ(
        node.endpoint(service::management, transport::plain, "external"),
        (endpoint_view{"e", 8091}));
}

TEST(cluster_node, a_node_that_lacks_the_network_is_unreachable_there) {
    EXPECT_EQ(
        make_node("h", 1, 2).endpoint(service::key_value, transport::plain, "external"),
        std::nullopt);
}

TEST(cluster_node, the_network_is_selected_by_the_bootstrap_address) {
    std::vector<cluster_node> nodes{make_node("in1", 11210, 8091), make_node("in2", 11210, 8091)};
    nodes[0].alternates.push_back(make_alternate("external", "out1", 31210, 38091));
    nodes[1].alternates.push_back(make_alternate("site", "out2", 31211, 38092));
    const auto selected = [&](std::vector<bootstrap_address> bootstrap) {
        return select_network(nodes, bootstrap, transport::plain);
    };
    EXPECT_EQ(selected({{"in2", std::nullopt}}), "default");
    EXPECT_EQ(selected({{"in2", 12345}}), "default");
    EXPECT_EQ(selected({{"out1", std::nullopt}}), "external");
    EXPECT_EQ(selected({{"out2", 31211}}), "site");
    EXPECT_EQ(selected({{"elsewhere", std::nullopt}, {"out2", std::nullopt}}), "site");
    EXPECT_EQ(selected({{"elsewhere", std::nullopt}}), "external");
    EXPECT_EQ(select_network(nodes, {}, transport::tls), "default");
    nodes[0].alternates.clear();
    EXPECT_EQ(selected({{"elsewhere", std::nullopt}}), "default");
}

TEST(cluster_node, a_port_distinguishes_networks_that_share_a_host) {
    std::vector<cluster_node> nodes{make_node("127.0.0.1", 11210, 8091)};
    nodes[0].alternates.push_back(make_alternate("external", "127.0.0.1", 31210, 38091));
    const std::vector<bootstrap_address> mapped{{"127.0.0.1", 31210}};
    EXPECT_EQ(select_network(nodes, mapped, transport::plain), "external");
    const std::vector<bootstrap_address> direct{{"127.0.0.1", 11210}};
    EXPECT_EQ(select_network(nodes, direct, transport::plain), "default");
    const std::vector<bootstrap_address> bare{{"127.0.0.1", std::nullopt}};
    EXPECT_EQ(select_network(nodes, bare, transport::plain), "default");
}

TEST(cluster_node, an_external_network_without_usable_ports_is_not_selected) {
    std::vector<cluster_node> nodes{make_node("in1", 11210, 8091)};
    nodes[0].alternates.push_back(make_alternate("external", "out1", 31210, 0));
    const std::vector<bootstrap_address> bootstrap{{"elsewhere", std::nullopt}};
    EXPECT_EQ(select_network(nodes, bootstrap, transport::plain), "default");
}

TEST(cluster_node, alternate_addresses_are_read_from_a_configuration) {
    const auto result = parse_cluster_configuration(R"({"rev":1,"nodesExt":[
        {"hostname":"in","services":{"kv":11210,"mgmt":8091},
         "alternateAddresses":{"external":{"hostname":"out","ports":{"kv":31210,"mgmt":38091}},
                               "bare":{"hostname":"[::1]"}}}]})");
    ASSERT_TRUE(result.has_value());
    const cluster_node& node = (*result)->nodes()[0];
    EXPECT_EQ(
        node.endpoint(service::key_value, transport::plain, "external"),
        (endpoint_view{"out", 31210}));
    EXPECT_EQ(
        node.endpoint(service::key_value, transport::plain, "bare"), (endpoint_view{"::1", 11210}));
    const auto without_host = parse_cluster_configuration(
        R"({"rev":1,"nodesExt":[{"alternateAddresses":{"external":{"ports":{}}}}]})");
    ASSERT_FALSE(without_host.has_value());
    EXPECT_EQ(without_host.error().path, "nodesExt[0].alternateAddresses.external.hostname");
}

TEST(cluster_node, addresses_have_brackets_where_needed) {
    EXPECT_EQ(to_host_port("h", 1), "h:1");
    EXPECT_EQ(to_host_port("::1", 11210), "[::1]:11210");
    EXPECT_EQ(to_string(service::query), "query");
    EXPECT_EQ(port_member(service::backup, transport::tls), "backupAPIHTTPS");
}

}  // namespace reprise::wire::cluster_node_test
