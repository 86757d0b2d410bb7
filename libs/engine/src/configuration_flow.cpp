// Cluster configurations: applying, polling, and the links that follow from them.

#include <algorithm>
#include <utility>

#include <reprise/engine/shipped_strategies.hpp>
#include <reprise/wire/cluster_messages.hpp>

#include "connection_problem.hpp"
#include "engine_core.hpp"

namespace reprise::engine {

// What is not news is refused without harm.
engine_core::configuration_effect engine_core::apply_configuration(
    bucket_state& bucket, std::string_view text, std::string_view source_host, time_point now) {
    wire::parse_configuration_options parsing;
    parsing.source_host = source_host;
    auto parsed = wire::parse_cluster_configuration(text, parsing);
    if (!parsed) {
        ++counters_.configurations_refused;
        bucket.configuration_problem = std::string(source_host) + ": configuration refused: " +
                                       shown(wire::to_string(parsed.error()));
        log(log_level::warn, bucket.configuration_problem);
        return configuration_effect::unreadable;
    }
    const bool is_newer =
        !bucket.configuration || (*parsed)->revision() > bucket.configuration->revision();
    const bool is_ours = (*parsed)->bucket_name() == bucket.name;
    if (!is_ours) {
        bucket.configuration_problem = std::string(source_host) +
                                       ": configuration refused: it is of bucket \"" +
                                       shown((*parsed)->bucket_name()) + "\"";
        log(log_level::warn, bucket.configuration_problem);
    }
    if (!is_ours || !is_newer) {
        ++counters_.configurations_refused;
        return configuration_effect::refused;
    }
    // Servers that are being set up say so for a moment; the old map serves better than none.
    const bool had_owners = bucket.configuration && bucket.configuration->vbucket_count() != 0;
    if (had_owners && (*parsed)->vbucket_count() == 0) {
        ++counters_.configurations_refused;
        log(log_level::warn, "configuration " + to_string((*parsed)->revision()) + " of " +
                                 bucket.name + " names no owners; keeping the one before");
        return configuration_effect::refused;
    }
    install(bucket, std::move(*parsed), now);
    return configuration_effect::applied;
}

// Without a configuration that names owners nothing can be sent: asked for sooner than usual, with
// the controlled backoff. The cluster itself has no owners, and some servers have no configuration
// of it.
void engine_core::poll_soon(bucket_state& bucket, time_point now) {
    const bool is_served = bucket.configuration && bucket.configuration->has_owners();
    if (is_served || bucket.name.empty()) {
        bucket.polls_without_owners = 0;
        return;
    }
    const time_point due = add_saturated(now, controlled_backoff(bucket.polls_without_owners++));
    wheel_.arm(bucket, bucket.is_armed() ? std::min(bucket.due(), due) : due);
}

void engine_core::install(
    bucket_state& bucket, wire::cluster_configuration_ptr configuration, time_point now) {
    bucket.configuration = std::move(configuration);
    bucket.is_configured_slowly =
        !bucket.configured_last || now - *bucket.configured_last >= revision_pause;
    bucket.configured_last = now;
    bucket.configuration_problem.clear();
    ++counters_.configurations_applied;
    bucket.manifest_uid_max =
        std::max(bucket.manifest_uid_max, bucket.configuration->collections_manifest_uid());
    if (network_.empty()) {
        network_ = wire::select_network(bucket.configuration->nodes(), seeds_, options_.transport);
    }
    log(log_level::info, "configuration " + to_string(bucket.configuration->revision()) + " of " +
                             (bucket.name.empty() ? "the cluster" : bucket.name));
    const std::size_t waiting_count = bucket.topology_waiters.size();
    sync_links(bucket, now);
    wake_for_revision(bucket, now);
    wake(bucket.topology_waiters, now, waiting_count);
    http_.on_topology(now);
}

// One link for each data node (and ordinal) of the configuration; the others retire.
void engine_core::sync_links(bucket_state& bucket, time_point now) {
    if (!bucket.configuration) {
        return;
    }
    reap(bucket);
    if (bucket.name.empty()) {
        return sync_cluster_links(bucket, now);
    }
    const std::size_t per_node = options_.kv_connections_per_node;
    const auto nodes = bucket.configuration->nodes();
    bucket.routes.assign(nodes.size() * per_node, nullptr);
    ++bucket.sync_number;
    std::vector<bool> owners(nodes.size());
    for (std::size_t vbucket = 0; vbucket < bucket.configuration->vbucket_count(); ++vbucket) {
        if (const auto node = bucket.configuration->active_node(vbucket)) {
            owners[*node] = true;
        }
    }
    bool has_any = false;
    for (std::size_t node = 0; node < bucket.configuration->kv_node_count(); ++node) {
        const auto address =
            nodes[node].endpoint(wire::service::key_value, options_.transport, network_);
        for (std::size_t ordinal = 0; address && ordinal < per_node; ++ordinal) {
            node_link& link = link_to(bucket, address->host, address->port, ordinal, now);
            link.sync_number = bucket.sync_number;
            link.is_owner = owners[node];
            bucket.routes[node * per_node + ordinal] = &link;
            has_any = true;
        }
    }
    if (has_any) {  // else keep what we have: it is the only way to a better configuration
        retire_others(bucket, now);
    }
}

// The cluster itself is only asked for its configuration, over the seeds that are part of it. Once
// none is, one of its nodes takes their place: else news would end with the seeds.
void engine_core::sync_cluster_links(bucket_state& bucket, time_point now) {
    std::vector<wire::endpoint_view> offered;
    for (const auto& node : bucket.configuration->nodes()) {
        if (const auto at = node.endpoint(wire::service::key_value, options_.transport, network_)) {
            offered.push_back(*at);
        }
    }
    if (offered.empty()) {
        return;
    }
    ++bucket.sync_number;
    bool has_any = false;
    for (const auto& link : bucket.links) {
        const wire::endpoint_view at{link->endpoint->host, link->endpoint->port};
        if (!link->is_retired && std::ranges::find(offered, at) != offered.end()) {
            link->sync_number = bucket.sync_number;
            has_any = true;
        }
    }
    if (!has_any) {
        const wire::endpoint_view next = offered[random_.next() % offered.size()];
        link_to(bucket, next.host, next.port, 0, now).sync_number = bucket.sync_number;
    }
    retire_others(bucket, now);
}

// Those that the topology did not name.
void engine_core::retire_others(bucket_state& bucket, time_point now) {
    bucket.has_seed_links = false;
    std::vector<node_link*> leaving;
    for (const auto& link : bucket.links) {
        if (!link->is_retired && link->sync_number != bucket.sync_number) {
            leaving.push_back(link.get());
        }
    }
    retire(leaving, now);
}

void engine_core::want_configuration(bucket_state& bucket, time_point now) {
    if (bucket.is_open && !is_closed_ && !bucket.is_poll_wanted) {
        bucket.is_poll_wanted = true;
        poll(bucket, now);
    }
}

// Asks one node, in turn. Never sooner than the floor after the last time, and never a node that
// has not answered the last question.
void engine_core::poll(bucket_state& bucket, time_point now) {
    if (is_closed_) {
        return;
    }
    if (bucket.polled_last) {
        const time_point earliest = add_saturated(*bucket.polled_last, options_.config_poll_floor);
        if (now < earliest) {
            return wheel_.arm(bucket, earliest);
        }
    }
    wheel_.arm(bucket, add_saturated(now, options_.config_poll_interval));
    kv_connection* asked = nullptr;
    for (std::size_t step = 0; step < bucket.links.size() && asked == nullptr; ++step) {
        kv_connection* candidate = any_open(bucket, bucket.poll_turn);
        if (candidate == nullptr) {
            return;  // every bootstrap fetches one itself
        }
        if (!candidate->poll_opaque || now - candidate->poll_sent >= options_.internal_timeout) {
            asked = candidate;
        }
    }
    if (asked == nullptr) {
        return;  // all are being asked: `is_poll_wanted` is looked at when one answers
    }
    if (asked->poll_opaque) {
        if (opaque_entry* overdue = asked->waiting.find(*asked->poll_opaque)) {
            asked->waiting.abandon(*overdue);
        }
    }
    wire::get_cluster_config_request request;
    if (bucket.configuration && bucket.configuration->revision().epoch >= 1 &&
        std::in_range<std::int64_t>(bucket.configuration->revision().rev) &&
        asked->features.contains(wire::hello_feature::get_cluster_config_with_known_version)) {
        request.known = bucket.configuration->revision();
    }
    asked->poll_opaque =
        send_own(*asked, waiter_kind::configuration, wire::opcode::get_cluster_config, 0, request);
    asked->poll_sent = now;
    bucket.polled_last = now;
    bucket.is_poll_wanted = false;
}

void engine_core::on_poll_answer(
    kv_connection& connection, const wire::frame_view& frame, time_point now) {
    connection.poll_opaque.reset();
    bucket_state& bucket = *connection.link->bucket;
    if (wire::is_success(frame.status())) {
        bucket.poll_retries = 0;
    }
    // An empty value means: you have the newest.
    if (frame.status() == wire::status::success && !frame.value().empty()) {
        const endpoint_record& asked = *connection.link->endpoint;
        const auto text = inflated_text(frame);
        if (!text || apply_configuration(bucket, *text, asked.host, now) ==
                         configuration_effect::unreadable) {
            on_poll_unreadable(bucket, asked, now);
        }
    } else if (!wire::is_success(frame.status())) {
        bucket.configuration_problem =
            connection.link->endpoint->name + ": " + configuration_refusal(frame.status());
        response_facts facts;
        facts.kind = operation_kind::noop;
        facts.status = frame.status();
        facts.error_map = connection.link->endpoint->error_map.get();
        const response_outcome outcome = classify(facts);
        if (outcome.kind == outcome_kind::retry) {
            retry_case failed;
            failed.reason = outcome.reason;
            failed.stage = attempt_stage::response;
            failed.status = static_cast<std::uint16_t>(frame.status());
            failed.own_error = outcome.error;
            on_poll_failed(bucket, *connection.link->endpoint, failed, now);
        }
    }
    poll_soon(bucket, now);
    if (bucket.is_poll_wanted) {
        poll(bucket, now);
    }
}

void engine_core::on_poll_unreadable(
    bucket_state& bucket, const endpoint_record& asked, time_point now) {
    retry_case failed;
    failed.reason = retry_reason::unknown;
    failed.stage = attempt_stage::response;
    failed.own_error = errc::decoding_failure;
    on_poll_failed(bucket, asked, failed, now);
}

// Our own requests fail fast, by the same orchestrator as all others: a poll is not repeated, the
// next one goes to the next node. Only what is always retried comes again sooner.
void engine_core::on_poll_failed(
    bucket_state& bucket, const endpoint_record& asked, const retry_case& failed, time_point now) {
    retry_subject subject;
    subject.operation = "get_cluster_config";
    subject.is_idempotent = true;
    subject.attempts = bucket.poll_retries;
    subject.deadline = add_saturated(now, options_.internal_timeout);
    subject.strategy = &own_requests_;
    const auto decided = orchestrator_.decide(failed, subject, 0, random_.next(), now);
    REPRISE_ASSERT(decided.has_value());
    decided_attempt what{subject.operation, failed, *decided, subject.attempts};
    what.endpoint = static_cast<std::int32_t>(asked.number);
    tell(what, now);
    if (decided->is_retry && bucket.is_open && !is_closed_) {
        ++bucket.poll_retries;
        wheel_.arm(bucket, add_saturated(now, decided->delay));
    }
}

}  // namespace reprise::engine
