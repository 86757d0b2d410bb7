#include <gtest/gtest.h>

#include <reprise/lab/scenario.hpp>

namespace reprise::lab {

using namespace std::chrono_literals;

namespace scenario_test {

/// The message for a text that must be refused.
std::string refusal(std::string_view text, std::span<const scenario_override> overrides = {}) {
    const auto read = read_scenario(text, overrides);
    EXPECT_FALSE(read.has_value()) << text;
    return read ? "" : to_string(read.error());
}

scenario accepted(std::string_view text, std::span<const scenario_override> overrides = {}) {
    auto read = read_scenario(text, overrides);
    EXPECT_TRUE(read.has_value()) << (read ? "" : to_string(read.error()));
    return read ? *read : scenario{};
}

/// Wraps retry settings of the clients into a scenario.
std::string with_retries(std::string_view retries) {
    return "{\n\"clients\": {\n\"retries\":\n" + std::string(retries) + "}}";
}

retry_options accepted_retries(std::string_view retries) {
    return accepted(with_retries(retries)).model.clients.retries;
}

}  // namespace scenario_test

using scenario_test::accepted;
using scenario_test::accepted_retries;
using scenario_test::refusal;
using scenario_test::with_retries;

TEST(scenario, all_of_a_model_can_be_written) {
    const scenario read = accepted(R"({
        // A comment.
        "title": "t", "summary": "s", "seed": 7, "length": "1m30s",
        "clients": {"count": 3, "requests_per_second": 12.5, "is_warm": true,
                    "restart_interval": "20s", "attempt_timeout": "250ms", "retries": "smithy"},
        "services": [
            {"name": "a", "capacity_per_second": 100, "work": "fixed", "concurrency": 2, "nodes": 3,
             "queue_limit": 9, "order": "last_in", "shed_after": "1s", "drops_expired": true,
             "failure_share": 0.25, "slow_share": 0.5, "slow_delay": "2s", "network_delay": "3ms",
             "network_jitter": "1us", "calls": ["b", {"service": "b", "count": 4}],
             "retries": {"preset": "none", "attempt_timeout": "1s"}},
            {"name": "b", "work_mean": "5ms"}],
        "troubles": [{"kind": "slow_answers", "service": "b", "start": "3s", "length": "4s",
                      "share": 0.75, "delay": "9ms"},
                     {"kind": "spike", "factor": 3}, {"kind": "deploy", "burst": 2}],
        "strategies": ["none", {"name": "mine", "layers": "all", "retries": "naive"}]})");
    EXPECT_EQ(read.title, "t");
    EXPECT_EQ(read.model.seed, 7U);
    EXPECT_EQ(read.model.length, 90s);
    EXPECT_EQ(read.model.clients.requests_per_second, 12.5);
    EXPECT_EQ(read.model.clients.restart_interval, 20s);
    EXPECT_EQ(read.model.clients.retries.attempt_timeout, 250ms);
    const service_options& a = read.model.services.front();
    EXPECT_EQ(a.capacity_per_second, 100.0);
    EXPECT_EQ(a.work, work_time::fixed);
    EXPECT_EQ(a.nodes, 3U);
    EXPECT_EQ(a.queue_limit, 9U);
    EXPECT_EQ(a.order, queue_order::last_in);
    EXPECT_EQ(a.shed_after, 1s);
    EXPECT_TRUE(a.drops_expired);
    EXPECT_EQ(a.network_jitter, 1us);
    ASSERT_EQ(a.calls.size(), 2U);
    EXPECT_EQ(a.calls[1].count, 4U);
    EXPECT_EQ(a.retries.attempt_timeout, 1s);
    EXPECT_EQ(read.model.troubles[0].delay, 9ms);
    EXPECT_EQ(read.model.troubles[1].factor, 3.0);
    EXPECT_EQ(read.model.troubles[2].burst, 2U);
    ASSERT_EQ(read.strategies.size(), 2U);
    EXPECT_TRUE(read.strategies[1].is_in_every_layer);
}

