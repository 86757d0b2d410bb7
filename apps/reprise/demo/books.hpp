#pragma once

/// Both sides of every write: what the client told its user, and what the servers did.

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

/// The value of a stamped document: "#" and 16 hexadecimal digits. Short enough that it is never
/// compressed, so that the servers' audit shows it.
[[nodiscard]] std::string to_value(std::uint64_t stamp);
/// The first stamp in a value; empty if there is none.
[[nodiscard]] std::optional<std::uint64_t> stamp_of(std::string_view value) noexcept;

/// The context id of a statement that writes a document: its key and its stamp as above. Under it
/// the services' audit shows the statement, also one that was prepared.
[[nodiscard]] std::string to_context(std::string_view key, std::uint64_t stamp);

/// Two of sandbox::ledger, of key-value writes and of statements, for two threads, the load's and
/// the servers', and what the servers applied last to each key. Everything is guarded by one mutex;
/// memory is bounded by the number of keys and by `forget_settled`.
class books {
public:
    /// A new stamp, in the ledger of its kind from now on. Stamps grow.
    [[nodiscard]] std::uint64_t begin_write(std::string_view key);
    [[nodiscard]] std::uint64_t begin_statement(std::string_view key);
    /// Of either kind.
    void settle(std::uint64_t stamp, sandbox::write_outcome outcome);

    /// For audit_log::set_observer.
    void on_request(const sandbox::audit_entry& entry);
    /// For service_audit_log::set_observer.
    void on_statement(const sandbox::service_audit_entry& entry);
    /// The documents of keys with this prefix are gone by intent: their collection was dropped.
    /// Called on the servers' thread, so that it stands between two requests.
    void forget_documents(std::string_view prefix);
    /// Drops what can no longer go wrong. Call it while nothing is under way.
    void forget_settled();

    /// The stamp that the servers applied last to a key; empty: none.
    [[nodiscard]] std::optional<std::uint64_t> last_applied(const std::string& key) const;
    /// How often the servers incremented a counter.
    [[nodiscard]] std::uint64_t increments_applied(const std::string& key) const;
    [[nodiscard]] sandbox::ledger_totals totals() const;
    [[nodiscard]] sandbox::ledger_totals statement_totals() const;
    /// Of both kinds.
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
