// Links: connecting, connecting again, retiring; terminal states of nodes and buckets.

#include <algorithm>
#include <utility>

#include "engine_core.hpp"

namespace reprise::engine {
namespace {

// Endpoints remembered by name. Twice the nodes a configuration can have.
constexpr std::size_t endpoint_count_max = 2 * wire::node_count_max;

// A node that takes longer to be connected to does not hold up the others' word on a bucket.
constexpr duration slow_connect = std::chrono::milliseconds{500};

// How long a refusal by one seed waits for the others. RH-38 allows 500 ms.
constexpr duration seed_patience = std::chrono::milliseconds{400};

std::uint64_t link_key(const endpoint_record& to, std::size_t ordinal) noexcept {
    return (std::uint64_t{to.number} << 32U) | ordinal;
}

}  // namespace

void engine_core::open_bucket(bucket_state& bucket, time_point now) {
    if (bucket.is_open || is_closed_) {
        return;
    }
    bucket.is_open = true;
    if (seeds_.empty() && !options_.dns_srv_name.empty() && !resolving_) {
        resolving_ = resolution_id{1};
        actions_.emplace_back(resolve_srv_action{*resolving_, options_.dns_srv_name});
    }
    add_seed_links(bucket, now);
}

// All seeds at once: the first one that answers brings the configuration.
void engine_core::add_seed_links(bucket_state& bucket, time_point now) {
    const std::uint16_t usual = options_.transport == wire::transport::tls ? 11207 : 11210;
    for (const wire::bootstrap_address& seed : seeds_) {
        link_to(bucket, seed.host, seed.port.value_or(usual), 0, now);
    }
    bucket.has_seed_links = true;
    refresh_terminal_state(bucket);
}

endpoint_record& engine_core::endpoint(std::string_view host, std::uint16_t port) {
    std::string name = wire::to_host_port(host, port);
    if (const auto known = endpoint_index_.find(name); known != endpoint_index_.end()) {
        return *known->second;
    }
    endpoint_record* record = nullptr;
    if (endpoints_.size() >= endpoint_count_max) {
        // Servers name endpoints: the table must not grow for ever. Very old histories may then
        // show a newer name.
        const auto unused = std::ranges::find_if(endpoints_, [](const auto& known) {
            return known->link_count == 0 && !known->is_pooled && known->error_map_shares == 0;
        });
        record = unused == endpoints_.end() ? nullptr : unused->get();
    }
    if (record == nullptr) {
        endpoints_.push_back(std::make_unique<endpoint_record>());
        record = endpoints_.back().get();
        record->number = static_cast<std::uint32_t>(endpoints_.size() - 1);
    }
    record->host = host;
    record->port = port;
    record->next_login.reset();
    endpoint_index_.erase(record->name);
    record->name = std::move(name);
    endpoint_index_.emplace(record->name, record);
    if (options_.circuit_breaker) {
        wheel_.disarm(*record);
        record->breaker.emplace(*options_.circuit_breaker);
    }
    return *record;
}

node_link& engine_core::link_to(
    bucket_state& bucket, std::string_view host, std::uint16_t port, std::size_t ordinal,
    time_point now) {
    endpoint_record& to = endpoint(host, port);
    node_link*& known = bucket.link_index[link_key(to, ordinal)];
    if (known == nullptr) {
        bucket.links.push_back(std::make_unique<node_link>(bucket, to, ordinal));
        known = bucket.links.back().get();
        ++to.link_count;
        connect(*known, now);
    } else if (known->is_retired) {  // it came back before it was gone
        known->is_retired = false;
        ++to.link_count;
        connect(*known, now);
    }
    return *known;
}

node_link* engine_core::find_link(const bucket_state& bucket, std::uint32_t endpoint) const {
    const auto found = bucket.link_index.find(link_key(*endpoints_[endpoint], 0));
    return found == bucket.link_index.end() ? nullptr : found->second;
}

// Asks for a place; the connection begins when there is one. Links of a bucket without any
// configuration are as urgent as those that operations wait for: nothing moves without them.
void engine_core::connect(node_link& link, time_point now) {
    if (is_closed_ || link.is_retired || link.connection != nullptr) {
        return;
    }
    const bool is_needed = !link.waiters.empty() || !link.bucket->configuration ||
                           !link.bucket->topology_waiters.empty();
    gate_.ask(link, is_needed ? connect_need::now : connect_need::later);
    open_waiting(now);
}

// Whoever has a place begins to connect.
void engine_core::open_waiting(time_point now) {
    while (connect_wish* next = gate_.enter()) {
        const bool is_begun = next->what() == connect_wish::kind::link
                                  ? begin_connect(static_cast<node_link&>(*next), now)
                                  : http_.begin_connect(static_cast<http_pool&>(*next), now);
        if (!is_begun) {
            gate_.leave();
        }
    }
}

void engine_core::end_opening(bool& is_opening, time_point now) {
    if (std::exchange(is_opening, false)) {
        gate_.leave();
        open_waiting(now);
    }
}

// False: not now.
bool engine_core::begin_connect(node_link& link, time_point now) {
    if (!may_log_in(link, now)) {
        return false;
    }
    link.has_old_identity = false;
    link.is_slow = false;
    link.begun = now;
    const connection_id id{next_connection_++};
    auto made = std::make_unique<kv_connection>(id, link, options_.pipeline_credit);
    link.connection = made.get();
    wheel_.arm(*made, add_saturated(now, options_.connect_timeout));
    connections_.emplace(id, std::move(made));
    actions_.emplace_back(connect_action{
        id, link.endpoint->host, link.endpoint->port, options_.transport, link.endpoint->host});
    return true;
}

// A node that restarts is met again at once; one that keeps failing less and less often, and not
// by all its clients at the same moment.
void engine_core::reconnect_later(node_link& link, bool has_failed, time_point now) {
    link.has_failed = link.has_failed || has_failed;
    if (is_closed_ || link.is_retired) {
        return;
    }
    duration delay{};
    if (!has_failed && now - link.opened >= options_.reconnect_delay_max) {
        link.failures = 0;
    } else if (!link.skip_error_map && !link.has_old_identity) {
        delay = reconnect_backoff_.delay(link.failures++, duration::zero(), random_.next());
    }
    wheel_.arm(link, add_saturated(now, delay));
}

void engine_core::on_link_failed(node_link& link, time_point now) {
    bucket_state& bucket = *link.bucket;
    wake_silent(link.waiters, now);
    wake_silent(bucket.topology_waiters, now);
    http_.look_again(now);
    const bool is_any_left = std::ranges::any_of(
        bucket.links, [](const auto& other) { return !other->has_failed && !other->is_retired; });
    if (!is_any_left && bucket.configuration && !is_closed_) {
        add_seed_links(bucket, now);  // nobody we know answers: begin again where we began
    }
    const bool was_terminal = terminal_reason(bucket).has_value();
    refresh_terminal_state(bucket);
    if (terminal_reason(bucket) && !was_terminal) {
        on_terminal_state(&bucket, now);  // this node was the last that could have known better
    }
}

// One node alone may be behind; all that can be asked mean that there is no such bucket.
void engine_core::on_bucket_missing(node_link& link, time_point now) {
    link.is_bucket_missing = true;
    ++link.missing_answers;
    for (const auto& other : link.bucket->links) {
        const bool is_opening = other->connection != nullptr && other->connection->is_opening;
        other->is_slow = is_opening && now - other->begun >= slow_connect;
    }
    refresh_terminal_state(*link.bucket);
}

// The topology does not have these nodes of a bucket any more. What is on the wire may still be
// answered; what is not looks for another way, by the state without them.
void engine_core::retire(std::span<node_link* const> links, time_point now) {
    for (node_link* link : links) {
        link->is_retired = true;
        wheel_.disarm(*link);
        gate_.withdraw(*link);
        if (--link->endpoint->link_count == 0) {
            link->endpoint->is_auth_refused = false;
            link->endpoint->is_tls_failed = false;
            forget_breaker(*link->endpoint);
        }
    }
    refresh_terminal_states();
    for (node_link* link : links) {
        if (kv_connection* connection = link->connection) {
            for (std::size_t left = connection->ready.size(); left > 0; --left) {
                operation_slot& slot = *connection->ready.front();
                leave_place(slot);
                dispatch(slot, true, now);
            }
            close_drained(*connection, now);
        }
        wake(link->waiters, now);
    }
}

void engine_core::close_drained(kv_connection& connection, time_point now) {
    const bool is_in_use =
        connection.state == connection_state::open &&
        (connection.waiting.live_operation_count() != 0 || !connection.ready.empty());
    if (connection.link == nullptr || !connection.link->is_retired || is_in_use) {
        return;
    }
    actions_.emplace_back(close_action{connection.id});
    finish_connection(connection, connection.sent_end(0), false, now);
}

// Forgets links that are retired and have nothing left to do.
void engine_core::reap(bucket_state& bucket) {
    std::erase_if(bucket.links, [&](const auto& link) {
        const bool is_over =
            link->is_retired && link->connection == nullptr && link->waiters.empty();
        if (is_over) {
            bucket.link_index.erase(link_key(*link->endpoint, link->ordinal));
        }
        return is_over;
    });
}

kv_connection* engine_core::any_open(bucket_state& bucket, std::size_t& turn) const noexcept {
    for (std::size_t step = 0; step < bucket.links.size(); ++step) {
        const auto& link = bucket.links[turn++ % bucket.links.size()];
        if (!link->is_retired && link->connection != nullptr &&
            link->connection->state == connection_state::open) {
            return link->connection;
        }
    }
    return nullptr;
}

// The state that explains best why nothing can be dispatched. Asked for each request that cannot be
// sent, so it is counted when links change and not here.
std::optional<retry_reason> engine_core::terminal_reason(
    const bucket_state& bucket) const noexcept {
    if (bucket.is_auth_refused) {
        return retry_reason::authentication_error;
    }
    if (bucket.is_tls_failed) {
        return retry_reason::tls_error;
    }
    if (bucket.is_access_denied || bucket.is_missing_everywhere) {
        return retry_reason::bucket_access_error;
    }
    return std::nullopt;
}

// A bucket's users are told of the nodes of its own topology, and of no others.
void engine_core::refresh_terminal_state(bucket_state& bucket) noexcept {
    std::size_t silent = 0;   // nodes that cannot be asked
    std::size_t unclear = 0;  // nodes that will be heard
    std::uint32_t answers = 0;
    bucket.is_auth_refused = false;
    bucket.is_tls_failed = false;
    for (const auto& link : bucket.links) {
        if (link->is_retired) {
            continue;
        }
        const bool is_silent = link->has_failed || link->is_slow;
        answers += link->is_bucket_missing ? link->missing_answers : 0;
        silent += !link->is_bucket_missing && is_silent ? 1U : 0U;
        unclear += !link->is_bucket_missing && !is_silent ? 1U : 0U;
        bucket.is_auth_refused = bucket.is_auth_refused || link->endpoint->is_auth_refused;
        bucket.is_tls_failed = bucket.is_tls_failed || link->endpoint->is_tls_failed;
    }
    // Where some cannot be asked, one answer alone is not enough: that node may be behind.
    bucket.is_missing_everywhere = unclear == 0 && answers >= (silent == 0 ? 1U : 2U);
    if (may_wait_for_seeds(bucket)) {
        bucket.is_auth_refused = false;
        bucket.is_tls_failed = false;
    }
}

// One seed that refuses us, or cannot prove who it is, must not speak for a cluster that another
// seed may be about to show us.
bool engine_core::may_wait_for_seeds(const bucket_state& bucket) noexcept {
    return !bucket.configuration && !bucket.has_waited_for_seeds &&
           std::ranges::any_of(bucket.links, [](const auto& link) {
               return !link->is_retired && !link->has_failed && !link->is_slow &&
                      !link->endpoint->is_auth_refused && !link->endpoint->is_tls_failed;
           });
}

void engine_core::on_bucket_due(bucket_state& bucket, time_point now) {
    if (!bucket.configuration && !bucket.has_waited_for_seeds) {
        bucket.has_waited_for_seeds = true;
        refresh_terminal_state(bucket);
        on_terminal_state(&bucket, now);
    }
    poll(bucket, now);
}

// An endpoint's state changed; several buckets may use it.
void engine_core::refresh_terminal_states() noexcept {
    for (const auto& bucket : buckets_) {
        refresh_terminal_state(*bucket);
    }
}

void engine_core::clear_bucket_state(bucket_state& bucket) noexcept {
    bucket.is_access_denied = false;
    bucket.is_missing_everywhere = false;
    for (const auto& link : bucket.links) {
        link->is_bucket_missing = false;
        link->missing_answers = 0;
    }
}

// Whoever waits for a connection learns now that it will not come soon. Null: every bucket.
void engine_core::on_terminal_state(bucket_state* affected, time_point now) {
    for (const auto& bucket : buckets_) {
        const bool is_affected = affected == nullptr || affected == bucket.get();
        if (is_affected && may_wait_for_seeds(*bucket) && !bucket->is_armed()) {
            wheel_.arm(*bucket, add_saturated(now, seed_patience));
        }
        if (!is_affected || !terminal_reason(*bucket)) {
            continue;
        }
        wake_for_terminal_state(bucket->topology_waiters, now);
        for (std::size_t index = 0; index < bucket->links.size(); ++index) {
            wake_for_terminal_state(bucket->links[index]->waiters, now);
        }
        wake_if_stuck(bucket->not_my_vbucket_waiters, *bucket, now);
        wake_if_stuck(backoff_waiters_, *bucket, now);
        for (const auto& entry : bucket->collections) {
            wake_if_stuck(entry->waiters, *bucket, now);
        }
    }
    http_.on_terminal_state(now);
}

// These wait for something else than a connection, and their backoff goes on if they have one. The
// others would only find out later that nothing can be sent.
void engine_core::wake_if_stuck(wait_list& list, const bucket_state& bucket, time_point now) {
    for (std::size_t left = list.size(); left > 0 && !list.empty(); --left) {
        operation_slot& slot = *list.front();
        if (&bucket_of(slot) != &bucket || is_dispatchable(slot)) {
            list.erase(slot);
            list.push_back(slot);
        } else {
            leave_place(slot);
            dispatch(slot, true, now);
        }
    }
}

void engine_core::wake_for_terminal_state(wait_list& list, time_point now) {
    for (std::size_t left = list.size(); left > 0 && !list.empty(); --left) {
        operation_slot& slot = *list.front();
        const bool is_known = info(slot.failed.reason).is_terminal;
        if (!slot.is_silent && (is_known || is_dispatchable(slot))) {
            list.erase(slot);  // knows it, or has another way; its backoff goes on
            list.push_back(slot);
        } else {
            leave_place(slot);
            dispatch(slot, true, now);
        }
    }
}

// One map for each node: of one format the highest revision, of two formats the newer one.
void engine_core::take_error_map(
    endpoint_record& endpoint, const std::shared_ptr<const wire::error_map>& map) {
    const auto rank = [](const wire::error_map& of) {
        return std::pair(of.version(), of.revision());
    };
    const bool is_better = !endpoint.error_map || rank(*endpoint.error_map) < rank(*map);
    if (is_better) {
        endpoint.error_map = map;
    }
}

void engine_core::drop_error_map(kv_connection& connection) {
    if (connection.has_error_map_share) {
        connection.has_error_map_share = false;
        endpoint_record& endpoint = *connection.link->endpoint;
        if (--endpoint.error_map_shares == 0) {
            endpoint.error_map.reset();
        }
    }
}

}  // namespace reprise::engine
