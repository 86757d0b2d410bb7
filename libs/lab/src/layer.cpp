#include "layer.hpp"

namespace reprise::lab::detail {

namespace {

/// A percentile of fewer answers would be a guess.
constexpr std::uint32_t latencies_min = 100;
/// After this many answers, older ones count half.
constexpr std::uint32_t latencies_per_half_life = 2000;

}  // namespace

layer::layer(const retry_options& options, std::uint32_t clients, bool is_warm)
    : options_(options),
      is_warm_(is_warm),
      has_buckets_(std::holds_alternative<bucket_options>(options.budget)) {
    if (!std::holds_alternative<std::monostate>(options.budget)) {
        const std::uint32_t count = options.budget_sharing == sharing::shared ? 1 : clients;
        budgets_.reserve(count);
        for (std::uint32_t i = 0; i < count; ++i) {
            budgets_.push_back(make_budget());
        }
    }
    const bool has_own_breakers = options.breaker && options.breaker_sharing == sharing::per_client;
    const std::uint32_t count = has_own_breakers ? clients : 1;
    strategies_.reserve(count);
    for (std::uint32_t i = 0; i < count; ++i) {
        strategies_.push_back(make_strategy());
    }
    if (options.hedge) {
        hedge_delay_ = options.hedge->delay;
    }
}

void layer::restart(std::uint32_t client) {
    if (budgets_.size() > 1) {
        budgets_[client] = make_budget();
    }
    // A breaker of its own cannot be replaced while calls use it, and its window is short.
}

std::int64_t layer::level_sum() const noexcept {
    std::int64_t sum = 0;
    for (const auto& budget : budgets_) {
        sum +=
            has_buckets_
                ? static_cast<const driver::token_bucket_budget&>(*budget).bucket()->milli_level()
                : 0;
    }
    return sum;
}

std::int64_t layer::capacity_sum() const noexcept {
    return has_buckets_ ? static_cast<const driver::token_bucket_budget&>(*budgets_.front())
                                  .bucket()
                                  ->milli_capacity() *
                              static_cast<std::int64_t>(budgets_.size())
                        : 0;
}

void layer::record_latency(duration latency) noexcept {
    if (!options_.hedge || !options_.hedge->percentile) {
        return;
    }
    latencies_.record(latency);
    if (++recorded_ >= latencies_min) {
        hedge_delay_ = latencies_.percentile(*options_.hedge->percentile / 100.0);
    }
    if (recorded_ % latencies_per_half_life == 0) {
        latencies_.forget_half();
    }
}

std::unique_ptr<driver::retry_budget> layer::make_budget() const {
    budget_options described = options_.budget;
    if (auto* bucket = std::get_if<bucket_options>(&described); bucket != nullptr && is_warm_) {
        bucket->bucket.initial.reset();
    }
    return retry_json::detail::make_budget(described);
}

std::unique_ptr<layer_strategy> layer::make_strategy() {
    driver::shared_parts parts;
    if (options_.breaker) {
        parts.breaker = std::make_shared<circuit_breaker>(*options_.breaker);
    }
    return std::make_unique<layer_strategy>(
        driver::attempt_limits{options_.attempts_max}, driver::stated_safety{},
        retry_json::detail::configured_backoff(options_), selected_budget(&selected_),
        std::move(parts));
}

}  // namespace reprise::lab::detail
