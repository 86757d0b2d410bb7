/// `reprise lab`: scenarios of `libs/lab`, as tables, as data and as pages.

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <CLI/CLI.hpp>

#include <reprise/json/write.hpp>
#include <reprise/lab/region.hpp>
#include <reprise/lab/report.hpp>

#include "commands/commands.hpp"
#include "kv_access.hpp"
#include "lab/lint.hpp"
#include "lab/serve.hpp"
#include "lab/side_by_side.hpp"
#include "lab/sources.hpp"
#include "output/output.hpp"

namespace reprise::app {

namespace {

/// Requests per second of one core, for estimates only; `./dev bench lab` measures it.
constexpr double usual_speed = 1'000'000.0;

struct lab_output_options {
    std::string html;
    bool is_json = false;
    bool is_csv = false;
    bool is_quiet = false;
    std::size_t threads = std::max(1U, std::thread::hardware_concurrency());
};

struct lab_run_options {
    scenario_source source;
    lab_output_options output;
};

struct lab_region_options {
    scenario_source source;
    lab_output_options output;
    std::string axis = "attempts";
    std::vector<std::string> values;
};

struct lab_new_options {
    std::string file;
    std::string from;
    bool overwrites = false;
    bool is_json = false;
};

[[nodiscard]] std::string usual_time(double seconds) {
    return seconds < 1.0 ? "less than a second" : fmt::format("about {:.0f} s", seconds);
}

/// Before a run, what to expect of it.
void announce(std::size_t runs, double requests, const lab_output_options& output) {
    if (output.is_quiet || output.is_json || output.is_csv) {
        return;
    }
    const double seconds = static_cast<double>(runs) * requests / usual_speed /
                           static_cast<double>(std::min(runs, output.threads));
    print_aside(fmt::format(
        "{} runs of about {:.0f} requests in virtual time: {}\n", runs, requests,
        usual_time(seconds)));
}

/// Writes the page to the given path, or to the current folder; returns its path, or nothing.
[[nodiscard]] std::string write_page(
    const lab_output_options& output, const std::string& name, std::string_view page) {
    const bool is_named = !output.html.empty();
    if ((output.is_json || output.is_csv) && !is_named) {
        return {};
    }
    std::string path = is_named ? output.html : fmt::format("reprise-{}.html", name);
    write_file(path, page, is_named ? file_choice::by_user : file_choice::by_us);
    return path;
}

void print_comparison(const lab_run_options& typed, const lab::comparison& compared) {
    const std::string command = command_of("run", typed.source);
    const std::string page =
        write_page(typed.output, compared.scenario.name, lab::to_html(compared, command));
    if (typed.output.is_quiet) {
        return;
    }
    if (typed.output.is_json) {
        print(lab::to_json(compared, command) + "\n");
    } else if (typed.output.is_csv) {
        print(lab::to_csv(compared));
    } else {
        print(fmt::format(
            "{}\n{}\n{}\n{}\nCharts: {}\n", compared.scenario.title,
            wrap(lab::describe(compared.scenario.model)), lab::to_table(compared),
            wrap(lab::to_reading(compared)), page));
    }
}

void run_scenario(const lab_run_options& typed) {
    lab::comparison compared{load_scenario(typed.source), {}};
    const std::vector<lab::strategy_choice>& strategies = compared.scenario.strategies;
    announce(strategies.size(), lab::expected_attempts(compared.scenario.model), typed.output);
    std::vector<std::optional<lab::run_result>> results(strategies.size());
    side_by_side runs(strategies.size(), typed.output.threads, typed.output.is_quiet);
    runs.run([&](std::size_t index, const lab::run_monitor& monitor) {
        results[index] = lab::run(with_strategy(compared.scenario, strategies[index]), monitor);
    });
    for (std::size_t i = 0; i < results.size(); ++i) {
        if (results[i]) {
            compared.results.push_back({strategies[i], *std::move(results[i])});
        }
    }
    const int signal = runs.watch().number();
    if (signal != 0) {
        notify("interrupted; these are the results so far");
    }
    if (!compared.results.empty()) {
        print_comparison(typed, compared);
    }
    if (signal != 0) {
        throw exit_request(exit_code_of_signal(signal));
    }
}

[[nodiscard]] lab::region_axis parse_axis(const std::string& text) {
    for (const lab::region_axis each :
         {lab::region_axis::attempts, lab::region_axis::timeout, lab::region_axis::bucket}) {
        if (to_string(each) == text) {
            return each;
        }
    }
    throw usage_error(fmt::format("--over: '{}' is not attempts, timeout or bucket", text));
}

[[nodiscard]] std::vector<double> parse_values(
    const lab_region_options& typed, lab::region_axis axis, const lab::model& asked) {
    if (typed.values.empty()) {
        return lab::usual_values(asked, axis);
    }
    std::vector<double> values;
    for (const std::string& each : typed.values) {
        if (axis == lab::region_axis::timeout) {
            values.push_back(std::chrono::duration<double>(parse_time(each, "--values")).count());
            continue;
        }
        double number = 0.0;
        const char* const end = each.data() + each.size();
        const auto [stop, error] = std::from_chars(each.data(), end, number);
        if (error != std::errc{} || stop != end) {
            throw usage_error(fmt::format("--values: '{}' is not a number", each));
        }
        values.push_back(number);
    }
    return values;
}

void print_region(
    const lab_region_options& typed, const lab::region& found, const lab::scenario& about) {
    const lab::strategy_choice& choice = about.strategies.front();
    const std::string values =
        typed.values.empty() ? "" : fmt::format(" --values {}", fmt::join(typed.values, ","));
    const std::string command =
        command_of("region", typed.source) + " --over " + typed.axis + values;
    const std::string page = write_page(
        typed.output, about.name + "-region", lab::to_html(found, about, choice, command));
    if (typed.output.is_quiet) {
        return;
    }
    if (typed.output.is_json) {
        print(lab::to_json(found, about, choice, command) + "\n");
        return;
    }
    print(fmt::format(
        "{}\n{}: {}\n\n{}\nMap: {}\n", about.title, choice.name, lab::describe(choice.retries),
        lab::to_table(found, about.model), page));
}

void find_region(const lab_region_options& typed) {
    const lab::scenario about = load_scenario(typed.source);
    const lab::region_axis axis = parse_axis(typed.axis);
    const lab::model asked = with_strategy(about, about.strategies.front());
    const std::vector<double> values = parse_values(typed, axis, asked);
    for (const double each : values.empty() ? std::vector{1.0} : values) {
        if (const auto error = check_region(asked, axis, each)) {
            throw usage_error(fmt::format("{}: {}", error->field, error->message));
        }
    }
    announce(values.size() * 8, lab::expected_attempts(asked), typed.output);
    std::vector<std::optional<lab::region_point>> points(values.size());
    side_by_side runs(values.size(), typed.output.threads, typed.output.is_quiet);
    runs.run([&](std::size_t index, const lab::run_monitor& monitor) {
        points[index] = find_edge(asked, axis, values[index], monitor);
    });
    lab::region found{axis, asked.services.front().capacity_per_second.value_or(0.0), {}};
    for (const std::optional<lab::region_point>& each : points) {
        if (each) {
            found.points.push_back(*each);
        }
    }
    const int signal = runs.watch().number();
    if (signal != 0) {
        notify("interrupted; these are the results so far");
    }
    if (!found.points.empty()) {
        print_region(typed, found, about);
    }
    if (signal != 0) {
        throw exit_request(exit_code_of_signal(signal));
    }
}

void write_new_scenario(const lab_new_options& typed) {
    const lab::gallery_entry* entry = lab::find_gallery_entry(typed.from);
    if (!typed.from.empty() && entry == nullptr) {
        throw usage_error(
            fmt::format("--from: '{}' is not in the gallery; see reprise lab list", typed.from));
    }
    const std::string_view text = entry != nullptr ? entry->text : lab::new_scenario();
    if (typed.file == "-") {
        print(text);
        return;
    }
    if (!typed.overwrites && std::filesystem::exists(typed.file)) {
        throw failure(fmt::format("{} exists; --force overwrites it", typed.file));
    }
    write_file(typed.file, text, file_choice::by_user);
    std::string json_text;
    json::writer(json_text).begin_object().member("file", typed.file).end_object();
    print(
        typed.is_json ? json_text + "\n"
                      : fmt::format("Wrote {0}. Run it with: reprise lab run {0}\n", typed.file));
}

[[nodiscard]] lab::scenario read_entry(const lab::gallery_entry& entry) {
    auto read = lab::read_scenario(entry.text);
    return read ? *std::move(read) : lab::scenario{};
}

void list_gallery() {
    std::string text;
    for (const lab::gallery_entry& each : lab::gallery()) {
        const lab::scenario scenario = read_entry(each);
        text += fmt::format("{}\n    {}\n", each.name, scenario.title);
        const std::string summary = wrap(scenario.summary, 88);
        for (std::size_t start = 0; start < summary.size();) {
            const std::size_t end = summary.find('\n', start);
            text += fmt::format("    {}\n", summary.substr(start, end - start));
            start = end + 1;
        }
        text += '\n';
    }
    text += "Presets for --strategy:\n";
    for (const lab::retry_preset& each : lab::retry_presets()) {
        text += fmt::format("    {:<22} {}\n", each.name, each.summary);
    }
    print(text + "\nRun one with: reprise lab run NAME\n");
}

void list_gallery_json() {
    std::string text;
    json::writer out(text, json::layout::indented);
    out.begin_object().key("scenarios").begin_array();
    for (const lab::gallery_entry& each : lab::gallery()) {
        const lab::scenario scenario = read_entry(each);
        out.begin_object()
            .member("name", each.name)
            .member("title", scenario.title)
            .member("summary", scenario.summary)
            .end_object();
    }
    out.end_array().key("presets").begin_array();
    for (const lab::retry_preset& each : lab::retry_presets()) {
        out.begin_object().member("name", each.name).member("summary", each.summary).end_object();
    }
    out.end_array().end_object();
    print(text + "\n");
}

[[nodiscard]] std::string check_thread_count(const std::string& text) {
    std::size_t count = 0;
    const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), count);
    const bool is_valid =
        error == std::errc{} && stop == text.data() + text.size() && count >= 1 && count <= 256;
    return is_valid ? std::string() : fmt::format("'{}' is not a number from 1 to 256", text);
}

