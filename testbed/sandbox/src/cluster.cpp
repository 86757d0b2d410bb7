#include <algorithm>
#include <utility>

#include <reprise/base/assert.hpp>
#include <reprise/base/enum_table.hpp>
#include <reprise/sandbox/cluster.hpp>
#include <reprise/wire/vbucket.hpp>

#include "cluster_state.hpp"
#include "key_value/session.hpp"

namespace reprise::sandbox {

std::string_view to_string(cluster_errc code) noexcept {
    static constexpr base::enumerator_texts<cluster_errc> texts({
        {cluster_errc::unknown_node, "unknown node"},
        {cluster_errc::unknown_bucket, "unknown bucket"},
        {cluster_errc::unknown_vbucket, "unknown vbucket"},
        {cluster_errc::unknown_scope, "unknown scope"},
        {cluster_errc::unknown_collection, "unknown collection"},
        {cluster_errc::unknown_user, "unknown user"},
        {cluster_errc::unknown_group, "unknown group"},
        {cluster_errc::already_exists, "already exists"},
        {cluster_errc::name_invalid, "name is not allowed"},
        {cluster_errc::node_down, "node is down"},
        {cluster_errc::last_node, "the last node cannot leave"},
        {cluster_errc::map_mismatch, "map does not fit"},
        {cluster_errc::too_many_connections, "too many connections"},
        {cluster_errc::too_many_nodes, "too many nodes"},
        {cluster_errc::not_failed_over, "node was not failed over"},
        {cluster_errc::rebalance_running, "a rebalance is running"},
        {cluster_errc::no_rebalance, "no rebalance is running"},
        {cluster_errc::no_replica, "a vbucket of the node has no other copy"},
        {cluster_errc::connections_refused, "node refuses connections"},
        {cluster_errc::nothing_older, "node has no older configuration"},
        {cluster_errc::unknown_code, "unknown error code"},
    });
    return texts[code];
}

cluster::cluster(std::unique_ptr<detail::cluster_state> state) noexcept
    : state_(std::move(state)),
      topology_(*state_),
      buckets_(*state_),
      durability_(*state_),
      disturbances_(*state_) {}
cluster::cluster(cluster&&) noexcept = default;
cluster& cluster::operator=(cluster&&) noexcept = default;

cluster::~cluster() {
    // Connections refer to the state.
    REPRISE_ASSERT(state_ == nullptr || state_->sessions.empty());
}

std::expected<cluster, std::string> cluster::make(cluster_options options) {
    if (auto problem = find_problem(options)) {
        return std::unexpected(std::move(*problem));
    }
    return cluster(std::make_unique<detail::cluster_state>(std::move(options)));
}

const cluster_options& cluster::options() const noexcept {
    return state_->options;
}

std::expected<connection, cluster_errc> cluster::accept(
    node_id node, const accept_options& options) {
    detail::node_record* at = state_->find_node(node);
    if (at == nullptr) {
        return std::unexpected(cluster_errc::unknown_node);
    }
    if (at->state != node_state::up) {
        return std::unexpected(cluster_errc::node_down);
    }
    if (at->disturbance.refuses_connections) {
        return std::unexpected(cluster_errc::connections_refused);
    }
    if (state_->sessions.size() >= state_->options.connection_count_max) {
        return std::unexpected(cluster_errc::too_many_connections);
    }
    if (!options.certificate_user.empty() &&
        state_->accounts.find_user(options.certificate_user) == nullptr) {
        return std::unexpected(cluster_errc::unknown_user);
    }
    const connection_id id{state_->connection_id_next++};
    return connection(std::make_unique<detail::session>(*state_, *at, id, options));
}

std::size_t cluster::connection_count() const noexcept {
    return state_->sessions.size();
}

std::size_t cluster::connection_count(node_id node) const noexcept {
    return static_cast<std::size_t>(std::ranges::count_if(
        state_->sessions, [&](const auto& each) { return each.second->node() == node; }));
}

bool cluster::has_wakeups() const noexcept {
    return !state_->wakeups.empty();
}

void cluster::take_wakeups(std::vector<connection_id>& out) {
    for (const connection_id id : state_->wakeups) {
        const auto it = state_->sessions.find(id.value);
        if (it != state_->sessions.end()) {
            it->second->clear_woken();
            out.push_back(id);
        }
    }
    state_->wakeups.clear();
}

std::optional<time_point> cluster::next_due() const noexcept {
    return state_->pending_due == time_point::max() ? std::nullopt
                                                    : std::optional(state_->pending_due);
}

void cluster::on_time(time_point now) {
    state_->on_time(now);
}

account_list& cluster::accounts() noexcept {
    return state_->accounts;
}

const account_list& cluster::accounts() const noexcept {
    return state_->accounts;
}

error_code_list& cluster::error_codes() noexcept {
    return state_->error_codes;
}

fault_list& cluster::faults() noexcept {
    return state_->faults;
}

audit_log& cluster::audit() noexcept {
    return state_->audit;
}

const audit_log& cluster::audit() const noexcept {
    return state_->audit;
}

}  // namespace reprise::sandbox
