#pragma once

/// Strategies from files: a gRPC service config, an Envoy retry policy, the name of a preset, or an
/// object with the members of `retry_options`. The lab reads settings with the same reader, so the
/// file that was simulated is the file that runs.
/// ```
///     const auto loaded = reprise::strategy_from_json(text);
///     if (!loaded) {
///         std::cerr << to_string(loaded.error()) << '\n';  // "line 4: ...: did you mean ..."
///         return 1;
///     }
///     ...
///     reprise::retry(*loaded->strategy, ...);
/// ```

#include <algorithm>
#include <cstddef>
#include <expected>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <reprise/retry/call_options.hpp>
#include <reprise/retry/driver/composed_strategy.hpp>
#include <reprise/retry/driver/retry_strategy.hpp>
#include <reprise/retry_json/retry_options.hpp>

/// Problems in texts that people write.

namespace reprise::retry_json {

/// One problem, with its place in the text.
struct text_error {
    std::size_t line = 0;  ///< Starts at 1; 0 if the problem is not in the text.
    std::string path;      ///< "services[0].nodes"; empty for text that is not JSON.
    std::string message;   ///< What is wrong and what is accepted.
};

/// "line 7: services[0].nodes: must be between 1 and 1,000"
[[nodiscard]] std::string to_string(const text_error& error);

/// One line for each error, separated by line feeds.
[[nodiscard]] std::string to_string(const std::vector<text_error>& errors);

}  // namespace reprise::retry_json

/// Policies of strategies whose options are chosen at run time.

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
    driver::exponential_backoff plain_;  ///< For hints of services.
    std::vector<duration> delays_;
};

/// Any budget, or none.
class configured_budget final : public driver::retry_budget {
public:
    static constexpr bool needs_time = true;

    /// Null: retries are free.
    explicit configured_budget(std::shared_ptr<driver::retry_budget> budget) noexcept
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
    [[nodiscard]] std::optional<driver::budget_gauge> gauge(
        time_point now) const noexcept override {
        return budget_ == nullptr ? std::nullopt : budget_->gauge(now);
    }

private:
    std::shared_ptr<driver::retry_budget> budget_;
};

/// The budget that options describe; null if retries are free. Throws `invalid_settings` for
/// options that `check` rejects.
[[nodiscard]] std::unique_ptr<driver::retry_budget> make_budget(const budget_options& options);

}  // namespace reprise::retry_json::detail

namespace reprise {

/// A strategy whose backoff, budget and breaker come from options. Like `standard_strategy`, create
/// one for each service, keep it, and share it between threads.
using configured_strategy = driver::composed_strategy<
    driver::stated_safety, retry_json::detail::configured_backoff,
    retry_json::detail::configured_budget, driver::shared_parts>;

/// Throws `invalid_settings` for options that `check` rejects.
[[nodiscard]] std::unique_ptr<configured_strategy> make_strategy(
    const retry_json::retry_options& options, const driver::safety_options& safety = {});

/// The content of a file.
struct loaded_strategy {
    std::shared_ptr<configured_strategy> strategy;
    /// The settings that were read. A strategy does not hedge; if `options.hedge` is set, pass its
    /// delay to `hedged` (`<reprise/asio/hedge.hpp>`).
    retry_json::retry_options options;
    /// Paths of members that were accepted and have no effect on the strategy: for example
    /// `retryableStatusCodes`, since the facts of a failure decide what is retried. Log them.
    std::vector<std::string> without_effect;

    /// Options for a call: the file's deadline and its timeout for one attempt.
    [[nodiscard]] call_options call() const;
};

/// Reads a strategy from JSON, in which comments are accepted; never throws on bad input. All
/// problems are reported, up to 100, each with its line and path. Unknown members and text above
/// 1 MB are problems. Members replace those of their preset one by one; a budget that names another
/// kind (bucket, throttle, window) replaces the preset's as a whole. `safety` decides about
/// failures without facts.
[[nodiscard]] std::expected<loaded_strategy, std::vector<retry_json::text_error>>
strategy_from_json(std::string_view text, const driver::safety_options& safety = {});

namespace retry_json {

/// Reads the settings without creating a strategy.
[[nodiscard]] std::expected<retry_options, std::vector<text_error>> read_retry_options(
    std::string_view text);

}  // namespace retry_json

}  // namespace reprise