void add_output_options(CLI::App& command, lab_output_options& into) {
    command.add_option("--html", into.html, "File for the page");
    command.add_flag(
        "--json", into.is_json, "Print JSON instead of the table; write a page only with --html");
    command.add_option("--threads", into.threads, "Runs at the same time (one per core)")
        ->check(check_thread_count);
    command.add_flag("--quiet", into.is_quiet, "Print nothing, only write the page");
}

void add_run_command(CLI::App& lab) {
    CLI::App* run = lab.add_subcommand("run", "Run a scenario under several retry strategies");
    const auto typed = std::make_shared<lab_run_options>();
    add_source_options(*run, typed->source);
    add_output_options(*run, typed->output);
    run->add_flag("--csv", typed->output.is_csv, "Print the curves as CSV")->excludes("--json");
    run->footer(
        exit_code_help({exit_code::interrupted, exit_code::terminated}) +
        "\nExamples:\n"
        "  reprise lab run metastable\n"
        "  reprise lab run metastable --strategy standard --strategy grpc_a6\n"
        "  reprise lab run outage --strategy service_config.json --set clients.count=1000\n"
        "  reprise lab run scenario.json --json > result.json");
    run->callback([typed] { run_scenario(*typed); });
}

void add_region_command(CLI::App& lab) {
    CLI::App* region = lab.add_subcommand(
        "region", "Find the load up to which the first strategy recovers, for several settings");
    const auto typed = std::make_shared<lab_region_options>();
    add_source_options(*region, typed->source);
    add_output_options(*region, typed->output);
    region->add_option(
        "--over", typed->axis, "What varies: attempts, timeout or bucket (attempts)");
    region->add_option("--values", typed->values, "Values to try: 1,2,3, or 500ms,1s for timeout")
        ->delimiter(',');
    region->footer(
        exit_code_help({exit_code::interrupted, exit_code::terminated}) +
        "\nExamples:\n"
        "  reprise lab region metastable --strategy backoff\n"
        "  reprise lab region scenario.json --over timeout --values 250ms,500ms,1s");
    region->callback([typed] { find_region(*typed); });
}

