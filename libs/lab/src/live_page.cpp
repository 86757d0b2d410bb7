#include <reprise/lab/live_page.hpp>

#include <reprise/base/enum_table.hpp>
#include <reprise/json/write.hpp>
#include <reprise/lab/page.hpp>

#include "embedded.hpp"
#include "number_text.hpp"

namespace reprise::lab {

namespace {

[[nodiscard]] std::string cpp_time(duration value) {
    const auto count = value.count();
    if (count % 1'000'000 == 0) {
        return "std::chrono::milliseconds{" + std::to_string(count / 1'000'000) + "}";
    }
    return "std::chrono::nanoseconds{" + std::to_string(count) + "}";
}

[[nodiscard]] std::string cpp_number(double value) {
    std::string text = number_text(value);
    std::erase(text, ',');
    return text;
}

[[nodiscard]] std::string_view cpp_jitter(jitter kind) {
    return base::name_of(kind);
}

void add_budget(std::string& code, const budget_options& budget) {
    if (const auto* bucket = std::get_if<bucket_options>(&budget)) {
        code += "options.bucket.capacity = " + cpp_number(bucket->bucket.capacity) + ";\n";
        if (bucket->bucket.initial) {
            code += "options.bucket.initial = " + cpp_number(*bucket->bucket.initial) + ";\n";
        }
        code += "options.prices.retry = " + cpp_number(bucket->prices.retry) + ";\n";
        code += "options.prices.timeout = " + cpp_number(bucket->prices.timeout) + ";\n";
        code += "options.prices.refund = " + cpp_number(bucket->prices.refund) + ";\n";
    } else if (std::holds_alternative<std::monostate>(budget)) {
        code += "options.prices.retry = options.prices.timeout = 0;  // no budget: see lint\n";
    } else {
        code +=
            "// The budget is not a token bucket: use reprise::driver::composed_strategy with\n"
            "// reprise::failure_throttle or reprise::windowed_budget.\n";
    }
}

}  // namespace

std::string to_cpp(const retry_options& retries) {
    std::string code =
        "#include <reprise/retry/standard_strategy.hpp>\n\n"
        "reprise::standard_strategy::options options;\n";
    code += "options.attempts_max = " + std::to_string(retries.attempts_max.value_or(1000)) + ";\n";
    code += "options.backoff.base = " + cpp_time(retries.backoff.base) + ";\n";
    code += "options.backoff.factor = " + cpp_number(retries.backoff.factor) + ";\n";
    code += "options.backoff.cap = " + cpp_time(retries.backoff.cap) + ";\n";
    code += "options.backoff.jitter = reprise::jitter::" +
            std::string(cpp_jitter(retries.backoff.jitter)) + ";\n";
    add_budget(code, retries.budget);
    code += "reprise::standard_strategy strategy(options);\n";
    if (retries.attempt_timeout) {
        code += "// Timeout of an attempt: " + seconds_text(*retries.attempt_timeout) + "\n";
    }
    if (retries.hedge) {
        code += "// Hedge after " + seconds_text(retries.hedge->delay) + "\n";
    }
    return code;
}

std::string to_live_page(std::string_view own_scenario) {
    std::string texts;
    json::writer out(texts);
    out.begin_array();
    if (!own_scenario.empty()) {
        out.begin_object().member("name", "your file").member("text", own_scenario).end_object();
    }
    for (const gallery_entry& each : gallery()) {
        out.begin_object().member("name", each.name).member("text", each.text).end_object();
    }
    out.end_array();
    std::string presets;
    json::writer list(presets);
    list.begin_array();
    for (const retry_preset& each : retry_presets()) {
        list.value(each.name);
    }
    list.end_array();
    return make_page(
        embedded::live_page(), {{"charts", std::string(embedded::charts())},
                                {"scenarios", script_text(texts)},
                                {"presets", script_text(presets)}});
}

}  // namespace reprise::lab
