#pragma once

#include <cstdint>

#include <reprise/couchbase_types/operation_observer.hpp>
#include <reprise/sandbox/audit_log.hpp>

#include "checks/client_views.hpp"
#include "checks/document_checks.hpp"
#include "checks/trust_checks.hpp"
#include "checks/wait_checks.hpp"

namespace reprise::sim {

// Key-value requests: what is sent where, and what becomes of it.
class request_checks {
public:
    request_checks(
        world& owner, client_views& views, wait_checks& waits, document_checks& documents,
        trust_checks& trust);

    void on_request(std::uint32_t client, const couchbase::operation_attempt& sent);
    void on_answer(std::uint32_t index, const sim_link::answer_mark& answer);
    void on_link_end(std::uint32_t index, std::uint64_t sent_end);
    void on_audit(const sandbox::audit_entry& entry);
    [[nodiscard]] std::uint64_t count() const noexcept { return request_count_; }

private:
    void check_repetition(const operation_record& record);
    void check_route(operation_record& record, const sim_link& link);

    world& world_;
    client_views& views_;
    wait_checks& waits_;
    document_checks& documents_;
    trust_checks& trust_;
    std::uint64_t request_count_ = 0;
};

}  // namespace reprise::sim
