#include "sandbox/remote.hpp"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <fmt/format.h>

#include <reprise/json/write.hpp>

#include "output/output.hpp"
#include "sandbox/cadence.hpp"
#include "sandbox/call.hpp"
#include "sandbox/control_members.hpp"
#include "sandbox/disturb.hpp"
#include "sandbox/effect_options.hpp"
#include "sandbox/services.hpp"
#include "sandbox/tables.hpp"

namespace reprise::app {

namespace {

/// A fault rule as typed. Absent: the sandbox's default.
struct fault_options {
    std::vector<std::string> opcodes;
    std::string key;
    std::string bucket;
    cadence_options cadence;
    effect_input effect;
    std::string context;
};

constexpr effect_option status_effect[] = {
    {"--status", "status", effect_option::form::text,
     "Answer with this status, 0xNN or a name; apply nothing"},
};

constexpr effect_option answer_effects[] = {
    {"--answer-twice", "answer_twice", effect_option::form::word,
     "Apply once, send the answer twice"},
    {"--wrong-opaque", "wrong_opaque", effect_option::form::word,
     "Apply, answer with a wrong opaque"},
    {"--truncate", "truncate", effect_option::form::count,
     "Apply, send this many bytes, then close"},
    {"--garbage", "garbage", effect_option::form::count,
     "Apply, send this many random bytes instead"},
    {"--trickle", "trickle_ms", effect_option::form::time,
     "Apply, send one byte per interval: 5ms"},
};

struct audit_options {
    std::string opcode;
    std::string key;
    std::string bucket;
    // The filters of services; node, status, applied and limit also apply to key-value.
    service_audit_options shared;
    bool clear = false;
};

[[nodiscard]] std::string print_fault_id(const json::value& answer) {
    const json::value* id = answer.find("id");
    return fmt::format("fault {} added\n", id != nullptr ? json::serialize(*id) : "?");
}

[[nodiscard]] json::value make_effect(const fault_options& typed) {
    json::value effect = typed.effect.make();
    if (typed.context.empty()) {
        return effect;
    }
    if (!typed.effect.is_typed("--status")) {
        throw usage_error("--context: requires --status");
    }
    json::object members = *effect.as_object();
    members.set("context", typed.context);
    return members;
}

[[nodiscard]] json::value make_fault_command(const fault_options& typed) {
    json::object command{{"command", "fault_add"}};
    if (!typed.opcodes.empty()) {
        command.set("ops", json::array(typed.opcodes.begin(), typed.opcodes.end()));
    }
    set_text(command, "key", typed.key);
    set_text(command, "bucket", typed.bucket);
    set_cadence(command, typed.cadence);
    command.set("effect", make_effect(typed));
    return command;
}

void add_fault_add_command(CLI::App& fault) {
    CLI::App* add = fault.add_subcommand("add", "Add a rule that disturbs key-value requests");
    const auto remote = std::make_shared<remote_options>();
    const auto typed = std::make_shared<fault_options>();
    add_remote_options(*add, remote);
    add->add_option("--opcode", typed->opcodes, "Names or 0xNN, e.g. get,set (all)")
        ->delimiter(',');
    add->add_option("--key", typed->key, "Pattern with * and ? (all)");
    add->add_option("--bucket", typed->bucket, "Name of a bucket (all)");
    add_cadence_options(*add, typed->cadence);
    typed->effect.add_options(*add, status_effect);
    add->add_option("--context", typed->context, "Error text to send with --status");
    typed->effect.add_options(*add, shared_effects);
    typed->effect.add_options(*add, answer_effects);
    add->footer(
        "Examples:\n"
        "  reprise sandbox fault add --ready-file r.json --opcode get --status 0x86 --count 10\n"
        "  reprise sandbox fault add --ready-file r.json --key 'user*' --node 1 --delay 200ms\n"
        "  reprise sandbox fault add --ready-file r.json --opcode set --nth 3 --close-after");
    add->callback([=] { run_remote(*remote, make_fault_command(*typed), print_fault_id); });
}

void add_fault_commands(CLI::App& sandbox) {
    CLI::App* fault =
        sandbox.add_subcommand("fault", "Disturb requests, nodes, users, buckets and collections");
    fault->require_subcommand(1);
    add_fault_add_command(*fault);

    const auto remote = std::make_shared<remote_options>();
    CLI::App* list = fault->add_subcommand("list", "List the rules and how often they acted");
    add_remote_options(*list, remote);
    list->callback(
        [=] { run_remote(*remote, json::object{{"command", "fault_list"}}, fault_table); });

    const auto id = std::make_shared<std::uint64_t>(0);
    const auto is_service = std::make_shared<bool>(false);
    CLI::App* remove = fault->add_subcommand("remove", "Remove one rule");
    remove->add_option("id", *id, "Number of the rule; see 'fault list'")->required();
    remove->add_flag("--service", *is_service, "It is a rule for HTTP requests");
    add_remote_options(*remove, remote);
    remove->callback([=] {
        const char* command = *is_service ? "service_fault_remove" : "fault_remove";
        run_remote(*remote, json::object{{"command", command}, {"id", *id}}, print_done);
    });

    add_sandbox_service_commands(*fault);
    add_sandbox_disturb_commands(*fault);

    CLI::App* clear =
        fault->add_subcommand("clear", "Remove all rules, including those for HTTP requests");
    add_remote_options(*clear, remote);
    clear->callback(
        [=] { run_remote(*remote, json::object{{"command", "fault_clear"}}, print_done); });
}

void run_audit(const remote_options& remote, const audit_options& typed) {
    if (typed.clear) {
        run_remote(remote, json::object{{"command", "audit_clear"}}, print_done);
        return;
    }
    if (typed.shared.is_wanted) {
        run_service_audit(remote, typed.shared);
        return;
    }
    json::object command{{"command", "audit"}, {"limit", typed.shared.limit}};
    set_text(command, "op", typed.opcode);
    set_text(command, "key", typed.key);
    set_text(command, "bucket", typed.bucket);
    set_text(command, "status", typed.shared.status);
    set_value(command, "node", typed.shared.node);
    set_value(command, "applied", typed.shared.applied);
    run_remote(remote, command, audit_tables);
}

void add_audit_command(CLI::App& sandbox) {
    CLI::App* audit =
        sandbox.add_subcommand("audit", "Show the requests that the cluster received");
    const auto remote = std::make_shared<remote_options>();
    const auto typed = std::make_shared<audit_options>();
    service_audit_options& shared = typed->shared;
    add_remote_options(*audit, remote);
    CLI::Option* services = add_service_audit_options(*audit, shared);
    audit->add_option("--opcode", typed->opcode, "Only this opcode: a name or 0xNN")
        ->excludes(services);
    audit->add_option("--key", typed->key, "Only keys that match this pattern of * and ?")
        ->excludes(services);
    audit->add_option("--bucket", typed->bucket, "Only this bucket")->excludes(services);
    audit->add_option("--node", shared.node, "Only this node");
    audit->add_option(
        "--status", shared.status, "Only this status: 0xNN or a name; for HTTP a number");
    audit->add_option(
        "--applied", shared.applied, "Only requests that were (true) or were not (false) applied");
    audit->add_option("--limit", shared.limit, "Show this many, the newest (50)");
    audit->add_flag("--clear", typed->clear, "Clear the audit instead");
    audit->footer(
        "Examples:\n"
        "  reprise sandbox audit --opcode set --applied true --ready-file r.json\n"
        "  reprise sandbox audit --services --statement 'UPSERT*' --ready-file r.json\n"
        "  reprise sandbox audit --services --twice --ready-file r.json");
    audit->callback([=] { run_audit(*remote, *typed); });
}

}  // namespace

void add_sandbox_remote_commands(CLI::App& sandbox) {
    CLI::App* status = sandbox.add_subcommand("status", "Show nodes, buckets and totals");
    const auto remote = std::make_shared<remote_options>();
    add_remote_options(*status, remote);
    status->callback(
        [=] { run_remote(*remote, json::object{{"command", "status"}}, status_tables); });
    add_audit_command(sandbox);
    add_fault_commands(sandbox);
}

}  // namespace reprise::app
