// How long operations wait: RH-02, RH-38, VB-06.

#include "checks/wait_checks.hpp"

#include <algorithm>
#include <string>

#include "world/world.hpp"

namespace reprise::sim {
namespace {

using couchbase::retry_reason;

constexpr duration timer_tick = std::chrono::milliseconds{1};

}  // namespace

wait_checks::wait_checks(world& owner, const client_views& views)
    : world_(owner), views_(views), waits_(owner.plan.clients.size()) {}

// Operations in named collections may wait for an id in the meantime, and so may all others once a
// server has reported the default collection as unknown. They have no fixed time.
void wait_checks::begin(const operation_record& record) {
    const bool may_need_id =
        record.plan.collection != 0 || views_[record.plan.client].is_default_looked_up;
    if (may_need_id || record.plan.kind == engine::operation_kind::noop) {
        return;
    }
    std::vector<wait>& waiting = waits_[record.plan.client].waiting;
    waiting.push_back({record.due, record.number});
    std::ranges::push_heap(waiting, is_later);
}

void wait_checks::on_late_answer(const operation_record& record) {
    waits_[record.plan.client].answered.push_back(record.number);
}

void wait_checks::after_engine_run(std::uint32_t client, bool is_new_map) {
    check_late_answers(client);
    const bool is_new_connection = views_[client].opened_last == world_.now;
    const bool is_overdue = has_overdue(client);
    if ((!is_new_map && !is_new_connection && !is_overdue) || views_[client].is_default_looked_up ||
        !views_.is_idle(client)) {
        return;
    }
    if (is_new_map || is_new_connection) {
        check_wake_ups(client, is_new_map, is_new_connection);
    }
    // No operation waits longer than planned.
    while (has_overdue(client)) {
        world_.record.report(
            checker::wake_up, waits_[client].waiting.front().operation,
            "its retry is overdue, and nothing prevents it");
        drop_first(waits_[client].waiting);
    }
}

void wait_checks::check_not_early(const operation_record& record) {
    if (!record.is_backing_off || world_.now >= record.due || record.decisions.empty()) {
        return;
    }
    const client_view& view = views_[record.plan.client];
    const bool is_map_new =
        !view.maps.empty() && record.revision_decided != std::optional(view.maps.back().revision());
    const retry_reason reason = record.decisions.back().reason;
    // Calls that wait for a service try again after every change of the topology. Calls that could
    // not reach a node try another one as soon as a terminal state is known (RH-38); they may then
    // wait for a connection until the state has ended.
    const bool is_unreachable =
        reason == retry_reason::socket_not_available || reason == retry_reason::node_not_available;
    bool has_ended =
        record.call &&
        (reason == retry_reason::service_not_available ||
         reason == retry_reason::circuit_breaker_open ||
         (is_unreachable && (view.has_terminal_state() || view.terminal_last >= record.decided)));
    switch (record.call ? retry_reason::unknown : reason) {
        case retry_reason::kv_not_my_vbucket:
            has_ended = is_map_new;
            break;
        case retry_reason::circuit_breaker_open:
            has_ended = true;  // the client decides about canaries on its own
            break;
        case retry_reason::socket_not_available:
        case retry_reason::service_not_available:
        case retry_reason::node_not_available:
        case retry_reason::socket_closed_while_in_flight:
        case retry_reason::authentication_error:
        case retry_reason::tls_error:
        case retry_reason::bucket_access_error:
            // A breaker that closes wakes every operation that waits for the node. Operations that
            // have not been sent when the connection ends learn that early.
            has_ended = is_map_new || view.opened_last >= record.decided ||
                        world_.plan.clients[record.plan.client].breaker.has_value();
            break;
        default:  // all others wait only for their time
            break;
    }
    if (!has_ended) {
        world_.record.report(
            checker::wake_up, record.number,
            std::to_string((record.due - world_.now).count() / 1000) +
                " us too early: " + std::string(couchbase::to_string(reason)));
    }
}

// RH-02: a deferred answer is carried out as soon as the client's thread receives it.
void wait_checks::check_late_answers(std::uint32_t client) {
    std::vector<std::uint32_t>& answered = waits_[client].answered;
    if (answered.empty()) {
        return;
    }
    std::erase_if(answered, [this](std::uint32_t number) {
        const operation_record& record = world_.records.at(number);
        return record.calls != 0 || !record.is_asked;
    });
    const time_point stalled = world_.clients[client]->stalled_until;
    for (const std::uint32_t number : answered) {
        const operation_record& record = world_.records.at(number);
        if (world_.now > std::max(record.decided, stalled)) {
            world_.record.report(
                checker::strategy, record.number, "its strategy has answered, but nothing happens");
        }
    }
}

bool wait_checks::is_current(const wait& each) const {
    const operation_record& record = world_.records.at(each.operation);
    return record.calls == 0 && record.is_backing_off && record.due == each.due;
}

// VB-06: an operation whose wait has ended is on the wire, unless the pipelines are full.
void wait_checks::check_wake_ups(std::uint32_t client, bool is_new_map, bool is_new_connection) {
    const client_view& view = views_[client];
    const planned_client& plan = world_.plan.clients[client];
    const wire::configuration_revision newest = view.maps.back().revision();
    const bool is_ready_bounded = plan.ready_count_max < world_.records.size();
    for (const wait& each : waits_[client].waiting) {
        if (!is_current(each)) {
            continue;
        }
        const operation_record& record = world_.records.at(each.operation);
        const retry_reason reason = record.decisions.back().reason;
        if (is_new_map && reason == retry_reason::kv_not_my_vbucket &&
            record.retries < hurry_count_free && record.revision_decided != std::optional(newest)) {
            world_.record.report(
                checker::wake_up, record.number, "a new configuration did not wake it");
        }
        const bool waits_for_socket =
            reason == retry_reason::node_not_available ||
            reason == retry_reason::socket_closed_while_in_flight ||
            (reason == retry_reason::socket_not_available && !is_ready_bounded);
        // With one connection per node, the one it waited for is now open.
        if (is_new_connection && plan.connections_per_node == 1 && waits_for_socket &&
            world_.clients[client]->loop_of(record) == view.opened_loop &&
            record.decided < world_.now && record.revision_decided == std::optional(newest) &&
            view.maps.back().active(world_.vbucket_of(record.plan)) == view.opened_node &&
            !record.went_forward && !engine::reads_replica(record.plan.kind)) {
            world_.record.report(
                checker::wake_up, record.number, "a new connection did not wake it");
        }
    }
}

void wait_checks::drop_first(std::vector<wait>& waiting) {
    std::ranges::pop_heap(waiting, is_later);
    waiting.pop_back();
}

// A stalled thread cannot keep a time.
bool wait_checks::has_overdue(std::uint32_t client) {
    std::vector<wait>& waiting = waits_[client].waiting;
    while (!waiting.empty() &&
           world_.now > driver::add_saturated(waiting.front().due, timer_tick)) {
        if (is_current(waiting.front())) {
            return world_.now > world_.clients[client]->stalled_until;
        }
        drop_first(waiting);
    }
    return false;
}

}  // namespace reprise::sim
