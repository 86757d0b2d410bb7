#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <reprise/sim/scenario.hpp>

// The names of hosts, and what a lying name server makes of them.

namespace reprise::sim {

// The names that users write if their name server is hostile.
inline constexpr std::string_view written_domain = "sim";

// "node3"; "node3.sim" if a name server of the scenario lies.
std::string host_of(const scenario& plan, std::size_t node);
// The reverse; empty for other hosts.
std::optional<std::uint32_t> node_of_host(const scenario& plan, std::string_view host) noexcept;
// RH-46, stated independently: the host is neither the written domain nor below it.
bool is_foreign(std::string_view host) noexcept;

// The answer of a name server that lies to this client, the most important targets first.
std::vector<std::string> lying_srv_answer(const scenario& plan, std::size_t client);
// Whether the client can reach the cluster with it.
bool can_find_cluster(const scenario& plan, std::size_t client);

}  // namespace reprise::sim
