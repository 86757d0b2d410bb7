#include "sandbox_remote.hpp"

#include <array>
#include <charconv>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include <reprise/json/write.hpp>
#include <reprise/sandbox_net/control_client.hpp>
#include <reprise/sandbox_net/ready_file.hpp>

#include "output.hpp"
#include "sandbox_tables.hpp"

namespace reprise::app {

namespace {

/// Which sandbox is meant, and how its answer is wanted.
struct remote_options {
    std::string ready_file;
    std::string control;
    std::string token;
    bool json = false;
};

/// A fault rule as typed; absent: whatever the sandbox takes for granted.
struct fault_options {
    std::vector<std::string> opcodes;
    std::string key;
    std::optional<std::uint64_t> node;
    std::string bucket;
    std::optional<std::uint64_t> nth;
    std::optional<std::uint64_t> every;
    std::optional<double> probability;
    std::optional<std::uint64_t> count;
    std::string status;
    std::string context;
    std::string delay;
    bool never_answer = false;
    bool close_before = false;
    bool close_after = false;
};

struct audit_options {
    std::string opcode;
    std::string key;
    std::optional<std::uint64_t> node;
    std::string bucket;
    std::string status;
    std::optional<bool> applied;
    std::uint64_t limit = 50;
    bool clear = false;
};

void add_remote_options(CLI::App& command, const std::shared_ptr<remote_options>& typed) {
    auto* file = command.add_option(
        "--ready-file", typed->ready_file, "The file 'sandbox start --ready-file' wrote");
    auto* control = command.add_option("--control", typed->control, "Control address instead");
    auto* token = command.add_option("--token", typed->token, "Token that belongs to --control");
    control->needs(token)->excludes(file);
    token->needs(control);
    command.add_flag("--json", typed->json, "Print the sandbox's answer as JSON");
}

[[nodiscard]] sandbox::control_target find_target(const remote_options& typed) {
    if (!typed.control.empty()) {
        return {typed.control, typed.token};
    }
    if (typed.ready_file.empty()) {
        throw usage_error(
            "--ready-file: say which sandbox is meant (or use --control and --token)");
    }
    const auto info = sandbox::read_ready_file(typed.ready_file);
    if (!info) {
        throw failure(fmt::format("--ready-file: {}", info.error()));
    }
    return {info->addresses.control_url, info->addresses.control_token};
}

/// What the sandbox says of a member of the command, in terms of the option it came from; empty if
/// it speaks of something else.
[[nodiscard]] std::optional<std::string> name_option(std::string_view error) {
    constexpr std::array<std::pair<std::string_view, std::string_view>, 7> option_of_text{{
        {"opcode", "--opcode"},
        {"no status", "--status"},
        {"'node'", "--node"},
        {"'probability'", "--probability"},
        {"'every'", "--every"},
        {"'limit'", "--count"},
        {"'delay_ms'", "--delay"},
    }};
    for (const auto& [text, option] : option_of_text) {
        if (error.contains(text)) {
            return fmt::format("{}: {}", option, error);
        }
    }
    return std::nullopt;
}

using table_function = std::string (*)(const json::value&);

/// Sends a command and prints the answer, as JSON or by `table`.
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

[[nodiscard]] std::string say_done(const json::value&) {
    return "done\n";
}

[[nodiscard]] std::string say_fault_id(const json::value& answer) {
    const json::value* id = answer.find("id");
    return fmt::format("fault {} added\n", id != nullptr ? json::serialize(*id) : "?");
}

/// "200ms", "1s", "50us" rounded up, or a plain number of milliseconds.
[[nodiscard]] std::uint64_t parse_delay_ms(std::string_view text) {
    std::uint64_t number = 0;
    const char* const end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(text.data(), end, number);
    const std::string_view unit(stop, static_cast<std::size_t>(end - stop));
    constexpr std::uint64_t day_ms = 86'400'000;
    if (error == std::errc{} && number <= day_ms) {
        if (unit.empty() || unit == "ms") {
            return number;
        }
        if (unit == "s" && number <= day_ms / 1000) {
            return number * 1000;
        }
        if (unit == "us") {
            return (number + 999) / 1000;
        }
    }
    throw usage_error(
        fmt::format("--delay: '{}' is no time like 200ms or 2s, at most a day", text));
}

[[nodiscard]] json::value make_effect(const fault_options& typed) {
    const int count = int{!typed.status.empty()} + int{!typed.delay.empty()} +
                      int{typed.never_answer} + int{typed.close_before} + int{typed.close_after};
    if (count != 1) {
        throw usage_error(
            "--status, --delay, --never-answer, --close-before, --close-after: give exactly one");
    }
    if (!typed.context.empty() && typed.status.empty()) {
        throw usage_error("--context: belongs to --status");
    }
    if (!typed.status.empty()) {
        json::object effect{{"status", typed.status}};
        if (!typed.context.empty()) {
            effect.set("context", typed.context);
        }
        return effect;
    }
    if (!typed.delay.empty()) {
        return json::object{{"delay_ms", parse_delay_ms(typed.delay)}};
    }
    return typed.never_answer ? "no_answer" : typed.close_before ? "close_before" : "close_after";
}

void set_text(json::object& command, std::string_view name, const std::string& text) {
    if (!text.empty()) {
        command.set(name, text);
    }
}

template <class Number>
void set_number(json::object& command, std::string_view name, const std::optional<Number>& number) {
    if (number) {
        command.set(name, *number);
    }
}

[[nodiscard]] json::value make_fault_command(const fault_options& typed) {
    json::object command{{"command", "fault_add"}};
    if (!typed.opcodes.empty()) {
        command.set("ops", json::array(typed.opcodes.begin(), typed.opcodes.end()));
    }
    set_text(command, "key", typed.key);
    set_text(command, "bucket", typed.bucket);
    set_number(command, "node", typed.node);
    set_number(command, "every", typed.every);
    set_number(command, "probability", typed.probability);
    std::optional<std::uint64_t> limit = typed.count;
    if (typed.nth) {
        if (*typed.nth == 0) {
            throw usage_error("--nth: the first request is 1");
        }
        command.set("skip", *typed.nth - 1);
        limit = typed.count.value_or(1);
    }
    set_number(command, "limit", limit);
    command.set("effect", make_effect(typed));
    return command;
}

void add_fault_add_command(CLI::App& fault) {
    CLI::App* add = fault.add_subcommand("add", "Adds a rule that disturbs requests");
    const auto remote = std::make_shared<remote_options>();
    const auto typed = std::make_shared<fault_options>();
    add_remote_options(*add, remote);
    add->add_option("--opcode", typed->opcodes, "Names or 0xNN, e.g. get,set (all)")
        ->delimiter(',');
    add->add_option("--key", typed->key, "Pattern with * and ? (all)");
    add->add_option("--node", typed->node, "Number of a node, from 0 (all)");
    add->add_option("--bucket", typed->bucket, "Name of a bucket (all)");
    add->add_option("--nth", typed->nth, "Begin with the nth request that fits; --count is then 1");
    add->add_option("--every", typed->every, "Then only each so-manieth (1)");
    add->add_option("--probability", typed->probability, "Share of them, 0 to 1 (1)");
    add->add_option("--count", typed->count, "Rest after so many requests (never)");
    add->add_option("--status", typed->status, "Answer this: 0xNN or a name; nothing is applied");
    add->add_option("--context", typed->context, "Text for people beside --status");
    add->add_option("--delay", typed->delay, "Apply, answer later: 200ms, 2s");
    add->add_flag("--never-answer", typed->never_answer, "Apply, and never answer");
    add->add_flag("--close-before", typed->close_before, "Close without applying");
    add->add_flag("--close-after", typed->close_after, "Apply, then close without an answer");
    add->footer(
        "Examples:\n"
        "  reprise sandbox fault add --ready-file r.json --opcode get --status 0x86 --count 10\n"
        "  reprise sandbox fault add --ready-file r.json --key 'user*' --node 1 --delay 200ms\n"
        "  reprise sandbox fault add --ready-file r.json --opcode set --nth 3 --close-after");
    add->callback([=] { run_remote(*remote, make_fault_command(*typed), say_fault_id); });
}

void add_fault_commands(CLI::App& sandbox) {
    CLI::App* fault = sandbox.add_subcommand("fault", "Disturbs requests on purpose");
    fault->require_subcommand(1);
    add_fault_add_command(*fault);

    const auto remote = std::make_shared<remote_options>();
    CLI::App* list = fault->add_subcommand("list", "Lists the rules and what they did");
    add_remote_options(*list, remote);
    list->callback(
        [=] { run_remote(*remote, json::object{{"command", "fault_list"}}, fault_table); });

    const auto id = std::make_shared<std::uint64_t>(0);
    CLI::App* remove = fault->add_subcommand("remove", "Removes one rule");
    remove->add_option("id", *id, "Number of the rule; see 'fault list'")->required();
    add_remote_options(*remove, remote);
    remove->callback([=] {
        run_remote(*remote, json::object{{"command", "fault_remove"}, {"id", *id}}, say_done);
    });

    CLI::App* clear = fault->add_subcommand("clear", "Removes all rules");
    add_remote_options(*clear, remote);
    clear->callback(
        [=] { run_remote(*remote, json::object{{"command", "fault_clear"}}, say_done); });
}

void run_audit(const remote_options& remote, const audit_options& typed) {
    if (typed.clear) {
        run_remote(remote, json::object{{"command", "audit_clear"}}, say_done);
        return;
    }
    json::object command{{"command", "audit"}, {"limit", typed.limit}};
    set_text(command, "op", typed.opcode);
    set_text(command, "key", typed.key);
    set_text(command, "bucket", typed.bucket);
    set_text(command, "status", typed.status);
    set_number(command, "node", typed.node);
    if (typed.applied) {
        command.set("applied", *typed.applied);
    }
    run_remote(remote, command, audit_tables);
}

void add_audit_command(CLI::App& sandbox) {
    CLI::App* audit = sandbox.add_subcommand("audit", "Shows the requests the cluster saw");
    const auto remote = std::make_shared<remote_options>();
    const auto typed = std::make_shared<audit_options>();
    add_remote_options(*audit, remote);
    audit->add_option("--opcode", typed->opcode, "Only this one: a name or 0xNN");
    audit->add_option("--key", typed->key, "Only keys like this; * and ? as in a shell");
    audit->add_option("--node", typed->node, "Only this node");
    audit->add_option("--bucket", typed->bucket, "Only this bucket");
    audit->add_option("--status", typed->status, "Only this status: 0xNN or a name");
    audit->add_option("--applied", typed->applied, "Only those that did (true) or did not (false)");
    audit->add_option("--limit", typed->limit, "The newest so many (50)");
    audit->add_flag("--clear", typed->clear, "Forget everything instead");
    audit->callback([=] { run_audit(*remote, *typed); });
}

}  // namespace

void add_sandbox_remote_commands(CLI::App& sandbox) {
    CLI::App* status = sandbox.add_subcommand("status", "Shows nodes, buckets and numbers");
    const auto remote = std::make_shared<remote_options>();
    add_remote_options(*status, remote);
    status->callback(
        [=] { run_remote(*remote, json::object{{"command", "status"}}, status_tables); });
    add_audit_command(sandbox);
    add_fault_commands(sandbox);
}

}  // namespace reprise::app
