#include <algorithm>
#include <array>
#include <cmath>

#include <reprise/retry/presets.hpp>
#include <reprise/retry_json/retry_options.hpp>

#include "settings_text.hpp"

namespace reprise::retry_json {

namespace {

using namespace std::chrono_literals;
using detail::invalid_option;
using detail::refuse;
using detail::under;

[[nodiscard]] retry_options from_standard(const standard_strategy::options& options) {
    retry_options result;
    result.attempts_max = options.attempts_max;
    result.backoff = options.backoff;
    result.budget = bucket_options{options.bucket, options.prices};
    return result;
}

[[nodiscard]] retry_options single_attempt() {
    retry_options options;
    options.attempts_max = 1;
    return options;
}

[[nodiscard]] retry_options naive() {
    retry_options options;
    options.attempts_max = 5;
    options.backoff.base = options.backoff.cap = duration::zero();
    options.backoff.jitter = jitter::none;
    return options;
}

[[nodiscard]] retry_options backoff_without_budget() {
    retry_options options = from_standard(standard_strategy::options{});
    options.budget = std::monostate{};
    return options;
}

[[nodiscard]] retry_options aws_2_1() {
    retry_options options = from_standard(presets::aws_standard_options());
    options.backoff = {50ms, 2.0, 20s, jitter::full, 5s};
    options.throttling_backoff = {1s, 2.0, 20s, jitter::full, 5s};
    options.budget = bucket_options{{}, {14.0, 14.0, 5.0, 1.0, true}};
    return options;
}

[[nodiscard]] retry_options grpc_a6() {
    retry_options options;
    options.attempts_max = 4;
    options.backoff = {100ms, 2.0, 1s, jitter::full, std::nullopt};
    options.budget = failure_throttle_options{};
    return options;
}

[[nodiscard]] retry_options finagle() {
    retry_options options;
    options.attempts_max.reset();
    options.backoff = {50ms, 2.0, 5s, jitter::full, std::nullopt};
    options.budget = windowed_budget_options{};
    return options;
}

/// Envoy's defaults for `retry_policy`: one retry after a jittered delay of 25 ms, at most 250 ms.
/// Its limit of concurrent retries is not a budget of this library and is left out.
[[nodiscard]] retry_options envoy() {
    retry_options options;
    options.attempts_max = 2;
    options.backoff = {25ms, 2.0, 250ms, jitter::full, std::nullopt};
    return options;
}

[[nodiscard]] retry_options couchbase_best_effort() {
    retry_options options;
    options.attempts_max.reset();
    options.backoff = {1ms, 2.0, 500ms, jitter::none, std::nullopt};
    return options;
}

[[nodiscard]] retry_options couchbase_ladder() {
    retry_options options = couchbase_best_effort();
    options.delays = {1ms, 10ms, 50ms, 100ms, 500ms, 1000ms};
    return options;
}

[[nodiscard]] invalid_option check_budget(const budget_options& budget) {
    if (const auto* bucket = std::get_if<bucket_options>(&budget)) {
        if (auto error = check(bucket->bucket)) {
            return under("budget.bucket", std::move(error));
        }
        return under("budget.prices", check(bucket->prices, bucket->bucket.capacity));
    }
    if (const auto* throttle = std::get_if<failure_throttle_options>(&budget)) {
        return under("budget.throttle", check(*throttle));
    }
    if (const auto* window = std::get_if<windowed_budget_options>(&budget)) {
        return under("budget.window", check(*window));
    }
    return std::nullopt;
}

[[nodiscard]] bool is_outside(const std::optional<duration>& value, duration low, duration high) {
    return value && (*value < low || *value > high);
}

[[nodiscard]] invalid_option check_times(const retry_options& options) {
    if (options.delays.size() > 100) {
        return refuse("delays", "must be at most 100");
    }
    for (const duration delay : options.delays) {
        if (is_outside(delay, duration::zero(), 24h)) {
            return refuse("delays", "must each be between 0 and 1 day");
        }
    }
    if (is_outside(options.attempt_timeout, 1us, 24h)) {
        return refuse("attempt_timeout", "must be between 1 us and 1 day");
    }
    if (is_outside(options.deadline, 1us, 24h)) {
        return refuse("deadline", "must be between 1 us and 1 day");
    }
    if (options.hedge) {
        if (is_outside(options.hedge->delay, 1us, 1h)) {
            return refuse("hedge.delay", "must be between 1 us and 1 h");
        }
        const double percentile = options.hedge->percentile.value_or(50.0);
        if (!(percentile > 0.0 && percentile < 100.0)) {
            return refuse("hedge.percentile", "must be above 0 and below 100");
        }
    }
    if (options.wake && options.wake->per_second && !(*options.wake->per_second > 0.0)) {
        return refuse("wake.per_second", "must be above 0");
    }
    return std::nullopt;
}

}  // namespace

std::optional<driver::settings_error> check(const retry_options& options) {
    if (options.attempts_max == 0U || options.attempts_max > 1000U) {
        return refuse("attempts_max", "must be between 1 and 1000");
    }
    if (auto error = check(options.backoff)) {
        return under("backoff", std::move(error));
    }
    if (options.throttling_backoff) {
        if (auto error = check(*options.throttling_backoff)) {
            return under("throttling_backoff", std::move(error));
        }
    }
    if (auto error = check_budget(options.budget)) {
        return error;
    }
    if (options.breaker) {
        if (auto error = check(*options.breaker)) {
            return under("breaker", std::move(error));
        }
    }
    return check_times(options);
}

std::span<const retry_preset> retry_presets() {
    static const std::array all{
        retry_preset{"none", "One attempt, no retries", single_attempt()},
        retry_preset{"naive", "5 attempts, no pause, no budget", naive()},
        retry_preset{
            "backoff", "5 attempts, backoff from 1 s with full jitter, no budget",
            backoff_without_budget()},
        retry_preset{
            "standard", "reprise::standard_strategy with its defaults",
            from_standard(standard_strategy::options{})},
        retry_preset{
            "smithy", "The sample of Smithy's guide",
            from_standard(presets::smithy_guide_options())},
        retry_preset{
            "aws_standard", "The standard mode of AWS SDKs",
            from_standard(presets::aws_standard_options())},
        retry_preset{"aws_2_1", "The 2.1 revision of AWS retries", aws_2_1()},
        retry_preset{"grpc_a6", "gRPC proposal A6 with the figures of its example", grpc_a6()},
        retry_preset{"finagle", "Retries up to 20 % of requests plus 10 per second", finagle()},
        retry_preset{"envoy", "Envoy's defaults: one retry after up to 25 ms", envoy()},
        retry_preset{
            "couchbase_best_effort", "RFC 0049: 1, 2, 4, ... 500 ms until the deadline",
            couchbase_best_effort()},
        retry_preset{
            "couchbase_ladder", "1, 10, 50, 100, 500, 1000 ms until the deadline",
            couchbase_ladder()},
    };
    return all;
}

const retry_preset* find_retry_preset(std::string_view name) {
    const auto all = retry_presets();
    const auto found = std::ranges::find(all, name, &retry_preset::name);
    return found == all.end() ? nullptr : &*found;
}

}  // namespace reprise::retry_json
