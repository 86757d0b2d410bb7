#include "sandbox/call.hpp"

#include <array>
#include <chrono>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include <reprise/base/duration_text.hpp>
#include <reprise/json/write.hpp>
#include <reprise/sandbox_net/control_client.hpp>
#include <reprise/sandbox_net/ready_file.hpp>

#include "output/output.hpp"

namespace reprise::app {

namespace {

[[nodiscard]] sandbox::control_target find_target(const remote_options& typed) {
    if (!typed.control.empty()) {
        return {typed.control, typed.token};
    }
    if (typed.ready_file.empty()) {
        throw usage_error(
            "--ready-file: required to find the sandbox (or use --control and --token)");
    }
    const auto info = sandbox::read_ready_file(typed.ready_file);
    if (!info) {
        throw failure(fmt::format("--ready-file: {}", info.error()));
    }
    return {info->addresses.control_url, info->addresses.control_token};
}

/// Prefixes a message of the sandbox with the option that caused it; empty if none did.
[[nodiscard]] std::optional<std::string> name_option(std::string_view error) {
    constexpr std::array<std::pair<std::string_view, std::string_view>, 15> option_of_text{{
        {"opcode", "--opcode"},
        {"not a status", "--status"},
        {"'node'", "--node"},
        {"'probability'", "--probability"},
        {"'every'", "--every"},
        {"'limit'", "--count"},
        {"'delay_ms'", "--delay"},
        {"'interval_ms'", "--interval"},
        {"'eject'", "--eject"},
        {"'service'", "--service"},
        {"'status'", "--status"},
        {"'headers'", "--header"},
        {"'wrong_length'", "--wrong-length"},
        {"'close_mid_body'", "--close-mid-body"},
        {"'continue_first'", "--continue"},
    }};
    for (const auto& [text, option] : option_of_text) {
        if (error.contains(text)) {
            return fmt::format("{}: {}", option, error);
        }
    }
    return std::nullopt;
}

}  // namespace

void add_remote_options(CLI::App& command, const std::shared_ptr<remote_options>& typed) {
    auto* file = command.add_option(
        "--ready-file", typed->ready_file, "The file that 'sandbox start --ready-file' wrote");
    auto* control =
        command.add_option("--control", typed->control, "Control address, instead of --ready-file");
    auto* token = command.add_option("--token", typed->token, "Token for --control");
    control->needs(token)->excludes(file);
    token->needs(control);
    command.add_flag("--json", typed->json, "Print the sandbox's answer as JSON");
}

void run_remote(const remote_options& typed, const json::value& command, table_function table) {
    const auto answer = sandbox::call_control(find_target(typed), command);
    if (!answer) {
        if (const auto wrong = name_option(answer.error())) {
            throw usage_error(*wrong);
        }
        throw failure(answer.error());
    }
    print(typed.json ? json::serialize(*answer, json::layout::indented) + "\n" : table(*answer));
}

std::string print_done(const json::value&) {
    return "done\n";
}

std::uint64_t parse_milliseconds(std::string_view option, std::string_view text) {
    const auto parsed = text == "0" ? std::chrono::nanoseconds{0} : base::parse_duration_text(text);
    if (!parsed || *parsed > std::chrono::hours{24}) {
        throw usage_error(fmt::format(
            "{}: '{}' is not a time with its unit, such as 200ms or 2s, at most one day", option,
            text));
    }
    return static_cast<std::uint64_t>(
        std::chrono::ceil<std::chrono::milliseconds>(*parsed).count());
}

}  // namespace reprise::app
