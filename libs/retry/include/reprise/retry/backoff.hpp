#pragma once

/// Backoff: the rule that gives the delay before a retry. Exponential (or constant, or linear),
/// capped, jittered; a pure function of (retry number, previous delay, random bits).

#include <algorithm>
#include <cstdint>
#include <optional>

#include <reprise/retry/detail/compiler.hpp>
#include <reprise/retry/driver/retry_question.hpp>
#include <reprise/retry/retry_errc.hpp>

namespace reprise {

/// How the computed delay d is spread, so that clients that failed together do not return together.
enum class jitter : std::uint8_t {
    full,          ///< Uniform in [0, d).
    equal,         ///< Uniform in [d/2, d).
    decorrelated,  ///< Uniform in [base, 3 x previous delay), capped.
    none,          ///< Exactly d. Dangerous with many clients; `lint` warns.
};

/// How delays grow: before jitter, base x factor^n + step x n, at most cap.
struct backoff_options {
    duration base = std::chrono::seconds{1};  ///< Delay before the first retry, before jitter.
    double factor = 2.0;                      ///< Growth per retry; at least 1.
    duration cap = std::chrono::seconds{20};  ///< Largest delay, applied before jitter.
    reprise::jitter jitter = reprise::jitter::full;
    /// A service's minimum wait may lengthen a delay by at most this much. Absent (as in
    /// Smithy's guide): the hint is always respected in full, also above the cap.
    std::optional<duration> hint_excess_max{};
    duration step{};  ///< Added per retry, before the cap: linear growth; not negative.
};

/// The first contradiction, if any.
[[nodiscard]] REPRISE_EXPORT std::optional<settings_error> check(const backoff_options& options);

namespace detail {

/// The upper 64 bits of the product, by halves of 32 bits.
[[nodiscard]] constexpr std::uint64_t multiply_high(std::uint64_t a, std::uint64_t b) noexcept {
    constexpr std::uint64_t low_half = 0xffff'ffff;
    const std::uint64_t low = (a & low_half) * (b & low_half);
    const std::uint64_t first = (a >> 32U) * (b & low_half) + (low >> 32U);
    const std::uint64_t second = (a & low_half) * (b >> 32U) + (first & low_half);
    return (a >> 32U) * (b >> 32U) + (first >> 32U) + (second >> 32U);
}

/// Uniform in [0, span) from 64 random bits. Exact at both extremes, no overflow at any span.
[[nodiscard]] constexpr duration scale_random(duration span, std::uint64_t random) noexcept {
    if (span <= duration::zero()) {
        return duration::zero();
    }
    return duration{
        static_cast<std::int64_t>(multiply_high(static_cast<std::uint64_t>(span.count()), random))};
}

/// `a * b` for non-negative durations, held at `limit`.
[[nodiscard]] constexpr duration multiply_capped(
    duration value, std::int64_t by, duration limit) noexcept {
    if (by > 0 && value.count() > limit.count() / by) {
        return limit;
    }
    return std::min(limit, duration{value.count() * by});
}

}  // namespace detail

/// The policy for delays that grow according to `backoff_options`. A service's hint is a lower
/// limit.
class exponential_backoff {
public:
    /// Throws `invalid_settings` for options that `check` refuses.
    explicit exponential_backoff(const backoff_options& options = {})
        : options_(detail::checked(options)) {}

    /// The delay before retry number `retry` (the first is 0). `previous` is the last delay this
    /// function gave for the same request (only decorrelated jitter looks at it).
    [[nodiscard]] duration delay(
        std::uint32_t retry, duration previous, std::uint64_t random) const noexcept {
        if (options_.jitter == jitter::decorrelated) {
            const duration start = std::max(previous, options_.base);
            const duration top =
                std::max(detail::multiply_capped(start, 3, options_.cap), options_.base);
            return options_.base + detail::scale_random(top - options_.base, random);
        }
        const duration full = ceiling(retry);
        switch (options_.jitter) {
            case jitter::full:
                return detail::scale_random(full, random);
            case jitter::equal:
                return full / 2 + detail::scale_random(full - full / 2, random);
            case jitter::decorrelated:  // depends on the delay before; not here
            case jitter::none:
                break;
        }
        return full;
    }

    /// The delay before jitter: min(cap, base x factor^retry + step x retry), at any retry number.
    [[nodiscard]] duration ceiling(std::uint32_t retry) const noexcept {
        // Powers by squaring in floating point: it saturates at infinity instead of overflowing.
        double power = 1.0;
        double square = options_.factor;
        for (std::uint32_t rest = retry; rest != 0; rest >>= 1U) {
            if ((rest & 1U) != 0U) {
                power *= square;
            }
            square *= square;
        }
        // Not 0 x infinity, which is no number.
        const double grown = options_.base == duration::zero()
                                 ? 0.0
                                 : static_cast<double>(options_.base.count()) * power;
        const double value = grown + static_cast<double>(options_.step.count()) * retry;
        return value < static_cast<double>(options_.cap.count())
                   ? duration{static_cast<std::int64_t>(value)}
                   : options_.cap;
    }

    /// The backoff question of a composed strategy: delay of the next retry, hint included.
    [[nodiscard]] duration wait(
        driver::token_state& token, const driver::retry_question& question) const noexcept {
        const auto previous = duration{static_cast<std::int64_t>(token.memory)};
        const duration own = delay(token.attempt - 1, previous, question.at.random);
        token.memory = static_cast<std::uint64_t>(own.count());
        return respect_hint(own, question.facts);
    }

    /// Never shorter than the service's minimum wait (unless `hint_excess_max` is set).
    [[nodiscard]] duration respect_hint(duration own, const failure_facts& facts) const noexcept {
        if (!facts.minimum_wait) {
            return own;
        }
        duration hint = at_least_zero(*facts.minimum_wait);
        if (options_.hint_excess_max && hint - own > *options_.hint_excess_max) {
            hint = own + *options_.hint_excess_max;
        }
        return std::max(own, hint);
    }

    [[nodiscard]] const backoff_options& options() const noexcept { return options_; }

private:
    backoff_options options_;
};

namespace driver {

/// Two backoffs: one for throttling answers, one for everything else.
class backoff_by_kind {
public:
    backoff_by_kind(const backoff_options& transient, const backoff_options& throttling)
        : transient_(transient), throttling_(throttling) {}

    [[nodiscard]] duration wait(token_state& token, const retry_question& question) const noexcept {
        return (question.facts.throttling ? throttling_ : transient_).wait(token, question);
    }

private:
    exponential_backoff transient_;
    exponential_backoff throttling_;
};

}  // namespace driver

}  // namespace reprise
