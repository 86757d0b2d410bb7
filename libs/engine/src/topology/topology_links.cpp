// Links: connecting, reconnecting and retiring.

#include <algorithm>

#include "connections/kv_connection.hpp"
#include "topology/cause.hpp"
#include "topology/srv_trust.hpp"
#include "topology/terminal_state.hpp"
#include "topology/topology.hpp"

namespace reprise::engine {
namespace {

std::uint64_t link_key(const endpoint_record& to, std::size_t ordinal) noexcept {
    return (std::uint64_t{to.number} << 32U) | ordinal;
}

}  // namespace

node_link& topology::link_to(
    bucket_state& bucket, const wire::endpoint_view& address, std::size_t ordinal, time_point now) {
    endpoint_record& to = endpoints_.at(address.host, address.port);
    node_link*& known = bucket.link_index[link_key(to, ordinal)];
    if (known == nullptr) {
        bucket.links.push_back(std::make_unique<node_link>(bucket, to, ordinal));
        known = bucket.links.back().get();
        known->begun = now;
        ++to.link_count;
        connect(*known, now);
    } else if (known->is_retired) {  // the node is back before its link was removed
        known->is_retired = false;
        ++to.link_count;
        connect(*known, now);
    }
    return *known;
}

node_link* topology::find_link(const bucket_state& bucket, std::uint32_t endpoint) const {
    const auto found = bucket.link_index.find(link_key(endpoints_[endpoint], 0));
    return found == bucket.link_index.end() ? nullptr : found->second;
}

// Links of a bucket without a configuration are as urgent as those that operations wait for,
// because nothing can be sent without them.
void topology::connect(node_link& link, time_point now) {
    if (context_.is_closed || link.is_retired || link.connection != nullptr) {
        return;
    }
    const endpoint_record& to = *link.endpoint;
    if (!to.srv_name.empty() &&
        trust_in_srv_target(to.host, to.srv_name, context_.options) == srv_trust::none) {
        return refuse_srv_target(link);
    }
    const bool is_needed = !link.waiters.empty() || !link.bucket->configuration ||
                           !link.bucket->topology_waiters.empty();
    context_.gate.ask(link, is_needed ? connect_need::now : connect_need::later);
    context_.gate.admit(now);
}

// Nothing is sent to this host, so it can never be a reason to wait.
void topology::refuse_srv_target(node_link& link) const {
    endpoint_record& to = *link.endpoint;
    link.has_failed = true;
    link.problem = srv_refusal(to.host, to.srv_name, srv_trust::none);
    to.terminal->refusal.set(link.problem);
    to.terminal->is_auth_refused = true;
    context_.log(log_level::warn, link.problem);
}

void topology::hurry(bucket_state& bucket, time_point now) {
    for (const auto& link : bucket.links) {
        if (context_.gate.is_queued(*link)) {
            context_.gate.ask(*link, connect_need::now);
        }
    }
    context_.gate.admit(now);
}

void topology::hurry(node_link& link, time_point now) {
    if (context_.gate.is_queued(link)) {
        context_.gate.ask(link, connect_need::now);
        context_.gate.admit(now);
    }
}

void topology::on_link_open(node_link& link, bool is_newer_config, time_point now) {
    bucket_state& bucket = *link.bucket;
    // A new configuration has already woken the operations that wait for the topology.
    const std::size_t waiting_count = is_newer_config ? 0 : bucket.topology_waiters.size();
    close_breaker(*link.endpoint, now);  // the bootstrap was answered
    listener_.wake(link.waiters, SIZE_MAX, now);
    listener_.wake(bucket.topology_waiters, waiting_count, now);
    if (bucket.has_seed_links) {
        sync_links(bucket, now);
    }
}

// Reconnects at once to a node that restarts. A node that keeps failing is tried less and less
// often, and not by all its clients at the same time.
void topology::reconnect_later(node_link& link, bool has_failed, time_point now) {
    link.has_failed = link.has_failed || has_failed;
    if (context_.is_closed || link.is_retired) {
        return;
    }
    duration delay{};
    if (!has_failed && now - link.opened >= context_.options.reconnect_delay_max) {
        link.failures = 0;
    } else if (!link.skip_error_map && !link.skip_collections && !link.has_old_identity) {
        delay = reconnect_backoff_.delay(link.failures++, duration::zero(), context_.random.next());
    }
    context_.wheel.arm(link, driver::add_saturated(now, delay));
}

void topology::on_link_failed(node_link& link, time_point now) {
    bucket_state& bucket = *link.bucket;
    listener_.on_link_failed(link, now);
    const bool is_any_left = std::ranges::any_of(
        bucket.links, [](const auto& other) { return !other->has_failed && !other->is_retired; });
    if (!is_any_left && bucket.configuration && !context_.is_closed) {
        add_seed_links(bucket, now);  // no known node answers: start again with the seeds
    }
    const bool was_terminal = terminal_reason(bucket).has_value();
    refresh_terminal_state(bucket);
    if (terminal_reason(bucket) && !was_terminal) {
        terminal_.notify(&bucket, now);  // this was the last node that could have contradicted
    }
    terminal_.watch_missing(bucket, now);
}

void topology::reconnect_now(const endpoint_record& endpoint, time_point now) {
    for (const auto& bucket : buckets_) {
        for (const auto& link : bucket->links) {
            if (link->endpoint == &endpoint && link->is_armed()) {
                context_.wheel.arm(*link, now);
            }
        }
    }
}

void topology::reconnect_with_new_identity() {
    for (const auto& bucket : buckets_) {
        for (const auto& link : bucket->links) {
            if (link->is_armed()) {
                link->failures = 0;
                context_.wheel.arm(*link, time_point{});  // in the past: due at the next on_time
            }
        }
    }
}

// These nodes of a bucket are no longer in the topology. Requests on the wire may still be
// answered; the others are dispatched again without these nodes.
void topology::retire(std::span<node_link* const> links, time_point now) {
    for (node_link* link : links) {
        link->is_retired = true;
        context_.wheel.disarm(*link);
        context_.gate.withdraw(*link);
        if (--link->endpoint->link_count == 0) {
            node_terminal_state& node = *link->endpoint->terminal;
            const bool was_refused = node.is_auth_refused.exchange(false);
            if (node.is_tls_failed.exchange(false) || was_refused) {
                terminal_.announce();
            }
            breakers_.forget(*link->endpoint);
        }
    }
    terminal_.refresh();
    for (node_link* link : links) {
        listener_.on_link_retired(*link, now);
    }
}

// Removes retired links that have nothing left to do.
void topology::reap(bucket_state& bucket) {
    std::erase_if(bucket.links, [&](const auto& link) {
        const bool is_over =
            link->is_retired && link->connection == nullptr && link->waiters.empty();
        if (is_over) {
            bucket.link_index.erase(link_key(*link->endpoint, link->ordinal));
        }
        return is_over;
    });
}

kv_connection* topology::any_open(bucket_state& bucket, std::size_t& next) const noexcept {
    for (std::size_t step = 0; step < bucket.links.size(); ++step) {
        const auto& link = bucket.links[next++ % bucket.links.size()];
        if (!link->is_retired && is_connected(*link)) {
            return link->connection;
        }
    }
    return nullptr;
}

// Operations that wait for a missing connection keep waiting.
void topology::close_breaker(endpoint_record& endpoint, time_point now) {
    if (breakers_.close(endpoint)) {
        on_breaker_closed(endpoint, now);
    }
}

void topology::on_breaker_closed(endpoint_record& endpoint, time_point now) {
    buckets_.for_each([&](bucket_state& bucket) {
        for (std::size_t index = 0; index < bucket.links.size(); ++index) {
            node_link& link = *bucket.links[index];
            if (link.endpoint == &endpoint && is_connected(link)) {
                listener_.wake(link.waiters, SIZE_MAX, now);
            }
        }
    });
    listener_.on_breaker_closed(now);
}

}  // namespace reprise::engine
