/// Validates every options struct. Each function returns the first contradiction it finds.

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <limits>

#include <reprise/retry/budget.hpp>
#include <reprise/retry/driver/composed_strategy.hpp>
#include <reprise/retry/standard_strategy.hpp>

namespace reprise {

namespace {

[[nodiscard]] std::optional<driver::settings_error> contradiction(
    std::string field, std::string message) {
    return driver::settings_error{std::move(field), std::move(message)};
}

/// A price is stored in 32 bits, in thousandths of a unit.
constexpr double price_max = 4'000'000.0;
constexpr double capacity_max = 1e12;
/// Larger values were negative before they were converted, as in `attempts(-1)`.
constexpr std::uint32_t attempts_limit = std::numeric_limits<std::int32_t>::max();

[[nodiscard]] std::optional<driver::settings_error> check_price(
    const char* field, double value, double capacity) {
    if (!std::isfinite(value)) {
        return contradiction(field, "must be a number");
    }
    if (value < 0.0) {
        return contradiction(field, "must not be negative");
    }
    if (value > capacity) {
        return contradiction(
            field, "is above the bucket's capacity, so no retry could ever be paid for");
    }
    if (value > price_max) {
        return contradiction(field, "must be at most 4,000,000 units");
    }
    return std::nullopt;
}

[[nodiscard]] driver::settings_error prefixed(const char* prefix, driver::settings_error error) {
    error.field = std::string(prefix) + "." + error.field;
    return error;
}

}  // namespace

void detail::throw_invalid_settings(driver::settings_error error) {
#if defined(__cpp_exceptions)
    throw invalid_settings(std::move(error));
#else
    std::fprintf(stderr, "reprise: %s: %s\n", error.field.c_str(), error.message.c_str());
    std::abort();
#endif
}

void detail::throw_unseen_attempt_timeout() {
    throw_invalid_settings(
        {"attempt_timeout",
         "a blocking operation must keep it itself; let the operation take a const "
         "reprise::attempt& and read attempt::timeout"});
}

std::optional<driver::settings_error> driver::check(const backoff_options& options) {
    if (!std::isfinite(options.factor)) {
        return contradiction("factor", "must be a number");
    }
    if (options.factor < 1.0) {
        return contradiction("factor", "must be at least 1: delays must not shrink");
    }
    if (options.base < duration::zero()) {
        return contradiction("base", "must not be negative");
    }
    if (options.step < duration::zero()) {
        return contradiction("step", "must not be negative: delays must not shrink");
    }
    if (options.cap < options.base) {
        return contradiction("cap", "is below base, so the first delay would already be cut");
    }
    if (options.hint_excess_max && *options.hint_excess_max < duration::zero()) {
        return contradiction("hint_excess_max", "must not be negative");
    }
    if (options.jitter == jitter::decorrelated) {
        if (options.factor != backoff_options{}.factor) {
            return contradiction(
                "factor",
                "has no effect with decorrelated jitter, which draws from up to three "
                "times the delay before; leave it at 2");
        }
        if (options.step != duration::zero()) {
            return contradiction(
                "step",
                "has no effect with decorrelated jitter, which draws from up to three "
                "times the delay before; leave it at 0");
        }
    }
    return std::nullopt;
}

std::optional<driver::settings_error> check(const token_bucket::options& options) {
    if (!std::isfinite(options.capacity)) {
        return contradiction("capacity", "must be a number");
    }
    if (options.capacity <= 0.0 || options.capacity > capacity_max) {
        return contradiction("capacity", "must be above 0 and at most 1e12 units");
    }
    if (!options.initial) {
        return std::nullopt;
    }
    if (!std::isfinite(*options.initial)) {
        return contradiction("initial", "must be a number");
    }
    if (*options.initial < 0.0 || *options.initial > options.capacity) {
        return contradiction("initial", "must be between 0 and the capacity");
    }
    return std::nullopt;
}

std::optional<driver::settings_error> driver::check(const retry_prices& prices, double capacity) {
    if (auto error = check_price("retry", prices.retry, capacity)) {
        return error;
    }
    if (auto error = check_price("timeout", prices.timeout, capacity)) {
        return error;
    }
    if (auto error = check_price("throttling", prices.throttling.value_or(0.0), capacity)) {
        return error;
    }
    return check_price("refund", prices.refund, capacity);
}

std::optional<driver::settings_error> driver::check(const attempt_limits& limits) {
    if (limits.attempts_max == 0U) {
        return contradiction("attempts_max", "must be at least 1: the first attempt counts");
    }
    if (limits.attempts_max > attempts_limit) {
        return contradiction(
            "attempts_max",
            "must be at most 2147483647; is it a negative number that was converted?");
    }
    return std::nullopt;
}

std::optional<driver::settings_error> check(const standard_strategy::options& options) {
    if (auto error = check(driver::attempt_limits{options.attempts_max})) {
        return error;
    }
    if (auto error = check(options.backoff)) {
        return prefixed("backoff", std::move(*error));
    }
    if (auto error = check(options.bucket)) {
        return prefixed("bucket", std::move(*error));
    }
    if (auto error = check(options.prices, options.bucket.capacity)) {
        return prefixed("prices", std::move(*error));
    }
    return std::nullopt;
}

std::optional<driver::settings_error> check(const failure_throttle_options& options) {
    if (!std::isfinite(options.units_max) || options.units_max <= 0.0 ||
        options.units_max > 1000.0) {
        return contradiction("units_max", "must be above 0 and at most 1000");
    }
    if (!std::isfinite(options.ratio) || options.ratio < 0.001 || options.ratio > 1000.0) {
        return contradiction("ratio", "must be at least 0.001 and at most 1000");
    }
    return std::nullopt;
}

std::optional<driver::settings_error> check(const windowed_budget_options& options) {
    if (!std::isfinite(options.percent) || options.percent < 0.0 || options.percent > 1000.0) {
        return contradiction("percent", "must be between 0 and 1000");
    }
    if (options.percent > 0.0 && options.percent < 0.1) {
        return contradiction("percent", "must be 0 or at least 0.1: a budget counts in tenths");
    }
    if (!std::isfinite(options.minimum_per_second) || options.minimum_per_second < 0.0 ||
        options.minimum_per_second > 10'000.0) {
        return contradiction("minimum_per_second", "must be between 0 and 10000");
    }
    if (options.window < std::chrono::seconds{1} || options.window > std::chrono::seconds{60}) {
        return contradiction("window", "must be between 1 s and 60 s");
    }
    const double reserve =
        options.minimum_per_second * std::chrono::duration<double>(options.window).count();
    constexpr double rounding = 1e-9;  // 0.1 has no exact binary form
    if (options.minimum_per_second > 0.0 && reserve < 1.0 - rounding) {
        return contradiction(
            "minimum_per_second",
            "must be 0 or at least one retry per window: a budget never pays "
            "for a part of a retry");
    }
    return std::nullopt;
}

}  // namespace reprise
