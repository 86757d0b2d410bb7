#include <gtest/gtest.h>

#include <algorithm>
#include <csignal>
#include <cstring>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "live_cluster.hpp"
#include "relay.hpp"

// Effects of a client on its process: it raises no signals and behaves after a fork.

namespace process_test {

using namespace live;
using couchbase::errc;
using couchbase::thread_mode;

volatile std::sig_atomic_t pipe_signals = 0;

void count_signal(int) {
    pipe_signals = pipe_signals + 1;
}

// The default action of SIGPIPE ends the process.
class default_signals {
public:
    default_signals() { previous_ = std::signal(SIGPIPE, SIG_DFL); }
    ~default_signals() { std::signal(SIGPIPE, previous_); }

private:
    void (*previous_)(int);
};

// Shows that a connection broken by the relay raises the signal in code that does not prevent it.
int signals_of_a_careless_write(relay& between) {
    const int before = pipe_signals;
    auto* previous = std::signal(SIGPIPE, &count_signal);
    const int accepted = between.accepted_count();
    const int handle = ::socket(AF_INET, SOCK_STREAM, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(between.port());
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    EXPECT_EQ(::connect(handle, reinterpret_cast<sockaddr*>(&address), sizeof(address)), 0);
    const auto until = std::chrono::steady_clock::now() + 30s;
    while (between.accepted_count() == accepted && std::chrono::steady_clock::now() < until) {
    }
    between.break_all();
    EXPECT_EQ(::send(handle, "x", 1, 0), -1);
    ::close(handle);
    std::signal(SIGPIPE, previous);
    return pipe_signals - before;
}

class closed_peer : public ::testing::TestWithParam<bool> {};

// The caller drives the client, so it does not notice the close before it writes.
TEST_P(closed_peer, a_write_to_it_raises_no_signal) {
    const bool is_tls = GetParam();
    auto server_options = small_options();
    server_options.cluster.node_count = 1;
    server_options.cluster.replica_count = 0;
    server_options.tls.is_enabled = is_tls;
    const auto server = start(std::move(server_options));
    const auto ports = server->addresses().nodes.at(0);
    relay between(
        is_tls ? ports.port(reprise::wire::service::key_value, reprise::wire::transport::tls)
               : ports.port(reprise::wire::service::key_value));
    const auto over = is_tls ? reprise::wire::transport::tls : reprise::wire::transport::plain;
    server->with_cluster([&](sandbox::cluster& cluster) {
        const auto node = cluster.topology().nodes().front();
        auto announced = *cluster.topology().endpoints_of(node);
        announced.ports.set(reprise::wire::service::key_value, over, between.port());
        ASSERT_TRUE(cluster.topology().set_endpoints(node, announced));
    });
    auto options = app_options();
    options.threads = thread_mode::caller_drives;
    if (is_tls) {
        options.tls.ca_file = server->addresses().ca_path;
    }
    const auto cluster = couchbase::cluster::connect(
                             std::string(is_tls ? "couchbases" : "couchbase") +
                                 "://127.0.0.1:" + std::to_string(between.port()),
                             options)
                             .value();
    const auto at = documents(cluster);
    must(at.upsert("k", "v"));

    ASSERT_EQ(signals_of_a_careless_write(between), 1) << "the relay breaks nothing";
    const default_signals deadly;
    const auto after = at.upsert("k", "w");
    if (is_tls) {
        // Bytes that TLS has accepted count as sent.
        ASSERT_FALSE(after);
        EXPECT_EQ(after.error().code(), couchbase::errc::request_canceled) << after.error();
        EXPECT_TRUE(after.error().is_ambiguous());
        EXPECT_EQ(at.get("k")->text(), "v");
    } else {
        ASSERT_TRUE(after) << "nothing was sent: " << words(after);
        EXPECT_EQ(at.get("k")->text(), "w");
    }
    EXPECT_EQ(applied_count(*server, reprise::wire::opcode::set, "k"), is_tls ? 1U : 2U);
}

INSTANTIATE_TEST_SUITE_P(over, closed_peer, ::testing::Bool(), [](const auto& each) {
    return each.param ? "tls" : "plain";
});

// How many sockets of this process are connected to one of the ports, and how many of them a child
// process would inherit.
std::pair<int, int> client_sockets(const std::vector<std::uint16_t>& ports) {
    int open = 0;
    int inherited = 0;
    for (int handle = 0; handle < 1024; ++handle) {
        sockaddr_in peer{};
        socklen_t size = sizeof(peer);
        if (::getpeername(handle, reinterpret_cast<sockaddr*>(&peer), &size) != 0 ||
            std::ranges::find(ports, ntohs(peer.sin_port)) == ports.end()) {
            continue;
        }
        ++open;
        inherited += (::fcntl(handle, F_GETFD) & FD_CLOEXEC) == 0;
    }
    return {open, inherited};
}

TEST(programs_started_by_this_one, do_not_inherit_connections) {
    const auto [server, cluster] = connected();
    ASSERT_TRUE(documents(cluster).upsert("k", "v"));
    std::vector<std::uint16_t> ports;
    for (const auto& node : server->addresses().nodes) {
        ports.push_back(node.port(reprise::wire::service::key_value));
    }
    const auto [open, inherited] = client_sockets(ports);
    EXPECT_GE(open, 1);
    EXPECT_EQ(inherited, 0);
}

class forked : public ::testing::TestWithParam<thread_mode> {};

// Runs in the child. Returns 0, or the number of the first violated promise.
int misbehaviour_in_child(
    std::optional<couchbase::cluster>& cluster, std::optional<couchbase::collection>& at) {
    const auto is_refused = [](const auto& result) {
        return !result && result.error().code() == errc::used_after_fork;
    };
    if (!is_refused(at->get("k"))) {
        return 1;
    }
    if (!is_refused(at->upsert("k", "child"))) {
        return 2;
    }
    if (!is_refused(at->get_any_replica("k"))) {
        return 3;
    }
    if (!is_refused(cluster->statistics()) || !is_refused(cluster->wait_until_ready(1s))) {
        return 4;
    }
    if (!is_refused(cluster->replace_credentials({.username = "u", .password = "p"}))) {
        return 5;
    }
    if (!is_refused(cluster->bucket("other").scope("s").collection("c").get("k"))) {
        return 6;
    }
    cluster->close();
    at.reset();
    cluster.reset();
    return 0;
}

TEST_P(forked, calls_of_the_child_fail_by_name_and_the_parent_keeps_working) {
    const auto server = start();
    auto options = app_options();
    options.threads = GetParam();
    std::optional<couchbase::cluster> cluster = connect(*server, options);
    std::optional<couchbase::collection> at = documents(*cluster);
    ASSERT_TRUE(at->upsert("k", "parent"));

    const pid_t child = ::fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
        ::alarm(60);  // a child that hangs must not block the tests
        ::_exit(misbehaviour_in_child(cluster, at));
    }
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    ASSERT_TRUE(WIFEXITED(status)) << "signal " << WTERMSIG(status);
    EXPECT_EQ(WEXITSTATUS(status), 0);

    for (int number = 0; number < 20; ++number) {
        const auto read = must(at->get("k"));
        EXPECT_EQ(read.text(), "parent");
    }
    EXPECT_EQ(at->get("k")->trace.retry_attempts, 0U) << "its connections were left alone";
}

TEST(fork, a_child_can_create_its_own_client) {
    const auto [server, cluster] = connected();
    ASSERT_TRUE(documents(cluster).upsert("k", "parent"));
    const pid_t child = ::fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
        ::alarm(60);
        auto options = app_options();
        options.threads = thread_mode::caller_drives;
        const auto own = connect(*server, options);
        ::_exit(documents(own).upsert("c", "child") ? 0 : 1);
    }
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
    EXPECT_EQ(documents(cluster).get("c")->text(), "child");
}

INSTANTIATE_TEST_SUITE_P(
    with, forked, ::testing::Values(thread_mode::own_thread, thread_mode::caller_drives),
    [](const auto& each) {
        return each.param == thread_mode::own_thread ? "own_thread" : "caller_drives";
    });

}  // namespace process_test
