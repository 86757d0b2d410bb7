#include <gtest/gtest.h>

#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <string>
#include <vector>

#include "live_cluster.hpp"

// Errors, wait_until_ready and diagnostics name what prevents a client from connecting.

namespace connection_causes_test {

using namespace live;

void expect_in(const std::string& text, std::string_view expected) {
    EXPECT_NE(text.find(expected), std::string::npos) << text << "\nlacks: " << expected;
}

// For causes that end a call as soon as they are known. On a busy machine a login takes long, since
// it derives a key; until then the client can only report that the login is not complete.
constexpr auto time_to_refuse = 30s;

// Expects the text in the error of a read, of wait_until_ready, and in diagnostics.
void expect_named(
    const std::string& where, const couchbase::cluster_options& options, std::string_view expected,
    reprise::duration timeout = 500ms) {
    const auto cluster = couchbase::cluster::connect(where, options).value();
    expect_in(words(documents(cluster).get("k", {.timeout = timeout})), expected);
    expect_in(words(cluster.bucket(bucket_name).wait_until_ready(timeout)), expected);
    const auto report = cluster.diagnostics().value();
    EXPECT_TRUE(std::ranges::any_of(report.endpoints, [&](const auto& each) {
        return (each.remote + ": " + each.problem).find(expected) != std::string::npos;
    })) << to_json(report);
}

sandbox::server_options tls_server(
    sandbox::certificate_fault fault = sandbox::certificate_fault::none) {
    auto options = small_options();
    options.tls.is_enabled = true;
    options.tls.fault = fault;
    return options;
}

std::string plain_port(const sandbox::embedded_cluster& server) {
    return "127.0.0.1:" +
           std::to_string(server.addresses().nodes.front().port(reprise::wire::service::key_value));
}

// Occupies all file descriptors except the given number.
class few_descriptors {
public:
    explicit few_descriptors(std::size_t left) {
        ::getrlimit(RLIMIT_NOFILE, &before_);
        rlimit small = before_;
        small.rlim_cur = 256;
        ::setrlimit(RLIMIT_NOFILE, &small);
        for (int next = take(); next >= 0; next = take()) {
            taken_.push_back(next);
        }
        for (; left > 0; --left) {
            give_back();
        }
    }
    ~few_descriptors() {
        while (!taken_.empty()) {
            give_back();
        }
        ::setrlimit(RLIMIT_NOFILE, &before_);
    }
    few_descriptors(const few_descriptors&) = delete;
    few_descriptors& operator=(const few_descriptors&) = delete;

private:
    static int take() { return ::open("/dev/null", O_RDONLY | O_CLOEXEC); }
    void give_back() {
        ::close(taken_.back());
        taken_.pop_back();
    }

    rlimit before_{};
    std::vector<int> taken_;
};

TEST(connection_causes, a_refused_connection_is_named_with_its_address) {
    expect_named("couchbase://127.0.0.1:1", app_options(), "127.0.0.1:1: connection refused");
}

TEST(connection_causes, an_unknown_host_name_is_named) {
    auto options = app_options();
    options.dns_servers = "127.0.0.1:1";  // no server there
    options.dns_timeout = 20ms;
    expect_named("couchbase://nosuch.invalid:11210", options, "cannot resolve nosuch.invalid");
}

TEST(connection_causes, a_tls_port_contacted_in_plain_text_is_named) {
    const auto server = start(tls_server());
    const auto port = server->addresses().nodes.front().port(
        reprise::wire::service::key_value, reprise::wire::transport::tls);
    expect_named(
        "couchbase://127.0.0.1:" + std::to_string(port), app_options(), "this is a TLS port");
}

TEST(connection_causes, a_port_without_tls_is_named) {
    const auto server = start();
    expect_named("couchbases://" + plain_port(*server), app_options(), "TLS");
}

TEST(connection_causes, each_kind_of_bad_certificate_is_named) {
    using sandbox::certificate_fault;
    const std::vector<std::pair<certificate_fault, std::string>> cases{
        {certificate_fault::expired, "certificate has expired"},
        {certificate_fault::wrong_host, "the certificate is for another host"},
        {certificate_fault::untrusted, "the certificate is not trusted"}};
    for (const auto& [fault, expected] : cases) {
        const auto server = start(tls_server(fault));
        auto options = app_options();
        options.tls.ca_file = server->addresses().ca_path;
        expect_named(server->addresses().connection_string_tls, options, expected, time_to_refuse);
    }
}

TEST(connection_causes, refused_credentials_are_named) {
    const auto server = start();
    auto options = app_options();
    options.password = "wrong";
    expect_named(
        server->addresses().connection_string, options, "credentials refused", time_to_refuse);
}

TEST(connection_causes, running_out_of_file_descriptors_is_named_and_retried) {
    const auto server = start();
    auto options = app_options();
    options.threads = couchbase::thread_mode::caller_drives;  // connects no sooner than it reads
    // Without descriptors, the sanitizer cannot examine objects of a type that it has not met. This
    // client stays open: closing it would free descriptors.
    const auto other = connect(*server, options);
    ASSERT_TRUE(documents(other).upsert("k", "v"));
    const auto cluster = connect(*server, options);
    {
        const few_descriptors none(0);
        const auto read = must_fail(documents(cluster).get("k", {.timeout = 500ms}));
        EXPECT_EQ(read.code(), couchbase::errc::unambiguous_timeout);
        expect_in(read.message(), "out of file descriptors");
        // Retried with growing delays, not in a busy loop.
        EXPECT_LT(read.info().retry_attempts, 50U);
    }
    const auto stored = documents(cluster).upsert("k", "v");
    EXPECT_TRUE(stored) << words(stored);
}

}  // namespace connection_causes_test
