#include <algorithm>
#include <cstdlib>
#include <exception>
#include <memory>
#include <new>
#include <sstream>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <CLI/CLI.hpp>

#include <reprise/base/closest_name.hpp>
#include <reprise/json/write.hpp>
#include <reprise/retry/version.hpp>
#include <reprise/wire/connection_string.hpp>

#include "commands/commands.hpp"
#include "output/error_report.hpp"
#include "output/output.hpp"

namespace {

using namespace reprise::app;

constexpr const char* description =
    "Safe retries, and a Couchbase client that uses them: documents of a cluster, the cluster's\n"
    "configuration and health, a test cluster with faults on demand, models of retry storms.\n"
    "-c or the variable REPRISE_CONNECT selects the cluster. Without either, commands that only\n"
    "read start an embedded one; commands that write do so only with --sandbox.";

constexpr const char* examples =
    "Examples:\n"
    "  reprise upsert airline_10 '{\"name\": \"Reprise Air\"}' -c couchbase://host -u app -b "
    "travel\n"
    "  reprise get airline_10 -c couchbase://host -u app -b travel\n"
    "  reprise query 'SELECT RAW 1' -c couchbase://host -u app\n"
    "  reprise config --key airline_10 -c couchbase://host\n"
    "  reprise explain KV_LOCKED\n"
    "  reprise demo --seconds 20\n"
    "  reprise verify -c couchbase://host -u app -b travel\n"
    "  reprise bench -c couchbase://host -u app -b travel --duration 10s\n"
    "  reprise sandbox start --nodes 4 --bucket travel --user app --password secret\n"
    "  reprise sandbox run --bucket travel -- ./my_program\n"
    "  reprise sim --seeds 1..1000\n"
    "  reprise lab run outage --strategy grpc_a6 --html storm.html\n"
    "\n"
    "Every command accepts --json; an error is then an object with a symbolic name.\n"
    "\n";

constexpr const char* signal_line =
    "128+N  sandbox run: signal N ended the command; otherwise the command's own exit code\n";

[[nodiscard]] std::string exit_code_page() {
    std::string text;
    for (const exit_code_facts& each : exit_code_table()) {
        text +=
            fmt::format("{:>5}  {:<14} {}\n", static_cast<int>(each.code), each.name, each.meaning);
    }
    return text + signal_line;
}

[[nodiscard]] std::string exit_code_json() {
    std::string text;
    reprise::json::writer out(text, reprise::json::layout::indented);
    out.begin_object().key("exit_codes").begin_array();
    for (const exit_code_facts& each : exit_code_table()) {
        out.begin_object();
        out.member("code", static_cast<int>(each.code));
        out.member("name", each.name);
        out.member("meaning", each.meaning);
        out.end_object();
    }
    out.end_array().end_object();
    return text + "\n";
}

void add_exit_code_command(CLI::App& app) {
    CLI::App* command = app.add_subcommand("exit-codes", "List the exit codes of all commands");
    const auto is_json = std::make_shared<bool>(false);
    command->add_flag("--json", *is_json, "Print JSON");
    command->footer("Examples:\n  reprise exit-codes\n  reprise exit-codes --json");
    command->callback([is_json] { print(*is_json ? exit_code_json() : exit_code_page()); });
}

/// How a command line that fails is reported.
struct failure_report {
    exit_code code = exit_code::failed;
    std::string message;
    std::string json;  // empty: built from the other two members
};

[[nodiscard]] int report(const failure_report& failure, bool is_json) noexcept {
    try {
        complain(failure.message);
        if (failure.code == exit_code::wrong_usage) {
            print_aside("Run with --help to see the available options.\n");
        }
        if (is_json) {
            const std::string made =
                failure.json.empty() ? error_json(failure.code, failure.message) : failure.json;
            print(fmt::format("{{\"error\": {}}}\n", made));
        }
    } catch (const std::exception&) {
        // It cannot be reported; the exit code shows it.
    }
    return static_cast<int>(failure.code);
}

/// Reports an unknown command by name: CLI11's message does not name it.
void check_command_names(const CLI::App& app, int argc, char** argv) {
    const CLI::App* level = &app;
    std::string path = app.get_name();
    for (int i = 1; i < argc && level->get_require_subcommand_min() > 0; ++i) {
        const std::string_view word = argv[i];
        if (word == "--") {
            return;
        }
        if (word.starts_with('-')) {
            continue;
        }
        const auto commands = level->get_subcommands({});
        std::vector<std::string_view> names;
        names.reserve(commands.size());
        const CLI::App* next = nullptr;
        for (const CLI::App* each : commands) {
            names.emplace_back(each->get_name());
            next = each->get_name() == word ? each : next;
        }
        if (next == nullptr) {
            const std::string_view closest = reprise::base::closest_name(word, names);
            throw usage_error(fmt::format(
                "'{}' is not a command of '{}'{}", word, path,
                closest.empty() ? fmt::format("; the commands are {}", fmt::join(names, ", "))
                                : fmt::format("; did you mean '{}'?", closest)));
        }
        level = next;
        path.append(" ").append(word);
    }
}

/// Describes arguments that no option and no positional takes. CLI11's message suggests nothing.
[[nodiscard]] std::string describe_extras(const CLI::App& app) {
    const CLI::App* level = &app;
    std::string path = app.get_name();
    while (!level->get_subcommands().empty()) {
        level = level->get_subcommands().front();
        path.append(" ").append(level->get_name());
    }
    std::vector<std::string> names;
    for (const CLI::Option* each : level->get_options()) {
        for (const std::string& name : each->get_lnames()) {
            names.push_back("--" + name);
        }
    }
    const std::vector<std::string> extras = level->remaining();
    if (extras.empty()) {
        return fmt::format("'{}' has arguments that it does not take", path);
    }
    const auto option =
        std::ranges::find_if(extras, [](const std::string& each) { return each.starts_with('-'); });
    const std::string& first = option == extras.end() ? extras.front() : *option;
    if (!first.starts_with('-')) {
        return fmt::format("'{}' is one argument too many for '{}'", first, path);
    }
    const std::vector<std::string_view> candidates(names.begin(), names.end());
    const auto closest = reprise::base::closest_name(first.substr(0, first.find('=')), candidates);
    return fmt::format(
        "'{}' is not an option of '{}'{}", first, path,
        closest.empty() ? "" : fmt::format("; did you mean {}?", closest));
}

void add_commands(CLI::App& app) {
    app.require_subcommand(1);
    add_lab_command(app);
    add_sandbox_command(app);
    add_kv_commands(app);
    add_service_commands(app);
    add_health_commands(app);
    add_config_commands(app);
    add_explain_command(app);
    add_demo_commands(app);
    add_verify_command(app);
    add_bench_command(app);
    add_sim_command(app);
    add_exit_code_command(app);
}

int run(int argc, char** argv) {
    CLI::App app{description, "reprise"};
    app.footer(examples + ("Exit codes:\n" + exit_code_page()));
    app.set_version_flag("--version", fmt::format("reprise {}", reprise::version));
    add_commands(app);
    try {
        check_command_names(app, argc, argv);
        app.parse(argc, argv);
        return static_cast<int>(exit_code::done);
    } catch (const CLI::Success& asked) {  // CLI11 ends the parse this way for --help and
                                           // --version.
        std::ostringstream text;
        static_cast<void>(app.exit(asked, text, text));
        print(text.str());
        return static_cast<int>(exit_code::done);
    } catch (const exit_request& asked) {
        return asked.code();
    } catch (const CLI::ExtrasError&) {
        throw usage_error(describe_extras(app));
    }
}

/// Describes the current exception. Call it only inside a handler.
[[nodiscard]] failure_report describe_exception() {
    try {
        throw;
    } catch (const operation_failure& error) {
        return {error.code(), error.what(), to_json(error.error())};
    } catch (const failure& error) {
        return {error.code(), error.what(), {}};
    } catch (const usage_error& error) {
        return {exit_code::wrong_usage, error.what(), {}};
    } catch (const CLI::ParseError& error) {
        return {exit_code::wrong_usage, error.what(), {}};
    } catch (const std::exception& error) {
        return {exit_code::failed, error.what(), {}};
    }
}

/// Threads of the client and the sandbox cannot report that the system has no memory or no thread
/// left. That is an error of the environment; everything else is a bug and aborts.
[[noreturn]] void end_unhandled() noexcept {
    try {
        if (std::current_exception()) {
            throw;
        }
    } catch (const std::bad_alloc&) {
        complain("out of memory");
        std::_Exit(static_cast<int>(exit_code::failed));
    } catch (const std::system_error& error) {
        complain(error.what());
        std::_Exit(static_cast<int>(exit_code::failed));
    } catch (...) {
        complain("unexpected failure");
    }
    std::abort();
}

/// Searches the arguments themselves, because errors in parsing them are reported as JSON, too.
[[nodiscard]] bool wants_json(int argc, char** argv) {
    for (int i = 1; i < argc && std::string_view(argv[i]) != "--"; ++i) {
        if (std::string_view(argv[i]) == "--json") {
            return true;
        }
    }
    return false;
}

}  // namespace

int main(int argc, char** argv) {
    prepare_output();
    std::set_terminate(end_unhandled);
    int code = 0;
    try {
        code = run(argc, argv);
    } catch (const std::exception&) {
        code = report(describe_exception(), wants_json(argc, argv));
    }
    return code == 0 && has_output_failed() ? static_cast<int>(exit_code::output_failed) : code;
}
