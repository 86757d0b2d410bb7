#include <reprise/couchbase_types/cluster_options.hpp>

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

namespace reprise::couchbase::cluster_options_test {

using namespace std::chrono_literals;

// The field that is refused after `change`. Empty if the options are valid.
template <class Change>
std::string refused_field(const Change& change) {
    cluster_options options;
    change(options);
    const auto error = check(options);
    EXPECT_TRUE(!error || !error->message.empty());
    return error ? error->field : "";
}

TEST(cluster_options, the_defaults_are_valid) {
    EXPECT_FALSE(check(cluster_options{}));
    EXPECT_EQ(detail::find_tls_option(cluster_options{}), std::nullopt);
}

TEST(cluster_options, every_duration_must_be_above_zero_and_at_most_366_days) {
    const std::vector<std::pair<const char*, duration cluster_options::*>> fields{
        {"seed_silence_max", &cluster_options::seed_silence_max},
        {"kv_timeout", &cluster_options::kv_timeout},
        {"kv_durable_timeout", &cluster_options::kv_durable_timeout},
        {"query_timeout", &cluster_options::query_timeout},
        {"connect_timeout", &cluster_options::connect_timeout},
        {"config_poll_interval", &cluster_options::config_poll_interval},
        {"idle_http_connection_timeout", &cluster_options::idle_http_connection_timeout}};
    for (const auto& [name, member] : fields) {
        for (const duration bad : {duration::zero(), duration{-1ms}, duration::max()}) {
            EXPECT_EQ(refused_field([&](auto& options) { options.*member = bad; }), name);
        }
        EXPECT_EQ(refused_field([&](auto& options) { options.*member = 366 * 24h; }), "");
    }
}

TEST(cluster_options, waits_that_may_be_zero_must_not_be_negative) {
    for (const auto& [name, member] :
         std::vector<std::pair<const char*, duration cluster_options::*>>{
             {"config_poll_floor", &cluster_options::config_poll_floor},
             {"revision_delay_max", &cluster_options::revision_delay_max},
             {"missing_bucket_patience", &cluster_options::missing_bucket_patience}}) {
        EXPECT_EQ(refused_field([&](auto& options) { options.*member = 0ms; }), "");
        EXPECT_EQ(refused_field([&](auto& options) { options.*member = -1ms; }), name);
    }
    EXPECT_EQ(refused_field([](auto& options) { options.not_my_vbucket_delay = 0ms; }), "");
    EXPECT_EQ(
        refused_field([](auto& options) { options.not_my_vbucket_delay = -1ms; }),
        "not_my_vbucket_delay");
}

TEST(cluster_options, a_query_of_a_name_server_takes_1_ms_to_60_s) {
    for (const duration bad : {duration{999us}, duration{60001ms}}) {
        EXPECT_EQ(refused_field([&](auto& options) { options.dns_timeout = bad; }), "dns_timeout");
    }
    EXPECT_EQ(refused_field([](auto& options) { options.dns_timeout = 60s; }), "");
}

TEST(cluster_options, counts_have_a_range) {
    struct row {
        const char* name;
        std::size_t cluster_options::* member;
        std::size_t max;
    };
    for (const row& each :
         {row{"io_threads", &cluster_options::io_threads, 64},
          row{"kv_connections_per_node", &cluster_options::kv_connections_per_node, 64},
          row{"connecting_count_max", &cluster_options::connecting_count_max, 65536},
          row{"http_connections_per_node_max", &cluster_options::http_connections_per_node_max,
              1024},
          row{"prepared_statement_count_max", &cluster_options::prepared_statement_count_max,
              1'000'000},
          row{"parked_count_max", &cluster_options::parked_count_max, 1U << 30},
          row{"submission_count_max", &cluster_options::submission_count_max, 1U << 30}}) {
        const auto with = [&](std::size_t value) {
            return refused_field([&](auto& options) { options.*each.member = value; });
        };
        EXPECT_EQ(with(0), each.name);
        EXPECT_EQ(with(1), "");
        EXPECT_EQ(with(each.max), "");
        EXPECT_EQ(with(each.max + 1), each.name);
    }
    EXPECT_EQ(refused_field([](auto& options) { options.log_decisions_per_second_max = 0; }), "");
}

TEST(cluster_options, texts_and_options_that_contradict_each_other_are_refused) {
    EXPECT_EQ(refused_field([](auto& options) { options.network.clear(); }), "network");
    EXPECT_EQ(
        refused_field([](auto& options) {
            options.config_poll_floor = 100ms;
            options.config_poll_interval = 99ms;
        }),
        "config_poll_interval");
    EXPECT_EQ(
        refused_field([](auto& options) {
            options.io_threads = 2;
            options.threads = thread_mode::caller_drives;
        }),
        "io_threads");
    EXPECT_EQ(
        refused_field([](auto& options) { options.circuit_breaker = {.volume_threshold = 0}; }),
        "circuit_breaker.volume_threshold");
}

TEST(cluster_options, options_for_tls_are_distinguished_from_the_others) {
    cluster_options options;
    options.tls.is_verified = false;
    EXPECT_EQ(detail::find_tls_option(options), "tls.is_verified");
    options.tls.key_file = "key.pem";
    EXPECT_EQ(detail::find_tls_option(options), "tls.key_file");
    EXPECT_TRUE(detail::is_parameter_for_tls("trust_certificate"));
    EXPECT_TRUE(detail::is_parameter_for_tls("tls_verify"));
    EXPECT_FALSE(detail::is_parameter_for_tls("kv_timeout"));
    EXPECT_FALSE(detail::is_parameter_for_tls(""));
}

TEST(cluster_options, a_parameter_sets_its_option_or_is_refused) {
    cluster_options options;
    EXPECT_FALSE(detail::set_parameter(options, "num_kv_connections", "3"));
    EXPECT_EQ(options.kv_connections_per_node, 3U);
    const auto range = detail::set_parameter(options, "num_kv_connections", "65");
    ASSERT_TRUE(range);
    EXPECT_FALSE(range->is_unknown);
    EXPECT_EQ(range->text, "must be 1 to 64");
    EXPECT_EQ(options.kv_connections_per_node, 3U);
    const auto other_name = detail::set_parameter(options, "kv_connections_per_node", "1");
    ASSERT_TRUE(other_name);
    EXPECT_TRUE(other_name->is_unknown);
    const auto unsupported = detail::set_parameter(options, "config_idle_redial_timeout", "1s");
    ASSERT_TRUE(unsupported);
    EXPECT_EQ(unsupported->text, "not supported by this client");
}

}  // namespace reprise::couchbase::cluster_options_test