void add_new_command(CLI::App& lab) {
    CLI::App* create = lab.add_subcommand("new", "Write a commented scenario to start from");
    const auto typed = std::make_shared<lab_new_options>();
    create->add_option("file", typed->file, "File to write ('-': standard output)")->required();
    create->add_option("--from", typed->from, "Start from a scenario of the gallery");
    create->add_flag("--force", typed->overwrites, "Overwrite the file if it exists");
    create->add_flag("--json", typed->is_json, "Print the name of the file as JSON");
    create->footer(
        exit_code_help() +
        "\nExamples:\n  reprise lab new scenario.json\n  reprise lab new - --from layers");
    create->callback([typed] { write_new_scenario(*typed); });
}

void add_list_command(CLI::App& lab) {
    CLI::App* list = lab.add_subcommand("list", "List the gallery's scenarios and the presets");
    const auto is_json = std::make_shared<bool>(false);
    list->add_flag("--json", *is_json, "Print JSON");
    list->footer(exit_code_help() + "\nExamples:\n  reprise lab list\n  reprise lab list --json");
    list->callback([is_json] { *is_json ? list_gallery_json() : list_gallery(); });
}

void add_lint_command(CLI::App& lab) {
    CLI::App* lint = lab.add_subcommand("lint", "Warn about settings, and show why in a run");
    const auto typed = std::make_shared<lab_lint_options>();
    lint->add_option("file", typed->file, "Scenario, or settings of reprise, gRPC or Envoy")
        ->required();
    lint->add_option("--html", typed->html, "File for a page with the curves");
    lint->add_flag("--json", typed->is_json, "Print the warnings as JSON, without curves");
    lint->footer(
        exit_code_help() +
        "\nExits with 1 if there are warnings.\n"
        "\nExamples:\n  reprise lab lint scenario.json\n"
        "  reprise lab lint service_config.json --html lint.html");
    lint->callback([typed] { lint_file(*typed); });
}

