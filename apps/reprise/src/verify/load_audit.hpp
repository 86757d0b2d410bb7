#pragma once

/// The bookkeeping of `reprise verify --load`: compares what the client reported about its writes
/// with what the documents contain. It does no I/O.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <reprise/sandbox/ledger.hpp>

namespace reprise::app {

/// A write and what the client reported about it. Its stamp is stored with it.
struct stamped_write {
    std::uint64_t stamp = 0;
    sandbox::write_outcome outcome = sandbox::write_outcome::unknown;
};

/// The writes to the documents of one turn. Each document has one writer.
struct turn_writes {
    std::vector<stamped_write> journal{};  ///< Each appends its stamp to a list.
    std::vector<stamped_write> counter{};  ///< Each adds 1.
    std::vector<stamped_write> inserts{};  ///< Each creates a document of its own.
    /// The second replaces the first with the CAS that the first returned.
    std::vector<stamped_write> versions{};

    /// Whether every write succeeded, so that none of them can be applied later.
    [[nodiscard]] bool is_settled() const noexcept;
};

/// What the documents of a turn contain. A document that does not exist contains nothing.
struct turn_contents {
    std::vector<std::uint64_t> journal{};
    std::uint64_t counter = 0;
    std::vector<std::optional<std::uint64_t>> inserts{};  ///< In the order of the writes.
    std::optional<std::uint64_t> version{};
};

/// Enters everything into the ledger, in which each write has been begun, and settles the writes.
/// `found.inserts` must have an entry for each insert.
void audit_turn(sandbox::ledger& ledger, const turn_writes& writes, const turn_contents& found);

}  // namespace reprise::app
