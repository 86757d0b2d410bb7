#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include <reprise/engine/diagnostics.hpp>

#include "engine_context.hpp"
#include "services/http_connection.hpp"
#include "topology/topology.hpp"

namespace reprise::engine {

// The pools of HTTP connections, one for each service of each node, and all connections in them. It
// finds, makes and forgets them; who uses which is decided by `http_operations`.
class http_pools {
public:
    http_pools(engine_context& context, topology& nodes) noexcept
        : context_(context), nodes_(nodes) {}

    // The pool of this address, made if there is none.
    [[nodiscard]] http_pool& at(const wire::endpoint_view& address, wire::service service);
    // Null: there is none.
    [[nodiscard]] http_pool* find(const wire::endpoint_view& address, wire::service service) const;
    [[nodiscard]] http_pool* find(const endpoint_record& endpoint, wire::service service) const;
    // Any pool of this endpoint; null: there is none.
    [[nodiscard]] http_pool* find(const endpoint_record& endpoint) const noexcept;
    [[nodiscard]] std::span<const std::unique_ptr<http_pool>> all() const noexcept {
        return pools_;
    }
    // Null: not an HTTP connection.
    [[nodiscard]] http_connection* find(connection_id id) const noexcept;

    // Asks the driver for one more connection.
    void connect(http_pool& pool, time_point now);
    // Asks the driver to close it. It stays known until the driver says that it is gone.
    void drop(http_connection& connection);
    // The driver has nothing more to say about it.
    void forget(http_connection& connection);
    // Forgets addresses that no configuration names any more. Connections that are left end by
    // themselves.
    void forget_unoffered();

    // Appends one entry for each connection, and one for each pool that failed to connect.
    void describe(std::vector<endpoint_diagnostics>& out) const;

private:
    static std::uint64_t key_of(const endpoint_record& at, wire::service service) noexcept {
        return (std::uint64_t{at.number} << 8U) | static_cast<std::uint8_t>(service);
    }
    [[nodiscard]] std::unordered_set<const http_pool*> offered() const;
    [[nodiscard]] bool is_in_use(const http_pool& pool) const noexcept;

    engine_context& context_;
    topology& nodes_;
    std::vector<std::unique_ptr<http_pool>> pools_;
    std::unordered_map<std::uint64_t, http_pool*> index_;  // the same by endpoint and service
    // Closed by us; the driver has not said so yet.
    std::vector<std::unique_ptr<http_connection>> closing_;
};

}  // namespace reprise::engine
