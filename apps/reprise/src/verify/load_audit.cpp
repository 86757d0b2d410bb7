#include "verify/load_audit.hpp"

#include <algorithm>
#include <cstddef>

namespace reprise::app {

namespace {

using sandbox::write_outcome;

// The value of a counter shows how many increments were applied, not which. Those that succeeded
// come first and the ambiguous ones next; what is left over was applied although it was reported as
// refused, or applied twice.
void audit_counter(
    sandbox::ledger& ledger, const std::vector<stamped_write>& writes, std::uint64_t applied) {
    const std::uint64_t limit = std::min<std::uint64_t>(applied, 2 * writes.size());
    std::uint64_t left = limit;
    for (const write_outcome outcome :
         {write_outcome::applied, write_outcome::unknown, write_outcome::not_applied}) {
        for (const stamped_write& each : writes) {
            if (left != 0 && each.outcome == outcome) {
                ledger.on_applied(each.stamp);
                --left;
            }
        }
    }
    for (std::size_t at = 0; left != 0; ++at, --left) {
        ledger.on_applied(writes[at].stamp);
    }
}

void audit_versions(
    sandbox::ledger& ledger, const std::vector<stamped_write>& writes,
    const std::optional<std::uint64_t>& found) {
    if (!found || std::ranges::find(writes, *found, &stamped_write::stamp) == writes.end()) {
        return;
    }
    for (const stamped_write& each : writes) {
        // A later version proves the earlier one, whose CAS it needed.
        ledger.on_applied(each.stamp);
        if (each.stamp == *found) {
            return;
        }
    }
}

void settle(sandbox::ledger& ledger, const std::vector<stamped_write>& writes) {
    for (const stamped_write& each : writes) {
        ledger.settle(each.stamp, each.outcome);
    }
}

[[nodiscard]] bool are_applied(const std::vector<stamped_write>& writes) noexcept {
    return std::ranges::all_of(
        writes, [](const stamped_write& each) { return each.outcome == write_outcome::applied; });
}

}  // namespace

bool turn_writes::is_settled() const noexcept {
    return are_applied(journal) && are_applied(counter) && are_applied(inserts) &&
           are_applied(versions);
}

void audit_turn(sandbox::ledger& ledger, const turn_writes& writes, const turn_contents& found) {
    for (const std::uint64_t stamp : found.journal) {
        ledger.on_applied(stamp);
    }
    audit_counter(ledger, writes.counter, found.counter);
    for (std::size_t at = 0; at < writes.inserts.size(); ++at) {
        if (found.inserts[at] == writes.inserts[at].stamp) {
            ledger.on_applied(writes.inserts[at].stamp);
        }
    }
    audit_versions(ledger, writes.versions, found.version);
    settle(ledger, writes.journal);
    settle(ledger, writes.counter);
    settle(ledger, writes.inserts);
    settle(ledger, writes.versions);
}

}  // namespace reprise::app
