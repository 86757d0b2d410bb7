#include <algorithm>
#include <utility>

#include <reprise/sandbox/node_disturbances.hpp>

#include <reprise/base/enum_table.hpp>

#include "cluster_state.hpp"
#include "key_value/session.hpp"

namespace reprise::sandbox {

namespace {

using detail::node_record;

}  // namespace

std::string_view to_string(tls_disturbance kind) noexcept {
    return base::name_of(kind);
}

std::string_view to_string(bucket_presence presence) noexcept {
    return base::name_of(presence);
}

std::expected<void, cluster_errc> node_disturbances::set(
    node_id node, const node_disturbance& how) {
    node_record* found = state_->find_node(node);
    if (found == nullptr) {
        return std::unexpected(cluster_errc::unknown_node);
    }
    const bool was_silent = std::exchange(found->disturbance, how).is_silent();
    ++state_->node_generation;
    if (was_silent && !how.is_silent()) {
        for (const auto& [number, which] : state_->sessions) {
            if (which->node() == node) {
                which->resume();
            }
        }
    }
    return {};
}

node_disturbance node_disturbances::of(node_id node) const noexcept {
    const node_record* found = state_->find_node(node);
    return found == nullptr ? node_disturbance{} : found->disturbance;
}

std::expected<void, cluster_errc> node_disturbances::hold_configuration(
    node_id node, bool is_held) {
    node_record* found = state_->find_node(node);
    if (found == nullptr) {
        return std::unexpected(cluster_errc::unknown_node);
    }
    found->is_configuration_held = is_held;
    if (!is_held) {
        state_->announce();
    }
    return {};
}

std::expected<void, cluster_errc> node_disturbances::replay_configuration(node_id node) {
    node_record* found = state_->find_node(node);
    if (found == nullptr) {
        return std::unexpected(cluster_errc::unknown_node);
    }
    const bool is_any_older = found->global_configuration.older().is_known() ||
                              std::ranges::any_of(found->buckets, [](const auto& entry) {
                                  return entry.second.configuration.older().is_known();
                              });
    if (!is_any_older) {
        return std::unexpected(cluster_errc::nothing_older);
    }
    for (const auto& [number, which] : state_->sessions) {
        if (which->node() == node) {
            which->replay_configuration();
        }
    }
    return {};
}

std::expected<void, cluster_errc> node_disturbances::set_error_map_corruption(
    node_id node, bool is_corrupt) {
    node_disturbance how = of(node);
    how.is_error_map_corrupt = is_corrupt;
    return set(node, how);
}

}  // namespace reprise::sandbox
