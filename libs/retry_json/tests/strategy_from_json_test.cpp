#include <reprise/retry_json/strategy_from_json.hpp>

#include <string>
#include <system_error>
#include <utility>

#include <gtest/gtest.h>

#include <reprise/retry/blocking.hpp>
#include <reprise/testing/virtual_clock.hpp>

namespace reprise {

namespace {

using namespace std::chrono_literals;

[[nodiscard]] loaded_strategy accepted(std::string_view text) {
    auto read = strategy_from_json(text);
    EXPECT_TRUE(read.has_value()) << (read ? "" : to_string(read.error()));
    return read ? *std::move(read) : loaded_strategy{};
}

[[nodiscard]] std::string refusal(std::string_view text) {
    const auto read = strategy_from_json(text);
    EXPECT_FALSE(read.has_value());
    return read ? "" : to_string(read.error());
}

struct calls_made {
    duration timeout{};  // of the last attempt
    std::uint32_t attempts = 0;
    std::vector<duration> waits;
};

/// Calls of an operation that always fails.
[[nodiscard]] calls_made fail_with(const loaded_strategy& loaded, int calls = 1) {
    testing::virtual_clock clock;
    calls_made made;
    for (int i = 0; i < calls; ++i) {
        call_options options = loaded.call();
        options.clock = &clock;
        static_cast<void>(retry(*loaded.strategy, options, [&](const attempt& current) {
            ++made.attempts;
            made.timeout = current.timeout;
            return make_error_code(std::errc::connection_refused);
        }));
    }
    made.waits = clock.waits();
    return made;
}

}  // namespace

TEST(strategy_from_json, a_grpc_service_config_retries_and_throttles_as_it_specifies) {
    const loaded_strategy loaded = accepted(R"({
        "methodConfig": [{
            "name": [{"service": "shop.Prices"}],
            "timeout": "2s",
            "retryPolicy": {"maxAttempts": 4, "initialBackoff": "0.1s", "maxBackoff": "1s",
                "backoffMultiplier": 2, "retryableStatusCodes": ["UNAVAILABLE"]}
        }],
        "retryThrottling": {"maxTokens": 10, "tokenRatio": 0.1}})");
    ASSERT_NE(loaded.strategy, nullptr);
    EXPECT_EQ(loaded.call().timeout, 2s);
    // Five failures leave half of the ten units, at which the throttle closes.
    EXPECT_EQ(fail_with(loaded, 3).attempts, 4U + 1U + 1U);
    EXPECT_EQ(
        loaded.without_effect,
        (std::vector<std::string>{
            "methodConfig[0].name", "methodConfig[0].retryPolicy.retryableStatusCodes"}));
}

TEST(strategy_from_json, an_envoy_policy_sets_retries_and_the_timeout_of_an_attempt) {
    const loaded_strategy loaded = accepted(R"({"retry_policy": {
        "retry_on": "5xx", "num_retries": 3, "per_try_timeout": "0.25s",
        "retry_back_off": {"base_interval": "0.01s", "max_interval": "0.05s"}}})");
    ASSERT_NE(loaded.strategy, nullptr);
    const calls_made made = fail_with(loaded);
    EXPECT_EQ(made.attempts, 4U);
    for (const duration each : made.waits) {
        EXPECT_LE(each, 50ms);
    }
    EXPECT_EQ(made.timeout, 250ms);
    EXPECT_EQ(loaded.without_effect, std::vector<std::string>{"retry_policy.retry_on"});
}

// A route without a timeout was refused, with a name that is not in the document.
TEST(strategy_from_json, a_timeout_of_zero_is_none_in_an_envoy_policy) {
    const loaded_strategy loaded = accepted(R"({"timeout": "0s", "retry_policy": {
        "num_retries": 1, "per_try_timeout": "0s"}})");
    EXPECT_EQ(loaded.call().timeout, std::nullopt);
    EXPECT_EQ(loaded.call().attempt_timeout, std::nullopt);
}

// The timeout of the outer one replaced that of the inner one without a word.
TEST(strategy_from_json, an_envoy_policy_does_not_contain_another_one) {
    EXPECT_TRUE(refusal(R"({"timeout": "1s", "retry_policy": {
        "timeout": "2s", "retry_policy": {"num_retries": 1}}})")
                    .starts_with("line 2: retry_policy.timeout: is unknown here"));
}

