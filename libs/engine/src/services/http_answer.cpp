// HTTP operations on a connection: writes the request and reads the answer.

#include <algorithm>
#include <functional>
#include <utility>

#include <reprise/http/authorization.hpp>
#include <reprise/http/encode.hpp>
#include <reprise/services/row_splitter.hpp>

#include "connections/peer_address.hpp"
#include "services/http_operations.hpp"

namespace reprise::engine {
namespace {

// The size of one read. Large reads are faster for many rows, but only a few of these rows may
// exceed the bound of rows that wait.
std::size_t read_size_for(const http_call& call, std::size_t rows_size_max) noexcept {
    constexpr std::size_t read_size_max = 8 * read_size_default;
    return call.rows_member.empty()
               ? read_size_default
               : std::clamp(rows_size_max / 2, read_size_default, read_size_max);
}

// The outcome that an answer reports to the circuit breaker of its endpoint.
std::error_code reported_outcome(const exchange_verdict& judged) noexcept {
    const bool is_good =
        judged.what == exchange_verdict::step::done || judged.what == exchange_verdict::step::next;
    return is_good ? std::error_code{} : judged.error;
}

}  // namespace

void http_operations::send(http_slot& slot, http_connection& connection, time_point now) {
    REPRISE_ASSERT(connection.may_carry_credentials);
    forget_answer(slot);
    slot.call = http_call{};
    slot.call.cluster = configuration_for(slot);
    slot.request.exchange->compose(slot.call);
    slot.call.cluster = nullptr;
    http::header_list headers = slot.call.headers;
    if (!slot.call.content_type.empty()) {
        headers.push_back({"Content-Type", slot.call.content_type});
    }
    authorize(headers);
    headers.push_back({"User-Agent", context_.options.agent});
    http::outgoing_request request;
    request.method = slot.call.method;
    request.target = slot.call.target;
    request.host = connection.pool->endpoint->name;
    request.headers = &headers;
    request.body = base::as_bytes(slot.call.body);
    connection.outgoing.clear();
    connection.written = 0;
    connection.is_handed = false;
    if (const auto encoded = http::encode_request(connection.outgoing, request); !encoded) {
        connection.outgoing.clear();
        failed_attempt failed;
        failed.own_error = errc::invalid_argument;
        refuse(
            slot, failed, refusal_reason::unclassified,
            "the request cannot be written: " + std::string(to_string(encoded.error())), now);
        return serve(connection, now);
    }
    const auto kind =
        slot.call.method == "HEAD" ? http::response_kind::to_head : http::response_kind::with_body;
    connection.parser.restart(kind);
    connection.state = http_connection_state::busy;
    connection.slot = &slot;
    context_.wheel.disarm(connection);
    slot.connection = &connection;
    slot.endpoint = static_cast<std::int32_t>(connection.pool->endpoint->number);
    parts_.life.send(slot);
    context_.actions.emplace_back(write_action{connection.id});
    const std::size_t read_size = read_size_for(slot.call, slot.request.rows_size_max_bytes);
    if (read_size != connection.read_size_max) {
        connection.read_size_max = read_size;
        context_.actions.emplace_back(read_action{connection.id, false, read_size});
    }
}

void http_operations::authorize(http::header_list& headers) const {
    if (context_.client.identity.has_client_certificate) {
        return;
    }
    headers.push_back(
        {"Authorization",
         context_.client.identity.bearer_token.empty()
             ? http::make_basic_authorization(
                   context_.client.identity.username, context_.client.identity.password)
             : "Bearer " + context_.client.identity.bearer_token});
}

bool http_operations::may_authorize(std::string_view peer) const noexcept {
    return context_.options.transport == wire::transport::tls ||
           context_.options.allow_plain_http || is_loopback(peer);
}

base::byte_view http_operations::begin_write(connection_id id) {
    http_connection* connection = pools_.find(id);
    if (connection == nullptr || connection->state != http_connection_state::busy) {
        return {};
    }
    const auto rest = base::byte_view(connection->outgoing).subspan(connection->written);
    if (!rest.empty()) {
        connection->is_handed = true;
        connection->slot->was_sent = true;
    }
    return rest;
}

void http_operations::on_written(connection_id id, std::size_t size) {
    http_connection* connection = pools_.find(id);
    if (connection == nullptr) {
        return;
    }
    if (connection->state == http_connection_state::busy) {
        connection->written += size;
        REPRISE_ASSERT(connection->written <= connection->outgoing.size());
        if (connection->written < connection->outgoing.size()) {
            context_.actions.emplace_back(write_action{id});
        }
    }
}

void http_operations::on_bytes(
    connection_id id, const base::block_ref* owner, base::byte_view bytes, time_point now) {
    http_connection* connection = pools_.find(id);
    if (connection == nullptr) {
        return;
    }
    switch (connection->state) {
        case http_connection_state::busy:
            connection->pool->is_tls_failed = false;
            connection->active_last = now;
            connection->parser.feed(bytes);
            read_answer(*connection, owner, now);
            break;
        case http_connection_state::idle:
            pools_.drop(*connection);  // unrequested: it could be mistaken for an answer
            break;
        case http_connection_state::connecting:
        case http_connection_state::closed:
            break;
    }
}

void http_operations::read_answer(
    http_connection& connection, const base::block_ref* owner, time_point now) {
    while (connection.state == http_connection_state::busy) {
        const auto event = connection.parser.next();
        if (!event) {
            return reject_answer(
                connection, "not an HTTP answer: " + std::string(to_string(event.error())), now);
        }
        switch (*event) {
            case http::response_event::need_more:
                return pause_if_full(connection);
            case http::response_event::head:
                if (!on_head(connection, now)) {
                    return;
                }
                break;
            case http::response_event::body:
                if (!on_body(connection, owner, now)) {
                    return;
                }
                break;
            case http::response_event::complete:
                return on_complete(connection, now);
        }
    }
}

bool http_operations::on_head(http_connection& connection, time_point now) {
    http_slot& slot = *connection.slot;
    const http::response_head& head = connection.parser.head();
    slot.status = head.status;
    if (http::find_content_encoding(head.headers)) {
        reject_answer(
            connection, "the answer is compressed although the client did not accept it", now);
        return false;
    }
    // Error bodies are JSON objects, too. Those that arrive without rows are small, so they are
    // kept whole.
    if (!slot.call.rows_member.empty() && head.status == 200) {
        services::row_splitter_options limits;
        limits.row_size_max_bytes = slot.request.row_size_max_bytes;
        slot.splitter = std::make_unique<services::row_splitter>(slot.call.rows_member, limits);
    }
    return true;
}

bool http_operations::on_body(
    http_connection& connection, const base::block_ref* owner, time_point now) {
    http_slot& slot = *connection.slot;
    const base::byte_view piece = connection.parser.body();
    if (!slot.splitter) {
        if (slot.body.size() + piece.size() > slot.request.body_size_max_bytes) {
            reject_answer(connection, "the answer is larger than body_size_max_bytes", now);
            return false;
        }
        slot.body.append(base::as_text(piece));
        return true;
    }
    const bool is_streamed = static_cast<bool>(slot.request.on_rows);
    services::row_splitter& splitter = *slot.splitter;
    splitter.feed(piece);
    while (true) {
        const auto event = splitter.next_rows();
        if (!event) {
            reject_answer(
                connection, "the answer is not a valid result: " + to_string(event.error()), now);
            return false;
        }
        if (*event != services::row_event::row) {
            break;
        }
        // Rows that the client collects may be kept for long, so they must not keep the received
        // block alive.
        slot.rows.append(splitter.rows(), base::as_text(piece), is_streamed ? owner : nullptr);
        slot.rows_seen += splitter.rows().size();
        if (!is_streamed && slot.rows.size_bytes() > slot.request.rows_size_max_bytes) {
            reject_answer(connection, "all rows together are larger than rows_size_max_bytes", now);
            return false;
        }
    }
    if (is_streamed && !slot.rows.empty() && !slot.is_notified) {
        slot.is_notified = true;
        parts_.ended.notify(slot.request.on_rows);
    }
    return true;
}

// Stops reading until the user takes rows, so that at most one piece beyond the bound is kept.
void http_operations::pause_if_full(http_connection& connection) {
    if (connection.state == http_connection_state::busy && !connection.is_reading_paused &&
        connection.slot->rows.size_bytes() >= connection.slot->request.rows_size_max_bytes) {
        connection.is_reading_paused = true;
        context_.actions.emplace_back(read_action{connection.id, true, connection.read_size_max});
    }
}

bool http_operations::take_rows(operation_id operation, row_batch& out, time_point now) {
    static_cast<void>(now);
    const auto found = slots_.find(operation.value);
    if (found == slots_.end()) {
        return false;
    }
    http_slot& slot = *found->second;
    out.clear();
    // The rows of a failed answer are dropped, and those of a complete one are part of the result.
    if (slot.state != operation_state::in_flight) {
        return true;
    }
    std::swap(out, slot.rows);
    slot.rows_taken += out.size();
    slot.is_notified = false;
    if (slot.connection != nullptr && slot.connection->is_reading_paused) {
        slot.connection->is_reading_paused = false;
        context_.actions.emplace_back(
            read_action{slot.connection->id, false, slot.connection->read_size_max});
    }
    return true;
}

void http_operations::on_complete(http_connection& connection, time_point now) {
    http_slot& slot = *connection.slot;
    const bool is_kept_alive = connection.parser.is_kept_alive();
    if (slot.splitter) {
        if (const auto whole = slot.splitter->finish(); !whole) {
            return reject_answer(
                connection, "the answer is not a valid result: " + to_string(whole.error()), now);
        }
        slot.body = slot.splitter->trailer();
    }
    exchange_verdict judged = slot.request.exchange->judge(
        {slot.status, connection.parser.head().headers, slot.body, slot.rows_seen});
    slot.server_code = judged.server_code;
    slot.server_text = judged.server_text;
    leave_place(slot);
    note_outcome(*connection.pool, reported_outcome(judged), now);
    release(connection, is_kept_alive, now);
    switch (judged.what) {
        case exchange_verdict::step::done:
            return complete(slot, now);
        case exchange_verdict::step::failed:
            return complete_error(slot, judged.error, false, {}, now);
        case exchange_verdict::step::next:
            slot.search_end.reset();
            return begin_attempt(slot, now);
        case exchange_verdict::step::retry:
            break;
    }
    slot.avoided = slot.endpoint;
    retry_case failed;
    failed.reason = judged.reason;
    failed.stage = attempt_stage::response;
    failed.own_error = judged.error;
    failed.status = static_cast<std::uint16_t>(slot.status);
    failed.delay_floor = judged.delay_floor;
    if (slot.rows_taken != 0) {
        return refuse(slot, failed, refusal_reason::rows_taken, {}, now);
    }
    retry(slot, failed, now);
}

// Neither the answer nor the rest of this connection can be used.
void http_operations::reject_answer(
    http_connection& connection, std::string detail, time_point now) {
    http_slot& slot = *connection.slot;
    http_pool& pool = *connection.pool;
    leave_place(slot);
    pools_.drop(connection);
    note_outcome(pool, errc::parsing_failure, now);
    failed_attempt failed;
    failed.stage = attempt_stage::response;
    failed.own_error = errc::parsing_failure;
    failed.status = static_cast<std::uint16_t>(slot.status);
    refuse(slot, failed, refusal_reason::unclassified, std::move(detail), now);
}

void http_operations::release(http_connection& connection, bool is_kept_alive, time_point now) {
    connection.slot = nullptr;
    if (connection.is_reading_paused) {
        // Resumes reading, because the rest of the answer was still on its way when reading
        // stopped.
        connection.is_reading_paused = false;
        context_.actions.emplace_back(read_action{connection.id, false, connection.read_size_max});
    }
    // A server that answers early has not read the rest of the request, so the connection cannot be
    // reused.
    const bool is_all_written = connection.written == connection.outgoing.size();
    if (!is_kept_alive || !is_all_written || context_.is_closed) {
        http_pool& pool = *connection.pool;
        pools_.drop(connection);
        return connect_if_wanted(pool, now);
    }
    serve(connection, now);
}

void http_operations::on_closed(
    connection_id id, close_reason reason, std::size_t unwritten_size, time_point now) {
    http_connection* connection = pools_.find(id);
    if (connection == nullptr) {
        return;
    }
    http_pool& pool = *connection->pool;
    context_.gate.end_opening(connection->is_opening, now);
    if (connection->state == http_connection_state::closed) {
        pools_.forget(*connection);
        return connect_if_wanted(pool, now);
    }
    // The end of the stream completes a body without a length.
    http_slot* slot = connection->slot;
    if (slot != nullptr && reason == close_reason::end_of_stream && connection->parser.finish()) {
        on_complete(*connection, now);
        if (http_connection* left = pools_.find(id)) {
            pools_.forget(*left);
        }
        return;
    }
    const bool is_alerted = reason == close_reason::tls_alert;
    if (is_alerted) {
        pool.is_tls_failed = true;
        pool.failed_last = now;
        pool.problem = to_string(reason);
    }
    const bool is_sent =
        slot != nullptr && connection->is_handed && unwritten_size < connection->outgoing.size();
    if (slot != nullptr) {
        leave_place(*slot);
    }
    pools_.forget(*connection);
    if (is_sent) {
        note_outcome(pool, errc::request_canceled, now);
    }
    if (is_alerted) {
        fail_queue(pool, now);
    } else {
        connect_if_wanted(pool, now);
    }
    if (slot != nullptr) {
        lost(*slot, is_sent, is_alerted, now);
    }
    if (is_alerted) {
        on_terminal_state(now);
    }
}

// The connection of an operation closed before its answer was complete. A TLS alert means that the
// server rejected the client, so only a request that was already sent may have been executed.
void http_operations::lost(http_slot& slot, bool is_sent, bool is_alerted, time_point now) {
    slot.avoided = slot.endpoint;
    slot.was_alerted = is_alerted;
    if (is_alerted && !is_sent) {
        return dispatch_failed(slot, retry_reason::tls_error, now);
    }
    retry_case failed;
    failed.reason =
        is_sent ? retry_reason::socket_closed_while_in_flight : retry_reason::socket_not_available;
    failed.stage = is_sent ? attempt_stage::network : attempt_stage::dispatch;
    failed.own_error = own_error_of(failed.reason);
    if (slot.rows_taken != 0) {
        return refuse(
            slot, failed, refusal_reason::rows_taken,
            "the connection closed after rows were delivered", now);
    }
    retry(slot, failed, now);
}

}  // namespace reprise::engine
