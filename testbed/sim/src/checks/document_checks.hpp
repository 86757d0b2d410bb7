#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <reprise/engine/operation_result.hpp>
#include <reprise/sandbox/audit_log.hpp>
#include <reprise/sandbox/ledger.hpp>

#include "world/operation_records.hpp"

namespace reprise::sim {

class world;

[[nodiscard]] inline bool is_reported_ambiguous(const engine::operation_result& result) noexcept {
    return result.error != nullptr && result.error->is_ambiguous;
}

// The ledger of writes, and what the documents must contain.
class document_checks {
public:
    explicit document_checks(world& owner);

    void begin(const operation_record& record) { ledger_.begin(record.number); }
    void on_applied(operation_record& record, const sandbox::audit_entry& entry);
    void on_statement_applied(const operation_record& record);
    void settle(const operation_record& record, const engine::operation_result& result);
    void at_end();

    // A node was lost with documents that no other node has.
    void note_loss() noexcept { is_lossy_ = true; }
    [[nodiscard]] bool is_lossy() const noexcept { return is_lossy_; }
    // The default collection was dropped with its documents.
    void forget_default_documents();
    [[nodiscard]] const sandbox::ledger& writes() const noexcept { return ledger_; }

private:
    // The result of the applied writes for one document.
    struct document_view {
        std::uint32_t collection = 0;
        bool exists = false;
        std::string text;
    };

    void apply(operation_record& record, const sandbox::audit_entry& entry);
    void check_documents();
    void check_statements();

    world& world_;
    std::vector<document_view> documents_;  // by collection and key
    // The last writer of each document written by statements, by key; absent: removed.
    std::map<std::uint16_t, std::optional<std::uint32_t>> statement_documents_;
    sandbox::ledger ledger_;
    bool is_lossy_ = false;
};

}  // namespace reprise::sim
