#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include <reprise/sandbox/services.hpp>

#include "../client/live_cluster.hpp"

// A cluster with all HTTP services on real sockets, and helper functions for tests.

namespace live_services {

using namespace live;
using couchbase::errc;
using couchbase::retry_reason;
using reprise::wire::service;

inline sandbox::server_options service_options() {
    auto options = small_options();
    options.services = {service::views, service::query, service::search, service::analytics};
    return options;
}

inline std::unique_ptr<sandbox::embedded_cluster> start_services() {
    return start(service_options());
}

// Disturbs the first `count` requests to this service. The others are served normally.
inline sandbox::service_fault_rule disturb(
    service where, sandbox::service_fault_effect effect, std::uint64_t count = 1) {
    sandbox::service_fault_rule rule;
    rule.service = where;
    rule.when.limit = count;
    rule.effect = std::move(effect);
    return rule;
}

inline void add_rule(sandbox::embedded_cluster& server, const sandbox::service_fault_rule& rule) {
    server.with_cluster([&](sandbox::cluster& at) { at.services().faults().add(rule); });
}

// The answer of query and analytics to a statement that fails.
inline sandbox::service_fault_answer query_error(
    int code, const std::string& message, bool is_retry_advised = false) {
    return {
        200,
        {},
        R"({"results":[],"errors":[{"code":)" + std::to_string(code) + R"(,"msg":")" + message +
            R"(")" + (is_retry_advised ? R"(,"retry":true)" : "") +
            R"(}],"status":"fatal","metrics":{}})"};
}

// How often a request with this context id was received, and how often it changed something.
inline std::pair<std::size_t, std::size_t> seen(
    sandbox::embedded_cluster& server, const std::string& context_id) {
    std::pair<std::size_t, std::size_t> counts;
    server.with_cluster([&](sandbox::cluster& at) {
        sandbox::service_audit_filter filter;
        filter.context_id = context_id;
        counts.first = at.services().audit().count(filter);
        filter.is_applied = true;
        counts.second = at.services().audit().count(filter);
    });
    return counts;
}

// All requests to a service.
inline std::size_t requests_to(sandbox::embedded_cluster& server, service where) {
    std::size_t count = 0;
    server.with_cluster([&](sandbox::cluster& at) {
        sandbox::service_audit_filter filter;
        filter.service = where;
        count = at.services().audit().count(filter);
    });
    return count;
}

// Records each question and answers like the standard strategy, or refuses.
class noting_strategy final : public couchbase::fail_fast_on_terminal_error_strategy {
public:
    explicit noting_strategy(bool is_refusing = false) : is_refusing_(is_refusing) {}
    void retry_after(
        const couchbase::retry_question& question, couchbase::retry_sink& sink) override {
        {
            const std::scoped_lock lock(mutex_);
            asked_.emplace_back(
                couchbase::request_of(question).operation, couchbase::reason_of(question));
        }
        if (is_refusing_) {
            sink.answer(couchbase::retry_action::no());
        } else {
            couchbase::fail_fast_on_terminal_error_strategy::retry_after(question, sink);
        }
    }
    [[nodiscard]] std::vector<std::pair<std::string, retry_reason>> asked() const {
        const std::scoped_lock lock(mutex_);
        return asked_;
    }

private:
    const bool is_refusing_;
    mutable std::mutex mutex_;
    std::vector<std::pair<std::string, retry_reason>> asked_;
};

}  // namespace live_services
