#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include <reprise/engine/diagnostics.hpp>

#include "connections/connect_gate.hpp"
#include "engine_context.hpp"
#include "http_operations/http_connection.hpp"
#include "topology/topology.hpp"

namespace reprise::engine {

// Owns the pools of HTTP connections, one for each service of each node, and their connections. It
// finds, opens and removes them; `http_operations` decides which operation uses which.
class http_pools final : public connect_starter {
public:
    http_pools(engine_context& context, topology& nodes) noexcept
        : context_(context), nodes_(nodes) {}

    // Returns the pool of this address. Creates it if necessary.
    [[nodiscard]] http_pool& at(const wire::endpoint_view& address, wire::service service);
    // Null if there is none.
    [[nodiscard]] http_pool* find(const wire::endpoint_view& address, wire::service service) const;
    [[nodiscard]] http_pool* find(const endpoint_record& endpoint, wire::service service) const;
    // Returns any pool of this endpoint. Null if there is none.
    [[nodiscard]] http_pool* find(const endpoint_record& endpoint) const noexcept;
    [[nodiscard]] std::span<const std::unique_ptr<http_pool>> all() const noexcept {
        return pools_;
    }
    // Null if this is not an HTTP connection.
    [[nodiscard]] http_connection* find(connection_id id) const noexcept;

    // Asks the driver for one more connection.
    void connect(http_pool& pool, time_point now);
    // Asks the gate for a connection if more operations wait than connections are being opened.
    void connect_if_wanted(http_pool& pool, time_point now);
    // Opens a connection for a pool that was admitted. Returns false if it needs none any more.
    bool begin_connect(connect_request& request, time_point now) override;
    // Whether requests to this address may carry the credentials.
    [[nodiscard]] bool may_carry_credentials(std::string_view peer) const noexcept;
    // The driver has written `size` more bytes of the connection's request.
    void on_written(connection_id id, std::size_t size);
    // Asks the driver to close the connection. It stays known until the driver reports that it is
    // closed.
    void drop(http_connection& connection);
    // Removes a connection that the driver has released.
    void forget(http_connection& connection);
    // The pools that no configuration names any more.
    [[nodiscard]] std::vector<http_pool*> unoffered() const;
    // Removes them. Their remaining connections close on their own.
    void forget_unoffered();

    // Appends one entry for each connection, and one for each pool that failed to connect.
    void describe(std::vector<endpoint_diagnostics>& out) const;

private:
    static std::uint64_t key_of(const endpoint_record& at, wire::service service) noexcept {
        return (std::uint64_t{at.number} << 8U) | static_cast<std::uint8_t>(service);
    }
    [[nodiscard]] bool is_connection_wanted(const http_pool& pool) const noexcept;
    [[nodiscard]] std::unordered_set<const http_pool*> offered() const;
    [[nodiscard]] bool is_in_use(const http_pool& pool) const noexcept;

    engine_context& context_;
    topology& nodes_;
    std::vector<std::unique_ptr<http_pool>> pools_;
    std::unordered_map<std::uint64_t, http_pool*> index_;  // lookup by endpoint and service
    // Connections that we have closed and the driver has not yet released.
    std::vector<std::unique_ptr<http_connection>> closing_;
};

}  // namespace reprise::engine
