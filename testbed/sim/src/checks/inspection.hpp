#pragma once

#include <cstdint>

#include "checks/budget_checks.hpp"
#include "checks/call_checks.hpp"
#include "checks/client_views.hpp"
#include "checks/decision_checks.hpp"
#include "checks/document_checks.hpp"
#include "checks/request_checks.hpp"
#include "checks/result_checks.hpp"
#include "checks/trust_checks.hpp"
#include "checks/wait_checks.hpp"

namespace reprise::sim {

// The checkers. They see what a user, a server and the network see. They rely on the client's
// documented rules, and on nothing of its implementation. Each rule is deliberately stated here a
// second time.
struct inspection {
    explicit inspection(world& owner)
        : views(owner),
          budgets(owner),
          waits(owner, views),
          documents(owner),
          trust(owner, views),
          decisions(owner, views, budgets, waits),
          requests(owner, views, waits, documents, trust),
          calls(owner, views, waits, documents),
          results(owner, views, budgets, documents, calls) {}
    inspection(const inspection&) = delete;  // its parts refer to each other
    inspection& operator=(const inspection&) = delete;

    void on_answer(const sim_link& link, std::uint32_t index, const sim_link::answer_mark& answer) {
        link.http ? calls.on_answered(index, answer) : requests.on_answer(index, answer);
    }
    // Requests that begin at `sent_end` or later were never sent.
    void on_link_end(const sim_link& link, std::uint32_t index, std::uint64_t sent_end) {
        link.http ? calls.on_link_end(index, sent_end) : requests.on_link_end(index, sent_end);
    }
    // The client has reacted to an event.
    void after_engine_run(std::uint32_t client) {
        views.refresh(client);
        results.after_engine_run(client);
        budgets.after_engine_run(client);
        waits.after_engine_run(client, views.take_new_map(client));
    }
    void at_end() {
        results.at_end();
        documents.at_end();
    }

    client_views views;
    budget_checks budgets;
    wait_checks waits;
    document_checks documents;
    trust_checks trust;
    decision_checks decisions;
    request_checks requests;
    call_checks calls;
    result_checks results;
};

}  // namespace reprise::sim
