// Buckets and keyspaces, the first links to the cluster, and terminal states.

#include "topology/topology.hpp"

#include <utility>

#include "topology/terminal_state.hpp"

namespace reprise::engine {

topology::topology(
    engine_context& context, endpoint_table& endpoints, breakers& breakers,
    topology_listener& listener)
    : context_(context),
      endpoints_(endpoints),
      breakers_(breakers),
      listener_(listener),
      reconnect_backoff_(backoff_options{
          .base = context.options.reconnect_delay_min,
          .factor = 2.0,
          .cap = context.options.reconnect_delay_max,
          .jitter = reprise::jitter::equal,
          .hint_excess_max = {}}) {
    if (context_.options.dns_srv_name.empty()) {
        seeds_ = context_.options.seeds;
    }
    if (context_.options.network != "auto") {
        network_ = context_.options.network;
    }
}

keyspace_id topology::keyspace(
    std::string_view bucket_name, std::string_view scope, std::string_view collection) {
    const std::string_view real_scope = scope.empty() ? "_default" : scope;
    const std::string_view real_collection = collection.empty() ? "_default" : collection;
    bucket_state& owner = bucket(bucket_name);
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

bucket_state& topology::bucket(std::string_view name) {
    for (const auto& known : buckets_) {
        if (known->name == name) {
            return *known;
        }
    }
    buckets_.push_back(std::make_unique<bucket_state>(std::string(name)));
    buckets_.back()->terminal = context_.client.terminal.of_bucket(name);
    return *buckets_.back();
}

const bucket_state* topology::find_bucket(std::string_view name) const noexcept {
    const auto known =
        std::ranges::find_if(buckets_, [&](const auto& bucket) { return bucket->name == name; });
    return known == buckets_.end() ? nullptr : known->get();
}

void topology::open(bucket_state& bucket, time_point now) {
    if (bucket.is_open || context_.is_closed) {
        return;
    }
    bucket.is_open = true;
    if (seeds_.empty() && !context_.options.dns_srv_name.empty() && !resolving_) {
        resolving_ = resolution_id{1};
        context_.actions.emplace_back(
            resolve_srv_action{*resolving_, context_.options.dns_srv_name});
    }
    add_seed_links(bucket, now);
}

void topology::on_resolved(
    resolution_id resolution, std::span<const wire::bootstrap_address> found, time_point now) {
    if (context_.is_closed || resolving_ != resolution || !seeds_.empty()) {
        return;
    }
    seeds_.assign(found.begin(), found.end());
    if (seeds_.empty()) {
        context_.log(log_level::info, "no SRV records; using the given hosts");
        seeds_ = context_.options.seeds;
    }
    for (const auto& bucket : buckets_) {
        if (bucket->is_open) {
            add_seed_links(*bucket, now);
        }
    }
}

// Connects to all seeds at once. The first one that answers provides the configuration.
void topology::add_seed_links(bucket_state& bucket, time_point now) {
    const bool is_tls = context_.options.transport == wire::transport::tls;
    const std::uint16_t default_port = is_tls ? 11207 : 11210;
    for (const wire::bootstrap_address& seed : seeds_) {
        link_to(bucket, {seed.host, seed.port.value_or(default_port)}, 0, now);
    }
    bucket.has_seed_links = true;
    refresh_terminal_state(bucket);
}

void topology::close() noexcept {
    for (const auto& bucket : buckets_) {
        context_.wheel.disarm(*bucket);
        for (const auto& entry : bucket->collections) {
            context_.wheel.disarm(*entry);
        }
        for (const auto& link : bucket->links) {
            context_.wheel.disarm(*link);
            link->connection = nullptr;
        }
    }
}

void topology::refresh_terminal_states() noexcept {
    for (const auto& bucket : buckets_) {
        refresh_terminal_state(*bucket);
    }
}

void topology::on_terminal_state(bucket_state* affected, time_point now) {
    for (const auto& bucket : buckets_) {
        const bool is_affected = affected == nullptr || affected == bucket.get();
        if (is_affected && may_wait_for_seeds(*bucket) && !bucket->is_armed()) {
            context_.wheel.arm(*bucket, add_saturated(now, seed_patience));
        }
        if (is_affected && terminal_reason(*bucket)) {
            listener_.on_terminal_state(*bucket, now);
        }
    }
    listener_.on_terminal_state_of_services(now);
}

void topology::end_seed_patience(bucket_state& bucket, time_point now) {
    if (!bucket.configuration && !bucket.has_waited_for_seeds) {
        bucket.has_waited_for_seeds = true;
        refresh_terminal_state(bucket);
        on_terminal_state(&bucket, now);
    }
}

std::optional<retry_reason> topology::terminal_reason_of_services() const noexcept {
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

}  // namespace reprise::engine
