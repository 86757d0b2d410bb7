/// `reprise explain CODE|NAME`: what an error or a refusal means and how the client handles it.

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <reprise/base/closest_name.hpp>
#include <reprise/couchbase.hpp>
#include <reprise/wire/connection_string.hpp>
#include <reprise/wire/error_map.hpp>
#include <reprise/wire/status.hpp>

#include "commands/codes.hpp"
#include "commands/commands.hpp"
#include "explain/json.hpp"
#include "explain/table.hpp"
#include "output/output.hpp"

namespace reprise::app {

namespace {

using couchbase::errc;

[[nodiscard]] std::string_view to_text(const std::optional<retry_safety>& safety) noexcept {
    if (!safety) {
        return "unknown";
    }
    switch (*safety) {
        case retry_safety::yes:
            return "yes: the server did nothing";
        case retry_safety::no:
            return "no: the same request would fail in the same way";
        case retry_safety::maybe:
            break;
    }
    return "only if doing it twice is harmless: the server may have acted";
}

void print_advice(std::string_view advice) {
    if (!advice.empty()) {
        print(indented(fmt::format("what to do: {}", advice)));
    }
}

void explain(const couchbase::retry_reason_facts& facts) {
    print(fmt::format("{}: a retry reason\n", facts.name));
    print(indented(facts.meaning));
    print(fmt::format(
        "    retried whatever the strategy decides: {}\n", facts.always_retry ? "yes" : "no"));
    print(fmt::format(
        "    writes may be sent again: {}\n",
        facts.allows_non_idempotent_retry ? "yes, the server did nothing" : "no, only reads"));
    if (facts.is_terminal()) {
        print(
            indented("terminal: the default strategy fails at once with this error, because "
                     "only a person can fix it; best effort retries until the timeout"));
    } else if (facts.reason == couchbase::retry_reason::unknown) {
        print("    never retried\n");
    } else {
        print(
            facts.always_retry
                ? "    delays: 1, 10, 50, 100, 500, then 1000 ms, at most until the timeout\n"
                : "    delays: 1, 2, 4, ... 256, 500 ms (the strategy's), at most until the "
                  "timeout\n");
    }
    print_advice(facts.advice);
}

void explain(wire::status status) {
    const auto& facts = wire::status_info(status);
    print(fmt::format(
        "0x{:02x} {}: a status of the key-value protocol\n", static_cast<unsigned>(status),
        facts.is_listed ? facts.name : "(not in the table)"));
    print(indented(facts.meaning));
    if (const auto* entry = wire::default_error_map().find(static_cast<std::uint16_t>(status))) {
        if (entry->description != facts.meaning) {
            print(indented(entry->description));
        }
        print(fmt::format("    attributes: {}\n", wire::to_string(entry->attributes)));
    }
    if (const auto reason = reason_of(status)) {
        print("    the client retries it, with this reason:\n");
        explain(info(*reason));
        return;
    }
    if (facts.is_known_to_client) {
        print("    the client does not retry it: the answer is complete\n");
    } else {
        print(
            indented("unknown to the client: it follows the server's error map, and "
                     "without an entry there it fails with unknown_server_status"));
    }
    if (const auto error = error_of(status)) {
        print(fmt::format("    reported as {}\n", to_string(*error)));
    }
    print_advice(advice_on(status));
}

void explain(errc error) {
    const auto code = make_error_code(error);
    print(fmt::format("{} ({}): an error of the client\n", to_string(error), code.value()));
    print(indented(code.message()));
    const auto facts = retry_facts(error);
    print(fmt::format("    worth a retry by the application: {}\n", to_text(facts.safety)));
    if (facts.timeout) {
        print("    counts as a timeout: retry budgets charge more for it\n");
    }
    if (code == couchbase::error_condition::client_error) {
        print("    goes away only after a change of the password, certificate or bucket\n");
    }
    print_advice(advice_on(error));
}

void explain(const refusal_facts& refusal) {
    print(fmt::format("{}: why a failure was not retried\n", refusal_name(refusal.reason)));
    print(indented(refusal.meaning));
    print(fmt::format("    histories print it as: {}\n", to_string(refusal.reason)));
    print_advice(refusal.advice);
}

void explain(const strategy_facts& strategy) {
    print(fmt::format("{}: a retry strategy\n", strategy.name));
    print(indented(strategy.meaning));
    print(indented(fmt::format("delays: {}", strategy.delays)));
    print("    always-retried reasons do not use it: 1, 10, 50, 100, 500, then 1000 ms\n");
    print_advice(strategy.advice);
}

[[nodiscard]] std::vector<explained> all_things() {
    const std::vector<errc> errors = all_errors();
    std::vector<explained> things;
    things.reserve(
        couchbase::all_retry_reasons().size() + wire::all_statuses().size() + errors.size() +
        all_refusals().size() + all_strategies().size());
    for (const auto& reason : couchbase::all_retry_reasons()) {
        things.emplace_back(&reason);
    }
    for (const auto& status : wire::all_statuses()) {
        things.emplace_back(status.code);
    }
    for (const errc error : errors) {
        things.emplace_back(error);
    }
    for (const auto& refusal : all_refusals()) {
        things.emplace_back(&refusal);
    }
    for (const auto& strategy : all_strategies()) {
        things.emplace_back(&strategy);
    }
    return things;
}

[[nodiscard]] std::string_view name_of(const explained& thing) {
    if (const auto* reason = std::get_if<const couchbase::retry_reason_facts*>(&thing)) {
        return (*reason)->name;
    }
    if (const auto* status = std::get_if<wire::status>(&thing)) {
        return wire::status_info(*status).name;
    }
    if (const auto* error = std::get_if<errc>(&thing)) {
        return to_string(*error);
    }
    if (const auto* refusal = std::get_if<const refusal_facts*>(&thing)) {
        return refusal_name((*refusal)->reason);
    }
    return std::get<const strategy_facts*>(thing)->name;
}

// Histories print a refusal as a phrase, which users copy.
[[nodiscard]] bool is_phrase_of(const explained& thing, std::string_view plain) {
    const auto* refusal = std::get_if<const refusal_facts*>(&thing);
    return refusal != nullptr && plain_name(to_string((*refusal)->reason)) == plain;
}

[[nodiscard]] std::string unknown_text(const std::string& typed, const std::string& plain) {
    const std::vector<explained> things = all_things();
    std::vector<std::string_view> names;
    std::vector<std::string> plain_names;
    names.reserve(things.size());
    plain_names.reserve(things.size());
    for (const explained& each : things) {
        names.push_back(name_of(each));
        plain_names.push_back(plain_name(names.back()));
    }
    const std::vector<std::string_view> candidates(plain_names.begin(), plain_names.end());
    const auto closest = base::closest_name(plain, candidates);
    const auto found = std::find(plain_names.begin(), plain_names.end(), closest);
    return fmt::format(
        "'{}' is not a status, retry reason, error, refusal or strategy{}", typed,
        found == plain_names.end()
            ? ""
            : fmt::format("; did you mean {}?", names[std::size_t(found - plain_names.begin())]));
}

// A decimal number may be an error of the client, a status, or both; a name may have several
// meanings.
[[nodiscard]] std::vector<explained> find_things(const std::string& typed) {
    std::vector<explained> found;
    if (const auto code = parse_status_code(typed)) {
        const auto error = static_cast<errc>(*code);
        const bool is_hexadecimal = typed.starts_with("0x") || typed.starts_with("0X");
        if (!is_hexadecimal && to_string(error) != "unknown_error") {
            found.emplace_back(error);
        }
        found.emplace_back(static_cast<wire::status>(*code));
        return found;
    }
    const std::string plain = plain_name(typed);
    for (const explained& each : all_things()) {
        if (plain_name(name_of(each)) == plain || is_phrase_of(each, plain)) {
            found.push_back(each);
        }
    }
    if (found.empty()) {
        throw usage_error(unknown_text(typed, plain));
    }
    return found;
}

void explain_all(const std::vector<explained>& things) {
    for (std::size_t i = 0; i < things.size(); ++i) {
        print(i == 0 ? "" : "\n");
        if (const auto* reason = std::get_if<const couchbase::retry_reason_facts*>(&things[i])) {
            explain(**reason);
        } else if (const auto* status = std::get_if<wire::status>(&things[i])) {
            explain(*status);
        } else if (const auto* error = std::get_if<errc>(&things[i])) {
            explain(*error);
        } else if (const auto* refusal = std::get_if<const refusal_facts*>(&things[i])) {
            explain(**refusal);
        } else {
            explain(*std::get<const strategy_facts*>(things[i]));
        }
    }
}

void list_all() {
    std::string text = "Retry reasons\n";
    for (const auto& facts : couchbase::all_retry_reasons()) {
        text += fmt::format("  {:<38}{}\n", facts.name, facts.meaning);
    }
    text += "\nStatuses of the key-value protocol\n";
    for (const auto& facts : wire::all_statuses()) {
        text += fmt::format(
            "  0x{:02x}  {:<32}{}\n", static_cast<unsigned>(facts.code), facts.name, facts.meaning);
    }
    text += "\nErrors of the client\n";
    for (const errc error : all_errors()) {
        const auto code = make_error_code(error);
        text += fmt::format("  {:>4}  {:<40}{}\n", code.value(), to_string(error), code.message());
    }
    text += "\nWhy a failure was not retried\n";
    for (const auto& refusal : all_refusals()) {
        text += fmt::format("  {:<20}{}\n", refusal_name(refusal.reason), refusal.meaning);
    }
    text += "\nRetry strategies\n";
    for (const auto& strategy : all_strategies()) {
        text += fmt::format("  {}\n", strategy.name);
    }
    print(text);
}

}  // namespace

void add_explain_command(CLI::App& app) {
    const auto typed = std::make_shared<std::string>();
    const auto is_list = std::make_shared<bool>(false);
    const auto is_json = std::make_shared<bool>(false);
    CLI::App* explain_command = app.add_subcommand(
        "explain",
        "Explain a status code, retry reason, error, refusal or strategy, and what to do about it");
    explain_command->add_option(
        "what", *typed,
        "0x86, KV_LOCKED, document_not_found, Etmpfail, budget_exhausted, best_effort_strategy, "
        "...");
    explain_command->add_flag("--list", *is_list, "List everything that can be explained");
    explain_command->add_flag("--json", *is_json, "Print JSON");
    explain_command->footer(
        exit_code_help() +
        "\nExamples:\n"
        "  reprise explain KV_LOCKED\n"
        "  reprise explain 0x86\n"
        "  reprise explain fail_fast_on_terminal_error_strategy\n"
        "  reprise explain 14 --json\n"
        "  reprise explain --list");
    explain_command->callback([typed, is_list, is_json] {
        if (*is_list == !typed->empty()) {
            throw usage_error("explain: pass one code or name, or --list");
        }
        const auto things = *is_list ? all_things() : find_things(*typed);
        if (*is_json) {
            print(to_json(things));
        } else {
            *is_list ? list_all() : explain_all(things);
        }
    });
}

}  // namespace reprise::app
