#include "engine_core.hpp"

#include <algorithm>
#include <utility>

#include <reprise/base/printable.hpp>
#include <reprise/http/authorization.hpp>

#include "peer_address.hpp"
#include "request_encoding.hpp"

namespace reprise::engine {

engine_core::engine_core(
    engine_options options, credentials identity, randomness random, time_point now)
    : options_(std::move(options)),
      identity_(std::move(identity)),
      random_(random.seed),
      entropy_(std::move(random.entropy)),
      client_number_(random_.next()),
      mailbox_(std::make_shared<answer_mailbox>()),
      orchestrator_(options_, mailbox_),
      decisions_(options_.log, options_.log_decisions_per_second_max),
      wheel_(now),
      gate_(options_.connecting_count_max),
      reconnect_backoff_(backoff_options{
          .base = options_.reconnect_delay_min,
          .factor = 2.0,
          .cap = options_.reconnect_delay_max,
          .jitter = reprise::jitter::equal,
          .hint_excess_max = {}}) {
    if (options_.dns_srv_name.empty()) {
        seeds_ = options_.seeds;
    }
    if (options_.network != "auto") {
        network_ = options_.network;
    }
    entropy_(std::as_writable_bytes(std::span(&client_number_, 1)));
}

engine_core::~engine_core() {
    close(wheel_.next_due().value_or(time_point{}));
    mailbox_->close();
    // A completion may start another operation: it ends at once, since the engine is closed.
    while (has_completions()) {
        drain_completions();
    }
}

keyspace_id engine_core::keyspace(
    std::string_view bucket, std::string_view scope, std::string_view collection) {
    const std::string_view real_scope = scope.empty() ? "_default" : scope;
    const std::string_view real_collection = collection.empty() ? "_default" : collection;
    bucket_state& owner = bucket_named(bucket);
    for (std::size_t index = 0; index < keyspaces_.size(); ++index) {
        const keyspace_entry& known = keyspaces_[index];
        if (known.bucket == &owner && known.scope == real_scope &&
            known.collection == real_collection) {
            return keyspace_id{static_cast<std::uint32_t>(index)};
        }
    }
    keyspace_entry added{&owner, std::string(real_scope), std::string(real_collection), nullptr};
    if (real_scope != "_default" || real_collection != "_default") {
        auto entry = std::make_unique<collection_entry>();
        entry->bucket = &owner;
        entry->index = static_cast<std::uint32_t>(owner.collections.size());
        entry->path = added.scope + "." + added.collection;
        added.entry = entry.get();
        owner.collections.push_back(std::move(entry));
    }
    keyspaces_.push_back(std::move(added));
    return keyspace_id{static_cast<std::uint32_t>(keyspaces_.size() - 1)};
}

bucket_state& engine_core::bucket_named(std::string_view name) {
    for (const auto& bucket : buckets_) {
        if (bucket->name == name) {
            return *bucket;
        }
    }
    buckets_.push_back(std::make_unique<bucket_state>(std::string(name)));
    return *buckets_.back();
}

void engine_core::open(std::string_view bucket, time_point now) {
    if (!is_closed_) {
        open_bucket(bucket_named(bucket), now);
    }
}

operation_id engine_core::start(operation_request&& request, completion&& done, time_point now) {
    REPRISE_ASSERT(request.keyspace.value < keyspaces_.size());
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
    gate_.clear();
    http_.close(now);
    operations_.for_each([&](operation_slot& slot) {
        const bool is_ambiguous = slot.state == operation_state::on_wire && !slot.is_idempotent;
        leave_place(slot);
        complete_error(
            slot, errc::request_canceled,
            {.is_ambiguous = is_ambiguous, .detail = "the client was closed"}, now);
    });
    for (const auto& bucket : buckets_) {
        wheel_.disarm(*bucket);
        for (const auto& entry : bucket->collections) {
            wheel_.disarm(*entry);
        }
        for (const auto& link : bucket->links) {
            wheel_.disarm(*link);
            link->connection = nullptr;
        }
    }
    for (const auto& known : endpoints_) {
        wheel_.disarm(*known);
    }
    wheel_.disarm(log_timer_);
    decisions_.flush();
    for (const auto& [id, connection] : connections_) {
        wheel_.disarm(*connection);
        connection->link = nullptr;
        if (connection->state != connection_state::closed) {
            connection->state = connection_state::closed;
            actions_.emplace_back(close_action{id});
        }
    }
}

// What was refused may pass now: nobody waits for the pauses that the old ones had earned.
void engine_core::replace_credentials(credentials identity) {
    identity_ = std::move(identity);
    ++identity_number_;
    for (const auto& bucket : buckets_) {
        for (const auto& link : bucket->links) {
            if (link->is_armed()) {
                link->failures = 0;
                wheel_.arm(*link, time_point{});  // has passed: due in the next turn
            }
        }
    }
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
    std::ranges::move(actions_, std::back_inserter(out));
    actions_.clear();
}

void engine_core::on_resolved(
    resolution_id resolution, std::span<const wire::bootstrap_address> found, time_point now) {
    if (is_closed_ || resolving_ != resolution || !seeds_.empty()) {
        return;
    }
    seeds_.assign(found.begin(), found.end());
    if (seeds_.empty()) {
        log(log_level::info, "no SRV records; using the given hosts");
        seeds_ = options_.seeds;
    }
    for (const auto& bucket : buckets_) {
        if (bucket->is_open) {
            add_seed_links(*bucket, now);
        }
    }
}

void engine_core::on_time(time_point now) {
    wheel_.advance(now, [&](base::timer_node& node) {
        auto& timer = static_cast<engine_timer&>(node);
        switch (timer.kind()) {
            case timer_kind::operation:
                return on_operation_due(static_cast<operation_slot&>(timer), now);
            case timer_kind::connection:
                return on_connection_due(static_cast<kv_connection&>(timer), now);
            case timer_kind::link:
                return connect(static_cast<node_link&>(timer), now);
            case timer_kind::bucket:
                return on_bucket_due(static_cast<bucket_state&>(timer), now);
            case timer_kind::collection:
                return on_collection_due(static_cast<collection_entry&>(timer), now);
            case timer_kind::endpoint:
                return on_breaker_due(static_cast<endpoint_record&>(timer), now);
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
            orchestrator_.on_answer(
                slot->failed, subject_of(*slot), letter.action, std::move(letter.cause),
                parked_count_, now),
            now);
    }
}

engine_statistics engine_core::statistics() const noexcept {
    engine_statistics result = counters_;
    result.operations_open = operations_.open_count() + http_.open_count();
    result.operations_parked = parked_count_;
    for (const auto& [id, connection] : connections_) {
        result.connections_open += connection->state == connection_state::open ? 1U : 0U;
        result.operations_ready += connection->ready.size();
        result.operations_on_wire += connection->waiting.operation_count();
    }
    return result;
}

wire::cluster_configuration_ptr engine_core::configuration(std::string_view name) const noexcept {
    for (const auto& bucket : buckets_) {
        if (bucket->name == name) {
            return bucket->configuration;
        }
    }
    return nullptr;
}

void engine_core::authorize(http::header_list& headers) const {
    if (identity_.has_client_certificate) {
        return;
    }
    headers.push_back(
        {"Authorization",
         identity_.bearer_token.empty()
             ? http::make_basic_authorization(identity_.username, identity_.password)
             : "Bearer " + identity_.bearer_token});
}

// Whether requests on a connection to this address may say who we are.
bool engine_core::may_authorize(std::string_view peer) const noexcept {
    return options_.transport == wire::transport::tls || options_.allow_plain_http ||
           is_loopback(peer);
}

bucket_budget* engine_core::budget_of(wire::service service) noexcept {
    service_budgets& own = options_.service_retry_budgets;
    const auto given = [](std::optional<bucket_budget>& budget) {
        return budget ? &*budget : nullptr;
    };
    switch (service) {
        case wire::service::key_value:
            return given(own.key_value);
        case wire::service::query:
            return given(own.query);
        case wire::service::analytics:
            return given(own.analytics);
        case wire::service::search:
            return given(own.search);
        case wire::service::views:
            return given(own.views);
        default:
            return given(own.management);
    }
}

// Every way to a configuration of this bucket has failed once.
bool engine_core::has_given_up(const bucket_state& bucket) const noexcept {
    return !bucket.links.empty() &&
           std::ranges::all_of(bucket.links, [](const auto& link) { return link->has_failed; });
}

// Credentials and TLS are the same for all services. What a bucket allows is key-value's affair.
std::optional<retry_reason> engine_core::terminal_reason_for_http() const noexcept {
    std::optional<retry_reason> found;
    for (const auto& bucket : buckets_) {
        if (bucket->is_auth_refused) {
            return retry_reason::authentication_error;
        }
        if (bucket->is_tls_failed) {
            found = retry_reason::tls_error;
        }
    }
    return found;
}

void engine_core::log(log_level level, std::string_view text) const {
    if (options_.log) {
        options_.log->on_message(level, base::printable(text));
    }
}

}  // namespace reprise::engine
