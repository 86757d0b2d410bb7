#include <reprise/wire/service.hpp>

#include <set>

#include <gtest/gtest.h>

namespace reprise::wire::service_test {

TEST(service, every_service_has_its_own_names_and_ports) {
    std::set<std::string_view> names;
    std::set<std::string_view> members;
    std::set<std::uint16_t> ports;
    for (const service_facts& facts : service_table) {
        EXPECT_EQ(&facts_of(facts.which), &facts);
        EXPECT_TRUE(names.insert(to_string(facts.which)).second) << facts.name;
        for (const transport over : {transport::plain, transport::tls}) {
            EXPECT_TRUE(members.insert(port_member(facts.which, over)).second) << facts.name;
            EXPECT_TRUE(ports.insert(default_port(facts.which, over)).second) << facts.name;
        }
    }
}

TEST(service, every_service_but_key_value_has_a_health_path) {
    for (const service_facts& facts : service_table) {
        EXPECT_EQ(facts.health_path.empty(), facts.which == service::key_value) << facts.name;
    }
}

TEST(service, the_client_uses_every_service_that_all_nodes_run) {
    for (const service_facts& facts : service_table) {
        EXPECT_TRUE(facts.is_used || !facts.is_on_every_node) << facts.name;
    }
}

TEST(service, lists_contain_what_the_client_uses) {
    EXPECT_EQ(name_services(is_http_service), "management, views, query, search, analytics");
    EXPECT_EQ(
        list_services(is_optional_service),
        (std::vector{service::views, service::query, service::search, service::analytics}));
}

}  // namespace reprise::wire::service_test
