#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include <reprise/wire/cluster_configuration.hpp>
#include <reprise/wire/error_map.hpp>

#include "connections/login_pace.hpp"
#include "engine_context.hpp"
#include "engine_timer.hpp"
#include "topology/circuit_breaker.hpp"

namespace reprise::engine {

// One address, whatever buckets use it. Kept as long as the engine, since histories name it.
struct endpoint_record : engine_timer {
    endpoint_record() noexcept : engine_timer(timer_kind::endpoint) {}

    std::uint32_t number = 0;
    std::string host;
    std::uint16_t port = 0;
    std::string name;            // "host:port"
    std::size_t link_count = 0;  // links of the current topology
    bool is_pooled = false;      // an HTTP pool leads here
    // Terminal states; meaningful while link_count is not 0.
    bool is_auth_refused = false;
    bool is_tls_failed = false;
    std::string refusal;  // why they were set last, in words
    login_pace logins;
    // The node's error map, while any connection to it lives.
    std::shared_ptr<const wire::error_map> error_map;
    std::size_t error_map_shares = 0;        // connections that live
    std::optional<circuit_breaker> breaker;  // absent: not enabled

    // One map for each node: of one format the highest revision, of two formats the newer one.
    void offer_error_map(const std::shared_ptr<const wire::error_map>& map);
    // A connection to the endpoint begins and ends.
    void share_error_map() noexcept { ++error_map_shares; }
    void release_error_map() noexcept;
    [[nodiscard]] bool is_in_use() const noexcept {
        return link_count != 0 || is_pooled || error_map_shares != 0;
    }
};

// The endpoints by number and by name. Bounded: past the bound an unused record gets a new address.
class endpoint_table {
public:
    // Twice the nodes a configuration can have.
    static constexpr std::size_t count_max = 2 * wire::node_count_max;

    explicit endpoint_table(engine_context& context) noexcept : context_(context) {}

    // The record of this address, made if there is none.
    [[nodiscard]] endpoint_record& at(std::string_view host, std::uint16_t port);
    // Null: nobody has asked for it yet.
    [[nodiscard]] endpoint_record* find(std::string_view host, std::uint16_t port) const;
    template <std::integral Number>
    [[nodiscard]] endpoint_record& operator[](Number number) const noexcept {
        return *records_[static_cast<std::size_t>(number)];
    }
    [[nodiscard]] std::size_t size() const noexcept { return records_.size(); }
    // The engine closes: no breaker acts any more.
    void disarm_all() noexcept;

private:
    endpoint_record& new_record();

    engine_context& context_;
    std::vector<std::unique_ptr<endpoint_record>> records_;
    std::unordered_map<std::string, endpoint_record*> by_name_;
};

}  // namespace reprise::engine
