#pragma once

/// Both sides of every write: what the client reported to its user, and what the servers did.

#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include <reprise/sandbox/audit_log.hpp>
#include <reprise/sandbox/ledger.hpp>
#include <reprise/sandbox/service_audit.hpp>

namespace reprise::demo {

/// The value of a stamped document: "#" and 16 hexadecimal digits. It is too short to be
/// compressed, so the servers' audit shows it.
[[nodiscard]] std::string to_value(std::uint64_t stamp);
/// The first stamp in a value; empty if there is none.
[[nodiscard]] std::optional<std::uint64_t> stamp_of(std::string_view value) noexcept;

/// The context id of a statement that writes a document: its key and its stamp in the same form.
/// The services' audit shows it even for prepared statements.
[[nodiscard]] std::string to_context(std::string_view key, std::uint64_t stamp);

/// Two instances of sandbox::ledger, one for key-value writes and one for statements, and the last
/// stamp that the servers applied to each key. It is used by two threads, the load's and the
/// servers'; one mutex guards everything. Memory is bounded by the number of keys and by
/// `forget_settled`.
class write_ledger {
public:
    /// Creates a stamp and begins its write in the ledger of its kind. Stamps increase.
    [[nodiscard]] std::uint64_t begin_write(std::string_view key);
    [[nodiscard]] std::uint64_t begin_statement(std::string_view key);
    /// Of either kind.
    void settle(std::uint64_t stamp, sandbox::write_outcome outcome);

    /// For audit_log::set_observer.
    void on_request(const sandbox::audit_entry& entry);
    /// For service_audit_log::set_observer.
    void on_statement(const sandbox::service_audit_entry& entry);
    /// The documents with this key prefix were removed on purpose: their collection was dropped.
    /// Called on the servers' thread, so that it happens between two requests.
    void forget_documents(std::string_view prefix);
    /// Drops writes that can no longer go wrong. Call it while no operation is running.
    void forget_settled();

    /// The stamp that the servers last applied to a key; empty: none.
    [[nodiscard]] std::optional<std::uint64_t> last_applied(const std::string& key) const;
    /// How often the servers incremented a counter.
    [[nodiscard]] std::uint64_t increments_applied(const std::string& key) const;
    [[nodiscard]] sandbox::ledger_totals totals() const;
    [[nodiscard]] sandbox::ledger_totals statement_totals() const;
    /// The findings of both kinds.
    [[nodiscard]] std::vector<sandbox::ledger_finding> findings() const;

private:
    mutable std::mutex mutex_;
    sandbox::ledger ledger_;
    sandbox::ledger statements_;
    std::uint64_t stamp_next_ = 1;
    std::unordered_map<std::string, std::uint64_t> applied_last_;
    std::unordered_map<std::string, std::uint64_t> increments_;
};

}  // namespace reprise::demo
