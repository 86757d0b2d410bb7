#pragma once

/// The strategy to start with: five attempts, exponential backoff with full jitter from 1 s to 20
/// s, and a token bucket of 500 units that stops a client from joining a retry storm.

#include <memory>
#include <utility>

#include <reprise/retry/composed_strategy.hpp>
#include <reprise/retry/detail/compiler.hpp>

namespace reprise {

/// Options of `standard_strategy`.
struct standard_options {
    /// All attempts, the first included; at least 1.
    std::uint32_t attempts_max = 5;
    backoff_options backoff{};
    token_bucket_options bucket{};
    retry_prices prices{};
    /// Failures without facts are refused and calls without a mark are retried, as Smithy's guide
    /// has it. `attempts(3)` has the same options, and retries failures without facts.
    safety_options safety{};
    /// Asked before each attempt; null: none. Share one among all strategies that call the service.
    std::shared_ptr<circuit_breaker> breaker{};
    /// Sees the calls of this strategy, e.g. `retry_metrics`; null: none.
    std::shared_ptr<retry_observer> observer{};
};

/// The first contradiction, if any (cap below base, no attempts, a price above the capacity, not a
/// number, ...). The constructor below throws the same as `invalid_settings`.
[[nodiscard]] REPRISE_EXPORT std::optional<settings_error> check(const standard_options& options);

/// Create one for each service, keep it, and share it between threads: its bucket is the memory
/// that stops retries in an outage.
class REPRISE_EXPORT standard_strategy final
    : public composed_strategy<
          stated_safety, exponential_backoff, token_bucket_budget, driver::shared_parts> {
public:
    /// With a bucket of its own.
    explicit standard_strategy(const standard_options& options = {});
    /// With a bucket shared with other strategies; `options.bucket` is not used.
    standard_strategy(const standard_options& options, std::shared_ptr<token_bucket> bucket);

private:
    standard_strategy(
        std::in_place_t, const standard_options& checked_options,
        const std::shared_ptr<token_bucket>& bucket);
};

}  // namespace reprise
