#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <reprise/engine/driver_action.hpp>

#include "checks/client_views.hpp"
#include "world/network.hpp"

namespace reprise::sim {

// Servers that have not proved that they know the password, and hostile name servers.
class trust_checks {
public:
    trust_checks(world& owner, client_views& views);

    // A client did something that it may do only for a trusted server.
    void on_trusted(std::uint32_t index, std::string_view what);
    void on_hostile_login(std::uint32_t index);
    // The last answer of a login is about to reach the client.
    void on_hostile_answer(std::uint32_t index, const sim_link::answer_mark& answer);

    // A client asks for an SRV record; gets this answer; connects to a key-value port of a host.
    void on_name_query(std::uint32_t client);
    void on_names(std::uint32_t client, const std::vector<std::string>& targets);
    void on_host(std::uint32_t client, const engine::connect_action& action, host_kind host);

private:
    struct seen_by_client {
        std::optional<time_point> unproved{};  // the hostile seed's signature was wrong
        std::uint64_t name_query_count = 0;
        std::map<std::string, std::uint64_t> other_hosts{};  // outside the cluster: its connects
    };

    world& world_;
    client_views& views_;
    std::vector<seen_by_client> seen_;
};

}  // namespace reprise::sim
