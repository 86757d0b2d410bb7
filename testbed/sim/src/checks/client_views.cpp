// The clients' views of their servers, from the servers' answers and the ends of connections: maps
// (VB-09), and the causes of terminal states (RH-25 to RH-28, RH-48).

#include "checks/client_views.hpp"

#include <algorithm>
#include <chrono>
#include <string>
#include <utility>

#include "world/world.hpp"

namespace reprise::sim {
namespace {

using wire::opcode;
using wire::status;

// Hosts have the names "node0", "node1", ..., perhaps in a domain.
std::int32_t number_of_host(std::string_view host) {
    std::int32_t number = 0;
    for (const char digit : host.substr(4, host.find('.') - 4)) {
        number = number * 10 + (digit - '0');
    }
    return number;
}

std::int32_t node_at(
    const std::vector<std::int32_t>& nodes, std::optional<wire::node_index> position) {
    return position && *position < nodes.size() ? nodes[*position] : -1;
}

// A map without data ports is not a topology yet: the previous one still counts.
bool has_data_port(const wire::cluster_configuration& map) {
    return std::ranges::any_of(map.nodes(), [](const wire::cluster_node& node) {
        return node.ports.port(wire::service::key_value, wire::transport::plain) != 0;
    });
}

std::size_t service_slot(const sim_link& link) noexcept {
    return link.node.value * wire::service_count + static_cast<std::size_t>(link.http->service);
}

}  // namespace

bool any_of(const std::vector<std::uint8_t>& flags) noexcept {
    return std::ranges::any_of(flags, [](std::uint8_t flag) { return flag != 0; });
}

std::int32_t known_map::active(std::size_t vbucket) const {
    return node_at(nodes, configuration->active_node(vbucket));
}

std::int32_t known_map::forward(std::size_t vbucket) const {
    return node_at(nodes, configuration->forward_node(vbucket));
}

std::int32_t known_map::replica(std::size_t vbucket) const {
    return node_at(nodes, configuration->replica_node(vbucket, 1));
}

bool client_view::has_terminal_state() const noexcept {
    return any_of(has_refused_auth) || any_of(has_failed_tls) || any_of(is_service_tls_failed);
}

client_views::client_views(world& owner) : world_(owner), views_(owner.plan.clients.size()) {
    for (client_view& view : views_) {
        view.is_auth_refused.assign(owner.plan.node_slots(), 0);
        view.is_tls_failed.assign(owner.plan.node_slots(), 0);
        view.is_bucket_missing.assign(owner.plan.node_slots(), 0);
        view.has_refused_auth.assign(owner.plan.node_slots(), 0);
        view.has_failed_tls.assign(owner.plan.node_slots(), 0);
        view.is_service_tls_failed.assign(owner.plan.node_slots() * wire::service_count, 0);
    }
}

client_view& client_views::refresh(std::uint32_t client) {
    static const wire::cluster_configuration_ptr no_map;
    client_view& view = views_[client];
    if (!world_.plan.calls.empty()) {
        const auto& global = world_.clients[client]->loops().configuration(
            {}, view.global_maps.empty() ? no_map : view.global_maps.back());
        if (global && (view.global_maps.empty() || view.global_maps.back() != global)) {
            view.global_maps.push_back(global);
            forget_left(view);
        }
    }
    const auto& newest = world_.clients[client]->loops().configuration(
        bucket_name, view.maps.empty() ? no_map : view.maps.back().configuration);
    if (newest == nullptr || (!view.maps.empty() && view.maps.back().configuration == newest)) {
        return view;
    }
    if (newest->bucket_name() != bucket_name ||
        (!view.maps.empty() && newest->revision() <= view.maps.back().revision())) {
        world_.record.report(
            checker::configuration, std::nullopt,
            "client " + std::to_string(client) + " takes " + to_string(newest->revision()) +
                " of '" + newest->bucket_name() + "' over " +
                (view.maps.empty() ? "nothing" : to_string(view.maps.back().revision())));
    }
    known_map added;
    for (const wire::cluster_node& node : newest->nodes()) {
        added.nodes.push_back(number_of_host(node.hostname));
    }
    added.configuration = newest;
    view.maps.push_back(std::move(added));
    view.is_map_new = true;
    return view;
}

// Errors of calls about a node end once neither the cluster's map nor the bucket's contains it.
void client_views::forget_left(client_view& view) {
    std::vector<std::uint8_t> is_named(view.has_refused_auth.size(), 0);
    const auto name = [&](const wire::cluster_configuration& map) {
        for (const wire::cluster_node& node : map.nodes()) {
            if (const std::int32_t number = number_of_host(node.hostname); number >= 0) {
                is_named[static_cast<std::size_t>(number)] = 1;
            }
        }
    };
    if (view.maps.empty() || view.global_maps.empty()) {
        return;
    }
    name(*view.maps.back().configuration);
    name(*view.global_maps.back());
    for (std::size_t node = 0; node < is_named.size(); ++node) {
        view.has_refused_auth[node] &= is_named[node];
        view.has_failed_tls[node] &= is_named[node];
    }
}

// A node that leaves the topology loses its states.
bool client_views::take_new_map(std::uint32_t client) {
    client_view& view = views_[client];
    if (!std::exchange(view.is_map_new, false)) {
        return false;
    }
    if (!has_data_port(*view.maps.back().configuration)) {
        return true;
    }
    const auto& nodes = view.maps.back().nodes;
    for (std::size_t node = 0; node < view.is_auth_refused.size(); ++node) {
        if (std::ranges::find(nodes, static_cast<std::int32_t>(node)) == nodes.end()) {
            if (view.is_auth_refused[node] != 0) {
                world_.situations.note(situation::refusing_node_left);
            }
            if (view.is_tls_failed[node] != 0) {
                world_.situations.note(situation::untrusted_node_left);
            }
            view.is_auth_refused[node] = 0;
            view.is_tls_failed[node] = 0;
            view.is_bucket_missing[node] = 0;
        }
    }
    forget_left(view);
    return true;
}

link_progress client_views::progress_of(std::uint32_t link) const noexcept {
    return link < progress_.size() ? progress_[link] : link_progress::begun;
}

void client_views::set_progress(std::uint32_t link, link_progress progress) {
    progress_.resize(std::max<std::size_t>(progress_.size(), link + 1));
    progress_[link] = progress;
}

void client_views::on_bootstrap_answer(std::uint32_t index, const sim_link::answer_mark& answer) {
    const sim_link& link = world_.net.link(index);
    client_view& view = views_[link.client];
    const std::size_t node = link.node.value;
    const auto code = static_cast<status>(answer.status);
    switch (answer.op) {
        case opcode::sasl_auth:
        case opcode::sasl_step:
            if (code == status::auth_error) {
                view.is_auth_refused[node] = 1;
                view.has_refused_auth[node] = 1;
                view.terminal_last = world_.now;
            }
            break;
        case opcode::select_bucket:
            set_progress(index, link_progress::of_bucket);
            view.is_auth_refused[node] = 0;  // it follows a login
            view.has_refused_auth[node] = 0;
            if (code == status::success) {
                view.is_access_denied = false;
                view.was_bucket_selected = true;
                std::ranges::fill(view.is_bucket_missing, std::uint8_t{0});
            } else if (code == status::eaccess) {
                view.is_access_denied = true;
            } else if (code == status::key_enoent) {
                view.is_bucket_missing[node] = view.is_bucket_missing[node] == 0 ? 1 : 2;
                if (world_.now < world_.warming_until[node]) {
                    world_.situations.note(situation::bucket_not_there_yet);
                }
            }
            break;
        case opcode::get_cluster_config:  // the last step
            if (progress_of(index) != link_progress::of_bucket) {
                view.is_auth_refused[node] = 0;
                view.has_refused_auth[node] = 0;
                // Opened for a call: it belongs to no bucket.
                set_progress(index, link_progress::of_cluster);
                break;
            }
            set_progress(index, link_progress::open);
            view.opened_last = world_.now;
            view.opened_node = static_cast<std::int32_t>(node);
            view.opened_loop = world_.clients[link.client]->loops().number_of(link.id);
            break;
        default:  // the other steps have no effect that is checked
            break;
    }
}

void client_views::on_bytes(std::uint32_t index) {
    const sim_link& link = world_.net.link(index);
    client_view& view = views_[link.client];
    if (link.http) {
        view.is_service_tls_failed[service_slot(link)] = 0;
    } else {
        view.is_tls_failed[link.node.value] = 0;
        view.has_failed_tls[link.node.value] = 0;
    }
}

void client_views::on_connect_failed(std::uint32_t index, engine::connect_failure failure) {
    switch (failure) {
        case engine::connect_failure::tls_untrusted:
        case engine::connect_failure::tls_wrong_host:
        case engine::connect_failure::tls_expired:
        case engine::connect_failure::tls_alert:
        case engine::connect_failure::tls_protocol:
            return on_tls_alert(index);
        case engine::connect_failure::refused:
        case engine::connect_failure::unreachable:
        case engine::connect_failure::timed_out:
        case engine::connect_failure::name_not_found:
        case engine::connect_failure::no_descriptors:
        case engine::connect_failure::reset:
        case engine::connect_failure::canceled:
        case engine::connect_failure::other:
            return;  // proves nothing about TLS
    }
}

void client_views::on_tls_alert(std::uint32_t index) {
    const sim_link& link = world_.net.link(index);
    client_view& view = views_[link.client];
    view.terminal_last = world_.now;
    if (link.http) {
        view.is_service_tls_failed[service_slot(link)] = 1;
    } else {
        view.is_tls_failed[link.node.value] = 1;
        view.has_failed_tls[link.node.value] = 1;
    }
}

// RH-27: every data node must report it; if some are unreachable, at least two such answers are
// needed.
bool client_views::is_bucket_gone(std::uint32_t client) const {
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

bool client_views::is_node_open(std::uint32_t client, std::int32_t node) const {
    for (std::uint32_t index = 0; index < world_.net.link_count(); ++index) {
        const sim_link& link = world_.net.link(index);
        if (link.client == client && static_cast<std::int32_t>(link.node.value) == node &&
            is_bootstrapped(index) && link.state == link_state::open) {
            return true;
        }
    }
    return false;
}

// RH-48: a healthy seed that is asked for the first time, within the time limits of the client, and
// that was not silent for long. What arrives just now may be the reason to give it up.
bool client_views::may_seed_answer(std::uint32_t client) const {
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
bool client_views::is_refusal_proven(std::uint32_t client) const {
    const client_view& view = views_[client];
    for (std::size_t node = 0; node < view.is_auth_refused.size(); ++node) {
        if (view.is_auth_refused[node] != 0 && !world_.plan.is_hostile(node)) {
            return world_.plan.clients[client].uses_tls;
        }
    }
    return false;
}

bool client_views::is_idle(std::uint32_t client) const {
    const client_view& view = views_[client];
    const planned_client& plan = world_.plan.clients[client];
    if (view.maps.empty()) {
        return false;
    }
    const known_map& newest = view.maps.back();
    const std::size_t node_count = newest.configuration->kv_node_count();
    std::vector<std::size_t> free(world_.plan.node_slots());
    for (std::uint32_t index = 0; index < world_.net.link_count(); ++index) {
        const sim_link& link = world_.net.link(index);
        if (link.client != client || link.state != link_state::open || link.http) {
            continue;
        }
        const link_progress progress = progress_of(index);
        if (progress == link_progress::of_cluster) {
            continue;
        }
        const bool is_up = progress == link_progress::open;
        const bool is_writing =
            link.is_writing || link.unreported != 0 || link.handed != link.taken;
        if (!is_up || is_writing || link.on_wire >= plan.pipeline_credit) {
            return false;
        }
        ++free[link.node.value];
    }
    const std::size_t wanted = plan.connections_per_node * plan.loop_count;
    for (std::size_t position = 0; position < node_count; ++position) {
        if (free[static_cast<std::size_t>(newest.nodes[position])] != wanted) {
            return false;
        }
    }
    return true;
}

}  // namespace reprise::sim
