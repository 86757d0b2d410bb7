#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include <reprise/base/bytes.hpp>
#include <reprise/engine/driver_action.hpp>
#include <reprise/sandbox/service_audit.hpp>

namespace reprise::sim {

class network;
class world;
struct sim_link;

// The HTTP part of the network: the server's end of connections to the services, with one request
// at a time. `index` is the number of a link of the network.
class service_network {
public:
    service_network(world& owner, network& net);

    std::optional<engine::connect_failure> accept(std::uint32_t index);
    // The client stops or continues to read.
    void set_reading(std::uint32_t client, engine::connection_id id, bool is_paused);
    // `bytes` is a complete request that is about to be sent.
    void mark_call(std::uint32_t index, base::byte_view bytes);
    void serve(std::uint32_t index, base::byte_view bytes);
    // The server has sent something, or has nothing more to send. Produces more of a body as long
    // as the client keeps up.
    void after_server(std::uint32_t index, std::vector<std::byte>& out);
    void on_timer(std::uint32_t index);
    // Nodes went down, came up, froze or were released: updates their connections.
    void refresh();
    // The server records the request that is being handled.
    void on_audit(const sandbox::service_audit_entry& entry);
    void send_garbage(std::uint32_t index, std::vector<std::byte>&& bytes);
    [[nodiscard]] bool is_frozen(const sim_link& link) const;

    // left_over_network.cpp
    // These bytes are about to be delivered. Once the next request is on its way, a client cannot
    // tell a complete answer that arrives too early from its own, so such bytes begin with the end
    // of a line.
    void note_left_over(const sim_link& link, std::span<std::byte> bytes);

private:
    // Records where an answer ends. Returns true if it is complete.
    bool mark_answer(std::uint32_t index, base::byte_view bytes);
    void add_left_over(std::uint32_t index, std::vector<std::byte>& out);
    void send_late_left_over(std::uint32_t index);

    world& world_;
    network& net_;
    std::uint32_t serving_;  // the link whose request is being handled; no_link: none
};

}  // namespace reprise::sim