TEST(scenario, all_retry_settings_can_be_written) {
    const retry_options read = accepted_retries(R"({
        "preset": "aws_2_1", "attempts_max": "unlimited",
        "backoff": {"base": "2ms", "factor": 3, "cap": "4s", "jitter": "equal", "step": "1ms",
                    "hint_excess_max": "5s"},
        "throttling_backoff": {"base": "7ms"},
        "budget": {"bucket": {"capacity": 60, "initial": 1}, "prices": {"retry": 2, "timeout": 3,
                   "throttling": 4, "refund": 0.5, "refund_last_cost": false}},
        "budget_sharing": "shared",
        "breaker": {"volume_threshold": 9, "error_threshold_percent": 40, "rolling_window": "30s",
                    "sleep_window": "2s", "probe_timeout": "3s"},
        "breaker_sharing": "per_client", "hedge": {"delay": "9ms", "percentile": 95},
        "wake": {"per_second": 10}, "delays": ["1ms", "2ms"], "attempt_timeout": "1s",
        "deadline": "8s", "propagates_deadline": true, "passes_allowance": true})");
    EXPECT_EQ(read.attempts_max, std::nullopt);
    EXPECT_EQ(read.backoff.step, 1ms);
    EXPECT_EQ(read.backoff.jitter, jitter::equal);
    EXPECT_EQ(read.throttling_backoff->base, 7ms);
    EXPECT_EQ(read.throttling_backoff->cap, 20s);  // From the preset.
    const auto& bucket = std::get<bucket_options>(read.budget);
    EXPECT_EQ(bucket.bucket.initial, 1.0);
    EXPECT_EQ(bucket.prices.throttling, 4.0);
    EXPECT_EQ(read.budget_sharing, sharing::shared);
    EXPECT_EQ(read.breaker->volume_threshold, 9U);
    EXPECT_EQ(read.breaker_sharing, sharing::per_client);
    EXPECT_EQ(read.hedge->percentile, 95.0);
    EXPECT_EQ(read.wake->per_second, 10.0);
    EXPECT_EQ(read.delays, (std::vector<duration>{1ms, 2ms}));
    EXPECT_EQ(read.deadline, 8s);
    EXPECT_TRUE(read.propagates_deadline && read.passes_allowance);
    const retry_options window =
        accepted_retries(R"({"budget": {"window": {"percent": 5, "minimum_per_second": 1}}})");
    EXPECT_EQ(std::get<windowed_budget_options>(window.budget).percent, 5.0);
    const retry_options free = accepted_retries(R"({"preset": "standard", "budget": "none"})");
    EXPECT_TRUE(std::holds_alternative<std::monostate>(free.budget));
}

TEST(scenario, a_grpc_service_config_is_read_as_it_is) {
    const retry_options read = accepted_retries(R"({
        "loadBalancingConfig": [{"round_robin": {}}],
        "methodConfig": [{"name": [{"service": "foo"}], "timeout": "2s", "retryPolicy": {
            "maxAttempts": 9, "initialBackoff": "0.1s", "maxBackoff": "1s", "backoffMultiplier": 2,
            "retryableStatusCodes": ["UNAVAILABLE"]}}],
        "retryThrottling": {"maxTokens": 20, "tokenRatio": 0.2}})");
    EXPECT_EQ(read.attempts_max, 5U);  // gRPC makes no more.
    EXPECT_EQ(read.backoff.base, 100ms);
    EXPECT_EQ(read.backoff.cap, 1s);
    EXPECT_EQ(read.deadline, 2s);
    EXPECT_EQ(std::get<failure_throttle_options>(read.budget).units_max, 20.0);
    const retry_options hedged =
        accepted_retries(R"({"hedgingPolicy": {"maxAttempts": 3, "hedgingDelay": "0.5s"}})");
    EXPECT_EQ(hedged.attempts_max, 3U);
    EXPECT_EQ(hedged.hedge->delay, 500ms);
    EXPECT_EQ(
        refusal(with_retries(R"({"retryPolicy": {"maxAttempts": 3, "initialBackof": "1s",
            "maxBackoff": "1s", "backoffMultiplier": 2}})")),
        "line 4: clients.retries.retryPolicy: needs 'initialBackoff'");
    EXPECT_EQ(
        refusal(with_retries(R"({"hedgingPolicy": {"maxAttempts": 3, "hedgingDely": "1s"}})")),
        "line 4: clients.retries.hedgingPolicy.hedgingDely: is unknown here; did you mean "
        "'hedgingDelay'?");
}

