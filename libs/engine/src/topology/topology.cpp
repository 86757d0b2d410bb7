// The first links to the cluster.

#include "topology/topology.hpp"

#include <algorithm>

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
      buckets_(context),
      terminal_(context, buckets_, listener),
      reconnect_backoff_(driver::backoff_options{
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
        terminal_.notify(nullptr, now);  // a target that cannot be trusted
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
    // Another loop may have applied a configuration before this one used the bucket.
    if (const auto newest = bucket.newest->get()) {
        take_from_other_loop(bucket.name, newest, now);
    }
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

}  // namespace reprise::engine
