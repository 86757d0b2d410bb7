#include "lab/lint.hpp"

#include <algorithm>
#include <filesystem>
#include <vector>

#include <fmt/format.h>

#include <reprise/json/parse.hpp>
#include <reprise/lab/lint_report.hpp>
#include <reprise/retry_json/strategy_from_json.hpp>

#include "kv_access.hpp"
#include "lab/sources.hpp"
#include "output/output.hpp"

namespace reprise::app {

namespace {

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
    const auto settings = retry_json::read_retry_options(text);
    if (!settings) {
        throw usage_error(fmt::format("{}: {}", path, to_string(settings.error())));
    }
    return lab::scenario_of_settings(*settings);
}

}  // namespace

void lint_file(const lab_lint_options& typed) {
    const std::vector<lab::shown_warning> warnings = lab::find_warnings(load(typed.file));
    if (!typed.html.empty()) {
        const std::string name = typed.file == "-"
                                     ? "standard input"
                                     : std::filesystem::path(typed.file).filename().string();
        const std::string command = "reprise lab lint " + typed.file;
        write_file(typed.html, lab::to_html(warnings, name, command), file_choice::by_user);
    }
    print(typed.is_json ? lab::to_json(warnings) + "\n" : lab::to_text(warnings));
    if (!warnings.empty()) {
        throw exit_request(exit_code::failed);
    }
}

}  // namespace reprise::app
