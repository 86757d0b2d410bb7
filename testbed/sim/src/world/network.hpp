#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <vector>

#include <reprise/engine/driver_action.hpp>
#include <reprise/http/response_parser.hpp>
#include <reprise/sandbox/cluster.hpp>
#include <reprise/sandbox/service_connection.hpp>
#include <reprise/sim/random.hpp>
#include <reprise/wire/cluster_node.hpp>
#include <reprise/wire/status.hpp>

#include "faults/hostile_peer.hpp"
#include "world/buffer_pool.hpp"
#include "world/event_queue.hpp"
#include "world/service_network.hpp"

namespace reprise::sim {

class world;

enum class link_state : std::uint8_t { connecting, open, closed };

// A piece of the stream in flight.
struct packet {
    time_point due{};
    std::vector<std::byte> bytes{};
    bool is_end = false;  // the sender has closed
};

// Additional state of a connection to an HTTP service.
struct service_side {
    wire::service service{};
    bool is_address_known = true;  // the host and the port were announced to the client
    std::optional<sandbox::service_connection> server{};
    bool is_paused = false;          // the client does not read
    std::size_t in_flight_down = 0;  // bytes sent, but not yet at the client

    // For the checkers.
    std::uint32_t owner = 0;     // operation number + 1 of the last request sent; 0: none
    std::uint64_t offset = 0;    // where it begins in the stream
    bool is_awaited = false;     // its complete answer has not been delivered to the client
    bool is_being_sent = false;  // the server is producing the answer
    http::response_parser parser;
    bool is_corrupt = false;                   // bytes that are not an answer are in flight
    std::optional<std::uint64_t> left_over{};  // where bytes behind an answer begin in the stream
    std::vector<std::byte> late{};             // those of them that are sent later
};

enum class host_kind : std::uint8_t {
    of_cluster,  // or the hostile seed
    foreign,     // only an SRV record names it; it has a valid certificate for itself
    missing,     // the same, but it does not exist
};

// One connection: the client's end, the server's end and everything in between. The client's end
// may be closed while the server still reads what was sent before, and vice versa.
struct sim_link {
    std::uint32_t client = 0;
    engine::connection_id id{};
    sandbox::node_id node{};
    bool is_tls = false;
    host_kind host = host_kind::of_cluster;  // others use the number of the hostile seed
    bool is_name_valid =
        true;  // the host's certificate is valid for a name that the client accepts
    link_state state = link_state::connecting;      // the client's view
    std::optional<engine::close_reason> closing{};  // to be reported to the client
    std::optional<sandbox::connection> server{};
    std::unique_ptr<service_side> http{};     // for an HTTP service; `server` is empty then
    std::unique_ptr<hostile_peer> hostile{};  // the same for a server that is not part of the
                                              // cluster
    time_point begun{};
    time_point opened{};
    time_point received_last{};  // by the client
    random_stream random{0};

    std::deque<packet> up{};
    std::deque<packet> down{};
    time_point up_last{};  // when the last packet of a direction arrives
    time_point down_last{};
    std::size_t in_flight_up = 0;  // bytes accepted, but not yet at the server
    bool is_writing = false;       // an event continues the outstanding write
    std::size_t unreported = 0;    // bytes accepted, but not yet reported as written
    std::optional<time_point> server_due{};

    // For the checkers: which operation each opaque belongs to, and where its request begins.
    struct request_mark {
        std::uint32_t opaque = 0;
        std::uint64_t offset = 0;
    };
    struct answer_mark {
        std::uint64_t end = 0;
        std::uint32_t opaque = 0;
        std::uint16_t status = 0;
        wire::opcode op{};
        std::uint64_t cas = 0;
    };
    std::vector<std::uint32_t> owners{};  // by opaque - 256: operation number + 1
    std::uint32_t opaque_last = 0;
    std::deque<request_mark> requests{};  // of the outstanding write
    std::deque<answer_mark> answers{};
    std::uint64_t handed = 0;         // bytes that begin_write returned
    std::uint64_t taken = 0;          // of these, accepted by the operating system
    std::uint64_t sent_down = 0;      // bytes the server has sent
    std::vector<std::byte> unread{};  // the start of an incomplete answer
    bool is_readable = true;          // everything the server sent so far were frames
    std::uint64_t got_down = 0;       // of these, delivered
    std::uint32_t on_wire = 0;        // requests of operations without an answer

