#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace reprise::sandbox {

/// The client's report to its user about one write.
enum class write_outcome : std::uint8_t {
    applied,      // success
    not_applied,  // an error that is not ambiguous
    unknown,      // an ambiguous error: applied once, or not at all
};

/// A violation that a ledger found.
enum class ledger_fault : std::uint8_t {
    lost,        // reported as applied, but no server applied it
    duplicated,  // applied more than once, whatever was reported
    phantom,     // reported as not applied, but a server applied it, then or later
};

std::string_view to_string(ledger_fault fault) noexcept;

struct ledger_finding {
    ledger_fault fault = ledger_fault::lost;
    std::uint64_t write = 0;
    std::string label{};  // as passed to `begin`
};

struct ledger_totals {
    std::uint64_t writes = 0;           // begun
    std::uint64_t open = 0;             // begun, but not settled
    std::uint64_t applied = 0;          // settled as applied
    std::uint64_t not_applied = 0;      // settled as not applied
    std::uint64_t unknown = 0;          // settled as unknown ...
    std::uint64_t unknown_applied = 0;  // ... of which a server applied this many
    std::uint64_t lost = 0;
    std::uint64_t duplicated = 0;
    std::uint64_t phantom = 0;

    bool is_clean() const noexcept { return lost == 0 && duplicated == 0 && phantom == 0; }
};

/// Double-entry bookkeeping of writes: what the client reported to its user, and what the servers
/// did. The caller identifies a write by any number, for instance a stamp at the start of the
/// value, or the pair (connection, opaque) of its attempts.
///
///     begin(w)  before the operation starts
///     on_applied(w)  for each of its requests that a server applied (audit_log::set_observer)
///     settle(w, outcome)  when the result is reported to the user
///
/// A server applies a write before it answers, so a write that is settled as applied must have been
/// seen by then. Not thread-safe. Memory grows with the number of writes; `forget_settled` drops
/// those that can no longer go wrong because their connections are gone.
class ledger {
public:
    /// `label` is shown in findings. Each number can be used once.
    void begin(std::uint64_t write, std::string label = {});
    /// Ignores requests of writes that were never begun: other clients may use the cluster, too.
    void on_applied(std::uint64_t write);
    /// The first outcome counts.
    void settle(std::uint64_t write, write_outcome outcome);

    ledger_totals totals() const noexcept { return totals_; }
    /// The first findings; the number is bounded.
    const std::vector<ledger_finding>& findings() const noexcept { return findings_; }
    /// Forgets settled writes but keeps the totals. If one of them is applied later, it is ignored.
    void forget_settled();

    static constexpr std::size_t finding_count_max = 64;

private:
    struct record {
        std::uint32_t applied_count = 0;
        bool is_settled = false;
        write_outcome outcome = write_outcome::unknown;
        std::string label;
    };
    void report(ledger_fault fault, std::uint64_t write, const record& of);

    std::unordered_map<std::uint64_t, record> records_;
    ledger_totals totals_;
    std::vector<ledger_finding> findings_;
};

/// "12000 writes: 11950 applied, 3 not applied, 47 unknown (40 applied); lost 0, duplicated 0".
/// Phantoms are mentioned only if there are any.
std::string to_string(const ledger_totals& totals);

}  // namespace reprise::sandbox
