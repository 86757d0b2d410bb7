// Buckets and keyspaces, the first links to the cluster, and terminal states.

#include "topology/topology.hpp"

#include <algorithm>
#include <utility>

#include "topology/srv_trust.hpp"
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
    auto entry = std::make_unique<collection_entry>();
    entry->bucket = &owner;
    entry->index = static_cast<std::uint32_t>(owner.collections.size());
    entry->path = added.scope + "." + added.collection;
    entry->is_default = real_scope == "_default" && real_collection == "_default";
    if (entry->is_default) {
        entry->state = collection_state::known;
    }
    added.entry = entry.get();
    owner.collections.push_back(std::move(entry));
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
    buckets_.back()->polls = context_.client.polls.find(name);
    buckets_.back()->newest = context_.client.configurations.find(name);
    return *buckets_.back();
}

const bucket_state* topology::find_bucket(std::string_view name) const noexcept {
    const auto known =
        std::ranges::find_if(buckets_, [&](const auto& bucket) { return bucket->name == name; });
    return known == buckets_.end() ? nullptr : known->get();
}

void topology::open_links(bucket_state& bucket, time_point now) {
    if (context_.is_closed) {
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
    if (found.empty()) {
        context_.log(log_level::info, "no SRV records; using the given hosts");
        seeds_ = context_.options.seeds;
    } else {
        take_srv_targets(found);
    }
    for (const auto& bucket : buckets_) {
        if (bucket->is_open) {
            add_seed_links(*bucket, now);
        }
    }
    if (std::ranges::any_of(buckets_, [](const auto& each) { return has_refusal(*each); })) {
        on_terminal_state(nullptr, now);  // a target that cannot be trusted
    }
}

// RFC 2782: a target "." means that there is no such service. Then the given hosts are not asked
// either.
void topology::take_srv_targets(std::span<const wire::bootstrap_address> found) {
    has_srv_seeds_ = true;
    for (const wire::bootstrap_address& target : found) {
        if (!target.host.empty() && target.host != "." && seeds_.size() < srv_target_count_max) {
            seeds_.push_back(target);
        }
    }
}

// Connects to all seeds at once. The first one that answers provides the configuration.
void topology::add_seed_links(bucket_state& bucket, time_point now) {
    const bool is_tls = context_.options.transport == wire::transport::tls;
    const std::uint16_t default_port = is_tls ? 11207 : 11210;
    for (const wire::bootstrap_address& seed : seeds_) {
        const std::uint16_t port = seed.port.value_or(default_port);
        // A node of a configuration is verified under its own name, also as a seed.
        if (endpoint_record& to = endpoints_.at(seed.host, port);
            has_srv_seeds_ && to.link_count == 0) {
            to.srv_name = written_name(context_.options.dns_srv_name);
        }
        link_to(bucket, {seed.host, port}, 0, now);
    }
    if (has_srv_seeds_ && seeds_.empty()) {
        bucket.configuration_problem = "the SRV record of " +
                                       std::string(written_name(context_.options.dns_srv_name)) +
                                       " names no host: there is no such service";
    }
    bucket.has_seed_links = true;
    refresh_terminal_state(bucket);
}

void topology::close() noexcept {
    for (const auto& bucket : buckets_) {
        context_.wheel.disarm(*bucket);
        context_.wheel.disarm(bucket->pushed);
        context_.wheel.disarm(bucket->missing_timer);
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
        if (is_affected) {
            wait_for_silent_seeds(*bucket, now);
        }
        if (is_affected && terminal_reason(*bucket)) {
            listener_.on_terminal_state(*bucket, now);
        }
    }
    listener_.on_terminal_state_of_services(now);
}

// Arms the bucket's timer for the moment when the next seed will have been silent for too long.
void topology::wait_for_silent_seeds(bucket_state& bucket, time_point now) {
    if (!may_other_seeds_answer(bucket) || !has_refusal(bucket)) {
        return;
    }
    const auto next = mark_silent_seeds(bucket, context_.options.seed_silence_max, now);
    const time_point due = next.value_or(now);
    context_.wheel.arm(bucket, bucket.is_armed() ? std::min(bucket.due(), due) : due);
}

void topology::judge_silent_seeds(bucket_state& bucket, time_point now) {
    if (bucket.configuration || bucket.is_seed_refusal_final || !has_refusal(bucket)) {
        return;
    }
    if (mark_silent_seeds(bucket, context_.options.seed_silence_max, now)) {
        return wait_for_silent_seeds(bucket, now);
    }
    bucket.is_seed_refusal_final = true;
    refresh_terminal_state(bucket);
    on_terminal_state(&bucket, now);
}

void topology::watch_missing(bucket_state& bucket, time_point now) {
    const auto due = missing_due(bucket, context_.options.missing_bucket_patience, now);
    if (due && !bucket.is_missing_everywhere && !bucket.missing_timer.is_armed()) {
        context_.wheel.arm(bucket.missing_timer, *due);
    }
}

void topology::on_missing_due(bucket_state& bucket, time_point now) {
    const auto due = missing_due(bucket, context_.options.missing_bucket_patience, now);
    if (due && *due > now) {
        return context_.wheel.arm(bucket.missing_timer, *due);  // some node had it meanwhile
    }
    if (due) {
        set_missing(bucket, true);
        tell_terminal_state();
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