// The refusal named members of this library that are not in the document.
TEST(strategy_from_json, values_that_a_strategy_refuses_are_named_as_in_the_document) {
    const auto retry_policy = [](std::string_view members) {
        return refusal(R"({"retryPolicy": {"maxAttempts": 2, )" + std::string(members) + "}}");
    };
    EXPECT_EQ(
        retry_policy(R"("initialBackoff": "1s", "maxBackoff": "1s", "backoffMultiplier": 0.5)"),
        "line 1: retryPolicy.backoffMultiplier: must be at least 1: delays must not shrink");
    EXPECT_TRUE(refusal(R"({"retry_back_off": {"base_interval": "2s", "max_interval": "1s"}})")
                    .starts_with("line 1: retry_back_off.max_interval: "));
    EXPECT_TRUE(refusal(R"({"budget": {"throttle": {"ratio": 0}}})")
                    .starts_with("line 1: budget.throttle.ratio: "));
    EXPECT_TRUE(refusal(R"({"budget": {"window": {"percent": -1}}})")
                    .starts_with("line 1: budget.window.percent: "));
    EXPECT_TRUE(refusal(R"({"num_retries": 1, "per_try_timeout": "9000h"})")
                    .starts_with("line 1: per_try_timeout: "));
    EXPECT_TRUE(refusal(R"({"retryThrottling": {"maxTokens": 0, "tokenRatio": 0.1}})")
                    .starts_with("line 1: retryThrottling.maxTokens: "));
    EXPECT_TRUE(
        refusal(R"({"methodConfig": [{"timeout": "0s", "hedgingPolicy": {"maxAttempts": 2}}]})")
            .starts_with("line 1: methodConfig[0].timeout: "));
}

TEST(strategy_from_json, own_settings_use_exactly_the_listed_delays) {
    const loaded_strategy loaded = accepted(R"({
        // Comments are accepted.
        "attempts_max": 4, "delays": ["1ms", "10ms"], "budget": "none"})");
    ASSERT_NE(loaded.strategy, nullptr);
    EXPECT_EQ(fail_with(loaded).waits, (std::vector<duration>{1ms, 10ms, 10ms}));
    EXPECT_TRUE(loaded.without_effect.empty());
}

TEST(strategy_from_json, a_bucket_is_shared_by_the_calls_of_one_strategy) {
    const loaded_strategy loaded = accepted(R"({"attempts_max": 3,
        "budget": {"bucket": {"capacity": 10}, "prices": {"retry": 5}}})");
    ASSERT_NE(loaded.strategy, nullptr);
    EXPECT_EQ(fail_with(loaded, 4).attempts, 4U + 2U);
}

TEST(strategy_from_json, a_window_pays_for_a_share_of_the_calls) {
    const loaded_strategy loaded = accepted(R"({"attempts_max": 2, "delays": ["0s"],
        "budget": {"window": {"percent": 20, "minimum_per_second": 0}}})");
    ASSERT_NE(loaded.strategy, nullptr);
    EXPECT_EQ(fail_with(loaded, 100).attempts, 120U);
}

TEST(strategy_from_json, the_budget_of_a_file_has_a_gauge) {
    const loaded_strategy loaded = accepted(R"({"attempts_max": 3,
        "budget": {"bucket": {"capacity": 12}, "prices": {"retry": 5}}})");
    ASSERT_NE(loaded.strategy, nullptr);
    EXPECT_EQ(fail_with(loaded).attempts, 3U);
    const auto shown = loaded.strategy->budget().gauge(time_point{});
    ASSERT_TRUE(shown.has_value());
    EXPECT_EQ(shown->level, 2.0);
    EXPECT_EQ(shown->capacity, 12.0);
    const loaded_strategy free = accepted(R"({"attempts_max": 3, "budget": "none"})");
    EXPECT_FALSE(free.strategy->budget().gauge(time_point{}).has_value());
}

// The throttle of the preset was silently replaced by a token bucket.
TEST(strategy_from_json, an_empty_budget_is_refused_and_does_not_replace_that_of_the_preset) {
    for (const std::string_view text :
         {R"({"preset": "grpc_a6", "budget": {}})", R"({"preset": "standard", "budget": {}})",
          R"({"budget": {}})"}) {
        EXPECT_EQ(
            refusal(text),
            "line 1: budget: must not be empty: name bucket, prices, throttle or window; leave it "
            "out to keep the preset's budget, or write \"none\" to have none");
    }
}

