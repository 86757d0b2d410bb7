// Checks of SRV records, RH-46: whoever answers for the name server gets no credentials and causes
// few queries.

#include <algorithm>
#include <chrono>
#include <string>

#include "checks/inspection.hpp"
#include "world/host_names.hpp"
#include "world/world.hpp"

namespace reprise::sim {
namespace {

constexpr std::size_t target_count_max = 16;
// Each bucket, and the cluster itself, connects to a host on its own.
constexpr std::uint64_t connection_count_per_round = 2;
// Delays between attempts double from 10 ms up to the client's limit, which is at most 2 s.
constexpr std::uint64_t early_attempt_count = 10;

}  // namespace

void inspection::on_name_query(std::uint32_t client) {
    const auto seconds = std::chrono::floor<std::chrono::seconds>(world_.elapsed()).count();
    if (++views_[client].name_query_count > 1 + static_cast<std::uint64_t>(seconds)) {
        world_.record.report(
            checker::trust, std::nullopt,
            "client " + std::to_string(client) + " asks the name server again and again");
    }
}

void inspection::on_names(std::uint32_t client, const std::vector<std::string>& targets) {
    std::size_t used = 0;
    bool is_any_foreign = false;
    for (const std::string& host : targets) {
        if (host.empty() || host == "." || used == target_count_max) {
            continue;
        }
        ++used;
        is_any_foreign = is_any_foreign || is_foreign(host);
    }
    if (used == 0) {
        world_.situations.note(situation::srv_no_service);
    }
    if (targets.size() > target_count_max) {
        world_.situations.note(situation::srv_hundreds_of_targets);
    }
    if (!is_any_foreign) {
        return;
    }
    world_.situations.note(situation::srv_foreign_target);
    client_view& view = views_[client];
    if (!world_.plan.clients[client].uses_tls) {  // a reason to refuse its operations
        const std::size_t hostile = world_.plan.node_slots() - 1;
        view.is_auth_refused[hostile] = 1;
        view.has_refused_auth[hostile] = 1;
        view.terminal_last = world_.now;
    }
}

void inspection::on_host(
    std::uint32_t client, const engine::connect_action& action, host_kind host) {
    const planned_client& plan = world_.plan.clients[client];
    const auto report = [&](const std::string& what) {
        world_.record.report(
            checker::trust, std::nullopt, "client " + std::to_string(client) + " " + what);
    };
    if (plan.srv == srv_answer::no_service) {
        report("connects to " + action.host + ", although there is no such service");
    }
    if (host == host_kind::of_cluster) {
        return;
    }
    if (host == host_kind::foreign && action.transport == wire::transport::plain) {
        report("connects to " + action.host + ", which cannot prove that it belongs to the name");
    }
    client_view& view = views_[client];
    const std::uint64_t count = ++view.other_hosts[action.host];
    const auto late_attempts =
        static_cast<std::uint64_t>(2 * world_.elapsed() / plan.reconnect_delay_max);
    if (count > connection_count_per_round * (early_attempt_count + late_attempts)) {
        report("asks for " + action.host + " " + std::to_string(count) + " times");
    }
    if (view.other_hosts.size() > target_count_max) {
        report("connects to more hosts of an SRV record than it may");
    }
}

}  // namespace reprise::sim
