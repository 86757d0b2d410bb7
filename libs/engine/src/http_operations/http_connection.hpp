#pragma once

#include <algorithm>
#include <any>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <reprise/engine/http_operation.hpp>
#include <reprise/engine/ids.hpp>
#include <reprise/engine/operation_result.hpp>
#include <reprise/http/response_parser.hpp>

#include "http_operations/incoming_answer.hpp"
#include "operations/operation_base.hpp"
#include "operations/operation_names.hpp"
#include "topology/cluster_state.hpp"

// The data of HTTP operations: operations, connections and pools.

namespace reprise::engine {

class http_connection;
struct http_pool;

// One HTTP operation from start to end. Its address is stable. It is queued in its pool, and in
// flight once it has a connection, whose buffer may still hold the request.
struct http_slot : operation_base {
    http_slot() noexcept : operation_base(timer_kind::http_operation) {}

    operation_id id{};
    http_request request;
    std::int32_t avoided = -1;      // endpoint of the failed attempt; negative: none
    std::int32_t sent_to = -1;      // endpoint that a request was last sent to; negative: none ...
    std::int32_t sent_before = -1;  // ... and before that, valid again if it turns out to be unsent
    time_point attempt_started{};   // when the search for a node started
    // Set once a terminal state is met. Until then the operation looks for another node.
    std::optional<time_point> search_end;
    bool was_alerted = false;               // a TLS alert ended the last attempt
    bool is_canary = false;                 // the client's own request for a circuit breaker
    http_connection* connection = nullptr;  // while in flight

    const service_call* call = nullptr;  // the last request, kept by the exchange ...
    incoming_answer answer;              // ... its answer, as far as it was received ...
    std::uint32_t server_code = 0;
    std::string server_text;  // ... the message of the service in it ...
    std::any metadata;        // ... and what it reports in addition to rows

    // Whether the last request may be sent again although its answer is missing.
    [[nodiscard]] bool is_repeatable() const noexcept {
        return request.is_idempotent || (call != nullptr && call->is_idempotent);
    }
};

[[nodiscard]] inline operation_names names_of(const http_slot& slot) noexcept {
    // For a lost request, what matters is whether that very request may be sent again.
    const bool is_lost = slot.failed.stage == attempt_stage::network;
    const bool is_idempotent = is_lost ? slot.is_repeatable() : slot.request.is_idempotent;
    return {slot.request.operation, is_idempotent, slot.request.service, slot.id};
}

enum class http_connection_state : std::uint8_t { connecting, idle, busy, closed };

// One keep-alive connection to the service of one node. It carries one request at a time; nothing
// is pipelined.
class http_connection : public engine_timer {
public:
    http_connection(connection_id given, http_pool& owner)
        : engine_timer(timer_kind::http_connection), id(given), pool(&owner) {}

    const connection_id id;
    http_pool* pool;
    bool may_carry_credentials = false;  // set once the address of the peer is known
    http_connection_state state = http_connection_state::connecting;
    bool is_opening = true;     // has a place at the gate
    http_slot* slot = nullptr;  // while busy
    http::response_parser parser;
    bool is_reading_paused = false;
    std::size_t read_size_max = read_size_default;
    time_point active_last{};  // last connected or received bytes

    // The request, kept until the driver has written it. The first begin_write passes it to the
    // driver.
    std::vector<std::byte> outgoing;
    std::size_t written = 0;
    bool is_handed = false;
    bool has_answer_begun = false;  // a byte of the answer to it has arrived
};

// The connections to one service of one node.
struct http_pool : connect_request {
    http_pool() noexcept : connect_request(kind::pool) {}

    endpoint_record* endpoint = nullptr;
    wire::service service{};
    std::vector<std::unique_ptr<http_connection>> connections;
    intrusive_list<http_slot> queue;
    std::optional<time_point> failed_last;  // when the last attempt to connect failed ...
    std::string problem;                    // ... and why
    bool is_tls_failed = false;     // TLS failed explicitly; cleared by the first received bytes
    bool is_plain_refused = false;  // the last peer may not see the credentials

    [[nodiscard]] bool has_open_connection() const noexcept {
        return std::ranges::any_of(connections, [](const auto& each) {
            return each->state == http_connection_state::idle ||
                   each->state == http_connection_state::busy;
        });
    }
};

}  // namespace reprise::engine
