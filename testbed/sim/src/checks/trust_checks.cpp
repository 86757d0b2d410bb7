// Nothing that a server sends counts before it has proved that it knows the password: invariant 7,
// RH-25 and RH-39. An impostor of the name server gets no credentials and causes few queries:
// RH-46.

#include "checks/trust_checks.hpp"

#include <algorithm>
#include <chrono>
#include <string>

#include "world/host_names.hpp"
#include "world/world.hpp"

namespace reprise::sim {
namespace {

// For connections that began before the client had read the signature.
constexpr duration under_way = std::chrono::seconds{1};

constexpr std::size_t target_count_max = 16;
// Each bucket, and the cluster itself, connects to a host on its own.
constexpr std::uint64_t connection_count_per_round = 2;
// Delays between attempts double from 10 ms up to the client's limit, which is at most 2 s.
constexpr std::uint64_t early_attempt_count = 10;

}  // namespace

trust_checks::trust_checks(world& owner, client_views& views)
    : world_(owner), views_(views), seen_(owner.plan.clients.size()) {}

void trust_checks::on_trusted(std::uint32_t index, std::string_view what) {
    const sim_link& link = world_.net.link(index);
    world_.record.report(
        checker::trust, std::nullopt,
        "client " + std::to_string(link.client) + " trusts the hostile seed: " + std::string(what));
}

void trust_checks::on_hostile_login(std::uint32_t index) {
    const sim_link& link = world_.net.link(index);
    const std::optional<time_point>& unproved = seen_[link.client].unproved;
    if (unproved && link.opened > *unproved + under_way && world_.now < *unproved + login_pause) {
        world_.record.report(
            checker::trust, std::nullopt,
            "client " + std::to_string(link.client) +
                " sends another proof to a server whose signature was wrong");
    }
}

void trust_checks::on_hostile_answer(std::uint32_t index, const sim_link::answer_mark& answer) {
    const sim_link& link = world_.net.link(index);
    if (answer.op != wire::opcode::sasl_step ||
        answer.status != static_cast<std::uint16_t>(wire::status::success)) {
        return;
    }
    client_view& view = views_[link.client];
    if (view.maps.empty() && views_.may_seed_answer(link.client)) {
        world_.situations.note(situation::hostile_seed_first);
    }
    seen_[link.client].unproved = world_.now;
    view.is_auth_refused[link.node.value] = 1;
    view.has_refused_auth[link.node.value] = 1;
    view.terminal_last = world_.now;
}

void trust_checks::on_name_query(std::uint32_t client) {
    const auto seconds = std::chrono::floor<std::chrono::seconds>(world_.elapsed()).count();
    const std::uint64_t count_max = 1 + static_cast<std::uint64_t>(seconds);
    if (++seen_[client].name_query_count > count_max * world_.plan.clients[client].loop_count) {
        world_.record.report(
            checker::trust, std::nullopt,
            "client " + std::to_string(client) + " asks the name server again and again");
    }
}

void trust_checks::on_names(std::uint32_t client, const std::vector<std::string>& targets) {
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

void trust_checks::on_host(
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
    seen_by_client& seen = seen_[client];
    const std::uint64_t count = ++seen.other_hosts[action.host];
    const auto late_attempts =
        static_cast<std::uint64_t>(2 * world_.elapsed() / plan.reconnect_delay_max);
    const std::uint64_t count_per_round = connection_count_per_round * plan.loop_count;
    if (count > count_per_round * (early_attempt_count + late_attempts)) {
        report("asks for " + action.host + " " + std::to_string(count) + " times");
    }
    if (seen.other_hosts.size() > target_count_max) {
        report("connects to more hosts of an SRV record than it may");
    }
}

}  // namespace reprise::sim
