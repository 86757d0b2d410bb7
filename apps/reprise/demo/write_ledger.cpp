#include "write_ledger.hpp"

#include <algorithm>
#include <charconv>

#include <fmt/format.h>

namespace reprise::demo {

namespace {

constexpr std::size_t stamp_digits = 16;

}  // namespace

std::string to_value(std::uint64_t stamp) {
    return fmt::format("#{:016x}", stamp);
}

std::optional<std::uint64_t> stamp_of(std::string_view value) noexcept {
    value.remove_prefix(std::min(value.find('#'), value.size()));
    if (value.size() < 1 + stamp_digits) {
        return std::nullopt;
    }
    std::uint64_t stamp = 0;
    const char* const first = value.data() + 1;
    const auto [stop, error] = std::from_chars(first, first + stamp_digits, stamp, 16);
    if (error != std::errc{} || stop != first + stamp_digits) {
        return std::nullopt;
    }
    return stamp;
}

std::string to_context(std::string_view key, std::uint64_t stamp) {
    return std::string(key) + to_value(stamp);
}

std::uint64_t write_ledger::begin_write(std::string_view key) {
    const std::lock_guard guard(mutex_);
    const std::uint64_t stamp = stamp_next_++;
    ledger_.begin(stamp, std::string(key));
    return stamp;
}

std::uint64_t write_ledger::begin_statement(std::string_view key) {
    const std::lock_guard guard(mutex_);
    const std::uint64_t stamp = stamp_next_++;
    statements_.begin(stamp, std::string(key));
    return stamp;
}

void write_ledger::settle(std::uint64_t stamp, sandbox::write_outcome outcome) {
    const std::lock_guard guard(mutex_);
    // Only one of the ledgers contains it; the other ignores it.
    ledger_.settle(stamp, outcome);
    statements_.settle(stamp, outcome);
}

void write_ledger::on_request(const sandbox::audit_entry& entry) {
    if (!entry.is_applied) {
        return;
    }
    if (entry.op == wire::opcode::increment) {
        const std::lock_guard guard(mutex_);
        ++increments_[entry.key];
        return;
    }
    if (const auto stamp = stamp_of(entry.value_start)) {
        const std::lock_guard guard(mutex_);
        ledger_.on_applied(*stamp);
        applied_last_[entry.key] = *stamp;
    }
}

void write_ledger::on_statement(const sandbox::service_audit_entry& entry) {
    const auto stamp = entry.is_applied ? stamp_of(entry.context_id) : std::nullopt;
    if (stamp) {
        const std::lock_guard guard(mutex_);
        statements_.on_applied(*stamp);
        applied_last_[entry.context_id.substr(0, entry.context_id.find('#'))] = *stamp;
    }
}

void write_ledger::forget_documents(std::string_view prefix) {
    const std::lock_guard guard(mutex_);
    std::erase_if(applied_last_, [&](const auto& of) { return of.first.starts_with(prefix); });
}

void write_ledger::forget_settled() {
    const std::lock_guard guard(mutex_);
    ledger_.forget_settled();
    statements_.forget_settled();
}

std::optional<std::uint64_t> write_ledger::last_applied(const std::string& key) const {
    const std::lock_guard guard(mutex_);
    const auto found = applied_last_.find(key);
    return found == applied_last_.end() ? std::nullopt : std::optional(found->second);
}

std::uint64_t write_ledger::increments_applied(const std::string& key) const {
    const std::lock_guard guard(mutex_);
    const auto found = increments_.find(key);
    return found == increments_.end() ? 0 : found->second;
}

sandbox::ledger_totals write_ledger::totals() const {
    const std::lock_guard guard(mutex_);
    return ledger_.totals();
}

sandbox::ledger_totals write_ledger::statement_totals() const {
    const std::lock_guard guard(mutex_);
    return statements_.totals();
}

std::vector<sandbox::ledger_finding> write_ledger::findings() const {
    const std::lock_guard guard(mutex_);
    std::vector<sandbox::ledger_finding> all = ledger_.findings();
    all.insert(all.end(), statements_.findings().begin(), statements_.findings().end());
    return all;
}

}  // namespace reprise::demo
