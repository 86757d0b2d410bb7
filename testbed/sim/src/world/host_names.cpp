#include "world/host_names.hpp"

#include <algorithm>
#include <utility>

#include <reprise/sim/random.hpp>

namespace reprise::sim {
namespace {

constexpr std::string_view node_prefix = "node";
constexpr std::size_t used_target_count = 16;  // RH-46

std::string in_domain(std::string host) {
    return std::move(host) + "." + std::string(written_domain);
}

// Hosts that a careless comparison of names may take for one of the domain.
std::string random_foreign_host(random_stream& random) {
    const std::string number = std::to_string(random.below(1000));
    switch (random.below(5)) {
        case 0:
            return "evil" + number + ".test";
        case 1:
            return in_domain("node0") + ".evil" + number + ".test";
        case 2:
            return "evil" + number + std::string(written_domain);
        case 3:
            return std::string(written_domain) + ".evil" + number;
        default:  // a neighbour of the domain
            return "node" + number;
    }
}

void shuffle(random_stream& random, std::vector<std::string>& list) {
    for (std::size_t left = list.size(); left > 1; --left) {
        std::swap(list[left - 1], list[random.below(left)]);
    }
}

void add_foreign(random_stream& random, std::vector<std::string>& list, std::size_t count) {
    for (std::size_t added = 0; added < count; ++added) {
        list.push_back(random_foreign_host(random));
    }
}

std::vector<std::string> hundreds_of_targets(
    random_stream& random, const std::vector<std::string>& nodes) {
    std::vector<std::string> others;
    const std::size_t count = random.between(100, 800);
    others.reserve(count);
    for (std::size_t number = 0; number < count; ++number) {
        others.push_back(
            random.percent(50) ? in_domain("gone" + std::to_string(number))
                               : random_foreign_host(random));
    }
    std::vector<std::string> list(nodes);
    if (random.percent(50)) {  // the nodes are among those that the client uses
        list.insert(list.end(), others.begin(), others.begin() + 8);
        shuffle(random, list);
        list.insert(list.end(), others.begin() + 8, others.end());
        return list;
    }
    list.insert(list.begin(), others.begin(), others.end());
    return list;
}

}  // namespace

std::string host_of(const scenario& plan, std::size_t node) {
    std::string host = std::string(node_prefix) + std::to_string(node);
    return plan.has_lying_name_server() ? in_domain(std::move(host)) : host;
}

std::optional<std::uint32_t> node_of_host(const scenario& plan, std::string_view host) noexcept {
    if (plan.has_lying_name_server()) {
        if (is_foreign(host) || host == written_domain) {
            return std::nullopt;
        }
        host.remove_suffix(1 + written_domain.size());
    }
    std::uint32_t number = 0;
    if (!host.starts_with(node_prefix) || host.size() == node_prefix.size() || host.size() > 8) {
        return std::nullopt;
    }
    for (const char digit : host.substr(node_prefix.size())) {
        if (digit < '0' || digit > '9') {
            return std::nullopt;
        }
        number = number * 10 + static_cast<std::uint32_t>(digit - '0');
    }
    return number;
}

bool is_foreign(std::string_view host) noexcept {
    if (host == written_domain) {
        return false;
    }
    const bool is_below = host.ends_with(written_domain) &&
                          host.substr(0, host.size() - written_domain.size()).ends_with('.');
    return !is_below;
}

std::vector<std::string> lying_srv_answer(const scenario& plan, std::size_t client) {
    random_stream random(plan.seed ^ 0x6e616d65U, client);
    std::vector<std::string> nodes;
    nodes.reserve(plan.node_slots());
    for (std::size_t node = 0; node < plan.node_slots(); ++node) {
        nodes.push_back(host_of(plan, node));
    }
    std::vector<std::string> list;
    switch (plan.clients[client].srv) {
        case srv_answer::honest:
            return nodes;
        case srv_answer::own_and_foreign:
            list = nodes;
            add_foreign(random, list, random.between(1, 6));
            list.insert(list.end(), random.below(2), ".");  // means nothing among others
            shuffle(random, list);
            return list;
        case srv_answer::foreign_only:
            add_foreign(random, list, random.between(1, 20));
            return list;
        case srv_answer::no_service:
            return {random.percent(50) ? "." : ""};
        case srv_answer::hundreds:
            return hundreds_of_targets(random, nodes);
    }
    return list;
}

bool can_find_cluster(const scenario& plan, std::size_t client) {
    if (!plan.clients[client].uses_srv || plan.clients[client].srv == srv_answer::honest) {
        return true;
    }
    std::size_t used = 0;
    for (const std::string& host : lying_srv_answer(plan, client)) {
        const auto node = node_of_host(plan, host);
        if (used < used_target_count && node && !plan.is_hostile(*node)) {
            return true;
        }
        used += host.empty() || host == "." ? 0U : 1U;
    }
    return false;
}

}  // namespace reprise::sim
