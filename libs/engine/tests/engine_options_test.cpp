#include <reprise/engine/engine_options.hpp>

#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <utility>
#include <vector>

#include <reprise/wire/scram.hpp>

namespace reprise::engine::engine_options_test {

using namespace std::chrono_literals;

engine_options usable() {
    engine_options options;
    options.seeds = {{"host", std::nullopt}};
    return options;
}

// The field that is refused after `change`. Empty if the options are valid.
template <class Change>
std::string refused_field(const Change& change) {
    engine_options options = usable();
    change(options);
    const auto error = check(options);
    if (error) {
        EXPECT_FALSE(error->message.empty());
    }
    return error ? error->field : "";
}

TEST(engine_options, the_defaults_with_a_seed_are_valid) {
    EXPECT_FALSE(check(usable()));
    EXPECT_EQ(check(engine_options{}).value().field, "seeds");
}

TEST(engine_options, every_duration_must_be_above_zero_and_leave_room_for_time_points) {
    const std::vector<std::pair<const char*, duration engine_options::*>> fields{
        {"kv_timeout", &engine_options::kv_timeout},
        {"bootstrap_timeout", &engine_options::bootstrap_timeout},
        {"reconnect_delay_min", &engine_options::reconnect_delay_min},
        {"internal_timeout", &engine_options::internal_timeout},
        {"probe_after", &engine_options::probe_after},
        {"probe_timeout", &engine_options::probe_timeout}};
    for (const auto& [name, member] : fields) {
        for (const duration bad : {duration::zero(), duration{-1ms}, duration::max()}) {
            EXPECT_EQ(refused_field([&](auto& options) { options.*member = bad; }), name);
        }
    }
    EXPECT_EQ(
        refused_field([](auto& options) { options.reconnect_delay_max = duration::max(); }),
        "reconnect_delay_max");
}

TEST(engine_options, options_that_contradict_each_other_are_refused) {
    const auto delays = [](duration min, duration max) {
        return refused_field([&](auto& options) {
            options.reconnect_delay_min = min;
            options.reconnect_delay_max = max;
        });
    };
    EXPECT_EQ(delays(2s, 1s), "reconnect_delay_max");
    EXPECT_EQ(delays(2s, 2s), "");
}

TEST(engine_options, counts_have_a_range) {
    struct row {
        const char* name;
        std::size_t engine_options::* member;
        std::size_t max;
    };
    for (const row& each :
         {row{"pipeline_credit", &engine_options::pipeline_credit, 65536},
          row{"write_size_max_bytes", &engine_options::write_size_max_bytes, 1U << 30},
          row{"large_value_size_min_bytes", &engine_options::large_value_size_min_bytes, 1U << 30},
          row{"ready_count_max", &engine_options::ready_count_max, 1U << 30}}) {
        const auto with = [&](std::size_t value) {
            return refused_field([&](auto& options) { options.*each.member = value; });
        };
        EXPECT_EQ(with(0), each.name);
        EXPECT_EQ(with(1), "");
        EXPECT_EQ(with(each.max), "");
        EXPECT_EQ(with(each.max + 1), each.name);
    }
}

TEST(engine_options, texts_and_ratios_are_checked) {
    EXPECT_EQ(refused_field([](auto& options) { options.agent.assign(200, 'a'); }), "");
    EXPECT_EQ(refused_field([](auto& options) { options.agent.assign(201, 'a'); }), "agent");
    for (const double bad : {0.0, -1.0, 1.01, std::numeric_limits<double>::quiet_NaN()}) {
        EXPECT_EQ(
            refused_field([&](auto& options) { options.compression.ratio_max = bad; }),
            "compression.ratio_max");
    }
}

// The options after a connection string. They start with values that it can override.
std::expected<engine_options, wire::connection_string_error> with_string(std::string_view text) {
    engine_options options{{.query_timeout = 1min, .network = "default"}};
    const auto applied = apply(wire::parse_connection_string(text).value(), options);
    return applied ? std::expected<engine_options, wire::connection_string_error>(options)
                   : std::unexpected(applied.error());
}

TEST(engine_options, with_tls_only_larger_values_are_written_from_where_they_are) {
    EXPECT_EQ(with_string("couchbase://a")->large_value_size_min_bytes, 4096U);
    EXPECT_EQ(with_string("couchbases://a")->large_value_size_min_bytes, 65536U);
}

wire::connection_string_error refused(std::string_view text) {
    const auto options = with_string(text);
    EXPECT_FALSE(options) << text;
    return options ? wire::connection_string_error{} : options.error();
}

TEST(engine_options, a_connection_string_overrides_what_it_names) {
    const auto options = with_string(
        "couchbases://a,b:1?kv_timeout=1s&kv_connect_timeout=3s&num_kv_connections=2&network=x"
        "&tls_verify=none&trust_certificate=/a/b%20c.pem&max_http_connections=0&force_ipv4=1"
        "&hello_after_authentication=true&enable_tcp_keepalives=false&config_poll_floor=0");
    ASSERT_TRUE(options) << wire::to_string(options.error());
    EXPECT_EQ(options->seeds.size(), 2U);
    EXPECT_EQ(options->transport, wire::transport::tls);
    EXPECT_EQ(options->kv_timeout, 1s);
    EXPECT_EQ(options->connect_timeout, 3s);
    EXPECT_EQ(options->kv_connections_per_node, 2U);
    EXPECT_EQ(options->network, "x");
    EXPECT_FALSE(options->tls.is_verified);
    EXPECT_EQ(options->tls.ca_file, "/a/b c.pem");
    EXPECT_EQ(options->http_connections_per_node_max, 1024U);
    EXPECT_TRUE(options->force_ipv4);
    EXPECT_TRUE(options->hello_after_authentication);
    EXPECT_FALSE(options->enable_tcp_keepalives);
    EXPECT_EQ(options->config_poll_floor, 0s);
    EXPECT_EQ(options->query_timeout, 1min) << "not in the string";
    EXPECT_EQ(options->dns_srv_name, "");
}

TEST(engine_options, one_name_without_a_port_is_looked_up_unless_that_is_disabled) {
    EXPECT_EQ(with_string("couchbase://a.test")->dns_srv_name, "_couchbase._tcp.a.test");
    EXPECT_EQ(with_string("couchbase://a.test?enable_dns_srv=false")->dns_srv_name, "");
    EXPECT_EQ(with_string("couchbase://10.0.0.1")->dns_srv_name, "");
}

TEST(engine_options, unknown_parameters_are_refused_with_a_suggestion) {
    using enum wire::connection_string_errc;
    const auto error = refused("couchbase://h?kv_timout=1s");
    EXPECT_EQ(error.code, parameter_unknown);
    EXPECT_EQ(error.position, 14U);
    EXPECT_EQ(error.suggestion, "kv_timeout");
    EXPECT_EQ(
        wire::to_string(error), "kv_timout at 14: unknown parameter; did you mean kv_timeout?");
    EXPECT_EQ(refused("couchbase://h?config_pool_floor=1").suggestion, "config_poll_floor");
    EXPECT_EQ(refused("couchbase://h?zzz=1").suggestion, "");
    EXPECT_EQ(refused("couchbase://h?KV_TIMEOUT=1").code, parameter_unknown);
    EXPECT_EQ(refused("couchbase://h?=1").code, parameter_unknown);
    EXPECT_EQ(refused("couchbase://h?password=x").code, parameter_unknown) << "not in a string";
}

TEST(engine_options, parameters_are_checked_against_their_type_and_range) {
    using enum wire::connection_string_errc;
    const auto error = refused("couchbase://h?kv_timeout=1s&query_timeout=soon");
    EXPECT_EQ(error.code, parameter_invalid);
    EXPECT_EQ(error.field, "query_timeout");
    EXPECT_EQ(error.position, 42U);
    for (const char* bad :
         {"kv_timeout", "force_ipv4=yes", "num_kv_connections=0", "num_kv_connections=65",
          "max_http_connections=-1", "network=", "scram_iterations_max=4294967296"}) {
        EXPECT_EQ(refused("couchbases://h?" + std::string(bad)).code, parameter_invalid) << bad;
    }
    EXPECT_EQ(refused("couchbase://h?tls_verify=none").detail, "needs TLS: use couchbases://");
}

// SCRAM's own limits cannot be exceeded by an option.
TEST(engine_options, the_range_of_iterations_is_that_of_scram) {
    EXPECT_EQ(engine_options{}.scram_iterations_max, wire::scram_iterations_max);
    const auto with = [](std::uint32_t value) {
        return refused_field([&](auto& options) { options.scram_iterations_max = value; });
    };
    EXPECT_EQ(with(wire::scram_iterations_min - 1), "scram_iterations_max");
    EXPECT_EQ(with(wire::scram_iterations_min), "");
    EXPECT_EQ(with(wire::scram_iterations_limit), "");
    EXPECT_EQ(with(wire::scram_iterations_limit + 1), "scram_iterations_max");
}

TEST(engine_options, credentials_are_moved_out) {
    engine_options options{{.username = "u", .password = "p", .bearer_token = "t"}};
    const credentials taken = take_credentials(options);
    EXPECT_EQ(taken.username + taken.password + taken.bearer_token, "upt");
    EXPECT_EQ(options.username + options.password + options.bearer_token, "");
}

TEST(engine_options, every_service_has_the_timeout_of_its_name) {
    couchbase::cluster_options options;
    options.query_timeout = 1s;
    options.view_timeout = 2s;
    options.management_timeout = 3s;
    EXPECT_EQ(timeout_of(wire::service::key_value, options), options.kv_timeout);
    EXPECT_EQ(timeout_of(wire::service::query, options), 1s);
    EXPECT_EQ(timeout_of(wire::service::views, options), 2s);
    EXPECT_EQ(timeout_of(wire::service::management, options), 3s);
    EXPECT_EQ(timeout_of(wire::service::backup, options), 3s) << "has none of its own";
}

}  // namespace reprise::engine::engine_options_test
