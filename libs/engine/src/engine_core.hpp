#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include <reprise/engine/client_engine.hpp>

#include "connections/connections.hpp"
#include "engine_context.hpp"
#include "http_operations/http_operations.hpp"
#include "operations/completions.hpp"
#include "operations/key_value_operations.hpp"
#include "operations/operation_retries.hpp"
#include "topology/collections.hpp"
#include "topology/configuration_polls.hpp"
#include "topology/topology.hpp"
#include "topology_events.hpp"

namespace reprise::engine {

// Holds the parts of one engine by value and connects them. Events from the driver go to the part
// that owns the connection. It decides nothing. See client_engine.hpp for the contracts and
// docs/design/engine_structure.md for the parts.
class engine_core final {
public:
    engine_core(std::shared_ptr<client_state> client, randomness random, time_point now);
    ~engine_core();
    engine_core(const engine_core&) = delete;
    engine_core& operator=(const engine_core&) = delete;

    keyspace_id keyspace(
        std::string_view bucket, std::string_view scope, std::string_view collection) {
        return topology_.buckets().keyspace(bucket, scope, collection);
    }
    void open(std::string_view bucket, time_point now);
    operation_id start(operation_request&& request, completion&& done, time_point now) {
        return operations_.start(std::move(request), std::move(done), now);
    }
    operation_id start(keyspace_id where, document_call&& call, completion&& done, time_point now) {
        return operations_.start(where, std::move(call), std::move(done), now);
    }
    operation_id start_http(http_request&& request, completion&& done, time_point now) {
        return http_.start(std::move(request), std::move(done), now);
    }
    bool take_rows(operation_id operation, row_batch& out, time_point now) {
        return http_endings::is_own(operation.value)
                   ? http_.transfers().take_rows(operation, out)
                   : operations_.scans().take_rows(operation, out, now);
    }
    bool cancel(operation_id operation, time_point now) {
        return http_endings::is_own(operation.value) ? http_.cancel(operation, now)
                                                     : operations_.cancel(operation, now);
    }
    void close(time_point now);
    void replace_credentials(credentials identity);
    completions& ended() noexcept { return completions_; }
    bool has_work() const noexcept { return !context_.actions.empty() || !completions_.empty(); }

    void on_connected(connection_id connection, std::string_view peer, time_point now);
    void on_connect_failed(
        connection_id connection, connect_failure failure, std::string_view text, time_point now);
    void on_bytes(
        connection_id connection, const base::block_ref* owner, base::byte_view bytes,
        time_point now);
    [[nodiscard]] read_place place_to_read(connection_id id) noexcept;
    void on_written(connection_id connection, std::size_t size, time_point now);
    void on_closed(
        connection_id connection, close_reason reason, std::size_t unwritten_size, time_point now);
    void on_resolved(
        resolution_id resolution, std::span<const wire::bootstrap_address> found, time_point now) {
        topology_.on_resolved(resolution, found, now);
    }
    void on_key_derived(derivation_id derivation, std::string&& key, time_point now) {
        connections_.on_key_derived(derivation, std::move(key), now);
    }
    void on_time(time_point now);
    void on_wake(time_point now);

    void take_actions(action_list& out) {
        if (out.empty()) {
            out.swap(context_.actions);
        } else {
            append_actions(out);
        }
    }
    base::byte_views begin_write(connection_id connection, time_point now);
    std::optional<time_point> next_due() const noexcept { return context_.wheel.next_due(); }
    bool waits_until(time_point time) const noexcept { return context_.wheel.waits_until(time); }
    void set_wake_hook(std::function<void()> hook);
    engine_statistics statistics() const noexcept;
    std::size_t open_count() const noexcept {
        return operations_.open_count() + http_.open_count();
    }
    const wire::cluster_configuration_ptr& configuration(std::string_view bucket) const noexcept;
    std::vector<service_address> service_addresses(std::string_view bucket) const;
    engine_diagnostics diagnostics() const;
    const std::shared_ptr<client_state>& client() const noexcept { return client_; }

private:
    void append_actions(action_list& out);
    void take_notes(time_point now);
    void on_note(const loop_note& note, time_point now);

    std::shared_ptr<client_state> client_;
    engine_context context_;
    endpoint_table endpoints_{context_};
    breakers breakers_{context_};
    topology_events events_{operations_, http_};
    topology topology_{context_, endpoints_, breakers_, events_};
    operation_retries retries_{context_, endpoints_};
    completions completions_;
    operation_lifecycle life_{context_, retries_, completions_};
    configuration_polls polls_{context_, topology_, retries_};
    collections collections_{context_, events_, retries_};
    connections connections_{context_, {topology_, polls_, collections_, operations_}};
    key_value_operations operations_{
        context_, {topology_, polls_, collections_, connections_, retries_, life_}};
    http_operations http_{context_, {topology_, retries_, completions_, life_}};
    base::byte_view http_part_;  // the last one that begin_write returned
};

}  // namespace reprise::engine
