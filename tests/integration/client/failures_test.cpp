#include <gtest/gtest.h>

#include <cstdio>
#include <fstream>
#include <memory>
#include <string>

#include "live_cluster.hpp"

// If a cluster cannot be used, users get the right error, soon, with its history.

namespace {

using namespace live;

std::unique_ptr<sandbox::embedded_cluster> start_tls(
    sandbox::certificate_fault fault = sandbox::certificate_fault::none) {
    auto options = small_options();
    options.tls.is_enabled = true;
    options.tls.takes_client_certificates = true;
    options.tls.fault = fault;
    return start(std::move(options));
}

couchbase::error first_error(const std::string& where, const couchbase::cluster_options& options) {
    const auto cluster = couchbase::cluster::connect(where, options).value();
    const auto begun = std::chrono::steady_clock::now();
    const auto read = documents(cluster).get("k");
    EXPECT_LT(std::chrono::steady_clock::now() - begun, 8s) << "waited for the timeout";
    EXPECT_FALSE(read);
    return read ? couchbase::error(couchbase::errc::parsing_failure, "no error") : read.error();
}

TEST(failures, RH_25_a_wrong_password_is_an_authentication_failure) {
    const auto server = start();
    auto options = app_options();
    options.password = "wrong";
    const auto failed = first_error(server->addresses().connection_string, options);
    EXPECT_EQ(failed.code(), couchbase::errc::authentication_failure) << failed;
    EXPECT_FALSE(failed.is_ambiguous());
    EXPECT_EQ(failed.message().find("wrong"), std::string::npos) << "passwords are never shown";
}

TEST(failures, RH_39_a_user_created_later_fixes_the_client_without_a_restart) {
    auto options = app_options();
    options.username = "late";
    options.strategy = std::make_shared<couchbase::best_effort_strategy>();
    const auto [server, cluster] = connected(start(), options);
    const auto at = documents(cluster);
    EXPECT_EQ(at.get("k", {.timeout = 300ms}).error().code(), couchbase::errc::unambiguous_timeout);
    server->with_cluster([](sandbox::cluster& brain) {
        sandbox::user_options user;
        user.name = "late";
        user.password = "secret";
        brain.accounts().put_user(user);
    });
    const auto stored = at.upsert("k", "v", {.timeout = 20s});
    EXPECT_TRUE(stored) << words(stored);
}

TEST(failures, a_port_without_a_listener_is_a_timeout_that_names_the_reason) {
    auto options = app_options();
    const auto cluster = couchbase::cluster::connect("couchbase://127.0.0.1:1", options).value();
    const auto read = must_fail(documents(cluster).get("k", {.timeout = 400ms}));
    EXPECT_EQ(read.code(), couchbase::errc::unambiguous_timeout);
    EXPECT_GT(read.retry_reasons().size(), 0U) << read;
}

TEST(failures, a_second_seed_is_used_when_the_first_is_dead) {
    const auto server = start();
    const auto where = server->addresses().connection_string;
    const auto first_host = where.find("127.0.0.1");
    const auto cluster = couchbase::cluster::connect(
                             "couchbase://127.0.0.1:1," + where.substr(first_host), app_options())
                             .value();
    const auto stored = documents(cluster).upsert("k", "v");
    EXPECT_TRUE(stored) << words(stored);
}

struct certificate_case {
    const char* name;
    sandbox::certificate_fault fault;
};

class certificates : public ::testing::TestWithParam<certificate_case> {};

TEST_P(certificates, RH_26_a_bad_certificate_is_a_tls_failure) {
    const auto server = start_tls(GetParam().fault);
    auto options = app_options();
    options.tls.ca_file = server->addresses().ca_path;
    const auto failed = first_error(server->addresses().connection_string_tls, options);
    EXPECT_EQ(failed.code(), couchbase::errc::tls_failure) << failed;
    EXPECT_TRUE(failed.code() == couchbase::error_condition::client_error);
}

TEST_P(certificates, without_verification_any_certificate_is_accepted) {
    const auto server = start_tls(GetParam().fault);
    const auto cluster =
        couchbase::cluster::connect(
            server->addresses().connection_string_tls + "?tls_verify=none", app_options())
            .value();
    const auto stored = documents(cluster).upsert("k", "v");
    EXPECT_TRUE(stored) << words(stored);
}

INSTANTIATE_TEST_SUITE_P(
    with, certificates,
    ::testing::Values(
        certificate_case{"wrong_host", sandbox::certificate_fault::wrong_host},
        certificate_case{"expired", sandbox::certificate_fault::expired},
        certificate_case{"untrusted", sandbox::certificate_fault::untrusted}),
    [](const auto& each) { return std::string(each.param.name); });

TEST(failures, an_unknown_authority_is_not_trusted) {
    const auto server = start_tls();
    const auto other = must(sandbox::certificate_authority::make());
    auto options = app_options();
    options.tls.ca_pem = other.certificate();
    const auto failed = first_error(server->addresses().connection_string_tls, options);
    EXPECT_EQ(failed.code(), couchbase::errc::tls_failure) << failed;
}

TEST(failures, tls_to_a_plain_port_fails) {
    const auto server = start();
    auto where = server->addresses().connection_string;
    where.replace(0, where.find(':'), "couchbases");
    const auto cluster = couchbase::cluster::connect(where, app_options()).value();
    const auto read = must_fail(documents(cluster).get("k", {.timeout = 500ms}));
    EXPECT_FALSE(read.is_ambiguous());
}

// A certificate and a key as files, removed at the end.
class identity_files {
public:
    explicit identity_files(const sandbox::certificate_pem& pem)
        : stem_(::testing::TempDir() + "reprise_client_identity") {
        std::ofstream(certificate()) << pem.certificate;
        std::ofstream(key()) << pem.private_key;
    }
    ~identity_files() {
        std::remove(certificate().c_str());
        std::remove(key().c_str());
    }
    std::string certificate() const { return stem_ + ".crt"; }
    std::string key() const { return stem_ + ".key"; }

private:
    std::string stem_;
};

TEST(failures, a_client_certificate_identifies_the_client) {
    const auto server = start_tls();
    const identity_files files(server->issue_client_certificate("app").value());
    couchbase::cluster_options options;
    options.kv_timeout = 10s;
    options.tls.ca_file = server->addresses().ca_path;
    options.tls.certificate_file = files.certificate();
    options.tls.key_file = files.key();
    const auto cluster =
        couchbase::cluster::connect(server->addresses().connection_string_tls, options).value();
    const auto stored = documents(cluster).upsert("k", "v");
    EXPECT_TRUE(stored) << words(stored);
}

TEST(failures, connect_reports_wrong_arguments) {
    const auto code_of = [](const char* where, const couchbase::cluster_options& options) {
        const auto made = couchbase::cluster::connect(where, options);
        return made ? std::error_code() : made.error().code();
    };
    using couchbase::errc;
    EXPECT_EQ(code_of("couchbase://", app_options()), errc::connection_string_invalid);
    EXPECT_EQ(code_of("couchbase2://host", app_options()), errc::connection_string_invalid);
    EXPECT_EQ(
        code_of("couchbase://h?kv_timout=1s", app_options()), errc::connection_string_invalid);
    EXPECT_EQ(code_of("couchbase://h", {}), errc::option_invalid);
    auto both = app_options();
    both.bearer_token = "t";
    EXPECT_EQ(code_of("couchbase://h", both), errc::option_invalid);
    auto names = app_options();
    names.dns_servers = "nonsense!";
    EXPECT_EQ(code_of("couchbase://h", names), errc::option_invalid);
    auto unreadable = app_options();
    unreadable.tls.ca_file = "/nonexistent/ca.pem";
    EXPECT_EQ(code_of("couchbases://h", unreadable), errc::certificate_unreadable);
    auto half = app_options();
    half.kv_timeout = 0s;
    EXPECT_EQ(code_of("couchbase://h", half), errc::option_invalid);
}

TEST(failures, the_text_of_a_connect_error_names_the_wrong_part) {
    const auto made = couchbase::cluster::connect("couchbase://h?kv_timout=1s", app_options());
    ASSERT_FALSE(made);
    EXPECT_NE(made.error().message().find("kv_timeout"), std::string::npos) << made.error();
}

}  // namespace
