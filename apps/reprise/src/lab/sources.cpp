#include "lab/sources.hpp"

#include <algorithm>
#include <filesystem>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <reprise/base/closest_name.hpp>
#include <reprise/retry_json/strategy_from_json.hpp>

#include "kv_access.hpp"
#include "output/output.hpp"

namespace reprise::app {

namespace {

[[nodiscard]] bool is_file_name(const std::string& name) {
    return name == "-" || name.find_first_of("/.") != std::string::npos;
}

[[nodiscard]] std::string suggest_name(
    std::string_view typed, const std::vector<std::string_view>& names) {
    const std::string_view closest = base::closest_name(typed, names);
    return closest.empty() ? fmt::format("; there are {}", fmt::join(names, ", "))
                           : fmt::format("; did you mean {}?", closest);
}

[[nodiscard]] std::vector<lab::scenario_override> parse_overrides(const scenario_source& from) {
    std::vector<lab::scenario_override> result;
    for (const std::string& each : from.overrides) {
        const std::size_t equals = each.find('=');
        if (equals == std::string::npos || equals == 0) {
            throw usage_error(
                fmt::format("--set: '{}' is not PATH=VALUE, such as clients.count=100", each));
        }
        result.push_back({each.substr(0, equals), each.substr(equals + 1)});
    }
    if (!from.seed.empty()) {
        result.push_back({"seed", from.seed});
    }
    return result;
}

[[nodiscard]] std::string scenario_text(const std::string& name) {
    if (const lab::gallery_entry* entry = lab::find_gallery_entry(name)) {
        return std::string(entry->text);
    }
    if (is_file_name(name)) {
        return read_input(name, lab_file_size_max_bytes);
    }
    std::vector<std::string_view> names;
    for (const lab::gallery_entry& each : lab::gallery()) {
        names.push_back(each.name);
    }
    throw usage_error(fmt::format(
        "scenario: '{}' is neither a file nor in the gallery{} See reprise lab list", name,
        base::closest_name(name, names).empty() ? "." : suggest_name(name, names)));
}

[[nodiscard]] lab::strategy_choice choose(const std::string& typed, const lab::scenario& in) {
    const auto own = std::ranges::find(in.strategies, typed, &lab::strategy_choice::name);
    if (own != in.strategies.end()) {
        return *own;
    }
    if (const lab::retry_preset* preset = lab::find_retry_preset(typed)) {
        return {typed, preset->options, false};
    }
    if (is_file_name(typed)) {
        const auto read =
            retry_json::read_retry_options(read_input(typed, lab_file_size_max_bytes));
        if (!read) {
            throw usage_error(fmt::format("{}: {}", typed, to_string(read.error())));
        }
        return {std::filesystem::path(typed).stem().string(), *read, false};
    }
    std::vector<std::string_view> names;
    names.reserve(in.strategies.size() + lab::retry_presets().size());
    for (const lab::strategy_choice& each : in.strategies) {
        names.push_back(each.name);
    }
    for (const lab::retry_preset& each : lab::retry_presets()) {
        names.push_back(each.name);
    }
    throw usage_error(
        fmt::format("--strategy: '{}' does not exist{}", typed, suggest_name(typed, names)));
}

}  // namespace

void add_source_options(CLI::App& command, scenario_source& into) {
    command
        .add_option("scenario", into.name, "Name in the gallery, or a file ('-': standard input)")
        ->required();
    command
        .add_option(
            "--strategy", into.strategies,
            "Strategy to compare: a name in the scenario, a preset, or a file with settings of "
            "reprise, gRPC or Envoy (several times)")
        ->take_all();
    command
        .add_option(
            "--set", into.overrides,
            "Replace a value of the scenario: clients.count=100, length=2m (several times)")
        ->take_all();
    command.add_option("--seed", into.seed, "Seed of all randomness (1)");
}

lab::scenario load_scenario(const scenario_source& from) {
    const bool is_entry = lab::find_gallery_entry(from.name) != nullptr;
    auto read = lab::read_scenario(scenario_text(from.name), parse_overrides(from));
    if (!read) {
        const bool is_typed = read.error().line == 0;
        throw usage_error(fmt::format(
            "{}{}",
            is_typed ? read.error().path == "seed" ? "--seed: " : "--set: " : from.name + ": ",
            to_string(read.error())));
    }
    read->name = is_entry ? from.name : std::filesystem::path(from.name).stem().string();
    if (read->name.empty() || read->name == "-") {
        read->name = "scenario";
    }
    if (!from.strategies.empty()) {
        std::vector<lab::strategy_choice> chosen;
        for (const std::string& each : from.strategies) {
            chosen.push_back(choose(each, *read));
            if (const auto error = check(with_strategy(*read, chosen.back()))) {
                throw usage_error(
                    fmt::format("--strategy {}: {}: {}", each, error->field, error->message));
            }
        }
        if (chosen.size() > 8) {
            throw usage_error("--strategy: at most 8 can be compared");
        }
        read->strategies = std::move(chosen);
    }
    return *std::move(read);
}

std::string command_of(const std::string& what, const scenario_source& from) {
    const auto quoted = [](const std::string& text) {
        const bool is_plain = !text.empty() && text.find_first_of(" '\"\\$`!*?[]{}()<>|&;#~\t\n") ==
                                                   std::string::npos;
        if (is_plain) {
            return text;
        }
        std::string result = "'";
        for (const char c : text) {
            result += c == '\'' ? "'\\''" : std::string(1, c);
        }
        return result + "'";
    };
    std::string command = "reprise lab " + what + " " + quoted(from.name);
    for (const std::string& each : from.strategies) {
        command += " --strategy " + quoted(each);
    }
    for (const std::string& each : from.overrides) {
        command += " --set " + quoted(each);
    }
    return from.seed.empty() ? command : command + " --seed " + quoted(from.seed);
}

}  // namespace reprise::app
