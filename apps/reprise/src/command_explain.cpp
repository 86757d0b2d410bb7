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
}

// The reason the client gives a status, if it retries it by itself.
[[nodiscard]] std::optional<couchbase::retry_reason> reason_of(wire::status status) noexcept {
    using couchbase::retry_reason;
    switch (status) {
        case wire::status::not_my_vbucket:
            return retry_reason::kv_not_my_vbucket;
        case wire::status::unknown_collection:
            return retry_reason::kv_collection_outdated;
        case wire::status::locked:
            return retry_reason::kv_locked;
        case wire::status::etmpfail:
            return retry_reason::kv_temporary_failure;
        case wire::status::sync_write_in_progress:
            return retry_reason::kv_sync_write_in_progress;
        case wire::status::sync_write_re_commit_in_progress:
            return retry_reason::kv_sync_write_re_commit_in_progress;
        default:
            return std::nullopt;
    }
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
    } else if (facts.is_known_to_client) {
        print("    the client does not retry it: the answer is complete\n");
    } else {
        print(
            indented("not known to the client: it does what the server's error map says, and "
                     "without an entry there it fails as unknown_server_status"));
    }
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
}

// All errors, found by asking each number for its name.
[[nodiscard]] std::vector<errc> all_errors() {
    std::vector<errc> found;
    for (int number = 1; number < 1200; ++number) {
        const auto error = static_cast<errc>(number);
        if (to_string(error) != "unknown_error") {
            found.push_back(error);
        }
    }
    return found;
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
    return is_found;
}

[[nodiscard]] std::string unknown_text(const std::string& typed, const std::string& plain) {
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
    std::vector<std::string> plain_names;
    for (const auto name : names) {
        plain_names.push_back(plain_name(name));
    }
    const auto closest = wire::closest_name(plain, {plain_names.begin(), plain_names.end()});
    const auto found = std::find(plain_names.begin(), plain_names.end(), closest);
    return fmt::format(
        "'{}' is no status, retry reason or error{}", typed,
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

}  // namespace

void add_explain_command(CLI::App& app) {
    const auto typed = std::make_shared<std::string>();
    CLI::App* explain_command = app.add_subcommand(
        "explain", "Say what a status code, retry reason or error means, and what to do");
    explain_command
        ->add_option("what", *typed, "0x86, 134, KV_LOCKED, document_not_found, Etmpfail, ...")
        ->required();
    explain_command->callback([typed] { run_explain(*typed); });
}

}  // namespace reprise::app
