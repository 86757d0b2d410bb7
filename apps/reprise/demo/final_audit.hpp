#pragma once

/// The audit at the end: no operation is running any more, and everything is read back.

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <reprise/sandbox/ledger.hpp>

#include "load.hpp"
#include "write_ledger.hpp"

namespace reprise::demo {

struct audit_result {
    sandbox::ledger_totals writes{};
    /// Documents that were read back, and those that differ from what was reported to their writer
    /// or from what the servers applied last.
    std::size_t documents = 0;
    std::size_t documents_wrong = 0;
    /// Reads during the run that found a value that no writer had reported.
    std::uint64_t wrong_reads = 0;
    std::size_t counters = 0;
    std::uint64_t increments_reported = 0;  // reported as applied
    std::uint64_t increments_unknown = 0;   // outcome unknown
    std::uint64_t increments_found = 0;     // sum of all counters at the end
    std::uint64_t increments_lost = 0;      // fewer than reported
    std::uint64_t increments_doubled = 0;   // more than reported, including the unknown ones
    /// Statements that change documents, by their context ids.
    sandbox::ledger_totals statements{};
    std::size_t statement_documents = 0;        // read back by key-value
    std::size_t statement_documents_wrong = 0;  // like documents_wrong
    std::uint64_t wrong_selects = 0;            // like wrong_reads
    /// Some operations never ended.
    bool has_open_operations = false;
    /// The first problems that were found, as messages.
    std::vector<std::string> findings{};

    [[nodiscard]] std::uint64_t statements_lost() const noexcept {
        return statements.lost + statement_documents_wrong + wrong_selects;
    }
    /// Over everything, including statements.
    [[nodiscard]] std::uint64_t lost() const noexcept {
        return writes.lost + documents_wrong + wrong_reads + increments_lost + statements_lost();
    }
    [[nodiscard]] std::uint64_t duplicated() const noexcept {
        return writes.duplicated + increments_doubled + statements.duplicated;
    }
    [[nodiscard]] bool is_clean() const noexcept {
        return lost() == 0 && duplicated() == 0 && writes.phantom == 0 && statements.phantom == 0 &&
               !has_open_operations;
    }
};

/// Reads every document and counter with the client. The load must have stopped; `has_open`: some
/// operations did not end.
[[nodiscard]] audit_result audit_all(const load& users, const write_ledger& writes, bool has_open);

/// Several lines. The last two are "statements: 9 run, 1 unknown, twice 0, lost 0" and, over
/// everything, "lost 0, duplicated 0".
[[nodiscard]] std::string to_text(const audit_result& audit);

}  // namespace reprise::demo
