#include <reprise/retry/presets.hpp>
#include <reprise/retry/standard_strategy.hpp>

namespace reprise {

namespace {

/// Checks all options before any part is built, so that errors contain full field names.
[[nodiscard]] std::shared_ptr<token_bucket> own_bucket(const standard_strategy::options& options) {
    return std::make_shared<token_bucket>(detail::checked(options).bucket);
}

[[nodiscard]] standard_strategy::options for_shared_bucket(
    standard_strategy::options options, const std::shared_ptr<token_bucket>& bucket) {
    if (bucket == nullptr) {
        detail::throw_invalid_settings({"bucket", "must not be null"});
    }
    options.bucket = {bucket->capacity(), std::nullopt};
    return detail::checked(options);
}

}  // namespace

standard_strategy::standard_strategy(const options& chosen)
    : standard_strategy(chosen, own_bucket(chosen)) {}

standard_strategy::standard_strategy(
    const options& chosen,
    // NOLINTNEXTLINE(performance-unnecessary-value-param): the public form shares ownership
    std::shared_ptr<token_bucket> bucket)
    : standard_strategy(std::in_place, for_shared_bucket(chosen, bucket), bucket) {}

standard_strategy::standard_strategy(
    std::in_place_t, const options& chosen, const std::shared_ptr<token_bucket>& bucket)
    : composed_strategy(
          driver::attempt_limits{chosen.attempts_max}, driver::stated_safety{chosen.safety},
          driver::exponential_backoff{chosen.backoff},
          driver::token_bucket_budget{bucket, chosen.prices},
          {.breaker = chosen.breaker, .observer = chosen.observer, .tracer = chosen.tracer}) {}

namespace presets {

standard_strategy::options smithy_guide_options() {
    standard_strategy::options options;
    options.attempts_max = 6;
    return options;
}

standard_strategy::options aws_standard_options() {
    standard_strategy::options options;
    options.attempts_max = 3;
    options.prices.refund_last_cost = true;
    return options;
}

namespace {

[[nodiscard]] standard_strategy with_bucket(
    const standard_strategy::options& options, std::shared_ptr<token_bucket> bucket) {
    return bucket == nullptr ? standard_strategy(options)
                             : standard_strategy(options, std::move(bucket));
}

}  // namespace

standard_strategy smithy_guide(std::shared_ptr<token_bucket> bucket) {
    return with_bucket(smithy_guide_options(), std::move(bucket));
}

standard_strategy aws_standard(std::shared_ptr<token_bucket> bucket) {
    return with_bucket(aws_standard_options(), std::move(bucket));
}

aws_2_1_strategy aws_2_1(std::shared_ptr<token_bucket> bucket) {
    using namespace std::chrono_literals;
    if (bucket == nullptr) {
        bucket = std::make_shared<token_bucket>();
    }
    const driver::backoff_options transient{50ms, 2.0, 20s, jitter::full, 5s};
    const driver::backoff_options throttling{1s, 2.0, 20s, jitter::full, 5s};
    const driver::retry_prices prices{14.0, 14.0, 5.0, 1.0, true};
    return aws_2_1_strategy(
        driver::attempt_limits{3}, driver::stated_safety{},
        driver::backoff_by_kind{transient, throttling},
        driver::token_bucket_budget{std::move(bucket), prices});
}

grpc_a6_strategy grpc_a6(const failure_throttle_options& throttle) {
    using namespace std::chrono_literals;
    return grpc_a6_strategy(
        driver::attempt_limits{4}, driver::stated_safety{},
        driver::exponential_backoff{
            driver::backoff_options{100ms, 2.0, 1s, jitter::full, std::nullopt}},
        failure_throttle{throttle});
}

finagle_strategy finagle(const windowed_budget_options& budget) {
    using namespace std::chrono_literals;
    return finagle_strategy(
        driver::attempt_limits{std::nullopt}, driver::stated_safety{},
        driver::exponential_backoff{
            driver::backoff_options{50ms, 2.0, 5s, jitter::full, std::nullopt}},
        windowed_budget{budget});
}

}  // namespace presets

}  // namespace reprise
