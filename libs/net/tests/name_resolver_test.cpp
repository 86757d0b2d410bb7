#include "name_resolver.hpp"

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "fake_name_server.hpp"
#include "loop.hpp"

namespace reprise::net::name_resolver_test {

namespace asio = boost::asio;
using namespace std::chrono_literals;
using namespace testing;

constexpr const char* name = "host.reprise.test";
constexpr const char* service = "_couchbase._tcp.reprise.test";

// A loop, a name server that the test fills, and a resolver that asks only that server.
class world {
public:
    std::unique_ptr<name_resolver> make_resolver(duration timeout = 5s) {
        return name_resolver::make(
                   loop.get_executor(),
                   {.force_ipv4 = true, .dns_servers = names.address(), .dns_timeout = timeout}, 1)
            .value();
    }

    asio::io_context loop;
    fake_name_server names;
};

// Stores the answer and counts the calls.
struct address_answer {
    std::optional<name_resolver::addresses> value;
    int count = 0;

    name_resolver::address_callback receiver() {
        return [this](name_resolver::addresses found) {
            value = std::move(found);
            ++count;
        };
    }
};
struct srv_answer {
    std::optional<std::vector<wire::bootstrap_address>> value;
    int count = 0;

    name_resolver::srv_callback receiver() {
        return [this](std::vector<wire::bootstrap_address> found) {
            value = std::move(found);
            ++count;
        };
    }
};

TEST(name_resolver, an_address_resolves_to_itself_from_inside_the_call) {
    world at;
    const auto resolver = at.make_resolver();
    for (const char* address : {"127.0.0.1", "::1"}) {
        address_answer answer;
        resolver->find_addresses(address, 11210, answer.receiver());
        ASSERT_EQ(answer.count, 1) << address;
        ASSERT_EQ(answer.value->endpoints.size(), 1U);
        EXPECT_EQ(answer.value->endpoints[0].address().to_string(), address);
        EXPECT_EQ(answer.value->endpoints[0].port(), 11210);
        EXPECT_EQ(answer.value->failure, "");
    }
    EXPECT_EQ(at.names.question_count(), 0);
}

TEST(name_resolver, all_addresses_of_a_name_are_found_with_the_requested_port) {
    world at;
    at.names.add_address(name, {127, 0, 0, 1});
    at.names.add_address(name, {127, 0, 0, 2});
    at.names.begin();
    const auto resolver = at.make_resolver();
    address_answer answer;
    resolver->find_addresses(name, 42, answer.receiver());
    ASSERT_TRUE(run_until(at.loop, [&] { return answer.count > 0; }));
    std::vector<std::string> found;
    for (const auto& endpoint : answer.value->endpoints) {
        EXPECT_EQ(endpoint.port(), 42);
        found.push_back(endpoint.address().to_string());
    }
    std::ranges::sort(found);
    EXPECT_EQ(found, (std::vector<std::string>{"127.0.0.1", "127.0.0.2"}));
    EXPECT_EQ(answer.count, 1);
}

TEST(name_resolver, an_unknown_name_fails_with_a_text) {
    world at;
    at.names.begin();
    const auto resolver = at.make_resolver();
    address_answer answer;
    resolver->find_addresses("unknown.reprise.test", 42, answer.receiver());
    ASSERT_TRUE(run_until(at.loop, [&] { return answer.count > 0; }));
    EXPECT_TRUE(answer.value->endpoints.empty());
    EXPECT_NE(answer.value->failure, "");
}

TEST(name_resolver, a_silent_server_is_a_failure_after_the_timeout) {
    world at;
    at.names.be_silent();
    at.names.begin();
    const auto resolver = at.make_resolver(20ms);
    address_answer addresses;
    srv_answer services;
    resolver->find_addresses(name, 42, addresses.receiver());
    resolver->find_srv(service, services.receiver());
    ASSERT_TRUE(run_until(at.loop, [&] { return addresses.count > 0 && services.count > 0; }));
    EXPECT_TRUE(addresses.value->endpoints.empty());
    EXPECT_NE(addresses.value->failure, "");
    EXPECT_TRUE(services.value->empty());
}

TEST(name_resolver, service_records_are_sorted_by_priority_then_by_weight) {
    world at;
    at.names.add_srv(service, {.priority = 20, .weight = 9, .port = 3, .target = "c.test"});
    at.names.add_srv(service, {.priority = 10, .weight = 1, .port = 2, .target = "b.test"});
    at.names.add_srv(service, {.priority = 10, .weight = 5, .port = 1, .target = "a.test"});
    at.names.begin();
    const auto resolver = at.make_resolver();
    srv_answer answer;
    resolver->find_srv(service, answer.receiver());
    ASSERT_TRUE(run_until(at.loop, [&] { return answer.count > 0; }));
    std::vector<std::string> hosts;
    std::vector<std::optional<std::uint16_t>> ports;
    for (const auto& each : *answer.value) {
        hosts.push_back(each.host);
        ports.emplace_back(each.port);
    }
    EXPECT_EQ(hosts, (std::vector<std::string>{"a.test", "b.test", "c.test"}));
    EXPECT_EQ(ports, (std::vector<std::optional<std::uint16_t>>{1, 2, 3}));
}

TEST(name_resolver, a_service_without_records_is_an_empty_answer) {
    world at;
    at.names.begin();
    const auto resolver = at.make_resolver();
    srv_answer answer;
    resolver->find_srv(service, answer.receiver());
    ASSERT_TRUE(run_until(at.loop, [&] { return answer.count > 0; }));
    EXPECT_TRUE(answer.value->empty());
}

TEST(name_resolver, stop_fails_every_open_query_once_and_starts_no_new_one) {
    world at;
    at.names.be_silent();
    at.names.begin();
    const auto resolver = at.make_resolver();
    address_answer open_address;
    srv_answer open_srv;
    resolver->find_addresses(name, 42, open_address.receiver());
    resolver->find_srv(service, open_srv.receiver());
    ASSERT_EQ(open_address.count + open_srv.count, 0);
    resolver->stop();
    EXPECT_EQ(open_address.count, 1);
    EXPECT_NE(open_address.value->failure, "");
    EXPECT_EQ(open_srv.count, 1);

    address_answer late_address;
    srv_answer late_srv;
    resolver->find_addresses(name, 42, late_address.receiver());
    resolver->find_srv(service, late_srv.receiver());
    EXPECT_EQ(late_address.value->failure, "stopped");
    EXPECT_TRUE(late_srv.value->empty());
    resolver->stop();
    at.loop.run();  // no work is left
    EXPECT_EQ(open_address.count + open_srv.count + late_address.count + late_srv.count, 4);
}

TEST(name_resolver, destroying_a_resolver_fails_its_open_queries) {
    world at;
    at.names.be_silent();
    at.names.begin();
    auto resolver = at.make_resolver();
    address_answer answer;
    resolver->find_addresses(name, 42, answer.receiver());
    resolver.reset();
    EXPECT_EQ(answer.count, 1);
    at.loop.run();
    EXPECT_EQ(answer.count, 1);
}

TEST(name_resolver, a_callback_may_destroy_the_resolver) {
    world at;
    at.names.add_address(name, {127, 0, 0, 1});
    at.names.begin();
    auto resolver = at.make_resolver();
    int count = 0;
    resolver->find_addresses(name, 42, [&](const name_resolver::addresses&) {
        ++count;
        resolver.reset();
    });
    ASSERT_TRUE(run_until(at.loop, [&] { return count > 0; }));
    at.loop.restart();
    at.loop.run();
    EXPECT_EQ(count, 1);
}

TEST(name_resolver, invalid_name_servers_are_rejected_with_the_reason) {
    asio::io_context loop;
    const auto made = name_resolver::make(loop.get_executor(), {.dns_servers = "not an address"});
    ASSERT_FALSE(made.has_value());
    EXPECT_EQ(made.error().code, setup_errc::name_service);
    EXPECT_NE(made.error().text.find("not an address"), std::string::npos);
}

}  // namespace reprise::net::name_resolver_test
