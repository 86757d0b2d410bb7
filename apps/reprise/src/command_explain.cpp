/// `reprise explain CODE|REASON`: what an error means and what the client does about it.

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <reprise/couchbase.hpp>
#include <reprise/wire/connection_string.hpp>
#include <reprise/wire/error_map.hpp>
#include <reprise/wire/status.hpp>

#include "command_codes.hpp"
#include "commands.hpp"
#include "explain_table.hpp"
#include "output.hpp"

namespace reprise::app {

namespace {

using couchbase::errc;

[[nodiscard]] std::string_view to_text(const std::optional<retry_safety>& safety) noexcept {
    if (!safety) {
        return "nothing is known";
    }
    switch (*safety) {
        case retry_safety::yes:
            return "yes: the server did nothing";
        case retry_safety::no:
            return "no: the same request would fail the same way";
        case retry_safety::maybe:
            break;
    }
    return "only if doing it twice does no harm: the server may have acted";
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
        "    retried whatever the strategy says: {}\n", facts.always_retry ? "yes" : "no"));
    print(fmt::format(
        "    writes may be sent again: {}\n",
        facts.allows_non_idempotent_retry ? "yes, the server did nothing" : "no, only reads"));
    if (facts.is_terminal) {
        print(
            indented("terminal: the default strategy fails at once with the named error, since "
                     "only a person can mend it; best effort goes on until the timeout"));
    } else if (facts.reason == couchbase::retry_reason::unknown) {
        print("    never retried\n");
    } else {
        print(
            facts.always_retry
                ? "    delays: 1, 10, 50, 100, 500, then 1000 ms, at most until the timeout\n"
                : "    delays: 1, 2, 4, ... 256, 500 ms (the strategy's), at most until the "
                  "timeout\n");
    }
    print_advice(advice_on(facts.reason));
}

void explain(wire::status status) {
    const auto& facts = wire::status_info(status);
    print(fmt::format(
        "0x{:02x} {}: a status of the key-value protocol\n", static_cast<unsigned>(status),
        facts.is_listed ? facts.name : "(not in our table)"));
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
            indented("not known to the client: it does what the server's error map says, and "
                     "without an entry there it fails as unknown_server_status"));
    }
    if (const auto error = error_of(status)) {
        print(fmt::format("    told as {}\n", to_string(*error)));
    }
    print_advice(advice_on(status));
}

void explain(errc error) {
    const auto code = make_error_code(error);
    print(fmt::format("{} ({}): an error of the client\n", to_string(error), code.value()));
    print(indented(code.message()));
    const auto facts = retry_facts(error);
    print(fmt::format("    worth calling again from outside: {}\n", to_text(facts.safety)));
    if (facts.timeout) {
        print("    counts as a timeout: retry budgets charge more for it\n");
    }
    if (code == couchbase::error_condition::client_error) {
        print("    mends only when somebody changes something: password, certificate, bucket\n");
    }
    print_advice(advice_on(error));
}

void explain(const strategy_facts& strategy) {
    print(fmt::format("{}: a retry strategy\n", strategy.name));
    print(indented(strategy.meaning));
    print(indented(fmt::format("delays: {}", strategy.delays)));
    print("    reasons that are always retried pass it by: 1, 10, 50, 100, 500, then 1000 ms\n");
    print_advice(strategy.advice);
}

[[nodiscard]] bool explain_name(const std::string& plain) {
    bool is_found = false;
    for (const auto& reason : couchbase::all_retry_reasons()) {
        if (plain_name(reason.name) == plain) {
            explain(reason);
            is_found = true;
        }
    }
    for (const auto& status : wire::all_statuses()) {
        if (plain_name(status.name) == plain) {
            explain(status.code);
            is_found = true;
        }
    }
    for (const errc error : all_errors()) {
        if (plain_name(to_string(error)) == plain) {
            explain(error);
            is_found = true;
        }
    }
    for (const auto& strategy : all_strategies()) {
        if (plain_name(strategy.name) == plain) {
            explain(strategy);
            is_found = true;
        }
    }
    return is_found;
}

[[nodiscard]] std::vector<std::string_view> all_names() {
    std::vector<std::string_view> names;
    for (const auto& reason : couchbase::all_retry_reasons()) {
        names.push_back(reason.name);
    }
    for (const auto& status : wire::all_statuses()) {
        names.push_back(status.name);
    }
    for (const errc error : all_errors()) {
        names.push_back(to_string(error));
    }
    for (const auto& strategy : all_strategies()) {
        names.push_back(strategy.name);
    }
    return names;
}

[[nodiscard]] std::string unknown_text(const std::string& typed, const std::string& plain) {
    const std::vector<std::string_view> names = all_names();
    std::vector<std::string> plain_names;
    for (const auto name : names) {
        plain_names.push_back(plain_name(name));
    }
    const auto closest = wire::closest_name(plain, {plain_names.begin(), plain_names.end()});
    const auto found = std::find(plain_names.begin(), plain_names.end(), closest);
    return fmt::format(
        "'{}' is no status, retry reason, error or strategy{}", typed,
        found == plain_names.end()
            ? ""
            : fmt::format("; did you mean {}?", names[std::size_t(found - plain_names.begin())]));
}

void run_explain(const std::string& typed) {
    // A decimal number may be an error of the client, a status, or both: then both are told.
    if (const auto code = parse_status_code(typed)) {
        const auto error = static_cast<errc>(*code);
        const bool is_hexadecimal = typed.starts_with("0x") || typed.starts_with("0X");
        if (!is_hexadecimal && to_string(error) != "unknown_error") {
            explain(error);
            print("\n");
        }
        explain(static_cast<wire::status>(*code));
        return;
    }
    const std::string plain = plain_name(typed);
    if (!explain_name(plain)) {
        throw usage_error(unknown_text(typed, plain));
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
    CLI::App* explain_command = app.add_subcommand(
        "explain", "Say what a status code, retry reason, error or strategy means, and what to do");
    explain_command->add_option(
        "what", *typed,
        "0x86, 134, KV_LOCKED, document_not_found, Etmpfail, best_effort_strategy, ...");
    explain_command->add_flag("--list", *is_list, "Everything that can be explained");
    explain_command->footer(
        "Examples:\n"
        "  reprise explain KV_LOCKED\n"
        "  reprise explain 0x86\n"
        "  reprise explain terminal_error_strategy\n"
        "  reprise explain --list");
    explain_command->callback([typed, is_list] {
        if (*is_list == !typed->empty()) {
            throw usage_error("explain: give one code or name, or --list");
        }
        *is_list ? list_all() : run_explain(*typed);
    });
}

}  // namespace reprise::app
