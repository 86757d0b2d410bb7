#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include <reprise/wire/cluster_configuration.hpp>
#include <reprise/wire/error_map.hpp>

#include "engine_context.hpp"
#include "engine_timer.hpp"

namespace reprise::engine {

// One address, shared by all buckets. The record lives as long as the engine, since histories refer
// to it.
struct endpoint_record : engine_timer {
    endpoint_record() noexcept : engine_timer(timer_kind::endpoint) {}

    std::uint32_t number = 0;
    std::string host;
    std::uint16_t port = 0;
    std::string name;            // "host:port"
    std::size_t link_count = 0;  // links of the current topology
    bool is_pooled = false;      // has an HTTP pool
    // The name whose SRV record named this endpoint. Empty if the user or a configuration named it.
    std::string srv_name;
    // Only meaningful while link_count is not 0. All loops of the client share it.
    std::shared_ptr<node_terminal_state> terminal = std::make_shared<node_terminal_state>();
    // Likewise shared.
    std::shared_ptr<login_pace> logins = std::make_shared<login_pace>();
    std::shared_ptr<node_breaker> breaker;  // null: not enabled
    // The node's error map. Kept while at least one connection to the node is alive.
    std::shared_ptr<const wire::error_map> error_map;
    std::size_t error_map_shares = 0;  // connections that are alive

    // Keeps one map for each node: the highest revision of a format, and the newer of two formats.
    void offer_error_map(const std::shared_ptr<const wire::error_map>& map);
    // A connection to the endpoint starts or ends.
    void share_error_map() noexcept { ++error_map_shares; }
    void release_error_map() noexcept;
    [[nodiscard]] bool is_in_use() const noexcept {
        return link_count != 0 || is_pooled || error_map_shares != 0;
    }
};

// The endpoints by number and by name. The table is bounded; once it is full, an unused record gets
// the new address.
class endpoint_table {
public:
    // Twice the number of nodes that a configuration can have.
    static constexpr std::size_t count_max = 2 * wire::node_count_max;

    explicit endpoint_table(engine_context& context) noexcept : context_(context) {}

    // Returns the record of this address. Creates it if necessary.
    [[nodiscard]] endpoint_record& at(std::string_view host, std::uint16_t port);
    // Null if there is no record of this address.
    [[nodiscard]] endpoint_record* find(std::string_view host, std::uint16_t port) const;
    // `name`: "host:port".
    [[nodiscard]] endpoint_record* find(const std::string& name) const;
    template <std::integral Number>
    [[nodiscard]] endpoint_record& operator[](Number number) const noexcept {
        return *records_[static_cast<std::size_t>(number)];
    }
    [[nodiscard]] std::size_t size() const noexcept { return records_.size(); }
    // The credentials were replaced: servers that refused the old ones may be asked at once.
    void allow_new_logins() noexcept;
    // The engine is closing: stops the timers of all breakers.
    void disarm_all() noexcept;

private:
    endpoint_record& new_record();

    engine_context& context_;
    std::vector<std::unique_ptr<endpoint_record>> records_;
    std::size_t reuse_next_ = 0;  // where the search for an unused record continues
    std::unordered_map<std::string, endpoint_record*> by_name_;
};

}  // namespace reprise::engine
