#include <reprise/lab/lint.hpp>

namespace reprise::lab {

std::vector<settings_warning> lint(const retry_options& retries, const lint_context& context) {
    std::vector<settings_warning> warnings;
    if (retries.attempts_max == 1U && !retries.hedge) {
        return warnings;
    }
    const bool has_budget = !std::holds_alternative<std::monostate>(retries.budget);
    if (!has_budget) {
        warnings.push_back({"budget", "retries are free, so nothing stops a retry storm"});
    }
    if (retries.hedge && !has_budget) {
        warnings.push_back({"hedge", "without a budget, hedges double the load in a slow-down"});
    }
    if (!retries.attempts_max && !retries.deadline) {
        warnings.push_back({"attempts_max", "neither attempts nor a deadline end a call"});
    }
    if (!retries.attempts_max || !retries.delays.empty()) {
        return warnings;  // The library's figures follow from attempts and backoff.
    }
    standard_strategy::options options;
    options.attempts_max = *retries.attempts_max;
    options.backoff = retries.backoff;
    lint_context known = context;
    if (const auto* bucket = std::get_if<bucket_options>(&retries.budget)) {
        options.bucket = bucket->bucket;
        options.prices = bucket->prices;
    }
    if (has_budget) {
        known.load = 0.0;  // The budget ends retries before capacity / attempts matters.
    }
    for (settings_warning& each : reprise::lint(options, known)) {
        warnings.push_back(std::move(each));
    }
    return warnings;
}

}  // namespace reprise::lab