// A default bucket replaced the throttle of the preset without a word.
TEST(strategy_from_json, prices_alone_do_not_replace_the_throttle_or_window_of_a_preset) {
    EXPECT_EQ(
        refusal(R"({"preset": "grpc_a6", "budget": {"prices": {"retry": 1}}})"),
        "line 1: budget.prices: are those of a bucket, and the budget of the preset is a throttle; "
        "name a bucket as well to replace it");
    EXPECT_EQ(
        refusal(R"({"preset": "finagle", "budget": {"prices": {"retry": 1}}})"),
        "line 1: budget.prices: are those of a bucket, and the budget of the preset is a window; "
        "name a bucket as well to replace it");
    const auto bucket = accepted(R"({"preset": "grpc_a6",
        "budget": {"bucket": {"capacity": 90}, "prices": {"retry": 1}}})");
    EXPECT_TRUE(std::holds_alternative<retry_json::bucket_options>(bucket.options.budget));
    const auto priced = accepted(R"({"preset": "naive", "budget": {"prices": {"retry": 1}}})");
    EXPECT_TRUE(std::holds_alternative<retry_json::bucket_options>(priced.options.budget))
        << "it had no budget";
}

TEST(strategy_from_json, a_budget_of_two_kinds_is_refused) {
    for (const std::string_view budget :
         {R"({"throttle": {}, "window": {}})", R"({"bucket": {}, "throttle": {}})",
          R"({"prices": {}, "window": {}})", R"({"bucket": {}, "prices": {}, "window": {}})"}) {
        EXPECT_EQ(
            refusal(R"({"budget": )" + std::string(budget) + "}"),
            "line 1: budget: must be one of bucket (with prices), throttle and window");
    }
}

TEST(strategy_from_json, a_breaker_ends_attempts_of_a_service_that_is_down) {
    const loaded_strategy loaded = accepted(R"({"attempts_max": 1,
        "breaker": {"volume_threshold": 4, "error_threshold_percent": 50}})");
    ASSERT_NE(loaded.strategy, nullptr);
    EXPECT_EQ(fail_with(loaded, 10).attempts, 4U);
}

TEST(strategy_from_json, a_preset_is_a_name_or_the_base_of_settings) {
    EXPECT_EQ(fail_with(accepted("\"none\"")).attempts, 1U);
    EXPECT_EQ(fail_with(accepted(R"({"preset": "naive", "attempts_max": 2})")).attempts, 2U);
}

TEST(strategy_from_json, every_unknown_member_is_named_with_its_line_and_path) {
    EXPECT_EQ(
        refusal("{\"retryPolicy\": {\"maxAttempts\": 3, \"initialBackoff\": \"1s\",\n"
                "\"maxBackof\": \"2s\", \"maxBackoff\": \"2s\", \"backoffMultiplier\": 2,\n"
                "\"hints\": true},\n\"retryThrotling\": {}}"),
        "line 2: retryPolicy.maxBackof: is unknown here; did you mean 'maxBackoff'?\n"
        "line 3: retryPolicy.hints: is unknown here; accepted: maxAttempts, initialBackoff, "
        "maxBackoff, backoffMultiplier, retryableStatusCodes, perAttemptRecvTimeout\n"
        "line 4: retryThrotling: is unknown here; did you mean 'retryThrottling'?");
}

TEST(strategy_from_json, a_misspelt_member_gets_a_suggestion_wherever_it_stands) {
    for (const auto& [text, meant] : {
             std::pair{R"({"methodConfig": [{"retryPolcy": {}}]})", "'retryPolicy'"},
             std::pair{R"({"budget": {"buckett": {"capacity": 10}}})", "'bucket'"},
         }) {
        EXPECT_TRUE(refusal(text).ends_with("did you mean " + std::string(meant) + "?"))
            << refusal(text);
    }
    const std::string envoy = refusal(R"({"num_retries": 1, "per_try_timeout": "1s", "zzz": 1})");
    EXPECT_EQ(envoy.find("per_try_timeout"), envoy.rfind("per_try_timeout")) << envoy;
}

