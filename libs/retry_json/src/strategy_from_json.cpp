#include <reprise/retry_json/strategy_from_json.hpp>

#include <reprise/json/object_reader.hpp>
#include <reprise/json/parse.hpp>

#include "settings_text.hpp"

namespace reprise {

namespace {

using retry_json::retry_options;
using retry_json::text_error;

/// Members of this library's format that only simulations use, or that a strategy cannot follow.
constexpr std::string_view members_without_effect[] = {
    "budget_sharing",      "breaker_sharing",  "wake",
    "propagates_deadline", "passes_allowance", "hedge"};

struct settings_read {
    retry_options options;
    std::vector<std::string> without_effect;
};

[[nodiscard]] std::expected<settings_read, std::vector<text_error>> read_settings(
    std::string_view text) {
    const auto parsed = retry_json::detail::parse_settings_text(text);
    if (!parsed) {
        return std::unexpected(std::vector{parsed.error()});
    }
    json::reading_report report;
    settings_read result{retry_json::detail::read_retries(parsed->root, {}, report), {}};
    if (report.has_failed()) {
        std::vector<text_error> errors;
        for (const json::reading_error& each : report.problems()) {
            errors.push_back(retry_json::detail::locate(text, each));
        }
        return std::unexpected(std::move(errors));
    }
    for (const json::value_path& each : report.unused()) {
        result.without_effect.push_back(json::to_string(each));
    }
    for (const std::string_view name : members_without_effect) {
        if (parsed->root.find(name) != nullptr) {
            result.without_effect.emplace_back(name);
        }
    }
    return result;
}

}  // namespace

std::unique_ptr<configured_strategy> make_strategy(
    const retry_options& options, const driver::safety_options& safety) {
    static_cast<void>(detail::checked(options));
    driver::shared_parts parts;
    if (options.breaker) {
        parts.breaker = std::make_shared<circuit_breaker>(*options.breaker);
    }
    return std::make_unique<configured_strategy>(
        driver::attempt_limits{options.attempts_max}, driver::stated_safety{safety},
        retry_json::detail::configured_backoff(options),
        retry_json::detail::configured_budget(retry_json::detail::make_budget(options.budget)),
        std::move(parts));
}

call_options loaded_strategy::call() const {
    call_options result;
    result.timeout = options.deadline;
    result.attempt_timeout = options.attempt_timeout;
    return result;
}

std::expected<loaded_strategy, std::vector<text_error>> strategy_from_json(
    std::string_view text, const driver::safety_options& safety) {
    auto read = read_settings(text);
    if (!read) {
        return std::unexpected(std::move(read.error()));
    }
    std::shared_ptr<configured_strategy> strategy = make_strategy(read->options, safety);
    return loaded_strategy{
        std::move(strategy), std::move(read->options), std::move(read->without_effect)};
}

std::expected<retry_options, std::vector<text_error>> retry_json::read_retry_options(
    std::string_view text) {
    auto read = read_settings(text);
    if (!read) {
        return std::unexpected(std::move(read.error()));
    }
    return std::move(read->options);
}

std::unique_ptr<driver::retry_budget> retry_json::detail::make_budget(
    const budget_options& options) {
    if (const auto* bucket = std::get_if<bucket_options>(&options)) {
        return std::make_unique<driver::token_bucket_budget>(
            std::make_shared<token_bucket>(bucket->bucket), bucket->prices);
    }
    if (const auto* throttle = std::get_if<failure_throttle_options>(&options)) {
        return std::make_unique<failure_throttle>(*throttle);
    }
    if (const auto* window = std::get_if<windowed_budget_options>(&options)) {
        return std::make_unique<windowed_budget>(*window);
    }
    return nullptr;
}

}  // namespace reprise
