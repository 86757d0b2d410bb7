#include <gtest/gtest.h>

#include <string>
#include <vector>

#include <reprise/wire/opcode.hpp>

#include "live_cluster.hpp"

// How connections log in, depending on options and connection string.

namespace logins_test {

using namespace live;
using couchbase::errc;
using reprise::wire::opcode;

std::string with_parameter(const sandbox::embedded_cluster& server, const std::string& parameter) {
    const std::string where = server.addresses().connection_string;
    return where + (where.find('?') == std::string::npos ? "?" : "&") + parameter;
}

couchbase::cluster connect_to(
    const std::string& where, const couchbase::cluster_options& options = app_options()) {
    auto made = couchbase::cluster::connect(where, options);
    if (!made) {
        throw std::runtime_error(made.error().message());
    }
    return std::move(*made);
}

// The first commands of the first connection.
std::vector<opcode> first_commands(sandbox::embedded_cluster& server) {
    std::vector<opcode> said;
    server.with_cluster([&](sandbox::cluster& cluster) {
        const auto entries = cluster.audit().entries();
        for (const sandbox::audit_entry& entry : entries) {
            if (entry.connection == entries.front().connection) {
                said.push_back(entry.op);
            }
        }
    });
    return said;
}

sandbox::server_options with_rounds(std::uint32_t iterations) {
    auto options = small_options();
    options.cluster.node_count = 1;
    options.cluster.scram_iterations = iterations;
    return options;
}

TEST(logins, EM_01_hello_is_sent_first_unless_options_or_string_put_it_after_the_login) {
    {
        const auto server = start();
        ASSERT_TRUE(documents(connect(*server)).upsert("k", "v"));
        EXPECT_EQ(first_commands(*server).at(0), opcode::hello);
    }
    {
        const auto server = start();
        auto options = app_options();
        options.hello_after_authentication = true;
        ASSERT_TRUE(documents(connect(*server, options)).upsert("k", "v"));
        const auto said = first_commands(*server);
        EXPECT_EQ(said.at(0), opcode::sasl_list_mechanisms);
        EXPECT_EQ(said.at(3), opcode::hello);
    }
    const auto server = start();
    const auto cluster = connect_to(with_parameter(*server, "hello_after_authentication=true"));
    ASSERT_TRUE(documents(cluster).upsert("k", "v"));
    EXPECT_EQ(first_commands(*server).at(0), opcode::sasl_list_mechanisms);
}

TEST(logins, more_iterations_than_usual_are_refused_unless_options_or_string_allow_them) {
    const auto server = start(with_rounds(100'001));
    const auto refused = must_fail(documents(connect(*server)).get("k", {.timeout = 500ms}));
    EXPECT_EQ(refused.code(), errc::unambiguous_timeout) << refused;
    auto options = app_options();
    options.scram_iterations_max = 100'001;
    EXPECT_TRUE(documents(connect(*server, options)).upsert("k", "v"));
    const auto cluster = connect_to(with_parameter(*server, "scram_iterations_max=200000"));
    EXPECT_TRUE(documents(cluster).get("k"));
}

TEST(logins, a_client_that_ends_during_its_login_leaves_nothing_behind) {
    const auto server = start(with_rounds(100'000));
    for (const auto mode :
         {couchbase::thread_mode::own_thread, couchbase::thread_mode::caller_drives}) {
        auto options = app_options();
        options.threads = mode;
        for (int round = 0; round < 5; ++round) {
            const auto cluster = connect(*server, options);
            static_cast<void>(documents(cluster).get("k", {.timeout = 10ms}));
        }
    }
}

}  // namespace logins_test