TEST(strategy_from_json, every_wrong_value_is_named_and_none_is_named_twice) {
    EXPECT_EQ(
        refusal("{\"attempts_max\": 0,\n\"backoff\": {\"base\": 5, \"jitter\": \"ful\"},\n"
                "\"deadline\": \"soon\"}"),
        "line 1: attempts_max: must be a whole number from 1 to 1000, or \"unlimited\"\n"
        "line 2: backoff.base: must be a time with its unit, such as \"500ms\"\n"
        "line 2: backoff.jitter: 'ful' is unknown; did you mean 'full'?\n"
        "line 3: deadline: 'soon' is not a time with its unit, such as \"2.5s\"");
    EXPECT_EQ(
        refusal(R"({"hedgingPolicy": {"maxAttempts": "many"}})"),
        "line 1: hedgingPolicy.maxAttempts: must be a whole number of at most 4294967295");
    EXPECT_EQ(refusal(R"({"hedgingPolicy": {}})"), "line 1: hedgingPolicy: needs 'maxAttempts'");
}

TEST(strategy_from_json, settings_that_contradict_each_other_are_refused) {
    EXPECT_FALSE(retry_json::read_retry_options(R"({"backoff": {"base": "9s", "cap": "1s"}})"));
    EXPECT_EQ(
        refusal(R"({"backoff": {"base": "9s", "cap": "1s"}})").substr(0, 21),
        "line 1: backoff.cap: ");
    EXPECT_EQ(
        refusal(R"({"retryPolicy": {"maxAttempts": 1, "initialBackoff": "1s",
            "maxBackoff": "1s", "backoffMultiplier": 1}})"),
        "line 1: retryPolicy.maxAttempts: must be a whole number above 1");
}

TEST(strategy_from_json, text_that_is_not_settings_is_refused) {
    EXPECT_EQ(refusal(""), "line 1: no JSON text");
    EXPECT_EQ(
        refusal("[1]"), "line 1: must be the name of a preset, or an object with retry settings");
    EXPECT_EQ(
        refusal("{\"deadline\": \"1s\", \"deadline\": \"2s\"}").substr(0, 25),
        "line 1: duplicate member:");
    EXPECT_EQ(refusal(std::string(2'000'000, ' ')).substr(0, 28), "line 1: JSON text too large:");
}

TEST(strategy_from_json, at_most_a_hundred_problems_are_reported) {
    std::string text = "{";
    for (int i = 0; i < 5000; ++i) {
        text += (i == 0 ? "\"" : ", \"") + std::string("x") + std::to_string(i) + "\": 0";
    }
    const auto read = strategy_from_json(text + "}");
    ASSERT_FALSE(read.has_value());
    EXPECT_EQ(read.error().size(), 100U);
}

TEST(strategy_from_json, members_that_only_simulations_use_are_listed_as_without_effect) {
    EXPECT_EQ(
        accepted(R"({"wake": {"per_second": 5}, "budget_sharing": "shared"})").without_effect,
        (std::vector<std::string>{"budget_sharing", "wake"}));
}

TEST(strategy_from_json, hedging_is_returned_and_its_attempts_follow_at_once) {
    const loaded_strategy loaded =
        accepted(R"({"hedgingPolicy": {"maxAttempts": 3, "hedgingDelay": "0.5s"}})");
    ASSERT_TRUE(loaded.options.hedge);
    EXPECT_EQ(loaded.options.hedge->delay, 500ms);
    EXPECT_EQ(fail_with(loaded).attempts, 3U);
    EXPECT_EQ(loaded.without_effect, std::vector<std::string>{"hedgingPolicy.hedgingDelay"})
        << "a strategy does not hedge";
    EXPECT_EQ(
        accepted(R"({"hedge": {"delay": "50ms"}})").without_effect,
        std::vector<std::string>{"hedge"});
    // Without a delay gRPC sends all attempts at once; here they are not, and nothing reported
    // that.
    EXPECT_EQ(
        accepted(R"({"hedgingPolicy": {"maxAttempts": 3}})").without_effect,
        std::vector<std::string>{"hedgingPolicy"});
}

// A program ran with the delays of the ladder, and its own backoff had disappeared silently.
TEST(strategy_from_json, a_backoff_that_a_list_of_delays_replaces_is_listed_as_without_effect) {
    const loaded_strategy ladder = accepted(R"({
        "preset": "couchbase_ladder", "attempts_max": 2,
        "backoff": {"base": "5ms", "hint_excess_max": "1s"},
        "throttling_backoff": {"cap": "30s"}})");
    EXPECT_EQ(fail_with(ladder).waits, (std::vector<duration>{1ms}));
    EXPECT_EQ(
        ladder.without_effect, (std::vector<std::string>{"backoff.base", "throttling_backoff.cap"}))
        << "a hint is respected up to the excess also with a list";
    const loaded_strategy own = accepted(R"({
        "preset": "couchbase_ladder", "attempts_max": 2, "delays": [],
        "backoff": {"base": "5s", "cap": "5s"}})");
    EXPECT_EQ(fail_with(own).waits, (std::vector<duration>{5s}))
        << "no list, so the backoff counts";
    EXPECT_TRUE(own.without_effect.empty());
}

