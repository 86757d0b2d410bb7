#pragma once

/// The callers of one layer: their strategy, budgets and breakers, all from the retry library.

#include <memory>
#include <optional>
#include <vector>

#include <reprise/lab/retry_options.hpp>
#include <reprise/retry/driver/composed_strategy.hpp>
#include <reprise/retry/driver/metrics_text.hpp>
#include <reprise/retry/driver/retry_session.hpp>
#include <reprise/retry_json/strategy_from_json.hpp>

namespace reprise::lab::detail {

/// Passes everything on to the budget of the client whose turn it is. A million clients would need
/// a million strategies otherwise.
class selected_budget final : public driver::retry_budget {
public:
    static constexpr bool needs_time = true;

    /// `*selected` is the budget to use; null: retries are free.
    explicit selected_budget(driver::retry_budget* const* selected) noexcept
        : selected_(selected) {}

    [[nodiscard]] driver::payment try_pay(
        const failure_facts& facts, time_point now) noexcept override {
        return *selected_ == nullptr ? driver::payment{} : (*selected_)->try_pay(facts, now);
    }
    void give_back(std::uint32_t cost, time_point now) noexcept override {
        if (*selected_ != nullptr) {
            (*selected_)->give_back(cost, now);
        }
    }
    void on_success(std::uint32_t cost, std::uint32_t attempt, time_point now) noexcept override {
        if (*selected_ != nullptr) {
            (*selected_)->on_success(cost, attempt, now);
        }
    }
    void on_request(time_point now) noexcept override {
        if (*selected_ != nullptr) {
            (*selected_)->on_request(now);
        }
    }
    void on_failure(const failure_facts& facts, time_point now) noexcept override {
        if (*selected_ != nullptr) {
            (*selected_)->on_failure(facts, now);
        }
    }

private:
    driver::retry_budget* const* selected_;
};

using layer_strategy = driver::composed_strategy<
    driver::stated_safety, retry_json::detail::configured_backoff, selected_budget,
    driver::shared_parts>;
using layer_session = driver::retry_session<layer_strategy>;

/// One layer of callers. A decision belongs to the client that was selected last.
class layer {
public:
    layer(const retry_options& options, std::uint32_t clients, bool is_warm);
    layer(const layer&) = delete;
    layer& operator=(const layer&) = delete;

    [[nodiscard]] const retry_options& options() const noexcept { return options_; }

    /// Makes `client` the one whose budget pays. Call it before any call of a session.
    void select(std::uint32_t client) noexcept {
        if (!budgets_.empty()) {
            selected_ = budgets_[budgets_.size() == 1 ? 0 : client].get();
        }
    }
    /// The strategy of a client; it lives as long as the layer.
    [[nodiscard]] layer_strategy& strategy_of(std::uint32_t client) noexcept {
        return *strategies_[strategies_.size() == 1 ? 0 : client];
    }
    /// The client restarts: its budget and its breaker are new, unless they are shared.
    void restart(std::uint32_t client);

    /// Milli-units in the selected client's bucket; 0 if there is none.
    [[nodiscard]] std::int64_t selected_level() const noexcept {
        return has_buckets_ ? static_cast<const driver::token_bucket_budget*>(selected_)
                                  ->bucket()
                                  ->milli_level()
                            : 0;
    }
    [[nodiscard]] bool has_buckets() const noexcept { return has_buckets_; }
    /// Of all buckets together.
    [[nodiscard]] std::int64_t level_sum() const noexcept;
    [[nodiscard]] std::int64_t capacity_sum() const noexcept;

    /// How long to wait before a hedge.
    [[nodiscard]] duration hedge_delay() const noexcept { return hedge_delay_; }
    [[nodiscard]] bool has_constant_hedge_delay() const noexcept {
        return options_.hedge && !options_.hedge->percentile;
    }
    /// An attempt took this long and succeeded, or had run that long when another one won.
    void record_latency(duration latency) noexcept;

private:
    [[nodiscard]] std::unique_ptr<driver::retry_budget> make_budget() const;
    [[nodiscard]] std::unique_ptr<layer_strategy> make_strategy();

    retry_options options_;
    bool is_warm_;
    bool has_buckets_;
    driver::retry_budget* selected_ = nullptr;
    std::vector<std::unique_ptr<driver::retry_budget>>
        budgets_;  ///< None, one for all, or one for each.
    std::vector<std::unique_ptr<layer_strategy>> strategies_;  ///< One for all, or one for each.
    duration hedge_delay_{};
    driver::latency_histogram latencies_;
    std::uint32_t recorded_ = 0;
};

}  // namespace reprise::lab::detail
