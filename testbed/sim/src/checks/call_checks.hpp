#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include <reprise/engine/driver_action.hpp>
#include <reprise/engine/http_operation.hpp>
#include <reprise/engine/operation_result.hpp>
#include <reprise/sandbox/service_audit.hpp>

#include "checks/client_views.hpp"
#include "checks/document_checks.hpp"
#include "checks/wait_checks.hpp"

namespace reprise::sim {

// Operations of the HTTP services.
class call_checks {
public:
    call_checks(world& owner, client_views& views, wait_checks& waits, document_checks& documents);

    // A client connects to a port that is not a key-value port; returns false if the address was
    // never announced to it.
    bool on_connect(std::uint32_t client, const engine::connect_action& action);
    void on_composed(std::uint32_t operation, const services::service_call& call);
    void on_judged(
        std::uint32_t operation, const services::http_answer& answer,
        const services::exchange_result& verdict);
    // A complete request is sent; `operation` is the number it carries.
    void on_sent(
        std::uint32_t index, std::optional<std::uint32_t> operation, std::string_view line);
    void on_answered(std::uint32_t index, const sim_link::answer_mark& answer);
    void on_link_end(std::uint32_t index, std::uint64_t sent_end);
    void on_audit(std::uint32_t index, const sandbox::service_audit_entry& entry);
    // The following bytes on the connection are unreadable.
    void on_corrupted(std::uint32_t index);
    // The client has read bytes and reacted to them.
    void after_bytes(std::uint32_t index);
    void on_rows_reported(operation_record& record);
    void on_rows(operation_record& record, const engine::row_batch& rows);
    void on_done(operation_record& record, const engine::operation_result& result);

    [[nodiscard]] std::uint64_t request_count() const noexcept { return request_count_; }
    [[nodiscard]] std::uint64_t row_count() const noexcept { return row_count_; }

private:
    void check_request(const operation_record& record, const sim_link& link, std::string_view line);
    void check_repetition(const operation_record& record);
    void note_situation(const operation_record& record, const services::http_answer& answer);
    void check_row(operation_record& record, std::string_view row);
    void check_ambiguity(const operation_record& record, const engine::operation_result& result);
    void check_rows(operation_record& record, const engine::operation_result& result);

    world& world_;
    client_views& views_;
    wait_checks& waits_;
    document_checks& documents_;
    std::uint64_t request_count_ = 0;
    std::uint64_t row_count_ = 0;
};

}  // namespace reprise::sim
