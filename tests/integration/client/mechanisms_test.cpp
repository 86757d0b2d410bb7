#include <gtest/gtest.h>

#include <set>
#include <string>

#include "live_cluster.hpp"

namespace mechanisms_test {

using namespace live;

// The mechanisms of all logins so far.
std::set<std::string> used_mechanisms(sandbox::embedded_cluster& server) {
    std::set<std::string> used;
    server.with_cluster([&used](sandbox::cluster& cluster) {
        sandbox::audit_filter filter;
        filter.op = reprise::wire::opcode::sasl_auth;
        for (const sandbox::audit_entry& entry : cluster.audit().entries(filter, 1000)) {
            used.insert(entry.key);
        }
    });
    return used;
}

// Like servers, the sandbox lists PLAIN on its plain ports.
TEST(mechanisms, plain_is_not_chosen_even_if_it_is_listed_and_allowed) {
    for (const bool is_allowed : {false, true}) {
        auto options = app_options();
        options.allow_plain_without_tls = is_allowed;
        const auto [server, cluster] = connected(start(), options);
        ASSERT_TRUE(documents(cluster).upsert("k", "v"));
        EXPECT_EQ(used_mechanisms(*server), std::set<std::string>{"SCRAM-SHA512"}) << is_allowed;
    }
}

}  // namespace mechanisms_test
