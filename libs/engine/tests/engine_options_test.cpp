#include <reprise/engine/engine_options.hpp>

#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <utility>
#include <vector>

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
        {"kv_durable_timeout", &engine_options::kv_durable_timeout},
        {"connect_timeout", &engine_options::connect_timeout},
        {"bootstrap_timeout", &engine_options::bootstrap_timeout},
        {"reconnect_delay_min", &engine_options::reconnect_delay_min},
        {"config_poll_interval", &engine_options::config_poll_interval},
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
    EXPECT_EQ(refused_field([](auto& options) { options.kv_timeout = duration_option_max; }), "");
}

TEST(engine_options, waits_that_may_be_zero_must_not_be_negative) {
    EXPECT_EQ(refused_field([](auto& options) { options.config_poll_floor = 0ms; }), "");
    EXPECT_EQ(
        refused_field([](auto& options) { options.config_poll_floor = -1ms; }),
        "config_poll_floor");
    EXPECT_EQ(refused_field([](auto& options) { options.not_my_vbucket_delay = 0ms; }), "");
    EXPECT_EQ(
        refused_field([](auto& options) { options.not_my_vbucket_delay = -1ms; }),
        "not_my_vbucket_delay");
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
    EXPECT_EQ(
        refused_field([](auto& options) {
            options.config_poll_floor = 100ms;
            options.config_poll_interval = 99ms;
        }),
        "config_poll_interval");
}

TEST(engine_options, counts_have_a_range) {
    struct row {
        const char* name;
        std::size_t engine_options::* member;
        std::size_t max;
    };
    for (const row& each :
         {row{"kv_connections_per_node", &engine_options::kv_connections_per_node, 64},
          row{"pipeline_credit", &engine_options::pipeline_credit, 65536},
          row{"write_size_max_bytes", &engine_options::write_size_max_bytes, 1U << 30},
          row{"parked_count_max", &engine_options::parked_count_max, 1U << 30},
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
    EXPECT_EQ(refused_field([](auto& options) { options.network.clear(); }), "network");
    EXPECT_EQ(refused_field([](auto& options) { options.agent.assign(200, 'a'); }), "");
    EXPECT_EQ(refused_field([](auto& options) { options.agent.assign(201, 'a'); }), "agent");
    for (const double bad : {0.0, -1.0, 1.01, std::numeric_limits<double>::quiet_NaN()}) {
        EXPECT_EQ(
            refused_field([&](auto& options) { options.compression.ratio_max = bad; }),
            "compression.ratio_max");
    }
}

}  // namespace reprise::engine::engine_options_test
