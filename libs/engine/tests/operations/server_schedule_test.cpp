#include <gtest/gtest.h>

#include "engine_driver.hpp"
#include "operations/server_schedule.hpp"

// The opt-in strategy that follows the waiting rules of the server's error map.

namespace reprise::engine::testing::server_directed_tests {

constexpr auto constant_code = static_cast<status>(0x7ff0);     // 10, 25, 25, ... for 100 ms
constexpr auto linear_code = static_cast<status>(0x7ff1);       // 10, 10, 20, 30, 30, ...
constexpr auto exponential_code = static_cast<status>(0x7ff2);  // 10, 2, 4, 8, ...
constexpr auto specless_code = static_cast<status>(0x7ff3);     // auto-retry, interval outside
constexpr auto final_code = static_cast<status>(0x7ff4);
constexpr auto unusable_code = static_cast<status>(0x7ff5);   // a rule that cannot be followed
constexpr auto misplaced_code = static_cast<status>(0x7ff6);  // retry-later, interval outside
constexpr auto ruleless_code = static_cast<status>(0x7ff7);   // retry-now without any rule
constexpr auto promised_code = static_cast<status>(0x7ff8);   // auto-retry without any rule

constexpr std::string_view map_text =
    R"({"version":2,"revision":1,"errors":{)"
    R"("7ff0":{"name":"CONSTANT","desc":"d","attrs":["temp","auto-retry"],"retry":)"
    R"({"strategy":"constant","interval":25,"after":10,"max-duration":100}},)"
    R"("7ff1":{"name":"LINEAR","desc":"d","attrs":["auto-retry"],"retry":)"
    R"({"strategy":"linear","interval":10,"after":10,"ceil":30}},)"
    R"("7ff2":{"name":"EXPONENTIAL","desc":"d","attrs":["retry-later"],"retry":)"
    R"({"strategy":"exponential","interval":2,"after":10,"max-duration":0}},)"
    R"("7ff3":{"name":"SPECLESS","desc":"no usable rule","attrs":["auto-retry"],)"
    R"("strategy":"constant","interval":25,"after":10},)"
    R"("7ff5":{"name":"UNUSABLE","desc":"no usable rule","attrs":["retry-later"],"retry":)"
    R"({"strategy":"fibonacci","interval":25,"after":10}},)"
    R"("7ff6":{"name":"MISPLACED","desc":"no usable rule","attrs":["retry-later"],)"
    R"("strategy":"constant","interval":25,"after":10},)"
    R"("7ff7":{"name":"RULELESS","desc":"d","attrs":["retry-now"]},)"
    R"("7ff8":{"name":"PROMISED","desc":"no usable rule","attrs":["auto-retry"]},)"
    R"("7ff4":{"name":"FINAL","desc":"d","attrs":["item-only"]}}})";

scripted_cluster make_cluster() {
    scripted_cluster cluster(1);
    cluster.nodes[0].error_map_text = map_text;
    return cluster;
}

engine_options directed() {
    engine_options options;
    options.strategy = std::make_shared<server_directed_strategy>();
    return options;
}

// Answers stores with these codes in turn, and repeats the last one.
scripted_cluster::hook refuse_with(std::vector<status> codes) {
    return [codes = std::move(codes),
            next = std::size_t{0}](const seen_request& seen) mutable -> std::optional<answer> {
        if (seen.op != opcode::set) {
            return std::nullopt;
        }
        const status code = codes[std::min(next++, codes.size() - 1)];
        return code == status::success ? std::nullopt : std::optional(answer{.status = code});
    };
}

std::vector<duration> store_gaps(const scripted_cluster& cluster) {
    const auto seen = cluster.all(opcode::set);
    std::vector<duration> result;
    for (std::size_t index = 1; index < seen.size(); ++index) {
        result.push_back(seen[index].at - seen[index - 1].at);
    }
    return result;
}

TEST(server_directed, EM_08_strategies_see_the_servers_rule_as_it_is) {
    using pair = std::pair<wire::retry_spec_kind, server_backoff>;
    for (const auto& [sent, seen] :
         {pair{wire::retry_spec_kind::constant, server_backoff::constant},
          pair{wire::retry_spec_kind::linear, server_backoff::linear},
          pair{wire::retry_spec_kind::exponential, server_backoff::exponential}}) {
        server_schedule schedule;
        wire::retry_spec spec{sent, 7ms, 3ms, 20ms, 900ms};
        spec.floor = 5ms;
        const auto rule = schedule.on_failure(5, &spec, time_point{1h});
        ASSERT_TRUE(rule);
        EXPECT_EQ(rule->kind, seen);
        EXPECT_EQ(rule->interval, 7ms);
        EXPECT_EQ(rule->after, 3ms);
        EXPECT_EQ(rule->ceil, 20ms);
        EXPECT_EQ(rule->floor, 5ms);
        EXPECT_EQ(rule->max_duration, 900ms);
        EXPECT_EQ(rule->retries, 0U);
        EXPECT_EQ(rule->first_failure, time_point{1h});
    }
}

TEST(server_directed, a_kind_of_rule_outside_the_enumeration_counts_as_constant) {
    wire::retry_spec spec;
    spec.kind = static_cast<wire::retry_spec_kind>(99);
    server_schedule schedule;
    EXPECT_EQ(schedule.on_failure(0x7ff0, &spec, time_point{})->kind, server_backoff::constant);
}

TEST(server_directed, EM_09_retries_happen_at_the_times_the_server_planned) {
    const std::vector<std::pair<status, std::vector<duration>>> cases{
        {constant_code, {10ms, 25ms, 25ms, 25ms}},
        {linear_code, {10ms, 10ms, 20ms, 30ms, 30ms}},
        {exponential_code, {10ms, 2ms, 4ms, 8ms, 16ms, 32ms}}};
    for (const auto& [code, expected] : cases) {
        scripted_cluster cluster = make_cluster();
        connected_driver driver(cluster, directed());
        std::vector<status> codes(expected.size(), code);
        codes.push_back(status::success);
        cluster.on_request = refuse_with(codes);
        const auto stored = driver.after(2s, driver.upsert("k", "v"));
        ASSERT_TRUE(stored->has_succeeded());
        EXPECT_EQ(stored->result.retry_attempts, expected.size());
        EXPECT_EQ(store_gaps(cluster), expected) << static_cast<int>(code);
    }
}

TEST(server_directed, EM_09_the_default_strategies_do_not_use_the_servers_rule) {
    for (const bool is_best_effort : {false, true}) {
        scripted_cluster cluster = make_cluster();
        engine_options options;
        if (is_best_effort) {
            options.strategy = std::make_shared<best_effort_strategy>();
        }
        connected_driver driver(cluster, options);
        cluster.on_request = refuse_with(
            {constant_code, constant_code, constant_code, constant_code, status::success});
        const auto stored = driver.after(1s, driver.upsert("k", "v"));
        EXPECT_TRUE(stored->result.has_value());
        EXPECT_EQ(store_gaps(cluster), (std::vector<duration>{1ms, 2ms, 4ms, 8ms}));
    }
}

TEST(server_directed, EM_09_slow_answers_do_not_shift_the_plan) {
    scripted_cluster cluster = make_cluster();
    connected_driver driver(cluster, directed());
    cluster.answer_all(opcode::set, {.is_silent = true});
    const time_point started = driver.now;
    const auto stored = driver.settled(driver.upsert("k", "v"));
    // Each answer arrives 7 ms after its request. The first failure is at 7 ms; from there on the
    // plan is 10, 25, 25 ms, independent of the answers.
    for (std::size_t count = 1; count <= 3; ++count) {
        const auto seen = cluster.all(opcode::set);
        ASSERT_EQ(seen.size(), count);
        driver.advance(seen.back().at + 7ms - driver.now);
        wire::response_header header;
        header.op = opcode::set;
        header.opaque = seen.back().opaque;
        header.status = constant_code;
        driver.send(seen.back().connection, encoded(wire::empty_response{}, header));
        driver.settle();
        while (cluster.all(opcode::set).size() == count && driver.now < started + 1s) {
            driver.advance(1ms);
        }
    }
    std::vector<duration> at;
    for (const seen_request& seen : cluster.all(opcode::set)) {
        at.push_back(seen.at - started);
    }
    EXPECT_EQ(at, (std::vector<duration>{0ms, 17ms, 42ms, 67ms}));
    EXPECT_EQ(stored->calls, 0);
}

TEST(server_directed, EM_10_after_max_duration_the_request_fails_with_the_error_of_the_code) {
    scripted_cluster cluster = make_cluster();
    connected_driver driver(cluster, directed());
    cluster.on_request = refuse_with({constant_code});
    const time_point started = driver.now;
    const auto stored = driver.after(2s, driver.upsert("k", "v"));
    ASSERT_EQ(stored->calls, 1);
    // Retries at 10, 35, 60 and 85 ms. The next one would be at 110 ms.
    EXPECT_EQ(cluster.count(opcode::set), 5U);
    EXPECT_LE(stored->at - started, 100ms);
    EXPECT_EQ(stored->result.ec, errc::temporary_failure);
    ASSERT_TRUE(stored->result.error->error_map.has_value());
    EXPECT_EQ(stored->result.error->error_map->name, "CONSTANT");
    EXPECT_EQ(stored->result.history->entries.back().refusal(), refusal_reason::strategy_refused);
}

TEST(server_directed, EM_10_the_operations_timeout_wins_when_it_is_smaller) {
    for (const status code : {constant_code, exponential_code}) {
        scripted_cluster cluster = make_cluster();
        connected_driver driver(cluster, directed());
        cluster.on_request = refuse_with({code});
        auto request = driver.request(operation_kind::upsert, "k", "v");
        request.timeout = 95ms;
        const time_point started = driver.now;
        const auto stored = driver.after(2s, driver.start(std::move(request)));
        EXPECT_EQ(stored->code(), errc::unambiguous_timeout);
        EXPECT_EQ(stored->at - started, 95ms);
    }
}

TEST(server_directed, EM_11_another_code_starts_its_own_plan_and_attempts_continue) {
    scripted_cluster cluster = make_cluster();
    connected_driver driver(cluster, directed());
    cluster.on_request = refuse_with(
        {constant_code, constant_code, linear_code, linear_code, linear_code, constant_code,
         constant_code, constant_code, constant_code, status::success});
    const auto stored = driver.after(2s, driver.upsert("k", "v"));
    ASSERT_EQ(stored->calls, 1);
    // The second series of the first code also starts its max-duration again.
    EXPECT_TRUE(stored->result.has_value());
    EXPECT_EQ(stored->result.retry_attempts, 9U);
    EXPECT_EQ(
        store_gaps(cluster),
        (std::vector<duration>{10ms, 25ms, 10ms, 10ms, 20ms, 10ms, 25ms, 25ms, 25ms}));
}

TEST(server_directed, EM_11_a_code_that_is_not_retryable_fails_at_once) {
    scripted_cluster cluster = make_cluster();
    connected_driver driver(cluster, directed());
    cluster.on_request = refuse_with({linear_code, linear_code, final_code});
    const time_point started = driver.now;
    const auto stored = driver.after(2s, driver.upsert("k", "v"));
    ASSERT_EQ(stored->calls, 1);
    EXPECT_EQ(stored->at - started, 20ms);
    EXPECT_EQ(stored->result.error->status, static_cast<std::uint16_t>(final_code));
    EXPECT_EQ(stored->result.error->error_map->name, "FINAL");
    EXPECT_EQ(stored->result.retry_attempts, 2U);
}

TEST(server_directed, EM_10_a_retry_planned_for_the_very_end_is_not_made) {
    scripted_cluster cluster = make_cluster();
    cluster.nodes[0].error_map_text =
        R"({"version":2,"revision":1,"errors":{)"
        R"("7ff0":{"name":"CONSTANT","desc":"d","attrs":["temp","auto-retry"],"retry":)"
        R"({"strategy":"constant","interval":10,"after":50,"max-duration":500}}}})";
    connected_driver driver(cluster, directed());
    cluster.on_request = refuse_with({constant_code});
    const time_point started = driver.now;
    const auto stored = driver.after(2s, driver.upsert("k", "v"));
    ASSERT_EQ(stored->calls, 1);
    // At 50, 60, ... 490 ms. A retry at 500 ms would start when the time is over.
    EXPECT_EQ(cluster.count(opcode::set), 1U + 45U);
    EXPECT_EQ(cluster.all(opcode::set).back().at - started, 490ms);
    EXPECT_EQ(stored->at - started, 490ms);
    EXPECT_EQ(stored->result.ec, errc::temporary_failure);
}

TEST(server_directed, EM_12_without_a_usable_rule_the_request_fails) {
    for (const status code : {specless_code, unusable_code, misplaced_code, promised_code}) {
        scripted_cluster cluster = make_cluster();
        connected_driver driver(cluster, directed());
        cluster.on_request = refuse_with({code});
        const auto stored = driver.settled(driver.upsert("k", "v"));
        ASSERT_EQ(stored->calls, 1);
        EXPECT_EQ(cluster.count(opcode::set), 1U);
        EXPECT_EQ(stored->result.error->status, static_cast<std::uint16_t>(code));
        EXPECT_EQ(stored->result.error->last_reason, retry_reason::kv_error_map_retry_indicated);
        EXPECT_EQ(stored->result.error->error_map->description, "no usable rule");
    }
}

TEST(server_directed, EM_12_codes_that_promise_no_rule_and_known_ones_are_best_effort) {
    scripted_cluster cluster = make_cluster();
    connected_driver driver(cluster, directed());
    cluster.on_request =
        refuse_with({ruleless_code, ruleless_code, status::locked, status::success});
    const auto stored = driver.after(1s, driver.upsert("k", "v"));
    EXPECT_TRUE(stored->has_succeeded());
    EXPECT_EQ(store_gaps(cluster), (std::vector<duration>{1ms, 2ms, 4ms}));
}

TEST(server_directed, EM_12_the_default_strategies_retry_without_a_usable_rule) {
    scripted_cluster cluster = make_cluster();
    connected_driver driver(cluster);
    cluster.on_request =
        refuse_with({specless_code, unusable_code, misplaced_code, status::success});
    const auto stored = driver.after(1s, driver.upsert("k", "v"));
    EXPECT_TRUE(stored->has_succeeded());
    EXPECT_EQ(store_gaps(cluster), (std::vector<duration>{1ms, 2ms, 4ms}));
}

TEST(server_directed, EM_09_a_plan_that_is_late_retries_now_and_stays_on_its_times) {
    wire::retry_spec spec;
    spec.interval = 25ms;
    spec.after = 10ms;
    server_schedule schedule;
    const time_point start{1h};
    EXPECT_EQ(schedule.on_failure(0x7ff0, &spec, start)->due, start + 10ms);
    const auto late = schedule.on_failure(0x7ff0, &spec, start + 50ms);
    EXPECT_EQ(late->due, start + 35ms);
    EXPECT_EQ(late->retries, 1U);
    EXPECT_EQ(late->first_failure, start);
    EXPECT_EQ(schedule.on_failure(0x7ff0, &spec, start + 51ms)->due, start + 60ms);
    EXPECT_FALSE(schedule.on_failure(0x7ff1, nullptr, start + 70ms).has_value());
    EXPECT_EQ(schedule.on_failure(0x7ff0, &spec, start + 80ms)->due, start + 90ms);
}

}  // namespace reprise::engine::testing::server_directed_tests
