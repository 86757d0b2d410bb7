#include "engine_core.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace reprise::engine {
namespace {

// Later than everything that is due now.
constexpr duration next_turn = std::chrono::milliseconds{1};

}  // namespace

engine_core::engine_core(std::shared_ptr<client_state> client, randomness random, time_point now)
    : client_(std::move(client)), context_(*client_, std::move(random), now) {
    context_.gate.set_starter(connect_request::kind::link, connections_);
    context_.gate.set_starter(connect_request::kind::pool, http_.starter());
}

engine_core::~engine_core() {
    close(context_.wheel.next_due().value_or(time_point{}));
    // A completion may start another operation, which fails at once because the engine is closed.
    while (!completions_.empty()) {
        completions_.drain();
    }
}

void engine_core::open(std::string_view bucket, time_point now) {
    if (!context_.is_closed) {
        topology_.open(topology_.buckets().at(bucket), now);
    }
}

void engine_core::close(time_point now) {
    if (context_.is_closed) {
        return;
    }
    context_.is_closed = true;
    // Both wait for a hook that runs on another thread: it needs the loop, and may own the driver.
    client_->notes.close(context_.loop);
    retries_.close_late_answers();
    context_.gate.clear();
    http_.close(now);
    operations_.close(now);
    topology_.close();
    endpoints_.disarm_all();
    retries_.flush_log();
    connections_.close();
}

// The new credentials may be accepted where the old ones were refused, so connections do not wait
// for the backoff that the old ones caused.
void engine_core::replace_credentials(credentials identity) {
    client_->identity.replace(std::move(identity));
    endpoints_.allow_new_logins();
    context_.tell_others({loop_note::subject::credentials});
    topology_.reconnect_with_new_identity();
}

void engine_core::append_actions(action_list& out) {
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
        http_.transfers().on_bytes(id, owner, bytes, now);
    }
}

read_place engine_core::place_to_read(connection_id id) noexcept {
    const kv_connection* connection = connections_.find(id);
    if (connection == nullptr) {
        return {};
    }
    const auto bytes = connection->reader.place();
    return bytes.empty() ? read_place() : read_place{connection->reader.gathered_into(), bytes};
}

base::byte_views engine_core::begin_write(connection_id id, time_point now) {
    if (kv_connection* connection = connections_.find(id)) {
        return connections_.begin_write(*connection, now);
    }
    http_part_ = http_.transfers().begin_write(id);
    return http_part_.empty() ? base::byte_views() : base::byte_views(&http_part_, 1);
}

void engine_core::on_written(connection_id id, std::size_t size, time_point now) {
    static_cast<void>(now);
    if (kv_connection* connection = connections_.find(id)) {
        connections_.on_written(*connection, size);
    } else {
        http_.transfers().on_written(id, size);
    }
}

void engine_core::on_closed(
    connection_id id, close_reason reason, std::size_t unwritten_size, time_point now) {
    if (kv_connection* connection = connections_.find(id)) {
        connections_.on_closed(*connection, reason, unwritten_size, now);
    } else {
        http_.transfers().on_closed(id, reason, unwritten_size, now);
    }
}

void engine_core::on_time(time_point now) {
    bool has_applied = false;
    context_.wheel.advance(now, [&](base::timer_node& node) {
        auto& timer = static_cast<engine_timer&>(node);
        switch (timer.kind()) {
            case timer_kind::operation:
                return operations_.on_due(static_cast<operation_slot&>(timer), now);
            case timer_kind::wake:
                return operations_.waiting().wake_more(now);
            case timer_kind::connection:
                return connections_.on_due(static_cast<kv_connection&>(timer), now);
            case timer_kind::link:
                return topology_.connect(static_cast<node_link&>(timer), now);
            case timer_kind::bucket:
                polls_.poll(static_cast<bucket_state&>(timer), now);
                return topology_.terminal().judge_silent_seeds(
                    static_cast<bucket_state&>(timer), now);
            case timer_kind::configuration: {
                auto& pushed = static_cast<pushed_configuration&>(timer);
                if (std::exchange(has_applied, true)) {  // one for each turn of the loop
                    return context_.wheel.arm(pushed, driver::add_saturated(now, next_turn));
                }
                return topology_.apply_push(pushed, now);
            }
            case timer_kind::missing_bucket:
                return topology_.terminal().on_missing_due(
                    *static_cast<missing_bucket_timer&>(timer).bucket, now);
            case timer_kind::collection:
                return collections_.on_due(static_cast<collection_entry&>(timer), now);
            case timer_kind::endpoint:
                return breakers_.on_due(
                    static_cast<endpoint_record&>(timer), now, [&](const endpoint_record& to) {
                        return connections_.send_canary(to) || http_.send_canary(to, now);
                    });
            case timer_kind::log:
                return retries_.on_log_due(now);
            case timer_kind::http_operation:
                return http_.on_operation_due(static_cast<http_slot&>(timer), now);
            case timer_kind::http_connection:
                return http_.on_connection_due(static_cast<http_connection&>(timer), now);
        }
    });
}

void engine_core::on_wake(time_point now) {
    for (late_answer_queue::entry& late : retries_.take_answers()) {
        if (http_endings::is_own(late.ticket.operation)) {
            http_.on_answer(late, now);
        } else {
            operations_.on_answer(late, now);
        }
    }
    take_notes(now);
}

void engine_core::set_wake_hook(std::function<void()> hook) {
    client_->notes.set_hook(context_.loop, hook);
    retries_.set_wake_hook(std::move(hook));
}

void engine_core::take_notes(time_point now) {
    for (const loop_note& note : client_->notes.take(context_.loop)) {
        if (!context_.is_closed) {
            on_note(note, now);
        }
    }
}

// A notification of another loop. It is never passed on: that loop has notified all others.
void engine_core::on_note(const loop_note& note, time_point now) {
    endpoint_record* const named = endpoints_.find(note.name);
    switch (note.what) {
        case loop_note::subject::terminal_states:
            topology_.terminal().refresh();
            return topology_.terminal().notify(nullptr, now);
        case loop_note::subject::configuration:
            return topology_.take_from_other_loop(note.name, note.configuration, now);
        case loop_note::subject::breaker_closed:
            return named == nullptr ? void() : topology_.on_breaker_closed(*named, now);
        case loop_note::subject::logins_held_back:
            return named == nullptr ? void() : connections_.end_pending_logins(*named, now);
        case loop_note::subject::logins_allowed:
            return named == nullptr ? void() : topology_.reconnect_now(*named, now);
        case loop_note::subject::credentials:
            endpoints_.allow_new_logins();
            return topology_.reconnect_with_new_identity();
        case loop_note::subject::derivation_ended:
            return connections_.begin_derivations();
    }
}

engine_statistics engine_core::statistics() const noexcept {
    engine_statistics result = context_.counters;
    result.operations_open = open_count();
    result.operations_parked = client_->waiting.count();
    connections_.add_to(result);
    return result;
}

const wire::cluster_configuration_ptr& engine_core::configuration(
    std::string_view name) const noexcept {
    static const wire::cluster_configuration_ptr none;
    const bucket_state* bucket = topology_.buckets().find(name);
    return bucket == nullptr ? none : bucket->configuration;
}

std::vector<service_address> engine_core::service_addresses(std::string_view bucket) const {
    return topology_.service_addresses(bucket);
}

engine_diagnostics engine_core::diagnostics() const {
    engine_diagnostics seen;
    seen.client = context_.client_number;
    topology_.describe(seen.endpoints);
    http_.describe(seen.endpoints);
    return seen;
}

}  // namespace reprise::engine
