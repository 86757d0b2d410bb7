#include "http_operations/http_transfers.hpp"

#include <utility>

#include "http_operations/http_operations.hpp"
#include "http_operations/outgoing_request.hpp"

namespace reprise::engine {
namespace {

// The outcome that an answer reports to the circuit breaker of its endpoint.
std::error_code reported_outcome(const exchange_result& judged) noexcept {
    const bool is_good =
        judged.what == exchange_result::step::done || judged.what == exchange_result::step::next;
    return is_good ? std::error_code{} : judged.error;
}

// Bytes that cannot belong to the answer: nothing of the request has been written yet, or they are
// the end of a line, which some servers send behind a body.
bool is_stray(const http_connection& connection, base::byte_view bytes) noexcept {
    if (connection.has_answer_begun || bytes.empty()) {
        return false;
    }
    return !connection.is_handed || bytes[0] == std::byte{'\r'} || bytes[0] == std::byte{'\n'};
}

void forget_answer(http_slot& slot) {
    slot.answer.restart();
    slot.server_code = 0;
    slot.server_text.clear();
    slot.metadata.reset();
}

}  // namespace

bool http_transfers::try_send(http_slot& slot, http_connection& connection, time_point now) {
    REPRISE_ASSERT(connection.state == http_connection_state::idle);
    slot.call = &slot.request.exchange->compose(parts_.candidates.configuration_for(slot));
    if (const auto encoded = encode_call(connection, *slot.call, context_); !encoded) {
        failed_attempt failed;
        failed.own_error = errc::invalid_argument;
        parts_.requests.refuse(
            slot, failed, refusal_reason::unclassified,
            "the request cannot be written: " + encoded.error(), now);
        return false;
    }
    auto refusal = parts_.life.charge(slot, now);
    if (!refusal) {
        refusal = parts_.decider.try_start_attempt(slot, now);
    }
    if (refusal) {
        parts_.requests.apply(slot, *refusal, now);
        return false;
    }
    forget_answer(slot);
    const auto kind =
        slot.call->method == "HEAD" ? http::response_kind::to_head : http::response_kind::with_body;
    connection.parser.restart(kind);
    connection.state = http_connection_state::busy;
    connection.slot = &slot;
    context_.wheel.disarm(connection);
    slot.connection = &connection;
    slot.endpoint = static_cast<std::int32_t>(connection.pool->endpoint->number);
    parts_.life.send(slot);
    if (parts_.decider.watch().is_on() && !slot.is_canary) {
        parts_.decider.watch().on_attempt(
            names_of(slot), slot,
            {connection.id.value, 0, slot.is_repeatable(), slot.has_attempt, now});
    }
    slot.has_attempt = true;
    context_.actions.emplace_back(write_action{connection.id, true});
    const std::size_t read_size = read_size_for(*slot.call, slot.request.rows_size_max_bytes);
    if (read_size != connection.read_size_max) {
        connection.read_size_max = read_size;
        context_.actions.emplace_back(read_action{connection.id, false, read_size});
    }
    return true;
}

void http_transfers::serve(http_connection& connection, time_point now) {
    connection.state = http_connection_state::idle;
    while (http_slot* const next = connection.pool->queue.front()) {
        parts_.waiting.leave(*next);
        if (try_send(*next, connection, now)) {
            return;
        }
        if (connection.state != http_connection_state::idle) {
            return;  // the observer of the refused operation has started another one, which took it
        }
    }
    context_.wheel.arm(
        connection, driver::add_saturated(now, context_.options.idle_http_connection_timeout));
}

base::byte_view http_transfers::begin_write(connection_id id) {
    http_connection* connection = parts_.pools.find(id);
    if (connection == nullptr || connection->state != http_connection_state::busy) {
        return {};
    }
    const auto rest = base::byte_view(connection->outgoing).subspan(connection->written);
    if (!rest.empty() && !std::exchange(connection->is_handed, true)) {
        http_slot& slot = *connection->slot;
        slot.sent_before = std::exchange(slot.sent_to, slot.endpoint);
    }
    return rest;
}

void http_transfers::on_bytes(
    connection_id id, const base::block_ref* owner, base::byte_view bytes, time_point now) {
    http_connection* connection = parts_.pools.find(id);
    if (connection == nullptr) {
        return;
    }
    switch (connection->state) {
        case http_connection_state::busy:
            connection->pool->is_tls_failed = false;
            connection->active_last = now;
            if (is_stray(*connection, bytes)) {
                return on_stray_bytes(*connection, now);
            }
            connection->has_answer_begun = true;
            connection->parser.feed(bytes);
            read_answer(*connection, owner, now);
            break;
        case http_connection_state::idle:
            parts_.pools.drop(*connection);  // unrequested: it could be mistaken for an answer
            break;
        case http_connection_state::connecting:
        case http_connection_state::closed:
            break;
    }
}

void http_transfers::read_answer(
    http_connection& connection, const base::block_ref* owner, time_point now) {
    while (connection.state == http_connection_state::busy) {
        const auto event = connection.parser.next();
        if (!event) {
            return reject_answer(
                connection, "not an HTTP answer: " + std::string(to_string(event.error())), now);
        }
        http_slot& slot = *connection.slot;
        incoming_answer::problem unusable;
        switch (*event) {
            case http::response_event::need_more:
                return pause_if_full(connection, now);
            case http::response_event::head:
                unusable = slot.answer.on_head(connection.parser.head(), *slot.call, slot.request);
                break;
            case http::response_event::body:
                unusable = slot.answer.on_body(connection.parser.body(), owner, slot.request);
                if (!unusable && slot.answer.take_notice()) {
                    parts_.ended.notify(slot.request.on_rows);
                }
                break;
            case http::response_event::complete:
                return on_complete(connection, now);
        }
        if (unusable) {
            return reject_answer(connection, std::move(*unusable), now);
        }
    }
}

// Stops reading until the user takes rows, so that at most one piece beyond the bound is kept.
void http_transfers::pause_if_full(http_connection& connection, time_point now) {
    if (connection.state == http_connection_state::busy && !connection.is_reading_paused &&
        connection.slot->answer.is_full(connection.slot->request)) {
        connection.is_reading_paused = true;
        operation_retries::pause_attempt(*connection.slot, now);
        context_.actions.emplace_back(read_action{connection.id, true, connection.read_size_max});
    }
}

bool http_transfers::take_rows(operation_id operation, row_batch& out) {
    http_slot* const found = parts_.endings.find(operation.value);
    if (found == nullptr) {
        return false;
    }
    http_slot& slot = *found;
    out.clear();
    // The rows of an answer that is over are not taken any more. A retry drops them, and otherwise
    // they are part of the result, with an error, too.
    if (slot.state != operation_state::in_flight) {
        return true;
    }
    slot.answer.take_rows(out);
    if (slot.connection != nullptr && slot.connection->is_reading_paused) {
        slot.connection->is_reading_paused = false;
        operation_retries::resume_attempt(slot);
        context_.actions.emplace_back(
            read_action{slot.connection->id, false, slot.connection->read_size_max});
    }
    return true;
}

void http_transfers::on_complete(http_connection& connection, time_point now) {
    http_slot& slot = *connection.slot;
    operation_retries::resume_attempt(slot);  // it came although reading is paused
    const bool is_kept_alive = connection.parser.is_kept_alive();
    if (auto unusable = slot.answer.on_end()) {
        return reject_answer(connection, std::move(*unusable), now);
    }
    exchange_result judged = slot.request.exchange->judge(
        {slot.answer.status(), connection.parser.head().headers, slot.answer.body(),
         slot.answer.row_count()});
    slot.server_code = judged.server_code;
    slot.server_text = judged.server_text;
    slot.metadata = std::move(judged.metadata);
    const bool may_have_been_applied = judged.may_have_acted && !slot.is_repeatable();
    const operation_id operation = slot.id;
    parts_.waiting.leave(slot);
    // An operation that is over ends first: what follows may call code of the user, which may
    // cancel it. A canary ends last, so that those that wait for it find a free connection.
    const bool is_over =
        judged.what == exchange_result::step::done || judged.what == exchange_result::step::failed;
    if (is_over && !slot.is_canary) {
        conclude(slot, judged, may_have_been_applied, now);
    }
    parts_.requests.note_outcome(*connection.pool, reported_outcome(judged), now);
    release(connection, is_kept_alive, now);
    if (parts_.endings.find(operation.value) != nullptr) {
        conclude(slot, judged, may_have_been_applied, now);
    }
}

// What the answer means for its operation, which has left the connection.
void http_transfers::conclude(
    http_slot& slot, const exchange_result& judged, bool may_have_been_applied, time_point now) {
    switch (judged.what) {
        case exchange_result::step::done:
            return parts_.endings.complete(slot, now);
        case exchange_result::step::failed:
            return parts_.endings.complete_error(
                slot, judged.error, may_have_been_applied, {}, now);
        case exchange_result::step::next:
            slot.search_end.reset();
            operation_retries::pause_attempt(slot, now);
            return parts_.requests.begin_attempt(slot, now);
        case exchange_result::step::retry:
            break;
    }
    slot.avoided = slot.endpoint;
    retry_case failed;
    failed.reason = judged.reason;
    failed.stage = attempt_stage::response;
    failed.own_error = judged.error;
    failed.may_have_been_applied = may_have_been_applied;
    failed.status = static_cast<std::uint16_t>(slot.answer.status());
    failed.delay_floor = judged.delay_floor;
    if (slot.answer.has_taken_rows()) {
        return parts_.requests.refuse(slot, failed, refusal_reason::partly_delivered, {}, now);
    }
    parts_.requests.retry(slot, failed, now);
}

// Neither the answer nor the rest of this connection can be used.
void http_transfers::reject_answer(
    http_connection& connection, std::string detail, time_point now) {
    http_slot& slot = *connection.slot;
    http_pool& pool = *connection.pool;
    operation_retries::resume_attempt(slot);
    parts_.waiting.leave(slot);
    parts_.pools.drop(connection);
    failed_attempt failed;
    failed.stage = attempt_stage::response;
    failed.own_error = errc::parsing_failure;
    failed.status = static_cast<std::uint16_t>(slot.answer.status());
    parts_.requests.refuse(slot, failed, refusal_reason::unclassified, std::move(detail), now);
    parts_.requests.note_outcome(pool, errc::parsing_failure, now);
}

// Answers cannot be attributed to requests on this connection any more. The request is lost, and
// was not sent at all if nothing of it was written.
void http_transfers::on_stray_bytes(http_connection& connection, time_point now) {
    http_slot& slot = *connection.slot;
    http_pool& pool = *connection.pool;
    const bool is_sent = connection.is_handed;
    context_.log(log_level::warn, pool.endpoint->name + ": bytes that answer no request");
    parts_.waiting.leave(slot);
    parts_.pools.drop(connection);
    lost(slot, is_sent, false, now);
    if (is_sent) {
        parts_.requests.note_outcome(pool, errc::request_canceled, now);
    }
    parts_.pools.connect_if_wanted(pool, now);
}

void http_transfers::release(http_connection& connection, bool is_kept_alive, time_point now) {
    connection.slot = nullptr;
    if (connection.is_reading_paused) {
        // Resumes reading, because the rest of the answer was still on its way when reading
        // stopped.
        connection.is_reading_paused = false;
        context_.actions.emplace_back(read_action{connection.id, false, connection.read_size_max});
    }
    // A server that answers early has not read the rest of the request, and bytes behind the answer
    // would be taken for the next one. In both cases the connection cannot be reused.
    const bool is_all_written = connection.written == connection.outgoing.size();
    const bool is_all_read = connection.parser.next().has_value();
    if (!is_kept_alive || !is_all_written || !is_all_read || context_.is_closed) {
        http_pool& pool = *connection.pool;
        parts_.pools.drop(connection);
        return parts_.pools.connect_if_wanted(pool, now);
    }
    serve(connection, now);
}

void http_transfers::on_closed(
    connection_id id, close_reason reason, std::size_t unwritten_size, time_point now) {
    http_connection* connection = parts_.pools.find(id);
    if (connection == nullptr) {
        return;
    }
    http_pool& pool = *connection->pool;
    context_.gate.end_opening(connection->is_opening, now);
    if (connection->state == http_connection_state::closed) {
        parts_.pools.forget(*connection);
        return parts_.pools.connect_if_wanted(pool, now);
    }
    // The end of the stream completes a body without a length.
    http_slot* slot = connection->slot;
    if (slot != nullptr && reason == close_reason::end_of_stream && connection->parser.finish()) {
        on_complete(*connection, now);
        if (http_connection* left = parts_.pools.find(id)) {
            parts_.pools.forget(*left);
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
        parts_.waiting.leave(*slot);
        if (connection->is_handed && !is_sent) {
            slot->sent_to = slot->sent_before;
        }
    }
    parts_.pools.forget(*connection);
    // First, because code of the user may cancel it as soon as others fail.
    if (slot != nullptr) {
        lost(*slot, is_sent, is_alerted, now);
    }
    if (is_sent) {
        parts_.requests.note_outcome(pool, errc::request_canceled, now);
    }
    if (is_alerted) {
        parts_.requests.fail_queue(pool, now);
        parts_.requests.on_terminal_state(now);
    } else {
        parts_.pools.connect_if_wanted(pool, now);
    }
}

// The connection of an operation closed before its answer was complete. A TLS alert means that the
// server rejected the client, so only a request that was already sent may have been executed.
void http_transfers::lost(http_slot& slot, bool is_sent, bool is_alerted, time_point now) {
    slot.avoided = slot.endpoint;
    slot.was_alerted = is_alerted;
    if (is_alerted && !is_sent) {
        return parts_.requests.dispatch_failed(slot, retry_reason::tls_error, now);
    }
    retry_case failed;
    failed.reason =
        is_sent ? retry_reason::socket_closed_while_in_flight : retry_reason::socket_not_available;
    failed.stage = is_sent ? attempt_stage::network : attempt_stage::dispatch;
    failed.own_error = own_error_of(failed.reason);
    if (slot.answer.has_taken_rows()) {
        return parts_.requests.refuse(
            slot, failed, refusal_reason::partly_delivered,
            "the connection closed after rows were delivered", now);
    }
    parts_.requests.retry(slot, failed, now);
}

}  // namespace reprise::engine
