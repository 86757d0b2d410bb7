#include "lab/lint.hpp"

#include <algorithm>
#include <span>
#include <vector>

#include <fmt/format.h>

#include <reprise/json/parse.hpp>
#include <reprise/json/write.hpp>
#include <reprise/lab/lint.hpp>
#include <reprise/lab/report.hpp>

#include "kv_access.hpp"
#include "lab/sources.hpp"
#include "output/output.hpp"

namespace reprise::app {

namespace {

constexpr std::size_t curve_columns = 60;

/// One character per column, from ' ' to a full block; values above `top` are full.
[[nodiscard]] std::string curve(
    std::span<const lab::slot> slots, std::uint32_t lab::slot::* member, double top) {
    static constexpr const char* levels[] = {" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
    const std::size_t factor = std::max<std::size_t>(slots.size() / curve_columns, 1);
    const double step =
        std::chrono::duration<double>(lab::slot_length).count() * static_cast<double>(factor);
    std::string text;
    for (const lab::slot& each : lab::join_slots(slots, factor)) {
        const double share = static_cast<double>(each.*member) / step / top;
        text += levels[static_cast<std::size_t>(std::clamp(share * 8.0 + 0.5, 0.0, 8.0))];
    }
    return text;
}

[[nodiscard]] lab::scenario gallery_scenario(std::string_view name) {
    const lab::gallery_entry* entry = lab::find_gallery_entry(name);
    auto read = lab::read_scenario(entry != nullptr ? entry->text : "{}");
    return read ? *std::move(read) : lab::scenario{};
}

/// Whether the text is a scenario and not the settings of one strategy.
[[nodiscard]] bool is_scenario(std::string_view text) {
    json::parse_options options;
    options.allows_comments = true;
    const auto parsed = json::parse(text, options);
    return parsed && std::ranges::any_of(
                         std::initializer_list<std::string_view>{
                             "clients", "services", "troubles", "strategies"},
                         [&](std::string_view name) { return parsed->root.find(name) != nullptr; });
}

/// The scenario to show warnings in, with the strategies to look at.
[[nodiscard]] lab::scenario load(const std::string& path) {
    const std::string text = read_input(path, lab_file_size_max_bytes);
    if (is_scenario(text)) {
        auto read = lab::read_scenario(text);
        if (!read) {
            throw usage_error(fmt::format("{}: {}", path, to_string(read.error())));
        }
        if (read->strategies.front().name == "your settings") {
            read->strategies.resize(1);  // The others are there for comparison only.
        }
        return *std::move(read);
    }
    const auto settings = lab::read_retry_options(text);
    if (!settings) {
        throw usage_error(fmt::format("{}: {}", path, to_string(settings.error())));
    }
    lab::scenario scenario = gallery_scenario("metastable");
    scenario.strategies = {{"these settings", *settings, false}};
    return scenario;
}

[[nodiscard]] std::string evidence(
    const settings_warning& warning, const lab::scenario& scenario,
    const lab::strategy_choice& choice) {
    const bool is_herd = warning.field == "backoff.jitter";
    const lab::scenario shown = is_herd ? gallery_scenario("jitter_herd") : scenario;
    const lab::run_result result = lab::run(with_strategy(shown, choice));
    const std::vector<lab::slot>& slots = result.services.front().slots;
    if (is_herd) {
        return fmt::format(
            "    100 writers of one record: {} attempts for {} successes\n    load   |{}|\n",
            result.totals().sent, result.totals().succeeded,
            curve(slots, &lab::slot::attempts, 2000.0));
    }
    const lab::model& asked = shown.model;
    const double load = asked.clients.requests_per_second;
    const bool has_recovered = result.recovery.has_recovered();
    return fmt::format(
        "    {}: {} ({:.1f} attempts per request in the worst second)\n"
        "    load   |{}| to {:.0f}/s\n    useful |{}| to {:.0f}/s\n",
        lab::describe(asked), has_recovered ? "recovers" : "does not recover",
        result.worst_amplification_at(0), curve(slots, &lab::slot::attempts, 5.0 * load),
        5.0 * load, curve(slots, &lab::slot::useful, load), load);
}

}  // namespace

void lint_file(const std::string& path, bool is_json) {
    const lab::scenario scenario = load(path);
    lint_context context;
    context.load = scenario.model.clients.requests_per_second;
    context.service_capacity = scenario.model.services.front().capacity_per_second.value_or(0.0);
    std::string text;
    std::string json_text;
    json::writer out(json_text);
    out.begin_object().key("warnings").begin_array();
    for (const lab::strategy_choice& choice : scenario.strategies) {
        const lab::retry_options used = with_strategy(scenario, choice).clients.retries;
        for (const settings_warning& warning : lab::lint(used, context)) {
            text += fmt::format("{}: {}: {}\n", choice.name, warning.field, warning.message);
            out.begin_object()
                .member("strategy", choice.name)
                .member("field", warning.field)
                .member("message", warning.message)
                .end_object();
            if (!is_json) {
                text += evidence(warning, scenario, choice);
            }
        }
    }
    out.end_array().end_object();
    print(is_json ? json_text + "\n" : text.empty() ? "No warnings.\n" : text);
    if (!text.empty()) {
        throw exit_request(exit_code::failed);
    }
}

}  // namespace reprise::app
