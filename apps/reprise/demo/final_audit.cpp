#include "final_audit.hpp"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <expected>

#include <fmt/format.h>

namespace reprise::demo {

namespace {

using couchbase::errc;

constexpr std::size_t finding_count_max = 20;
using clock = std::chrono::steady_clock;

constexpr std::chrono::seconds read_timeout{10};
// Reading everything back takes milliseconds. If the servers cannot be reached any more, the audit
// must not wait for a timeout for each document.
constexpr std::chrono::seconds audit_time_max{20};

void add_finding(audit_result& audit, std::string text) {
    if (audit.findings.size() < finding_count_max) {
        audit.findings.push_back(std::move(text));
    }
}

// The keys to read, and the deadline.
struct read_back {
    const couchbase::collection& documents;
    clock::time_point deadline;
};

// The text of a document; empty if there is none.
[[nodiscard]] std::expected<std::string, couchbase::error> read_text(
    const read_back& from, const std::string& key) {
    const auto left = from.deadline - clock::now();
    if (left <= clock::duration::zero()) {
        return std::unexpected(
            couchbase::error(errc::unambiguous_timeout, "no time left to read it back"));
    }
    auto got = from.documents.get(key, {.timeout = std::min<clock::duration>(read_timeout, left)});
    if (got) {
        return std::string(got->text());
    }
    if (got.error().code() == make_error_code(errc::document_not_found)) {
        return std::string();
    }
    return std::unexpected(std::move(got).error());
}

void check_document(
    audit_result& audit, const read_back& from, const write_ledger& writes,
    const document_account& account) {
    ++(account.is_by_statement ? audit.statement_documents : audit.documents);
    std::size_t& wrong =
        account.is_by_statement ? audit.statement_documents_wrong : audit.documents_wrong;
    const auto text = read_text(from, account.key);
    if (!text) {
        ++wrong;
        add_finding(audit, fmt::format("{}: {}", account.key, text.error().message()));
        return;
    }
    const std::uint64_t found = stamp_of(*text).value_or(0);
    const std::uint64_t applied = writes.last_applied(account.key).value_or(0);
    if (found != applied || !account.allows(found)) {
        ++wrong;
        add_finding(
            audit, fmt::format(
                       "{}: found write {}, last applied {}, last reported as applied {}",
                       account.key, found, applied, account.confirmed));
    }
}

void check_counter(
    audit_result& audit, const read_back& from, const write_ledger& writes,
    const counter_account& account) {
    ++audit.counters;
    audit.increments_reported += account.confirmed;
    audit.increments_unknown += account.unknown;
    const auto text = read_text(from, account.key);
    if (!text) {  // the value is unknown: that is not a loss, but not a success either
        ++audit.documents_wrong;
        add_finding(audit, fmt::format("{}: {}", account.key, text.error().message()));
        return;
    }
    std::uint64_t found = 0;
    std::from_chars(text->data(), text->data() + text->size(), found);
    audit.increments_found += found;
    const std::uint64_t most = account.confirmed + account.unknown;
    const std::uint64_t least = std::max(account.confirmed, writes.increments_applied(account.key));
    audit.increments_lost += found < least ? least - found : 0;
    audit.increments_doubled += found > most ? found - most : 0;
    if (found < least || found > most) {
        add_finding(
            audit,
            fmt::format(
                "{}: is {}, applied {} times, reported {} times and {} unknown", account.key, found,
                writes.increments_applied(account.key), account.confirmed, account.unknown));
    }
}

}  // namespace

audit_result audit_all(const load& users, const write_ledger& writes, bool has_open) {
    audit_result audit;
    audit.has_open_operations = has_open;
    audit.wrong_reads = users.wrong_reads();
    audit.wrong_selects = users.wrong_selects();
    if (!has_open) {
        const read_back from{users.documents(), clock::now() + audit_time_max};
        for (const document_account& account : users.document_accounts()) {
            if (account.is_kept) {
                check_document(audit, from, writes, account);
            }
        }
        for (const counter_account& account : users.counter_accounts()) {
            check_counter(audit, from, writes, account);
        }
    }
    // Taken last, so that requests in flight have arrived.
    audit.writes = writes.totals();
    audit.statements = writes.statement_totals();
    for (const auto& finding : writes.findings()) {
        add_finding(
            audit,
            fmt::format("{}: write {} {}", finding.label, finding.write, to_string(finding.fault)));
    }
    return audit;
}

std::string to_text(const audit_result& audit) {
    std::string text = fmt::format(
        "Audit: what the client reported compared with what the servers did\n"
        "  writes     {}\n"
        "  documents  {} read back, {} wrong; {} wrong reads during the run\n"
        "  counters   {}: {} increments reported, {} unknown, {} found\n"
        "  statements {}\n"
        "             {} documents read back, {} wrong; {} wrong SELECTs during the run\n",
        to_string(audit.writes), audit.documents, audit.documents_wrong, audit.wrong_reads,
        audit.counters, audit.increments_reported, audit.increments_unknown, audit.increments_found,
        to_string(audit.statements), audit.statement_documents, audit.statement_documents_wrong,
        audit.wrong_selects);
    if (audit.has_open_operations) {
        text += "  some operations never ended\n";
    }
    for (const std::string& finding : audit.findings) {
        text += fmt::format("  wrong      {}\n", finding);
    }
    return text + fmt::format(
                      "statements: {} run, {} unknown, twice {}, lost {}\n"
                      "lost {}, duplicated {}\n",
                      audit.statements.writes, audit.statements.unknown,
                      audit.statements.duplicated, audit.statements_lost(), audit.lost(),
                      audit.duplicated());
}

}  // namespace reprise::demo
