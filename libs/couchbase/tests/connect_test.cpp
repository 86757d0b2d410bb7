#include <reprise/couchbase/cluster.hpp>

#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include <reprise/couchbase_types/cluster_options.hpp>

// Tests the options that connect refuses before it starts anything, and the field that the error
// names. These clients are never driven.

namespace reprise::couchbase::connect_test {

using namespace std::chrono_literals;

cluster_options usable() {
    return {.username = "app", .password = "secret", .threads = thread_mode::caller_drives};
}

// The refusal. Empty if connect accepts the options.
std::pair<std::error_code, std::string> refusal_of(
    const std::string& where, const cluster_options& options = usable()) {
    const auto made = cluster::connect(where, options);
    return made ? std::pair<std::error_code, std::string>()
                : std::pair{made.error().code(), made.error().message()};
}

void expect_refused(
    const std::pair<std::error_code, std::string>& refusal, errc code, const std::string& words) {
    EXPECT_EQ(refusal.first, code) << words;
    EXPECT_NE(refusal.second.find(words), std::string::npos) << words << " in " << refusal.second;
}

TEST(connect, parameters_with_an_effect_are_accepted) {
    for (const char* parameter :
         {"kv_connect_timeout=1s",
          "kv_timeout=1s",
          "kv_durable_timeout=1s",
          "config_poll_interval=1s",
          "config_poll_floor=10ms",
          "revision_delay_max=0",
          "missing_bucket_patience=1s",
          "tcp_keepalive_time=30s",
          "num_kv_connections=2",
          "io_threads=1",
          "enable_tcp_keepalives=false",
          "enable_mutation_tokens=false",
          "enable_dns_srv=false",
          "force_ipv4=true",
          "network=external",
          "preferred_server_group=east",
          "scram_iterations_max=4096",
          "allow_plain_without_tls=true",
          "hello_after_authentication=true",
          "trust_srv_targets=true",
          "seed_silence_max=500ms"}) {
        const auto refusal = refusal_of(std::string("couchbase://127.0.0.1:1?") + parameter);
        EXPECT_FALSE(refusal.first) << refusal.second;
    }
    EXPECT_FALSE(refusal_of("couchbases://127.0.0.1:1?tls_verify=none").first);
    expect_refused(
        refusal_of("couchbases://127.0.0.1:1?trust_certificate=/nonexistent/ca.pem"),
        errc::certificate_unreadable, "/nonexistent/ca.pem");
}

TEST(connect, parameters_of_the_http_services_are_accepted) {
    for (const char* parameter :
         {"view_timeout=1s", "query_timeout=1s", "analytics_timeout=1s", "search_timeout=1s",
          "management_timeout=1s", "idle_http_connection_timeout=1s", "max_http_connections=1",
          "max_http_connections=0", "allow_plain_http=true", "allow_plain_http=false"}) {
        EXPECT_FALSE(refusal_of("couchbase://127.0.0.1:1?" + std::string(parameter)).first)
            << parameter;
    }
}

// Regression: they were accepted and had no effect, so an operator relied on them.
TEST(connect, unsupported_parameters_are_refused_by_name) {
    for (const char* parameter : {"config_idle_redial_timeout=1s"}) {
        const std::string text = parameter;
        expect_refused(
            refusal_of("couchbase://127.0.0.1:1?" + text), errc::connection_string_invalid,
            text.substr(0, text.find('=')) +
                " at 24: unknown parameter: not supported by this client");
    }
    // A value that is wrong for any client is reported first.
    expect_refused(
        refusal_of("couchbase://127.0.0.1:1?query_timeout=soon"), errc::connection_string_invalid,
        "not a duration");
}

TEST(connect, parameters_out_of_range_are_refused_by_the_name_in_the_string) {
    const std::string start = "couchbase://127.0.0.1:1?";
    struct refused_parameter {
        std::string name;
        std::string value;
        std::string words;
    };
    for (const auto& [name, value, words] : std::vector<refused_parameter>{
             {"kv_connect_timeout", "0", "must be above zero"},
             {"query_timeout", "0", "must be above zero"},
             {"max_http_connections", "1025", "must be 1 to 1024"},
             {"num_kv_connections", "65", "must be 1 to 64"},
             {"io_threads", "0", "must be 1 to 64"},
             {"io_threads", "65", "must be 1 to 64"},
             {"scram_iterations_max", "4095", "must be 4096 to 10000000"},
             {"scram_iterations_max", "10000001", "must be 4096 to 10000000"},
             {"tcp_keepalive_time", "999ms", "must be at least 1s"},
             {"tls_verify", "none", "needs TLS"},
             {"trust_certificate", "ca.pem", "needs TLS"}}) {
        const std::string position = std::to_string(start.size() + name.size() + 1);
        expect_refused(
            refusal_of(start + name + "=" + value), errc::connection_string_invalid,
            name + " at " + position + ": invalid parameter value: " + words);
    }
    for (const char* parameter : {"config_poll_interval=40ms", "config_poll_floor=1m"}) {
        expect_refused(
            refusal_of(start + parameter), errc::connection_string_invalid,
            "config_poll_interval: is below config_poll_floor");
    }
    expect_refused(
        refusal_of(start + "io_threads=2"), errc::connection_string_invalid,
        "io_threads: must be 1 if callers drive the client");
}

TEST(connect, options_out_of_range_are_refused_by_the_field) {
    using change = std::function<void(cluster_options&)>;
    const std::vector<std::pair<const char*, change>> changes{
        {"kv_timeout must be", [](auto& to) { to.kv_timeout = 0s; }},
        {"config_poll_interval is below", [](auto& to) { to.config_poll_interval = 1ms; }},
        {"not_my_vbucket_delay must not", [](auto& to) { to.not_my_vbucket_delay = -1ms; }},
        {"scram_iterations_max must be", [](auto& to) { to.scram_iterations_max = 4095; }},
        {"network must not be empty", [](auto& to) { to.network.clear(); }},
        {"dns_timeout must be", [](auto& to) { to.dns_timeout = 0s; }},
        {"circuit_breaker.volume_threshold must be",
         [](auto& to) { to.circuit_breaker = {.volume_threshold = 0}; }},
        {"username, bearer_token or", [](auto& to) { to.username.clear(); }},
        {"password needs a username",
         [](auto& to) { to.bearer_token = std::exchange(to.username, ""); }},
        {"only one of", [](auto& to) { to.bearer_token = "token"; }},
    };
    for (const auto& [words, apply] : changes) {
        cluster_options options = usable();
        apply(options);
        expect_refused(refusal_of("couchbase://127.0.0.1:1", options), errc::option_invalid, words);
    }
}

// Without this check, a user who configures trust but forgets the `s` would silently have no TLS.
TEST(connect, options_for_tls_are_refused_without_it) {
    using change = std::function<void(tls_options&)>;
    const std::vector<std::pair<const char*, change>> changes{
        {"tls.ca_file needs TLS", [](auto& to) { to.ca_file = "ca.pem"; }},
        {"tls.ca_pem needs TLS", [](auto& to) { to.ca_pem = "PEM"; }},
        {"tls.key_file needs TLS", [](auto& to) { to.key_file = "key.pem"; }},
        {"tls.is_verified needs TLS", [](auto& to) { to.is_verified = false; }}};
    for (const auto& [words, apply] : changes) {
        cluster_options options = usable();
        apply(options.tls);
        expect_refused(refusal_of("couchbase://127.0.0.1:1", options), errc::option_invalid, words);
    }
    cluster_options certificate{.threads = thread_mode::caller_drives};
    certificate.tls.certificate_file = "me.pem";
    expect_refused(
        refusal_of("couchbase://127.0.0.1:1", certificate), errc::option_invalid,
        "tls.certificate_file needs TLS");
}

TEST(connect, new_credentials_must_name_one_identity) {
    const auto made = cluster::connect("couchbase://127.0.0.1:1", usable());
    ASSERT_TRUE(made);
    const auto code_of = [&](const credentials& identity) {
        const auto replaced = made->replace_credentials(identity);
        return replaced ? std::error_code() : replaced.error().code();
    };
    EXPECT_FALSE(code_of({.username = "app", .password = "new"}));
    EXPECT_EQ(code_of({.bearer_token = "token"}), errc::option_invalid) << "no TLS";
    EXPECT_EQ(code_of({}), errc::option_invalid);
    EXPECT_EQ(code_of({.username = "a", .bearer_token = "t"}), errc::option_invalid);
    EXPECT_EQ(code_of({.password = "p", .bearer_token = "t"}), errc::option_invalid);
}

TEST(connect, a_bearer_token_is_accepted_over_tls_or_if_the_options_allow_it_without) {
    cluster_options options{.bearer_token = "token", .threads = thread_mode::caller_drives};
    expect_refused(
        refusal_of("couchbase://127.0.0.1:1", options), errc::option_invalid,
        "bearer_token needs TLS");
    options.allow_plain_without_tls = true;
    EXPECT_FALSE(refusal_of("couchbase://127.0.0.1:1", options).first);
    options.allow_plain_without_tls = false;
    const auto made = cluster::connect("couchbases://127.0.0.1:1", options);
    ASSERT_TRUE(made) << made.error();
    EXPECT_TRUE(made->replace_credentials({.bearer_token = "next"}));
    expect_refused(
        refusal_of("couchbases://127.0.0.1:1?tls_verify=none", options), errc::option_invalid,
        "bearer_token needs TLS and a verified certificate");
    EXPECT_FALSE(
        refusal_of("couchbases://127.0.0.1:1?tls_verify=none&allow_plain_without_tls=true", options)
            .first);
}

}  // namespace reprise::couchbase::connect_test
