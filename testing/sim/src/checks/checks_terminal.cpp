// Checks of terminal states, RH-25 to RH-28 and RH-48: each has a cause that still exists.

#include <algorithm>
#include <chrono>
#include <string>
#include <vector>

#include "checks/inspection.hpp"
#include "world/world.hpp"

namespace reprise::sim {
namespace {

using couchbase::retry_reason;

bool any_of(const std::vector<std::uint8_t>& flags) {
    return std::ranges::any_of(flags, [](std::uint8_t flag) { return flag != 0; });
}

}  // namespace

// RH-27: every data node must report it; if some are unreachable, at least two such answers are
// needed.
bool inspection::is_bucket_gone(std::uint32_t client) {
    const client_view& view = views_[client];
    const known_map& newest = view.maps.back();
    const std::size_t count = newest.configuration->kv_node_count();
    std::size_t answers = 0;
    std::size_t silent = 0;
    for (std::size_t index = 0; index < count; ++index) {
        const auto node = static_cast<std::size_t>(newest.nodes[index]);
        answers += view.is_bucket_missing[node];
        silent += view.is_bucket_missing[node] == 0 ? 1U : 0U;
        if (view.is_bucket_missing[node] == 0 && is_node_open(client, newest.nodes[index])) {
            return false;
        }
    }
    return answers >= (silent == 0 ? 1U : 2U);
}

bool inspection::is_node_open(std::uint32_t client, std::int32_t node) {
    for (std::uint32_t index = 0; index < world_.net.link_count(); ++index) {
        const sim_link& link = world_.net.link(index);
        const bool is_up = index < is_up_.size() && is_up_[index] == link_progress::open;
        if (link.client == client && static_cast<std::int32_t>(link.node.value) == node && is_up &&
            link.state == link_state::open) {
            return true;
        }
    }
    return false;
}

bool inspection::has_terminal_state(const client_view& view) {
    return any_of(view.has_refused_auth) || any_of(view.has_failed_tls) ||
           any_of(view.is_service_tls_failed);
}

// RH-48: a healthy seed that is asked for the first time, within the time limits of the client, and
// that was not silent for long. What arrives just now may be the reason to give it up.
bool inspection::may_seed_answer(std::uint32_t client) const {
    constexpr duration silence_max = std::chrono::milliseconds{1500};
    constexpr duration tick = std::chrono::milliseconds{1};
    const client_view& view = views_[client];
    const planned_client& plan = world_.plan.clients[client];
    std::vector<std::uint8_t> was_asked(world_.plan.node_slots(), 0);
    std::vector<std::uint8_t> is_pending(world_.plan.node_slots(), 0);
    for (std::uint32_t index = 0; index < world_.net.link_count(); ++index) {
        const sim_link& link = world_.net.link(index);
        const std::size_t node = link.node.value;
        if (link.client != client || link.http || world_.plan.is_hostile(node)) {
            continue;
        }
        const bool has_answered = view.is_auth_refused[node] != 0 ||
                                  view.is_tls_failed[node] != 0 ||
                                  view.is_bucket_missing[node] != 0 || is_bootstrapped(index);
        const duration patience = std::min(
            {plan.bootstrap_timeout, silence_max,
             link.state == link_state::connecting ? plan.connect_timeout : silence_max});
        const bool is_in_time = world_.now + tick < link.begun + patience;
        is_pending[node] = was_asked[node] == 0 && link.state != link_state::closed &&
                                   !has_answered && is_in_time && link.received_last != world_.now
                               ? 1
                               : 0;
        was_asked[node] = 1;
    }
    return any_of(is_pending);
}

// Whether a node refused a login over verified TLS, which counts at once (RH-48).
bool inspection::is_refusal_proven(std::uint32_t client) const {
    const client_view& view = views_[client];
    for (std::size_t node = 0; node < view.is_auth_refused.size(); ++node) {
        if (view.is_auth_refused[node] != 0 && !world_.plan.is_hostile(node)) {
            return world_.plan.clients[client].uses_tls;
        }
    }
    return false;
}

// RH-25 to RH-28: a server's answer must have caused the state, and the cause must not have been
// fixed since.
void inspection::check_terminal(const operation_record& record, retry_reason reason) {
    const client_view& view = views_[record.plan.client];
    bool has_cause = true;
    switch (reason) {
        case retry_reason::authentication_error:
            has_cause = any_of(record.call ? view.has_refused_auth : view.is_auth_refused);
            break;
        case retry_reason::tls_error:
            has_cause = record.call
                            ? any_of(view.has_failed_tls) || any_of(view.is_service_tls_failed)
                            : any_of(view.is_tls_failed);
            break;
        case retry_reason::bucket_access_error:
            has_cause = view.is_access_denied;
            if (!has_cause && view.was_bucket_selected) {
                break;  // an open bucket is never missing (RH-27)
            }
            if (!has_cause && view.maps.empty()) {
                has_cause = any_of(view.is_bucket_missing);
            } else if (!has_cause) {
                has_cause = is_bucket_gone(record.plan.client);
            }
            break;
        case retry_reason::scope_not_found:
        case retry_reason::collection_not_found:
            has_cause = view.name_missing == world_.now;
            break;
        default:  // no other reason is terminal: it has no such cause
            break;
    }
    const bool is_refusal =
        reason == retry_reason::authentication_error || reason == retry_reason::tls_error;
    if (is_refusal && !record.call && view.maps.empty() && !is_refusal_proven(record.plan.client) &&
        may_seed_answer(record.plan.client)) {
        report(
            checker::terminal, record,
            std::string(couchbase::to_string(reason)) + " while another seed may still answer");
    }
    if (!has_cause) {
        report(
            checker::terminal, record,
            std::string(couchbase::to_string(reason)) + " without a cause that still exists");
    }
}

}  // namespace reprise::sim
