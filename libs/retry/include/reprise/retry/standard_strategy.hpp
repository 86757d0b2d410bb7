#pragma once

/// The strategy to start with: five attempts, exponential backoff with full jitter from 1 s to 20
/// s, and a token bucket of 500 units that stops a client from joining a retry storm.

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <reprise/retry/composed_strategy.hpp>
#include <reprise/retry/detail/export.hpp>

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
    /// Shared with other strategies, such as a circuit breaker.
    shared_parts parts{};
};

/// The first contradiction, if any (cap below base, no attempts, a price above the capacity, not a
/// number, ...). The constructor below throws the same as `invalid_settings`.
[[nodiscard]] REPRISE_EXPORT std::optional<settings_error> check(const standard_options& options);

/// Create one for each service, keep it, and share it between threads: its bucket is the memory
/// that stops retries in an outage.
class REPRISE_EXPORT standard_strategy final
    : public composed_strategy<
          stated_safety, exponential_backoff, token_bucket_budget, shared_parts> {
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

/// One legal but dangerous setting.
struct settings_warning {
    std::string field;
    std::string message;
};

/// The linter's assumptions about the service.
struct lint_context {
    /// Requests per second that the service can answer; 0 when not known.
    double service_capacity = 0.0;
    /// Requests per second that the clients send; 0 when not known.
    double load = 0.0;
};

/// Figures that follow from the settings, for people who must choose them.
struct settings_figures {
    double worst_amplification =
        1.0;  ///< Attempts per request while everything fails, bucket full.
    double lasting_amplification = 1.0;  ///< The same once the bucket is empty.
    duration give_up_after{};            ///< Sum of the longest delays of one request.
    double recovery_load = 0.0;  ///< Above this load an outage does not heal without the bucket:
                                 ///< capacity / attempts; 0 when the capacity is not known.
};

/// Computes them.
[[nodiscard]] REPRISE_EXPORT settings_figures
figures(const standard_options& options, const lint_context& context = {});

/// Warnings for settings that are legal but known to hurt; empty if there are none.
[[nodiscard]] REPRISE_EXPORT std::vector<settings_warning> lint(
    const standard_options& options, const lint_context& context = {});

}  // namespace reprise
