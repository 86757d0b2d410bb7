#pragma once

/// Strategies by name, with the figures of the systems they are named after. They are starting
/// points and references; `standard_strategy` is what new programs should use. Each function
/// returns a strategy. A null bucket means one of its own.

#include <reprise/retry/budget.hpp>
#include <reprise/retry/detail/compiler.hpp>
#include <reprise/retry/standard_strategy.hpp>

namespace reprise::presets {

/// The sample in Smithy's guide, as it behaves: its counter starts at 0 and refuses at 5, so that
/// it sends a request up to **6** times although its maximum is called 5.
[[nodiscard]] REPRISE_EXPORT standard_strategy
smithy_guide(std::shared_ptr<token_bucket> bucket = nullptr);

/// The `standard` mode of AWS SDKs: 3 attempts, base 1 s, cap 20 s, bucket of 500, retry 5, timeout
/// 10; a success after a retry returns what that retry cost, a first-try success adds 1.
[[nodiscard]] REPRISE_EXPORT standard_strategy
aws_standard(std::shared_ptr<token_bucket> bucket = nullptr);

/// The type of `aws_2_1()`.
using aws_2_1_strategy = driver::composed_strategy<
    driver::stated_safety, driver::backoff_by_kind, driver::token_bucket_budget>;

/// The 2.1 revision of AWS retries: 3 attempts; a transient retry costs 14 and starts at 50 ms, one
/// after throttling costs 5 and starts at 1 s; cap 20 s before jitter; a server's hint is held
/// within [t, t + 5 s] of the computed delay t. That last rule can wait for less than the service
/// asked: docs/design/hints_and_prices.md explains why this is the only strategy that may. Refunds
/// and the price of timeouts are assumed to be those of `aws_standard`.
[[nodiscard]] REPRISE_EXPORT aws_2_1_strategy
aws_2_1(std::shared_ptr<token_bucket> bucket = nullptr);

/// The type of `grpc_a6()`.
using grpc_a6_strategy =
    driver::composed_strategy<driver::stated_safety, driver::exponential_backoff, failure_throttle>;

/// gRPC proposal A6 with the figures of its example: 4 attempts, full jitter from 100 ms (factor 2)
/// to 1 s; retries only while more than half of the throttle's units are left. A6 leaves the
/// figures to the service.
[[nodiscard]] REPRISE_EXPORT grpc_a6_strategy
grpc_a6(const failure_throttle_options& throttle = {});

/// The type of `finagle()`.
using finagle_strategy =
    driver::composed_strategy<driver::stated_safety, driver::exponential_backoff, windowed_budget>;

/// The budget of Finagle and tower: retries up to 20 % of requests plus 10 per second, no attempt
/// limit. Those libraries leave backoff to the caller; here full jitter from 50 ms to 5 s.
[[nodiscard]] REPRISE_EXPORT finagle_strategy finagle(const windowed_budget_options& budget = {});

/// The settings of `smithy_guide()`, to change some of them and pass them to a `standard_strategy`.
[[nodiscard]] REPRISE_EXPORT standard_strategy::options smithy_guide_options();
/// Likewise the settings of `aws_standard()`.
[[nodiscard]] REPRISE_EXPORT standard_strategy::options aws_standard_options();

}  // namespace reprise::presets
