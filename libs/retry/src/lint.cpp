#include <cstdio>

#include <reprise/retry/lint.hpp>
#include <reprise/retry/standard_strategy.hpp>

namespace reprise {

namespace {

[[nodiscard]] std::string with_number(const char* format, double value) {
    char text[160];
    std::snprintf(text, sizeof text, format, value);
    return text;
}

[[nodiscard]] double seconds_of(duration value) noexcept {
    return std::chrono::duration<double>(value).count();
}

/// The sum of the longest delays of one request.
[[nodiscard]] duration longest_wait(const standard_strategy::options& options) {
    const driver::exponential_backoff backoff(options.backoff);
    duration total{};
    // After this many retries all delays equal the cap, so the rest is a multiplication.
    constexpr std::uint32_t counted_max = 128;
    const std::uint32_t retries = options.attempts_max - 1;
    const std::uint32_t counted = std::min(retries, counted_max);
    for (std::uint32_t retry = 0; retry < counted; ++retry) {
        total += std::min(backoff.ceiling(retry), duration::max() - total);
    }
    const duration rest = detail::multiply_capped(
        backoff.ceiling(counted_max), retries - counted, duration::max() - total);
    return total + rest;
}

}  // namespace

settings_figures figures(const standard_strategy::options& options, const lint_context& context) {
    settings_figures result;
    const double attempts = static_cast<double>(options.attempts_max);
    result.worst_amplification = attempts;
    // Once the bucket is empty, only the refunds of successes pay for retries.
    result.lasting_amplification =
        options.prices.retry > 0.0 ? 1.0 + options.prices.refund / options.prices.retry : attempts;
    result.give_up_after = longest_wait(detail::checked(options));
    result.recovery_load = context.service_capacity / attempts;
    return result;
}

std::vector<settings_warning> lint(
    const standard_strategy::options& options, const lint_context& context) {
    std::vector<settings_warning> warnings;
    const settings_figures facts = figures(options, context);
    if (options.backoff.jitter == jitter::none && options.attempts_max > 1) {
        warnings.push_back(
            {"backoff.jitter", "without jitter, clients that failed together retry together"});
    }
    if (facts.worst_amplification > 5.0) {
        warnings.push_back(
            {"attempts_max", with_number(
                                 "an outage can be met with %.0f times the usual load",
                                 facts.worst_amplification)});
    }
    if (options.prices.retry <= 0.0 && options.attempts_max > 1) {
        warnings.push_back(
            {"prices.retry", "retries are free, so the bucket cannot stop a retry storm"});
    } else if (facts.lasting_amplification > 2.0) {
        warnings.push_back(
            {"prices.refund",
             with_number(
                 "one success pays for more than one retry: load can stay at %.1f times",
                 facts.lasting_amplification)});
    }
    if (options.attempts_max > 1 && options.backoff.base < std::chrono::milliseconds{1}) {
        warnings.push_back(
            {"backoff.base", "retries start at once and give the service no time to recover"});
    }
    if (facts.give_up_after > std::chrono::minutes{5}) {
        warnings.push_back(
            {"attempts_max",
             with_number("a request may take %.0f s to fail", seconds_of(facts.give_up_after))});
    }
    if (facts.recovery_load > 0.0 && context.load > facts.recovery_load) {
        warnings.push_back(
            {"attempts_max",
             with_number(
                 "above %.0f requests/s an outage does not end while every request is "
                 "retried in full (capacity / attempts)",
                 facts.recovery_load)});
    }
    return warnings;
}

}  // namespace reprise
