#pragma once

/// The strategy to start with: five attempts, exponential backoff with full jitter from 1 s to 20
/// s, and a token bucket of 500 units that stops a client from joining a retry storm.

#include <memory>
#include <utility>

#include <reprise/retry/detail/compiler.hpp>
#include <reprise/retry/driver/composed_strategy.hpp>

namespace reprise {

/// Create one for each service, keep it, and share it between threads: its bucket is the memory
/// that stops retries in an outage.
class REPRISE_EXPORT standard_strategy final
    : public driver::composed_strategy<
          driver::stated_safety, driver::exponential_backoff, driver::token_bucket_budget,
          driver::shared_parts> {
public:
    /// The parts of the strategy; every member has a default.
    struct options {
        /// All attempts, the first included; at least 1.
        std::uint32_t attempts_max = 5;
        driver::backoff_options backoff{};
        token_bucket::options bucket{};
        driver::retry_prices prices{};
        /// Failures without facts are refused and calls without a mark are retried, as Smithy's
        /// guide has it. `attempts(3)` has the same options, and retries failures without facts.
        driver::safety_options safety{};
        /// Asked before each attempt; null: none. Share one among all strategies that call the
        /// service.
        std::shared_ptr<circuit_breaker> breaker{};
        /// Sees the calls of this strategy, e.g. `retry_metrics`; null: none.
        std::shared_ptr<retry_observer> observer{};
        /// Makes a span for each call and one for each attempt; null: none.
        std::shared_ptr<retry_tracer> tracer{};
    };

    standard_strategy() : standard_strategy(options{}) {}
    /// With a bucket of its own.
    explicit standard_strategy(const options& chosen);
    /// With a bucket shared with other strategies; `chosen.bucket` is not used.
    standard_strategy(const options& chosen, std::shared_ptr<token_bucket> bucket);

private:
    standard_strategy(
        std::in_place_t, const options& checked_options,
        const std::shared_ptr<token_bucket>& bucket);
};

/// The first contradiction, if any (cap below base, no attempts, a price above the capacity, not a
/// number, ...). The constructor throws the same as `invalid_settings`.
[[nodiscard]] REPRISE_EXPORT std::optional<driver::settings_error> check(
    const standard_strategy::options& options);

}  // namespace reprise
