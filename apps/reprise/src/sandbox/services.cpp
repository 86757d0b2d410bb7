#include "sandbox/services.hpp"

#include <charconv>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include <reprise/json/value.hpp>
#include <reprise/wire/service.hpp>

#include "output/output.hpp"
#include "sandbox/cadence.hpp"
#include "sandbox/control_members.hpp"
#include "sandbox/effect_options.hpp"
#include "sandbox/tables.hpp"

namespace reprise::app {

namespace {

struct service_fault_options {
    std::string service;
    std::string method;
    std::string path;
    std::string statement;
    std::string context;
    cadence_options cadence;
    effect_input effect;
    std::optional<std::string> body;
    std::vector<std::string> headers;
    std::optional<std::string> retry_after;
};

constexpr effect_option http_status_effect[] = {
    {"--status", "status", effect_option::form::count,
     "Answer with this status, 100 to 999; apply nothing", "--redirect"},
};

constexpr effect_option http_effects[] = {
    {"--redirect", "redirect", effect_option::form::text,
     "Redirect to this location; --status defaults to 302"},
    {"--close-after-headers", "close_after_headers", effect_option::form::word,
     "Apply, close after the headers"},
    {"--close-mid-body", "close_mid_body", effect_option::form::count,
     "Apply, close after this many bytes of the body"},
    {"--wrong-length", "wrong_length", effect_option::form::integer,
     "Apply, make Content-Length wrong by this much"},
    {"--bad-chunk", "bad_chunk", effect_option::form::word, "Apply, send an invalid chunk size"},
    {"--encoding", "encoding", effect_option::form::text, "Apply, claim this Content-Encoding"},
    {"--continue", "continue_first", effect_option::form::count,
     "Apply, send this many '100 Continue' first"},
};

[[nodiscard]] std::string print_service_fault_id(const json::value& answer) {
    return fmt::format("service fault {} added\n", cell(answer, "id"));
}

[[nodiscard]] std::string print_forgotten(const json::value& answer) {
    return fmt::format("{} prepared statements forgotten\n", cell(answer, "forgotten"));
}

[[nodiscard]] json::object make_headers(const service_fault_options& typed) {
    json::object headers;
    for (const std::string& each : typed.headers) {
        const std::size_t colon = each.find(':');
        if (colon == std::string::npos || colon == 0) {
            throw usage_error(fmt::format("--header: '{}' is not 'Name: value'", each));
        }
        const std::size_t value = each.find_first_not_of(' ', colon + 1);
        headers.set(each.substr(0, colon), value == std::string::npos ? "" : each.substr(value));
    }
    set_value(headers, "Retry-After", typed.retry_after);
    return headers;
}

[[nodiscard]] json::value make_service_effect(const service_fault_options& typed) {
    json::value effect = typed.effect.make();
    const json::object headers = make_headers(typed);
    if (!typed.body && headers.empty()) {
        return effect;
    }
    if (!typed.effect.is_typed("--status") || typed.effect.is_typed("--redirect")) {
        throw usage_error("--body, --header, --retry-after: require --status");
    }
    json::object members = *effect.as_object();
    set_value(members, "body", typed.body);
    if (!headers.empty()) {
        members.set("headers", headers);
    }
    return members;
}

[[nodiscard]] json::value make_service_fault_command(const service_fault_options& typed) {
    json::object command{{"command", "service_fault_add"}};
    set_text(command, "service", typed.service);
    set_text(command, "method", typed.method);
    set_text(command, "path", typed.path);
    set_text(command, "statement", typed.statement);
    set_text(command, "context", typed.context);
    set_cadence(command, typed.cadence);
    command.set("effect", make_service_effect(typed));
    return command;
}

void add_effect_options(CLI::App& add, service_fault_options& typed) {
    typed.effect.add_options(add, http_status_effect);
    add.add_option("--body", typed.body, "Body for --status");
    add.add_option("--header", typed.headers, "'Name: value' for --status, repeatable")
        ->allow_extra_args(false);
    add.add_option("--retry-after", typed.retry_after, "Seconds or a date, for --status");
    typed.effect.add_options(add, shared_effects);
    typed.effect.add_options(add, http_effects);
}

// --- audit --------------------------------------------------------------------------------------

[[nodiscard]] std::string service_audit_table(const json::value& answer) {
    return member_table(
               list_of(answer, "entries"),
               {"number", "node", "service", "method", "path", "context", "statement", "applied",
                "status", "code", "answer", "fault"},
               {"number", "node", "service", "method", "path", "context", "statement", "applied",
                "status", "code", "answer", "fault"}) +
           fmt::format("\n{} requests in total\n", cell(answer, "requests"));
}

[[nodiscard]] std::string context_table(const json::value& answer) {
    const json::array& contexts = list_of(answer, "contexts");
    if (contexts.empty()) {
        return "no context id was seen twice\n";
    }
    return member_table(
        contexts, {"context", "requests", "applied"}, {"context", "requests", "applied"});
}

[[nodiscard]] std::uint64_t parse_http_status(std::string_view text) {
    std::uint64_t number = 0;
    const char* const end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(text.data(), end, number);
    if (error != std::errc{} || stop != end) {
        throw usage_error(fmt::format("--status: '{}' is not an HTTP status", text));
    }
    return number;
}

}  // namespace

void add_sandbox_service_commands(CLI::App& fault) {
    CLI::App* add = fault.add_subcommand("service", "Add a rule that disturbs HTTP requests");
    const auto remote = std::make_shared<remote_options>();
    const auto typed = std::make_shared<service_fault_options>();
    add_remote_options(*add, remote);
    add->add_option(
        "--service", typed->service,
        "One of " + wire::name_services(wire::is_http_service) + " (all)");
    add->add_option("--method", typed->method, "GET, POST, ... (all)");
    add->add_option("--path", typed->path, "Pattern of the path with * and ? (all)");
    add->add_option("--statement", typed->statement, "Pattern of the statement (all)");
    add->add_option("--context", typed->context, "Pattern of the client context id (all)");
    add_cadence_options(*add, typed->cadence);
    add_effect_options(*add, *typed);
    add->footer(
        "Examples:\n"
        "  reprise sandbox fault service --service query --status 503 --retry-after 2 \\\n"
        "      --body '{\"errors\":[{\"code\":5000,\"msg\":\"busy\",\"retry\":true}]}' \\\n"
        "      --ready-file r.json\n"
        "  reprise sandbox fault service --statement 'UPSERT*' --nth 3 --close-mid-body 20 \\\n"
        "      --ready-file r.json\n"
        "  reprise sandbox fault service --service views --redirect /elsewhere --count 5 \\\n"
        "      --ready-file r.json");
    add->callback(
        [=] { run_remote(*remote, make_service_fault_command(*typed), print_service_fault_id); });

    CLI::App* forget = fault.add_subcommand(
        "forget-prepared", "Make the query service forget its prepared statements");
    const auto forget_remote = std::make_shared<remote_options>();
    add_remote_options(*forget, forget_remote);
    forget->callback([=] {
        run_remote(*forget_remote, json::object{{"command", "forget_prepared"}}, print_forgotten);
    });
}

CLI::Option* add_service_audit_options(CLI::App& audit, service_audit_options& typed) {
    CLI::Option* services =
        audit.add_flag("--services", typed.is_wanted, "HTTP requests instead of key-value");
    audit.add_option("--service", typed.service, "Only the service of this name, such as query")
        ->needs(services);
    audit.add_option("--path", typed.path, "Only paths that match this pattern")->needs(services);
    audit.add_option("--statement", typed.statement, "Only statements that match this pattern")
        ->needs(services);
    audit.add_option("--context", typed.context, "Only this client context id")->needs(services);
    audit
        .add_flag(
            "--twice", typed.twice,
            "Show the context ids that were seen more than once, and how often they were "
            "applied; without other filters")
        ->needs(services);
    return services;
}

void run_service_audit(const remote_options& remote, const service_audit_options& typed) {
    if (typed.twice) {
        if (!typed.service.empty() || !typed.path.empty() || !typed.statement.empty() ||
            !typed.context.empty() || typed.node || !typed.status.empty() || typed.applied) {
            throw usage_error("--twice: cannot be combined with other filters");
        }
        run_remote(remote, json::object{{"command", "service_contexts"}}, context_table);
        return;
    }
    json::object command{{"command", "service_audit"}, {"limit", typed.limit}};
    set_text(command, "service", typed.service);
    set_text(command, "path", typed.path);
    set_text(command, "statement", typed.statement);
    set_text(command, "context", typed.context);
    set_value(command, "node", typed.node);
    set_value(command, "applied", typed.applied);
    if (!typed.status.empty()) {
        command.set("status", parse_http_status(typed.status));
    }
    run_remote(remote, command, service_audit_table);
}

}  // namespace reprise::app