TEST(scenario, an_envoy_retry_policy_is_read_as_it_is) {
    const retry_options read = accepted_retries(R"({"retry_policy": {
        "retry_on": "5xx", "num_retries": 3, "per_try_timeout": "0.25s",
        "retry_back_off": {"base_interval": "0.01s", "max_interval": "0.05s"}}, "timeout": "1s"})");
    EXPECT_EQ(read.attempts_max, 4U);
    EXPECT_EQ(read.attempt_timeout, 250ms);
    EXPECT_EQ(read.backoff.base, 10ms);
    EXPECT_EQ(read.backoff.cap, 50ms);
    EXPECT_EQ(read.deadline, 1s);
    const retry_options plain = accepted_retries(R"({"retry_on": "reset"})");
    EXPECT_EQ(plain.attempts_max, 2U);
    EXPECT_EQ(plain.backoff.base, 25ms);
}

TEST(scenario, problems_name_line_path_and_what_is_accepted) {
    EXPECT_EQ(
        refusal("{\n\n\"clents\": {}}"),
        "line 3: clents: is unknown here; did you mean 'clients'?");
    // Members that are absent are suggested, too.
    EXPECT_EQ(
        refusal("{\"services\": [{\"queue_limt\": 5}]}"),
        "line 1: services[0].queue_limt: is unknown here; did you mean 'queue_limit'?");
    EXPECT_EQ(
        refusal("{\"services\": [{\"ordr\": 5}]}"),
        "line 1: services[0].ordr: is unknown here; did you mean 'order'?");
    EXPECT_EQ(
        refusal("{\"length\": 90}"),
        "line 1: length: must be a time with its unit, such as \"500ms\"");
    EXPECT_EQ(
        refusal("{\"length\": \"90\"}"),
        "line 1: length: '90' is not a time with its unit, such as \"2.5s\"");
    EXPECT_EQ(
        refusal("{\"services\": [\n{\"capacity_per_second\": 0}]}"),
        "line 2: services[0].capacity_per_second: must be above 0 and at most 10,000,000");
    EXPECT_EQ(
        refusal("{\"services\": [{\"name\": \"a\",\n\"calls\": [\"a\"]}]}"),
        "line 2: services[0].calls: services call each other in a cycle");
    EXPECT_EQ(
        refusal("{\"clients\": {\n\"count\": 99999999}}"),
        "line 2: clients.count: must be between 1 and 1,000,000");
    EXPECT_EQ(
        refusal("{\"clients\": {\"requests_per_second\": 9e6}}"),
        "line 1: clients: would send more than 50 million requests in one run");
    EXPECT_EQ(
        refusal(with_retries("\"standrad\"")),
        "line 3: clients.retries: there is no preset 'standrad'; did you mean 'standard'?");
    EXPECT_EQ(
        refusal(with_retries("{\"backoff\": {\n\"jitter\": \"ful\"}}")),
        "line 5: clients.retries.backoff.jitter: 'ful' is unknown; did you mean 'full'?");
    EXPECT_EQ(
        refusal("{\"troubles\": [{\"kind\": \"stall\",\n\"factor\": 2}]}"),
        "line 2: troubles[0].factor: is unknown here; accepted: kind, start, length, service");
    EXPECT_EQ(
        refusal("{\"strategies\": [\"none\",\n{\"name\": \"x\", \"retries\": {\"backoff\": "
                "{\"base\": \"9s\", \"cap\": \"1s\"}}}]}")
            .substr(0, 43),
        "line 2: strategies[1].retries.backoff.cap: ");
    EXPECT_EQ(
        refusal(R"({"services": [{"network_delay": "0s"}], "strategies": [
            {"name": "x", "retries": {"attempts_max": "unlimited", "delays": ["0s"]}}]})"),
        "line 2: strategies[0].retries: unlimited attempts need a delay or a network delay");
    EXPECT_EQ(refusal("{\"seed\": 1,}").substr(0, 8), "line 1: ");
    EXPECT_EQ(refusal("{\n\"seed\": 1, \"seed\": 2}"), "line 2: duplicate member: seed");
    EXPECT_EQ(refusal("[]"), "line 1: must be an object, not an array");
    EXPECT_EQ(refusal(""), "line 1: no JSON text");
}

