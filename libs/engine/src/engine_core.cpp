#include "engine_core.hpp"

#include <algorithm>
#include <utility>

#include <reprise/http/authorization.hpp>

#include "connections/peer_address.hpp"
#include "request_encoding.hpp"
#include "service_settings.hpp"

namespace reprise::engine {

engine_core::engine_core(
    engine_options options, credentials identity, randomness random, time_point now)
    : context_(std::move(options), std::move(identity), std::move(random), now),
      mailbox_(std::make_shared<answer_mailbox>()),
      decider_(context_.options, mailbox_),
      decisions_(context_.options.log, context_.options.log_decisions_per_second_max) {
    context_.gate.set_starter(connect_wish::kind::link, connections_);
    context_.gate.set_starter(connect_wish::kind::pool, http_);
}

engine_core::~engine_core() {
    close(wheel_.next_due().value_or(time_point{}));
    mailbox_->close();
    // A completion may start another operation: it ends at once, since the engine is closed.
    while (has_completions()) {
        drain_completions();
    }
}

void engine_core::open(std::string_view bucket, time_point now) {
    if (!is_closed_) {
        topology_.open(topology_.bucket(bucket), now);
    }
}

operation_id engine_core::start(operation_request&& request, completion&& done, time_point now) {
    REPRISE_ASSERT(topology_.contains(request.keyspace));
    operation_slot& slot = operations_.acquire();
    const operation_id id = slot.id();
    slot.request = std::move(request);
    slot.done = std::move(done);
    slot.started = now;
    slot.is_idempotent = is_idempotent(slot.request.kind);
    const duration usual =
        slot.request.durability ? options_.kv_durable_timeout : options_.kv_timeout;
    slot.deadline =
        std::min(slot.request.deadline, add_saturated(now, slot.request.timeout.value_or(usual)));
    if (is_closed_) {
        complete_error(slot, errc::request_canceled, {.detail = "the client is closed"}, now);
        return id;
    }
    const keyspace_entry& space = keyspaces_[slot.request.keyspace.value];
    if (auto valid = check_request(slot.request, space.entry != nullptr); !valid) {
        complete_error(slot, valid.error().code, {.detail = std::move(valid.error().detail)}, now);
    } else if (slot.deadline <= now) {
        time_out(slot, now);
    } else {
        dispatch(slot, false, now);
    }
    return id;
}

bool engine_core::cancel(operation_id operation, time_point now) {
    if (http_flow::is_own(operation.value)) {
        return http_.cancel(operation, now);
    }
    operation_slot* slot = operations_.find(operation);
    if (slot == nullptr) {
        return false;
    }
    const bool is_ambiguous = slot->state == operation_state::on_wire && !slot->is_idempotent;
    leave_place(*slot);
    complete_error(
        *slot, errc::request_canceled,
        {.is_ambiguous = is_ambiguous, .detail = "canceled by the caller"}, now);
    return true;
}

void engine_core::close(time_point now) {
    if (is_closed_) {
        return;
    }
    is_closed_ = true;
    context_.gate.clear();
    http_.close(now);
    operations_.for_each([&](operation_slot& slot) {
        const bool is_ambiguous = slot.state == operation_state::on_wire && !slot.is_idempotent;
        leave_place(slot);
        complete_error(
            slot, errc::request_canceled,
            {.is_ambiguous = is_ambiguous, .detail = "the client was closed"}, now);
    });
    topology_.close();
    endpoints_.disarm_all();
    wheel_.disarm(log_timer_);
    decisions_.flush();
    connections_.close();
}

// What was refused may pass now: nobody waits for the pauses that the old ones had earned.
void engine_core::replace_credentials(credentials identity) {
    context_.identity = std::move(identity);
    ++context_.identity_number;
    topology_.reconnect_with_new_identity();
}

std::size_t engine_core::drain_completions() {
    if (!draining_.empty()) {
        return 0;  // called by a completion: the outer call goes on
    }
    std::size_t told = 0;
    for (const auto& notice : std::exchange(notices_, {})) {
        notice();
        ++told;
    }
    draining_.swap(completed_);
    for (finished_operation& finished : draining_) {
        finished.done(std::move(finished.result));
    }
    const std::size_t count = draining_.size() + told;
    draining_.clear();
    return count;
}

void engine_core::take_actions(action_list& out) {
    std::ranges::move(context_.actions, std::back_inserter(out));
    context_.actions.clear();
}

void engine_core::on_connected(connection_id id, std::string_view peer, time_point now) {
    if (kv_connection* connection = connections_.find(id)) {
        connections_.on_connected(*connection, now);
    } else {
        http_.on_connected(id, peer, now);
    }
}

void engine_core::on_connect_failed(
    connection_id id, connect_failure failure, std::string_view text, time_point now) {
    if (kv_connection* connection = connections_.find(id)) {
        connections_.on_connect_failed(*connection, failure, text, now);
    } else {
        http_.on_connect_failed(id, failure, text, now);
    }
}

void engine_core::on_bytes(
    connection_id id, const base::block_ref* owner, base::byte_view bytes, time_point now) {
    if (kv_connection* connection = connections_.find(id)) {
        connections_.on_bytes(*connection, owner, bytes, now);
    } else {
        http_.on_bytes(id, owner, bytes, now);
    }
}

base::byte_view engine_core::begin_write(connection_id id, time_point now) {
    kv_connection* connection = connections_.find(id);
    return connection == nullptr ? http_.begin_write(id)
                                 : connections_.begin_write(*connection, now);
}

void engine_core::on_written(connection_id id, std::size_t size, time_point now) {
    static_cast<void>(now);
    if (kv_connection* connection = connections_.find(id)) {
        connections_.on_written(*connection, size);
    } else {
        http_.on_written(id, size);
    }
}

void engine_core::on_closed(
    connection_id id, close_reason reason, std::size_t unwritten_size, time_point now) {
    if (kv_connection* connection = connections_.find(id)) {
        connections_.on_closed(*connection, reason, unwritten_size, now);
    } else {
        http_.on_closed(id, reason, unwritten_size, now);
    }
}

void engine_core::on_time(time_point now) {
    wheel_.advance(now, [&](base::timer_node& node) {
        auto& timer = static_cast<engine_timer&>(node);
        switch (timer.kind()) {
            case timer_kind::operation:
                return on_operation_due(static_cast<operation_slot&>(timer), now);
            case timer_kind::connection:
                return connections_.on_due(static_cast<kv_connection&>(timer), now);
            case timer_kind::link:
                return topology_.connect(static_cast<node_link&>(timer), now);
            case timer_kind::bucket:
                topology_.end_seed_patience(static_cast<bucket_state&>(timer), now);
                return polls_.poll(static_cast<bucket_state&>(timer), now);
            case timer_kind::collection:
                return collections_.on_due(static_cast<collection_entry&>(timer), now);
            case timer_kind::endpoint:
                return breakers_.on_due(
                    static_cast<endpoint_record&>(timer), now, [&](const endpoint_record& to) {
                        return connections_.send_canary(to) || http_.send_canary(to, now);
                    });
            case timer_kind::log:
                decisions_.on_time(now);
                if (const auto due = decisions_.next_due()) {
                    wheel_.arm(log_timer_, *due);
                }
                return;
            case timer_kind::http_operation:
                return http_.on_operation_due(static_cast<http_slot&>(timer), now);
            case timer_kind::http_connection:
                return http_.on_connection_due(static_cast<http_connection&>(timer), now);
        }
    });
}

void engine_core::on_wake(time_point now) {
    for (answer_mailbox::letter& letter : mailbox_->take()) {
        if (http_flow::is_own(letter.ticket.operation)) {
            http_.on_answer(letter, now);
            continue;
        }
        operation_slot* slot = operations_.find(operation_id{letter.ticket.operation});
        if (slot == nullptr || slot->state != operation_state::deciding ||
            slot->decision != letter.ticket.decision) {
            continue;  // too late: the request has ended or moved on
        }
        leave_place(*slot);
        apply(
            *slot,
            decider_.on_answer(
                slot->failed, subject_of(*slot), letter.action, std::move(letter.cause),
                parked_count_, now),
            now);
    }
}

engine_statistics engine_core::statistics() const noexcept {
    engine_statistics result = counters_;
    result.operations_open = operations_.open_count() + http_.open_count();
    result.operations_parked = parked_count_;
    connections_.add_to(result);
    return result;
}

wire::cluster_configuration_ptr engine_core::configuration(std::string_view name) const noexcept {
    const bucket_state* bucket = topology_.find_bucket(name);
    return bucket == nullptr ? nullptr : bucket->configuration;
}

void engine_core::authorize(http::header_list& headers) const {
    if (context_.identity.has_client_certificate) {
        return;
    }
    headers.push_back(
        {"Authorization", context_.identity.bearer_token.empty()
                              ? http::make_basic_authorization(
                                    context_.identity.username, context_.identity.password)
                              : "Bearer " + context_.identity.bearer_token});
}

// Whether requests on a connection to this address may say who we are.
bool engine_core::may_authorize(std::string_view peer) const noexcept {
    return options_.transport == wire::transport::tls || options_.allow_plain_http ||
           is_loopback(peer);
}

retry_budget* engine_core::budget_of(wire::service service) noexcept {
    return find_budget(options_.service_retry_budgets, service);
}

}  // namespace reprise::engine
