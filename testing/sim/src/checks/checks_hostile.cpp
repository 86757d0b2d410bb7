// Nothing that a server sends counts before it has proved that it knows the password: invariant 7,
// RH-25 and RH-39 for a server that fails to.

#include <chrono>
#include <string>

#include "checks/inspection.hpp"
#include "world/world.hpp"

namespace reprise::sim {
namespace {

// RH-39: at most one login in this time after a wrong signature.
constexpr duration login_pause = std::chrono::seconds{10};
// For connections that began before the client had read the signature.
constexpr duration under_way = std::chrono::seconds{1};

}  // namespace

void inspection::on_trusted(std::uint32_t index, std::string_view what) {
    const sim_link& link = world_.net.link(index);
    world_.record.report(
        checker::trust, std::nullopt,
        "client " + std::to_string(link.client) + " trusts the hostile seed: " + std::string(what));
}

void inspection::on_hostile_login(std::uint32_t index) {
    const sim_link& link = world_.net.link(index);
    const std::optional<time_point>& unproved = views_[link.client].unproved;
    if (unproved && link.opened > *unproved + under_way && world_.now < *unproved + login_pause) {
        world_.record.report(
            checker::trust, std::nullopt,
            "client " + std::to_string(link.client) +
                " sends another proof to a server whose signature was wrong");
    }
}

void inspection::on_hostile_answer(std::uint32_t index, const sim_link::answer_mark& answer) {
    const sim_link& link = world_.net.link(index);
    if (answer.op != wire::opcode::sasl_step ||
        answer.status != static_cast<std::uint16_t>(wire::status::success)) {
        return;
    }
    client_view& view = views_[link.client];
    if (view.maps.empty() && may_seed_answer(link.client)) {
        world_.situations.note(situation::hostile_seed_first);
    }
    view.unproved = world_.now;
    view.is_auth_refused[link.node.value] = 1;
    view.has_refused_auth[link.node.value] = 1;
}

}  // namespace reprise::sim
