#pragma once

/// Policies of strategies whose options are only known when the program runs.

#include <algorithm>
#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

#include <reprise/retry/backoff.hpp>
#include <reprise/retry/retry_strategy.hpp>
#include <reprise/retry_json/retry_options.hpp>

namespace reprise::retry_json::detail {

/// Backoffs as options describe them: by formula, or as a list of delays.
class configured_backoff {
public:
    explicit configured_backoff(const retry_options& options)
        : by_kind_(options.backoff, options.throttling_backoff.value_or(options.backoff)),
          plain_(options.backoff),
          delays_(options.delays) {}

    [[nodiscard]] duration wait(
        driver::token_state& token, const driver::retry_question& question) const noexcept {
        if (delays_.empty()) {
            return by_kind_.wait(token, question);
        }
        const std::size_t retry = token.attempt - 1;
        return plain_.respect_hint(delays_[std::min(retry, delays_.size() - 1)], question.facts);
    }

private:
    driver::backoff_by_kind by_kind_;
    exponential_backoff plain_;  ///< For hints of services.
    std::vector<duration> delays_;
};

/// Any budget, or none.
class configured_budget final : public retry_budget {
public:
    static constexpr bool needs_time = true;

    /// Null: retries are free.
    explicit configured_budget(std::shared_ptr<retry_budget> budget) noexcept
        : budget_(std::move(budget)) {}

    [[nodiscard]] driver::payment try_pay(
        const failure_facts& facts, time_point now) noexcept override {
        return budget_ == nullptr ? driver::payment{} : budget_->try_pay(facts, now);
    }
    void give_back(std::uint32_t cost, time_point now) noexcept override {
        if (budget_ != nullptr) {
            budget_->give_back(cost, now);
        }
    }
    void on_success(std::uint32_t cost, std::uint32_t attempt, time_point now) noexcept override {
        if (budget_ != nullptr) {
            budget_->on_success(cost, attempt, now);
        }
    }
    void on_request(time_point now) noexcept override {
        if (budget_ != nullptr) {
            budget_->on_request(now);
        }
    }
    void on_failure(const failure_facts& facts, time_point now) noexcept override {
        if (budget_ != nullptr) {
            budget_->on_failure(facts, now);
        }
    }

private:
    std::shared_ptr<retry_budget> budget_;
};

/// The budget that options describe; null if retries are free. Throws `invalid_settings` for
/// options that `check` rejects.
[[nodiscard]] std::unique_ptr<retry_budget> make_budget(const budget_options& options);

}  // namespace reprise::retry_json::detail