TEST(strategy_from_json, more_retries_than_a_strategy_makes_are_refused_and_not_cut) {
    EXPECT_EQ(accepted(R"({"num_retries": 0})").options.attempts_max, 1U);
    EXPECT_EQ(accepted(R"({"num_retries": 999})").options.attempts_max, 1000U);
    EXPECT_EQ(refusal(R"({"num_retries": 1000})"), "line 1: num_retries: must be at most 999");
}

TEST(strategy_from_json, an_empty_preset_is_no_preset) {
    EXPECT_TRUE(refusal(R"({"preset": ""})").starts_with("line 1: preset: there is no preset ''"));
    EXPECT_EQ(refusal(R"({"preset": 3})"), "line 1: preset: must be a string");
}

TEST(strategy_from_json, no_member_of_a_grpc_config_gets_lost) {
    EXPECT_EQ(
        refusal(R"({
            "hedgingPolicy": {"maxAttempts": 3},
            "methodConfig": [{"hedgingPolicy": {"maxAttempts": 4}}]})"),
        "line 3: methodConfig[0]: is the second method with a policy; keep the one to use");
    const loaded_strategy outer = accepted(R"({
        "timeout": "3s", "methodConfig": [{"hedgingPolicy": {"maxAttempts": 4}}]})");
    EXPECT_EQ(outer.options.deadline, 3s);
    EXPECT_EQ(
        refusal(R"({"timeout": "3s",
            "methodConfig": [{"timeout": "2s", "hedgingPolicy": {"maxAttempts": 4}}]})"),
        "line 2: methodConfig[0].timeout: is the second timeout; keep the one to use");
    for (const std::string timeout : {"3s", "0s", "9000h"}) {
        const loaded_strategy other =
            accepted(R"({"methodConfig": [{"timeout": ")" + timeout + R"("}]})");
        EXPECT_EQ(other.without_effect, std::vector<std::string>{"methodConfig[0].timeout"});
    }
}

// Three canceled waits used to empty the bucket.
TEST(strategy_from_json, a_retry_that_is_not_made_is_not_paid_for) {
    const loaded_strategy loaded = accepted(R"({
        "delays": ["10s"],
        "budget": {"bucket": {"capacity": 10}, "prices": {"retry": 5, "timeout": 5}}})");
    for (int call = 0; call < 5; ++call) {
        testing::virtual_clock clock;
        std::stop_source stop;
        retry_history trace;
        clock.after(1s, [&] { stop.request_stop(); });
        const call_options options{.stop = stop.get_token(), .history = &trace, .clock = &clock};
        const std::error_code failed = retry(*loaded.strategy, options, [] {
            return make_error_code(std::errc::connection_refused);
        });
        EXPECT_TRUE(failed);
        EXPECT_EQ(trace.refusal(), refusal_reason::canceled);
    }
}

TEST(strategy_from_json, safety_decides_about_failures_without_facts) {
    struct odd_error {};
    const auto attempts = [](const driver::safety_options& safety) {
        const auto loaded = strategy_from_json(R"({"attempts_max": 3, "delays": ["0s"]})", safety);
        std::uint32_t made = 0;
        testing::virtual_clock clock;
        try {
            retry(*loaded->strategy, {.clock = &clock}, [&] {
                ++made;
                throw odd_error{};
            });
        } catch (const odd_error&) {
        }
        return made;
    };
    EXPECT_EQ(attempts({}), 1U);
    EXPECT_EQ(attempts({.failures_without_facts = when_unstated::retry}), 3U);
}

TEST(make_strategy, options_that_cannot_work_are_refused_by_name) {
    retry_json::retry_options options;
    options.attempts_max = 0;
    try {
        static_cast<void>(make_strategy(options));
        FAIL() << "accepted";
    } catch (const invalid_settings& error) {
        EXPECT_EQ(error.field(), "attempts_max");
    }
}

}  // namespace reprise
