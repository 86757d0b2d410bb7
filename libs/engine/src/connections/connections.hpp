#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>

#include "connections/connect_gate.hpp"
#include "connections/key_derivations.hpp"
#include "connections/kv_connection.hpp"
#include "engine_context.hpp"
#include "operations/response_decoding.hpp"
#include "topology/collections.hpp"
#include "topology/configuration_polls.hpp"
#include "topology/topology.hpp"

namespace reprise::engine {

class key_value_operations;

// The parts to which connections report.
struct connection_owners {
    topology& nodes;
    configuration_polls& polls;
    collections& collection_ids;
    key_value_operations& requests;
};

// Owns all key-value connections: opens them for links, logs them in, writes, reads, probes and
// closes them. Each answer goes to the part that sent the request; the opaque identifies it.
//
//     begin_connect -> on_connected: bootstrap -> open <-> begin_write, on_bytes
//                   -> finish: what waits for an answer goes elsewhere -> forgotten when closed
//
class connections final : public connect_starter {
public:
    connections(engine_context& context, const connection_owners& owners) noexcept
        : context_(context), owners_(owners) {}

    // Null if this is not a key-value connection.
    [[nodiscard]] kv_connection* find(connection_id id) noexcept;
    // Opens a connection for a link that was admitted. Returns false if the server may not be
    // logged in to yet.
    bool begin_connect(connect_request& request, time_point now) override;

    // --- what the driver reports (contracts: client_engine.hpp) ---

    void on_connected(kv_connection& connection, time_point now);
    void on_connect_failed(
        kv_connection& connection, connect_failure failure, std::string_view text, time_point now);
    void on_bytes(
        kv_connection& connection, const base::block_ref* owner, base::byte_view bytes,
        time_point now);
    [[nodiscard]] base::byte_views begin_write(kv_connection& connection, time_point now);
    void on_written(kv_connection& connection, std::size_t size);
    void on_closed(
        kv_connection& connection, close_reason reason, std::size_t unwritten_size, time_point now);
    void on_key_derived(derivation_id derivation, std::string&& key, time_point now);
    // The connection's timer.
    void on_due(kv_connection& connection, time_point now);

    // --- what other parts call ---

    // Closes a connection from our side. Everything that was passed to a write counts as sent.
    void fail(kv_connection& connection, std::string_view why, time_point now);
    // Closes the connection of a retired link that has no requests left.
    void close_drained(kv_connection& connection, time_point now);
    // An operation was abandoned while it was on the wire. Closes the connection if such operations
    // occupy half of its window.
    void on_abandoned(kv_connection& connection, time_point now);
    // Returns false if there is no open connection to this endpoint.
    [[nodiscard]] bool send_canary(const endpoint_record& endpoint);
    void close();
    void add_to(engine_statistics& seen) const noexcept;

    // --- what another loop of the client found out (connection_bootstrap.cpp) ---

    // Ends logins to a server that gave no proof before they send it another one.
    void end_pending_logins(const endpoint_record& endpoint, time_point now);
    // There may be a place for a key to be derived.
    void begin_derivations();

private:
    // connection_bootstrap.cpp: the bootstrap, and the effect of logins on a node.
    [[nodiscard]] bootstrap_options options_for(const node_link& link, connection_id id) const;
    [[nodiscard]] std::string fresh_nonce() const;
    void on_bootstrap_step(kv_connection& connection, time_point now);
    void on_bootstrap_failed(kv_connection& connection, time_point now);
    void on_authenticated(kv_connection& connection, time_point now);
    void on_open(kv_connection& connection, time_point now);
    void pace_logins(endpoint_record& endpoint, const kv_connection& ended, time_point now);
    void want_key(kv_connection& connection, time_point now);

    // connection_frames.cpp: bytes and frames, in and out.
    // Inline: defined in the one source that uses it, because each answer passes there.
    inline void on_frame(
        kv_connection& connection, const wire::frame_view& frame, const frame_source& source,
        time_point now);
    inline void on_answer(
        kv_connection& connection, const wire::frame_view& frame, const frame_source& source,
        time_point now);
    void on_own_answer(
        kv_connection& connection, const opaque_entry& answered, const wire::frame_view& frame,
        time_point now);
    void on_orphan(const kv_connection& connection, const wire::frame_view& frame);
    void on_collection_answer(
        kv_connection& connection, std::uint32_t index, const wire::frame_view& frame,
        time_point now);
    void on_push(kv_connection& connection, const wire::frame_view& frame, time_point now);

    // connections.cpp: the life of a connection.
    void forget(const kv_connection& connection) noexcept;
    [[nodiscard]] connect_action connect_action_for(
        connection_id id, const endpoint_record& to) const;
    void finish(kv_connection& connection, std::uint64_t sent_end, bool has_failed, time_point now);
    void probe(kv_connection& connection, time_point now);

    engine_context& context_;
    connection_owners owners_;
    base::block_pool value_pool_;  // users' results may outlive it
    std::unordered_map<connection_id, std::unique_ptr<kv_connection>> connections_;
    kv_connection* found_last_ = nullptr;  // what the driver reports is often about the same one
    key_derivations keys_{context_.client.derivations};
};

}  // namespace reprise::engine