TEST(scenario, arrivals_determine_which_options_clients_have) {
    EXPECT_EQ(
        refusal(R"({"clients": {"arrivals": "closed", "requests_per_second": 5}})").substr(0, 61),
        "line 1: clients.requests_per_second: is unknown here; accepte");
    EXPECT_EQ(
        accepted(R"({"clients": {"arrivals": "closed", "requests_each": 5}})")
            .model.clients.requests_each,
        5U);
}

TEST(scenario, overrides_replace_values_and_problems_name_their_path_without_a_line) {
    const std::vector<scenario_override> changes{
        {"clients.count", "5"}, {"length", "2m"}, {"services[0].name", "x"}};
    const scenario read = accepted(R"({"services": [{"name": "a"}]})", changes);
    EXPECT_EQ(read.model.clients.count, 5U);
    EXPECT_EQ(read.model.length, 120s);
    EXPECT_EQ(read.model.services.front().name, "x");
    EXPECT_EQ(
        refusal("{}", std::vector<scenario_override>{{"clients.count", "0"}}),
        "clients.count: must be between 1 and 1,000,000");
    EXPECT_EQ(
        refusal("{}", std::vector<scenario_override>{{"services[3].name", "a"}}),
        "services: must be a list of at most 20");
    EXPECT_EQ(
        refusal(R"({"services": []})", std::vector<scenario_override>{{"services[3].name", "a"}}),
        "services[3].name: '3' is not an element of the list");
}

TEST(scenario, a_strategy_keeps_timeouts_of_the_model_that_it_does_not_set) {
    const scenario read = accepted(R"({
        "clients": {"attempt_timeout": "250ms"},
        "services": [{"name": "a", "calls": ["b"], "attempt_timeout": "1s"}, {"name": "b"}],
        "strategies": ["naive", {"name": "all", "layers": "all", "retries":
            {"attempts_max": 2, "attempt_timeout": "9ms"}}]})");
    const model naive = with_strategy(read, read.strategies[0]);
    EXPECT_EQ(naive.clients.retries.attempts_max, 5U);
    EXPECT_EQ(naive.clients.retries.attempt_timeout, 250ms);
    EXPECT_EQ(naive.services[0].retries.attempts_max, 1U);
    const model all = with_strategy(read, read.strategies[1]);
    EXPECT_EQ(all.clients.retries.attempt_timeout, 9ms);
    EXPECT_EQ(all.services[0].retries.attempts_max, 2U);
}

TEST(scenario, a_file_without_strategies_compares_its_own_settings_with_others) {
    const scenario read = accepted(with_retries("{\"attempts_max\": 2}"));
    ASSERT_EQ(read.strategies.size(), 4U);
    EXPECT_EQ(read.strategies[0].name, "your settings");
    EXPECT_EQ(read.strategies[0].retries.attempts_max, 2U);
    EXPECT_EQ(accepted("{}").strategies.size(), 3U);
}

TEST(scenario, every_entry_of_the_gallery_is_valid_and_explains_itself) {
    for (const gallery_entry& entry : gallery()) {
        SCOPED_TRACE(entry.name);
        const scenario read = accepted(entry.text);
        EXPECT_FALSE(read.title.empty());
        EXPECT_FALSE(read.summary.empty());
        EXPECT_GE(read.strategies.size(), 3U);
        EXPECT_EQ(find_gallery_entry(entry.name), &entry);
    }
    EXPECT_EQ(find_gallery_entry("calm"), nullptr);
    EXPECT_EQ(accepted(new_scenario()).strategies[0].name, "your settings");
    EXPECT_LE(std::ranges::count(new_scenario(), '\n'), 20);
}

TEST(scenario, hostile_text_is_refused) {
    EXPECT_EQ(refusal(std::string(2'000'000, ' ')).substr(0, 29), "line 1: JSON text too large: ");
    EXPECT_NE(refusal(std::string(100'000, '[')).find("deep"), std::string::npos);
    EXPECT_NE(
        refusal("{\"strategies\": [1,2,3,4,5,6,7,8,9]}").find("at most 8"), std::string::npos);
}

}  // namespace reprise::lab
