#include <gtest/gtest.h>

#include <cstdio>
#include <fstream>
#include <mutex>
#include <sstream>
#include <string>

#include "live_services.hpp"

// Identity and trust towards the HTTP services: TLS, client certificates, bearer tokens and
// credentials that change. None of the secrets may leak.

namespace service_identities_test {

using namespace live_services;

constexpr const char* good_token = "eyJhbGciOiJub25lIn0.eyJzdWIiOiJhcHAifQ.c2lnbmF0dXJl";
constexpr const char* next_token = "eyJhbGciOiJub25lIn0.eyJzdWIiOiJhcHAifQ.bmV4dA";

std::unique_ptr<sandbox::embedded_cluster> start_tls_services(
    sandbox::certificate_fault fault = sandbox::certificate_fault::none) {
    auto options = service_options();
    options.tls.is_enabled = true;
    options.tls.fault = fault;
    options.tls.takes_client_certificates = true;
    options.cluster.users.front().bearer_token = good_token;
    auto server = start(std::move(options));
    server->with_cluster([](sandbox::cluster& at) {
        ASSERT_TRUE(at.services().create_search_index("words", bucket_name));
        ASSERT_TRUE(at.services().put_view(bucket_name, "all", "keys"));
    });
    return server;
}

couchbase::cluster_options trusting(const sandbox::embedded_cluster& server) {
    couchbase::cluster_options options;
    options.kv_timeout = 60s;
    options.query_timeout = 60s;
    options.management_timeout = 60s;
    options.connect_timeout = 5s;
    options.tls.ca_file = server.addresses().ca_path;
    return options;
}

couchbase::cluster connect_tls(
    const sandbox::embedded_cluster& server, const couchbase::cluster_options& options) {
    return couchbase::cluster::connect(server.addresses().connection_string_tls, options).value();
}

couchbase::cluster connect_by_token(
    const sandbox::embedded_cluster& server, const std::string& token) {
    auto options = trusting(server);
    options.bearer_token = token;
    return connect_tls(server, options);
}

void set_token(sandbox::embedded_cluster& server, const std::string& token) {
    server.with_cluster([&](sandbox::cluster& at) {
        sandbox::user_options user;
        user.name = "app";
        user.password = "secret";
        user.bearer_token = token;
        at.accounts().put_user(user);
    });
}

void set_tls(sandbox::embedded_cluster& server, sandbox::tls_disturbance kind) {
    server.with_cluster([&](sandbox::cluster& at) {
        for (const auto node : at.topology().nodes()) {
            sandbox::node_disturbance wanted;
            wanted.tls = kind;
            ASSERT_TRUE(at.disturbances().set(node, wanted));
        }
    });
}

// Every service answers and identifies the user.
void expect_all_services(sandbox::embedded_cluster& server, const couchbase::cluster& cluster) {
    const auto bucket = cluster.bucket(bucket_name);
    const auto stored = bucket.default_collection().upsert("k", "v");
    EXPECT_TRUE(stored) << words(stored);
    const auto rows = cluster.query("SELECT RAW 1", {.readonly = true});
    EXPECT_TRUE(rows) << words(rows);
    const auto analysed = cluster.analytics_query("SELECT RAW 1", {.readonly = true});
    EXPECT_TRUE(analysed) << words(analysed);
    const auto hits = cluster.search("words", couchbase::search_query::match_all());
    EXPECT_TRUE(hits) << words(hits);
    const auto keys = bucket.view_query("all", "keys");
    EXPECT_TRUE(keys) << words(keys);
    const auto buckets = cluster.buckets().list();
    EXPECT_TRUE(buckets) << words(buckets);
    const auto made = bucket.collections().create_scope("made");
    EXPECT_TRUE(made) << words(made);
    server.with_cluster([](sandbox::cluster& at) {
        const auto seen = at.services().audit().entries({});
        EXPECT_GE(seen.size(), 6U);
        for (const auto& entry : seen) {
            EXPECT_EQ(entry.user, "app") << entry.path;
        }
    });
}

// Expects the error by name, long before the timeout, and no request to a service.
void expect_reported_quickly(
    sandbox::embedded_cluster& server, const couchbase::cluster& cluster, errc code,
    retry_reason reason) {
    const auto begun = std::chrono::steady_clock::now();
    const auto rows = cluster.query("SELECT RAW 1", {.readonly = true});
    const auto buckets = cluster.buckets().list();
    EXPECT_LT(std::chrono::steady_clock::now() - begun, 30s);
    ASSERT_FALSE(rows);
    ASSERT_FALSE(buckets);
    for (const auto& failed : {rows.error(), buckets.error()}) {
        EXPECT_EQ(failed.code(), code) << failed;
        EXPECT_FALSE(failed.is_ambiguous());
        EXPECT_EQ(failed.info().last_reason, reason) << failed;
        EXPECT_NE(failed.message().find(to_string(reason)), std::string::npos) << failed;
    }
    EXPECT_EQ(requests_to(server, service::query), 0U);
}

// A certificate and a key as files, removed at the end.
class certificate_files {
public:
    explicit certificate_files(const sandbox::certificate_pem& pem)
        : stem_(::testing::TempDir() + "reprise_service_identity") {
        std::ofstream(certificate()) << pem.certificate;
        std::ofstream(key()) << pem.private_key;
    }
    ~certificate_files() {
        std::remove(certificate().c_str());
        std::remove(key().c_str());
    }
    certificate_files(const certificate_files&) = delete;
    certificate_files& operator=(const certificate_files&) = delete;
    [[nodiscard]] std::string certificate() const { return stem_ + ".crt"; }
    [[nodiscard]] std::string key() const { return stem_ + ".key"; }

private:
    std::string stem_;
};

TEST(service_identities, a_password_over_tls_works_for_every_service) {
    const auto server = start_tls_services();
    auto options = trusting(*server);
    options.username = "app";
    options.password = "secret";
    expect_all_services(*server, connect_tls(*server, options));
}

TEST(service_identities, a_client_certificate_works_for_every_service) {
    const auto server = start_tls_services();
    const certificate_files files(server->issue_client_certificate("app").value());
    auto options = trusting(*server);
    options.tls.certificate_file = files.certificate();
    options.tls.key_file = files.key();
    expect_all_services(*server, connect_tls(*server, options));
}

TEST(service_identities, a_bearer_token_works_for_every_service) {
    const auto server = start_tls_services();
    expect_all_services(*server, connect_by_token(*server, good_token));
}

TEST(service_identities, RH_25_RH_40_a_wrong_token_is_reported_by_name_and_soon) {
    const auto server = start_tls_services();
    expect_reported_quickly(
        *server, connect_by_token(*server, "wrong"), errc::authentication_failure,
        retry_reason::authentication_error);
}

TEST(service_identities, RH_25_a_wrong_password_is_reported_by_name_and_soon) {
    const auto server = start_tls_services();
    auto options = trusting(*server);
    options.username = "app";
    options.password = "wrong";
    expect_reported_quickly(
        *server, connect_tls(*server, options), errc::authentication_failure,
        retry_reason::authentication_error);
}

TEST(service_identities, RH_26_an_untrusted_server_is_reported_by_name_and_soon) {
    const auto server = start_tls_services(sandbox::certificate_fault::untrusted);
    expect_reported_quickly(
        *server, connect_by_token(*server, good_token), errc::tls_failure, retry_reason::tls_error);
}

TEST(service_identities, RH_26_a_service_that_is_no_longer_trusted_is_reported_by_name) {
    const auto server = start_tls_services();
    const auto cluster = connect_by_token(*server, good_token);
    ASSERT_TRUE(documents(cluster).upsert("k", "v"));
    set_tls(*server, sandbox::tls_disturbance::untrusted);
    const auto refused = must_fail(cluster.query("SELECT RAW 1", {.readonly = true}));
    EXPECT_EQ(refused.code(), errc::tls_failure) << refused;
    EXPECT_EQ(refused.info().last_reason, retry_reason::tls_error) << refused;
    EXPECT_TRUE(documents(cluster).get("k")) << "existing connections keep working";
    set_tls(*server, sandbox::tls_disturbance::none);
    const auto repaired = cluster.query(
        "SELECT RAW 1",
        {.readonly = true, .strategy = std::make_shared<couchbase::best_effort_strategy>()});
    EXPECT_TRUE(repaired) << words(repaired);
}

TEST(service_identities, RH_25_an_expired_token_is_reported_and_a_new_one_is_used_at_once) {
    const auto server = start_tls_services();
    const auto cluster = connect_by_token(*server, good_token);
    ASSERT_TRUE(cluster.query("SELECT RAW 1", {.readonly = true}));
    set_token(*server, next_token);
    const auto rows = must_fail(cluster.query("SELECT RAW 1", {.readonly = true}));
    EXPECT_EQ(rows.code(), errc::authentication_failure) << rows;
    EXPECT_EQ(rows.retry_attempts(), 0U);
    const auto buckets = cluster.buckets().list();
    ASSERT_FALSE(buckets);
    EXPECT_EQ(buckets.error().code(), errc::authentication_failure) << buckets.error();
    ASSERT_TRUE(cluster.replace_credentials({.bearer_token = next_token}));
    const auto repaired = cluster.query("SELECT RAW 1", {.readonly = true});
    EXPECT_TRUE(repaired) << words(repaired);
    EXPECT_TRUE(cluster.buckets().list());
}

// Keeps all logged text.
class text_sink final : public couchbase::log_sink {
public:
    void on_decision(
        couchbase::log_level, const couchbase::decision_record& record) noexcept override {
        add(to_string(record));
    }
    void on_message(couchbase::log_level, std::string_view text) noexcept override { add(text); }
    [[nodiscard]] std::string logged() const {
        const std::scoped_lock lock(mutex_);
        return text_;
    }

private:
    void add(std::string_view text) {
        const std::scoped_lock lock(mutex_);
        text_.append(text).push_back('\n');
    }
    mutable std::mutex mutex_;
    std::string text_;
};

// All texts that an error contains.
std::string everything_said(const couchbase::error& failed) {
    std::ostringstream out;
    const auto& info = failed.info();
    out << failed << failed.message() << info.detail << info.server_context << info.server_ref
        << info.last_dispatched_to << info.operation;
    return out.str();
}

// Makes valid and invalid calls to all services with these credentials, and returns all text they
// produce.
std::string use_and_hear(
    sandbox::embedded_cluster& server, const couchbase::credentials& identity,
    const std::shared_ptr<text_sink>& sink) {
    auto options = trusting(server);
    options.username = identity.username;
    options.password = identity.password;
    options.bearer_token = identity.bearer_token;
    options.log = sink;
    options.log_keys = true;
    const auto cluster = connect_tls(server, options);
    std::string said;
    const auto note = [&](const auto& result) {
        said += result ? std::string() : everything_said(result.error());
    };
    note(cluster.query("SELECT RAW 1", {.readonly = true}));
    note(cluster.query("SELEKT"));
    note(cluster.analytics_query("SELEKT"));
    note(cluster.search("nowhere", couchbase::search_query::match_all()));
    note(cluster.bucket(bucket_name).view_query("none", "none", {.timeout = 200ms}));
    note(cluster.management_request({.target = "/nowhere"}));
    add_rule(server, disturb(service::query, sandbox::fault_close_after{}));
    note(cluster.query("INSERT INTO travel (KEY, VALUE) VALUES ('a', 1)"));
    note(cluster.replace_credentials({}));
    const auto report = cluster.diagnostics();
    said += report ? to_json(*report) : std::string();
    server.with_cluster([&](sandbox::cluster& at) {
        for (const auto& entry : at.services().audit().entries({})) {
            said += entry.path + entry.statement_start + entry.context_id;
        }
    });
    return said;
}

TEST(service_identities, credentials_never_appear_in_logs_errors_reports_or_paths) {
    const auto server = start_tls_services();
    const auto sink = std::make_shared<text_sink>();
    std::string all;
    all += use_and_hear(*server, {.username = "app", .password = "secret"}, sink);
    all += use_and_hear(*server, {.username = "app", .password = "hunter2-wrong"}, sink);
    all += use_and_hear(*server, {.bearer_token = good_token}, sink);
    all += use_and_hear(*server, {.bearer_token = "stale-bearer-token"}, sink);
    all += sink->logged();
    EXPECT_NE(all.find("AUTHENTICATION_ERROR"), std::string::npos) << "no error was reported";
    EXPECT_GT(sink->logged().size(), 500U) << "nothing was logged";
    // As plain text, and as in the Authorization header (app:secret, app:hunter2-wrong).
    for (const std::string& secret :
         {std::string("secret"), std::string("hunter2"), std::string(good_token),
          std::string("stale-bearer-token"), std::string("YXBwOnNlY3JldA"),
          std::string("YXBwOmh1bnRlcjItd3Jvbmc"), std::string("Bearer "), std::string("Basic ")}) {
        const auto at = all.find(secret);
        EXPECT_EQ(at, std::string::npos)
            << secret << " in: " << all.substr(at > 80 ? at - 80 : 0, 200);
    }
}

}  // namespace service_identities_test