    // Records where each request begins in the stream. `bytes` is a complete new write.
    void mark_requests(base::byte_view bytes);
    // Records where each answer ends in the stream. Answers may be split; after bytes that are not
    // a frame there are no more answers.
    void mark_answers(base::byte_view bytes);
};

// The current disturbances between a client and a node. They are counts, because faults overlap.
struct path_trouble {
    int blocked_up = 0;
    int blocked_down = 0;
    int slow = 0;
    int tiny_writes = 0;
    int refuse = 0;
    int ignore = 0;
    int no_name = 0;
    int tls = 0;
    int left_over = 0;
    engine::connect_failure tls_kind = engine::connect_failure::tls_untrusted;
};

// The network: latency, loss, partitions, partial writes, failed connects. It carries bytes between
// clients and the cluster's connections, in order and never twice, like TCP.
class network {
public:
    explicit network(world& owner);

    // --- for a client's driver ---
    void connect(std::uint32_t client, const engine::connect_action& action);
    void close(std::uint32_t client, engine::connection_id id);
    void flush(std::uint32_t client, engine::connection_id id);

    // --- events ---
    void on_connect_done(std::uint32_t index);
    void on_deliver_up(std::uint32_t index);
    void on_deliver_down(std::uint32_t index);
    void on_write_more(std::uint32_t index);
    void on_report_written(std::uint32_t index);
    void on_report_closed(std::uint32_t index);
    void on_server_timer(std::uint32_t index);

    // --- faults ---
    path_trouble& path(std::uint32_t client, std::uint32_t node) {
        return paths_[client * node_count_ + node];
    }
    // Delivers what was held back.
    void resume(std::uint32_t client, std::uint32_t node);
    void reset(std::uint32_t client, std::uint32_t node, bool is_lossy);
    void send_garbage(std::uint32_t client, std::uint32_t node, std::uint64_t detail);
    // Sends the start of an answer that claims a wrong length.
    void lie_about_length(std::uint32_t client, std::uint32_t node, std::uint64_t detail);
    // Sends these bytes on every bootstrapped connection to the node, to clients that have a map.
    // Returns the number of connections.
    std::size_t push_configuration(std::uint32_t node, const std::vector<std::byte>& bytes);
    // Calls the connections of the cluster that have something to send on their own.
    void pump_wakeups();

    // --- access ---
    service_network& services() noexcept { return services_; }
    sim_link& link(std::uint32_t index) { return *links_[index]; }
    std::size_t link_count() const noexcept { return links_.size(); }
    // no_link if there is none with this id.
    std::uint32_t find(std::uint32_t client, std::uint64_t connection) const noexcept;
    std::size_t open_count(std::uint32_t client) const noexcept;
    bool is_connecting(std::uint32_t client) const noexcept;

private:
    friend class service_network;  // sends through it

    duration random_latency(sim_link& link);
    std::optional<engine::connect_failure> accept(std::uint32_t index);
    void write(std::uint32_t index);
    void mark_write(std::uint32_t index, base::byte_views parts);
    void send_up(std::uint32_t index, std::vector<std::byte>&& bytes, bool is_end);
    void send_down(std::uint32_t index, std::vector<std::byte>&& bytes, bool is_end);
    void after_server(std::uint32_t index, std::vector<std::byte>&& out);
    void drop_server(std::uint32_t index);
    void end_client_side(std::uint32_t index, engine::close_reason reason);
    void deliver(std::uint32_t index, std::vector<std::byte>& bytes);
    bool is_postponed(std::uint32_t index, event_kind kind);
    // name_network.cpp
    void find_host(sim_link& link, const engine::connect_action& action);
    std::optional<engine::connect_failure> accept_at_foreign_host(std::uint32_t index);
    // hostile_network.cpp
    std::optional<engine::connect_failure> accept_hostile(std::uint32_t index);
    void serve_hostile(std::uint32_t index, base::byte_view bytes);

    world& world_;
    std::size_t node_count_;
    std::vector<std::unique_ptr<sim_link>> links_;
    std::vector<path_trouble> paths_;
    std::vector<std::vector<std::uint32_t>> by_connection_;  // client, connection id -> link
    std::vector<std::uint32_t> by_server_;                   // cluster's connection id -> link
    buffer_pool buffers_;
    std::vector<sandbox::connection_id> woken_;
    service_network services_;
};

}  // namespace reprise::sim
