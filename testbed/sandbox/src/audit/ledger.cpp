#include <reprise/sandbox/ledger.hpp>

#include <utility>

#include <reprise/base/enum_table.hpp>

namespace reprise::sandbox {

std::string_view to_string(ledger_fault fault) noexcept {
    return base::name_of(fault);
}

void ledger::begin(std::uint64_t write, std::string label) {
    const auto [at, is_new] = records_.try_emplace(write);
    if (is_new) {
        at->second.label = std::move(label);
        ++totals_.writes;
        ++totals_.open;
    }
}

void ledger::report(ledger_fault fault, std::uint64_t write, const record& of) {
    switch (fault) {
        case ledger_fault::lost:
            ++totals_.lost;
            break;
        case ledger_fault::duplicated:
            ++totals_.duplicated;
            break;
        case ledger_fault::phantom:
            ++totals_.phantom;
            break;
    }
    if (findings_.size() < finding_count_max) {
        findings_.push_back({fault, write, of.label});
    }
}

void ledger::on_applied(std::uint64_t write) {
    const auto found = records_.find(write);
    if (found == records_.end()) {
        return;
    }
    record& of = found->second;
    ++of.applied_count;
    // Each write counts as duplicated once, however often it was repeated.
    if (of.applied_count == 2) {
        report(ledger_fault::duplicated, write, of);
    }
    if (!of.is_settled || of.applied_count != 1) {
        return;
    }
    if (of.outcome == write_outcome::not_applied) {
        report(ledger_fault::phantom, write, of);
    } else if (of.outcome == write_outcome::unknown) {
        ++totals_.unknown_applied;
    }
}

void ledger::settle(std::uint64_t write, write_outcome outcome) {
    const auto found = records_.find(write);
    if (found == records_.end() || found->second.is_settled) {
        return;
    }
    record& of = found->second;
    of.is_settled = true;
    of.outcome = outcome;
    --totals_.open;
    const bool was_applied = of.applied_count != 0;
    switch (outcome) {
        case write_outcome::applied:
            ++totals_.applied;
            if (!was_applied) {
                report(ledger_fault::lost, write, of);
            }
            break;
        case write_outcome::not_applied:
            ++totals_.not_applied;
            if (was_applied) {
                report(ledger_fault::phantom, write, of);
            }
            break;
        case write_outcome::unknown:
            ++totals_.unknown;
            totals_.unknown_applied += was_applied ? 1 : 0;
            break;
    }
}

void ledger::forget_settled() {
    std::erase_if(records_, [](const auto& entry) { return entry.second.is_settled; });
}

std::string to_string(const ledger_totals& totals) {
    std::string text = std::to_string(totals.writes) +
                       " writes: " + std::to_string(totals.applied) + " applied, " +
                       std::to_string(totals.not_applied) + " not applied, " +
                       std::to_string(totals.unknown) + " unknown (" +
                       std::to_string(totals.unknown_applied) + " applied)";
    if (totals.open != 0) {
        text += ", " + std::to_string(totals.open) + " open";
    }
    text += "; lost " + std::to_string(totals.lost) + ", duplicated " +
            std::to_string(totals.duplicated);
    if (totals.phantom != 0) {
        text += ", applied despite a negative answer " + std::to_string(totals.phantom);
    }
    return text;
}

}  // namespace reprise::sandbox
