/// `reprise lab`: the storm models of `libs/lab`, as a table, as JSON and as a page.

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <cmath>
#include <concepts>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <reprise/json/write.hpp>
#include <reprise/lab/report.hpp>
#include <reprise/lab/scenario.hpp>

#include "commands/commands.hpp"
#include "interrupt.hpp"
#include "output/output.hpp"

namespace reprise::app {

namespace {

/// What was typed. Absent: the scenario's own value.
struct lab_run_options {
    std::string scenario;
    std::optional<std::uint64_t> seed;
    std::optional<std::uint32_t> clients;
    std::optional<double> rps;
    std::optional<double> capacity;
    std::optional<double> outage_seconds;
    std::optional<double> duration_seconds;
    std::optional<double> timeout_milliseconds;
    std::optional<std::uint32_t> attempts;
    std::optional<double> bucket_units;
    std::optional<double> hedge_milliseconds;
    std::string html;
    bool json = false;
    bool quiet = false;
};

/// The option for each field of the model, so that a refusal names the option.
constexpr std::array<std::pair<std::string_view, std::string_view>, 9> option_of_field{{
    {"clients", "--clients"},
    {"requests_per_second", "--rps"},
    {"capacity_per_second", "--capacity"},
    {"outage_length", "--outage"},
    {"length", "--duration"},
    {"attempt_timeout", "--timeout"},
    {"attempts_max", "--attempts"},
    {"standard", "--bucket"},
    {"hedge_delay", "--hedge"},
}};

[[nodiscard]] std::string_view name_lab_option(std::string_view field) {
    for (const auto& [known, option] : option_of_field) {
        if (field == known || (field.starts_with(known) && field[known.size()] == '.')) {
            return option;
        }
    }
    return field;
}

/// Converts a typed number of seconds or milliseconds. Throws `usage_error` if it cannot be a
/// duration.
[[nodiscard]] duration to_duration(double value, double unit_ns, std::string_view option) {
    constexpr double week_ns = 7 * 86400e9;
    if (!std::isfinite(value) || value < 0.0 || value * unit_ns > week_ns) {
        throw usage_error(fmt::format("{}: must be between 0 and a week", option));
    }
    return duration{std::llround(value * unit_ns)};
}

template <class Field, class Value>
void set_if_given(Field& field, const std::optional<Value>& value) {
    if (value) {
        field = *value;
    }
}

/// Describes the refusal in terms of the command line.
[[nodiscard]] std::string explain(const settings_error& error, const lab_run_options& typed) {
    if (error.field.starts_with("standard.prices")) {
        return fmt::format(
            "--bucket: must be at least {} units, the cost of a retry after a timeout",
            retry_prices{}.timeout);
    }
    if (error.field == "length" && !typed.duration_seconds) {
        return "--outage: would make the run longer than a day";
    }
    return fmt::format("{}: {}", name_lab_option(error.field), error.message);
}

[[nodiscard]] lab::storm_options make_model(
    const lab_run_options& typed, const lab::scenario& scenario) {
    lab::storm_options model = scenario.options;
    set_if_given(model.seed, typed.seed);
    set_if_given(model.clients, typed.clients);
    set_if_given(model.requests_per_second, typed.rps);
    set_if_given(model.attempts_max, typed.attempts);
    set_if_given(model.standard.bucket.capacity, typed.bucket_units);
    if (typed.capacity) {
        // The queue keeps its meaning: a number of seconds of work.
        const double seconds = static_cast<double>(model.queue_limit) / model.capacity_per_second;
        model.capacity_per_second = *typed.capacity;
        const double limit = *typed.capacity * seconds;
        model.queue_limit = static_cast<std::size_t>(limit > 0.0 && limit < 1e7 ? limit : 1e7);
    }
    if (typed.outage_seconds) {
        const duration length = to_duration(*typed.outage_seconds, 1e9, "--outage");
        model.length += length - model.outage_length;  // Observe the same time after the outage.
        model.length -= model.length % lab::slot_length;
        model.outage_length = length;
    }
    if (typed.duration_seconds) {
        model.length = to_duration(*typed.duration_seconds, 1e9, "--duration");
    }
    if (typed.timeout_milliseconds) {
        model.attempt_timeout = to_duration(*typed.timeout_milliseconds, 1e6, "--timeout");
    }
    if (typed.hedge_milliseconds) {
        model.hedge_delay = to_duration(*typed.hedge_milliseconds, 1e6, "--hedge");
    }
    if (const std::optional<settings_error> error = check(model)) {
        throw usage_error(explain(*error, typed));
    }
    return model;
}

/// The shortest command that reproduces the run.
[[nodiscard]] std::string command_of(const lab_run_options& typed) {
    std::string command = "reprise lab run " + typed.scenario;
    const auto add = [&](const char* option, const auto& value) {
        if (value) {
            command += fmt::format(" {} {}", option, *value);
        }
    };
    add("--seed", typed.seed);
    add("--clients", typed.clients);
    add("--rps", typed.rps);
    add("--capacity", typed.capacity);
    add("--outage", typed.outage_seconds);
    add("--duration", typed.duration_seconds);
    add("--timeout", typed.timeout_milliseconds);
    add("--attempts", typed.attempts);
    add("--bucket", typed.bucket_units);
    add("--hedge", typed.hedge_milliseconds);
    return command;
}

void list_scenarios() {
    std::string text;
    for (const lab::scenario& scenario : lab::scenarios()) {
        text += fmt::format("{}\n    {}\n", scenario.name, scenario.title);
        const std::string summary = wrap(scenario.summary, 88);
        for (std::size_t start = 0; start < summary.size();) {
            const std::size_t end = summary.find('\n', start);
            text += fmt::format("    {}\n", summary.substr(start, end - start));
            start = end + 1;
        }
        text += '\n';
    }
    print(text + "Run one with: reprise lab run NAME\n");
}

void list_scenarios_json() {
    std::string text;
    json::writer out(text, json::layout::indented);
    out.begin_object().key("scenarios").begin_array();
    for (const lab::scenario& scenario : lab::scenarios()) {
        out.begin_object();
        out.member("name", scenario.name);
        out.member("title", scenario.title);
        out.member("summary", scenario.summary);
        out.end_object();
    }
    out.end_array().end_object();
    print(text + "\n");
}

[[nodiscard]] double watched_seconds(const lab::storm_result& result) {
    return std::chrono::duration<double>(
               lab::slot_length * static_cast<std::int64_t>(result.slots.size()))
        .count();
}

/// Prints what is available of an interrupted run: no page and no conclusions, since those compare
/// all three policies.
void print_part(const std::vector<lab::storm_result>& results, bool is_json) {
    std::string json_text;
    json::writer out(json_text, json::layout::indented);
    std::string text = "Interrupted; so far:\n";
    out.begin_object();
    out.member("interrupted", true);
    out.key("policies").begin_array();
    for (const lab::storm_result& each : results) {
        text += fmt::format(
            "  {:<18} {} {:.1f} s, {} requests, {:.1f} % succeed, {:.2f} attempts per request\n",
            lab::to_string(each.policy), each.is_complete ? "complete," : "stopped after",
            watched_seconds(each), each.totals.requests, 100.0 * each.success_share(),
            each.amplification());
        out.begin_object();
        out.member("policy", lab::to_string(each.policy));
        out.member("complete", each.is_complete);
        out.member("watched_s", watched_seconds(each));
        out.member("requests", each.totals.requests);
        out.member("success_share", each.success_share());
        out.member("amplification", each.amplification());
        out.end_object();
    }
    out.end_array().end_object();
    print(is_json ? json_text + "\n" : text);
}

void print_comparison(
    const lab_run_options& typed, const lab::scenario& scenario, const lab::comparison& compared) {
    const std::string command = command_of(typed);
    const lab::report_heading heading{scenario.name, scenario.title, command};
    const bool is_named = !typed.html.empty();
    const std::string path = is_named ? typed.html : fmt::format("reprise-{}.html", scenario.name);
    if (!typed.json || is_named) {
        write_file(
            path, lab::to_html(compared, heading),
            is_named ? file_choice::by_user : file_choice::by_us);
    }
    if (typed.quiet) {
        return;
    }
    if (typed.json) {
        print(lab::to_json(compared, heading) + "\n");
        return;
    }
    print(fmt::format(
        "{}\n\n{}\n{}\nCharts: {}\n", scenario.title, lab::to_table(compared),
        wrap(lab::to_reading(compared)), path));
}

void run_scenario(const lab_run_options& typed) {
    const lab::scenario* scenario = lab::find_scenario(typed.scenario);
    if (scenario == nullptr) {
        throw usage_error(
            fmt::format("scenario: '{}' does not exist; see reprise lab list", typed.scenario));
    }
    lab::comparison compared{make_model(typed, *scenario), {}};
    const interrupt_watch watch;
    auto results = lab::run_policies(compared.options, [&watch] { return watch.has_come(); });
    if (results.size() < compared.results.size() || !results.back().is_complete) {
        if (!typed.quiet) {
            print_part(results, typed.json);
        }
        throw exit_request(exit_code_of_signal(watch.number()));
    }
    std::ranges::move(results, compared.results.begin());
    print_comparison(typed, *scenario, compared);
}

/// CLI11 reads "-1" as a very large unsigned number and truncates numbers that are too large; this
/// does not.
template <std::unsigned_integral Number>
[[nodiscard]] std::string check_whole_number(const std::string& text) {
    Number value{};
    const char* const end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(text.data(), end, value);
    if (error == std::errc{} && stop == end) {
        return {};
    }
    return fmt::format(
        "'{}' is not a whole number from 0 to {}", text, std::numeric_limits<Number>::max());
}

void add_run_command(CLI::App& lab) {
    CLI::App* run = lab.add_subcommand("run", "Run a scenario under three policies, side by side");
    const auto typed = std::make_shared<lab_run_options>();
    run->add_option("scenario", typed->scenario, "Name of the scenario; see 'reprise lab list'")
        ->required();
    run->add_option("--seed", typed->seed, "Seed of all randomness (1)")
        ->check(check_whole_number<std::uint64_t>);
    run->add_option("--clients", typed->clients, "Clients, each with its own retry budget (20)")
        ->check(check_whole_number<std::uint32_t>);
    run->add_option("--rps", typed->rps, "Total requests per second of all clients");
    run->add_option(
        "--capacity", typed->capacity, "Requests per second that the server can handle (1000)");
    run->add_option("--outage", typed->outage_seconds, "Length of the outage in seconds (10)");
    run->add_option("--duration", typed->duration_seconds, "Length of the run in seconds");
    run->add_option(
        "--timeout", typed->timeout_milliseconds,
        "Milliseconds until a client gives up an attempt (500)");
    run->add_option("--attempts", typed->attempts, "Attempts per request, including the first (5)")
        ->check(check_whole_number<std::uint32_t>);
    run->add_option(
        "--bucket", typed->bucket_units,
        "Units in each client's retry budget; a retry costs 5, after a timeout 10 (500)");
    run->add_option(
        "--hedge", typed->hedge_milliseconds,
        "Milliseconds after which the standard strategy sends a second attempt beside a slow one");
    run->add_option("--html", typed->html, "File for the page (reprise-<scenario>.html)");
    run->add_flag(
        "--json", typed->json, "Print JSON instead of the table; write a page only with --html");
    run->add_flag("--quiet", typed->quiet, "Print nothing, only write the page");
    run->footer(
        exit_code_help({exit_code::interrupted, exit_code::terminated}) +
        "\nExamples:\n"
        "  reprise lab run metastable\n"
        "  reprise lab run metastable --attempts 2 --seed 7\n"
        "  reprise lab run outage --clients 1000 --bucket 10 --html storm.html\n"
        "  reprise lab run outage --json > outage.json");
    run->callback([typed] { run_scenario(*typed); });
}

}  // namespace

void add_lab_command(CLI::App& app) {
    CLI::App* lab = app.add_subcommand("lab", "Simulate retry storms in virtual time");
    lab->require_subcommand(1);
    lab->footer("Examples:\n  reprise lab list\n  reprise lab run metastable --attempts 2");
    CLI::App* list = lab->add_subcommand("list", "List the scenarios");
    const auto is_json = std::make_shared<bool>(false);
    list->add_flag("--json", *is_json, "Print JSON");
    list->footer(exit_code_help() + "\nExamples:\n  reprise lab list\n  reprise lab list --json");
    list->callback([is_json] { *is_json ? list_scenarios_json() : list_scenarios(); });
    add_run_command(*lab);
}

}  // namespace reprise::app