void add_serve_command(CLI::App& lab) {
    CLI::App* serve = lab.add_subcommand("serve", "Serve an interactive page on this machine");
    const auto typed = std::make_shared<lab_serve_options>();
    serve->add_option("scenario", typed->scenario, "File to start with (the gallery)");
    serve->add_option("--port", typed->port, "Port on 127.0.0.1 (any free one)");
    serve->add_flag("--json", typed->is_json, "Print the link as JSON");
    serve->footer(
        exit_code_help({exit_code::interrupted, exit_code::terminated}) +
        "\nOnly this machine can connect, and only with the printed link.\n"
        "\nExamples:\n  reprise lab serve\n  reprise lab serve scenario.json --port 8099");
    serve->callback([typed] { serve_lab(*typed); });
}

}  // namespace

void add_lab_command(CLI::App& app) {
    CLI::App* lab = app.add_subcommand("lab", "Simulate retries in trouble, in virtual time");
    lab->require_subcommand(1);
    lab->footer(
        "Examples:\n  reprise lab list\n  reprise lab run metastable --strategy grpc_a6\n"
        "  reprise lab new scenario.json");
    add_list_command(*lab);
    add_run_command(*lab);
    add_region_command(*lab);
    add_new_command(*lab);
    add_lint_command(*lab);
    add_serve_command(*lab);
}

}  // namespace reprise::app
