#include <gtest/gtest.h>

#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include "live_services.hpp"

// Statements while nodes join and leave, counted by the server's audit.

namespace topology_test {

using namespace live_services;

// Goal: no writing statement runs twice, and no successful one is lost, while a node is failed over
// and a rebalance runs. Method: four threads write, each statement once and with its own context
// id.
TEST(service_topology, no_writing_statement_runs_twice_through_a_failover_and_a_rebalance) {
    auto options = service_options();
    options.cluster.node_count = 3;
    options.cluster.replica_count = 1;
    const auto [server, cluster] = connected(start(std::move(options)));
    // Some of them also lose their answers. A statement that was sent must not be sent again.
    auto lost = disturb(service::query, sandbox::fault_close_after{}, 1'000'000);
    lost.when.every = 7;
    add_rule(*server, lost);
    constexpr int thread_count = 4;
    std::atomic<int> phase{0};
    std::atomic<std::uint64_t> done_count{0};
    std::vector<std::vector<std::pair<std::string, bool>>> outcomes(thread_count);
    std::vector<std::thread> threads;
    for (int number = 0; number < thread_count; ++number) {
        threads.emplace_back([&, number] {
            for (int i = 0; phase.load() < 2; ++i) {
                const std::string context = "w" + std::to_string(number) + "-" + std::to_string(i);
                const auto written = cluster.query(
                    "INSERT INTO travel (KEY, VALUE) VALUES ($1, 1)",
                    {.timeout = 10s, .positional = {context}, .client_context_id = context});
                outcomes[static_cast<std::size_t>(number)].emplace_back(
                    context, written.has_value());
                const auto read = cluster.query("SELECT RAW 1", {.timeout = 10s, .readonly = true});
                EXPECT_TRUE(read) << words(read);
                ++done_count;
            }
        });
    }
    const auto await_more = [&](std::uint64_t more) {
        const auto until = done_count.load() + more;
        while (done_count.load() < until) {
            std::this_thread::yield();
        }
    };
    await_more(50);
    server->with_cluster(
        [](sandbox::cluster& at) { EXPECT_TRUE(at.topology().failover(sandbox::node_id{2})); });
    await_more(50);
    EXPECT_TRUE(server->add_node());
    EXPECT_TRUE(server->rebalance());
    EXPECT_TRUE(server->wait_rebalance(30s));
    await_more(50);
    phase = 2;
    for (auto& each : threads) {
        each.join();
    }
    for (const auto& of_thread : outcomes) {
        for (const auto& [context, is_ok] : of_thread) {
            const auto [request_count, applied_count] = seen(*server, context);
            EXPECT_LE(applied_count, 1U) << context;
            EXPECT_TRUE(!is_ok || applied_count == 1) << context;
            EXPECT_LE(request_count, 1U) << context;
        }
    }
}

}  // namespace topology_test
