// Runs the bootstrap of a connection, and applies the result of a login to its node.

#include <array>
#include <utility>
#include <vector>

#include <reprise/wire/session_messages.hpp>

#include "connections/connection_problem.hpp"
#include "connections/connections.hpp"
#include "topology/terminal_state.hpp"

namespace reprise::engine {
namespace {

using feature = wire::hello_feature;

wire::hello_feature_set wanted_features(const engine_options& options, const node_link& link) {
    wire::hello_feature_set wanted{
        feature::tcp_no_delay,
        feature::xattr,
        feature::select_bucket,
        feature::json,
        feature::duplex,
        feature::clustermap_change_notification,
        feature::alt_request_support,
        feature::sync_replication,
        feature::preserve_ttl,
        feature::subdoc_create_as_deleted,
        feature::subdoc_replica_read,
        feature::get_cluster_config_with_known_version,
        feature::dedupe_not_my_vbucket_clustermap,
        feature::clustermap_change_notification_brief,
        feature::subdoc_binary_xattr};
    const std::array<std::pair<bool, feature>, 7> by_option{{
        {!link.skip_collections, feature::collections},
        {options.enable_error_map && !link.skip_error_map, feature::xerror},
        {options.enable_mutation_tokens, feature::mutation_seqno},
        {options.enable_unordered_execution, feature::unordered_execution},
        {options.enable_server_duration, feature::tracing},
        {options.enable_compression, feature::snappy},
        {options.enable_compression, feature::snappy_everywhere},
    }};
    for (const auto& [is_wanted, code] : by_option) {
        if (is_wanted) {
            wanted.insert(code);
        }
    }
    return wanted;
}

}  // namespace

bootstrap_options connections::options_for(const node_link& link, connection_id id) const {
    const engine_options& options = context_.options;
    return {
        .client = options,
        .identity = context_.client.identity.get(),
        .agent_key = wire::make_agent_key({options.agent, context_.client_number, id.value}),
        .features = wanted_features(options, link),
        .bucket = link.bucket->name,
        .nonce = fresh_nonce()};
}

void connections::on_connected(kv_connection& connection, time_point now) {
    if (connection.state != connection_state::connecting) {
        return;
    }
    connection.state = connection_state::bootstrapping;
    connection.received_last = now;
    connection.has_error_map_share = true;
    connection.link->endpoint->share_error_map();
    connection.identity_number = context_.client.identity.number();
    connection.bootstrap =
        std::make_unique<bootstrap_fsm>(options_for(*connection.link, connection.id));
    // The next fresh connection asks again.
    connection.link->skip_error_map = false;
    connection.skips_collections = std::exchange(connection.link->skip_collections, false);
    connection.bootstrap->start(connection.control);
    context_.wheel.arm(connection, driver::add_saturated(now, context_.options.bootstrap_timeout));
    on_bootstrap_step(connection, now);
}

void connections::on_bootstrap_step(kv_connection& connection, time_point now) {
    bootstrap_fsm& bootstrap = *connection.bootstrap;
    if (bootstrap.is_authenticated()) {
        on_authenticated(connection, now);
    }
    if (bootstrap.is_bucket_selected()) {
        const bool was_refused = terminal_reason(*connection.link->bucket).has_value();
        clear_bucket_refusals(*connection.link->bucket);
        if (was_refused) {
            owners_.nodes.terminal().announce();
        }
    }
    if (bootstrap.has_failed()) {
        return on_bootstrap_failed(connection, now);
    }
    if (bootstrap.is_done()) {
        return on_open(connection, now);
    }
    if (bootstrap.wanted_key() != nullptr) {
        return want_key(connection, now);
    }
    connection.request_write(context_.actions);
}

void connections::on_bootstrap_failed(kv_connection& connection, time_point now) {
    node_link& link = *connection.link;
    const bootstrap_failure failure = connection.bootstrap->failure();
    const std::string why =
        std::string(to_string(failure)) + ": " + shown(connection.bootstrap->text());
    bool is_terminal = false;
    bucket_state* affected = nullptr;
    // A refusal of the replaced credentials is no evidence against the new ones.
    link.has_old_identity = connection.identity_number != context_.client.identity.number();
    endpoint_record& endpoint = *link.endpoint;
    if (is_login_refusal(failure) && !link.has_old_identity) {
        endpoint.terminal->is_auth_refused = true;
        endpoint.terminal->is_refusal_proven = is_server_verified(context_.options);
        endpoint.terminal->refusal.set(why);
        is_terminal = true;
    }
    switch (link.has_old_identity ? bootstrap_failure::none : failure) {
        case bootstrap_failure::error_map_corrupt:
            link.skip_error_map = true;  // once: on_connected clears it
            break;
        case bootstrap_failure::collections_refused:
            link.skip_collections = true;  // as skip_error_map
            on_bucket_not_missing(link);
            break;
        case bootstrap_failure::bucket_no_access:
            link.bucket->terminal->is_access_denied = true;
            link.bucket->terminal->access_problem.set(endpoint.name + ": " + why);
            affected = link.bucket;
            is_terminal = true;
            break;
        case bootstrap_failure::bucket_not_found:
            link.bucket->terminal->access_problem.set(endpoint.name + ": " + why);
            on_bucket_missing(link, now);
            owners_.nodes.terminal().watch_missing(*link.bucket, now);
            break;
        case bootstrap_failure::select_failed:
            on_bucket_not_missing(link);
            break;
        default:  // all others are about the node, not about the bucket
            break;
    }
    owners_.nodes.terminal().refresh();
    fail(connection, why, now);
    if (is_terminal) {
        owners_.nodes.terminal().announce();
        owners_.nodes.terminal().notify(affected, now);
    }
}

void connections::on_open(kv_connection& connection, time_point now) {
    node_link& link = *connection.link;
    bucket_state& bucket = *link.bucket;
    connection.state = connection_state::open;
    connection.features = connection.bootstrap->granted();
    connection.bootstrap_opaque_last = connection.bootstrap->last_opaque();
    const std::string text = connection.bootstrap->configuration();
    if (const std::string& problem = connection.bootstrap->configuration_problem();
        !problem.empty()) {
        bucket.configuration_problem = link.endpoint->name + ": " + problem;
        context_.log(log_level::warn, bucket.configuration_problem);
    }
    if (!connection.bootstrap->text().empty()) {
        context_.log(log_level::warn, link.endpoint->name + ": " + connection.bootstrap->text());
    }
    connection.bootstrap.reset();
    context_.wheel.disarm(connection);
    context_.gate.end_opening(connection.is_opening, now);
    link.has_failed = false;
    link.problem.clear();
    link.was_open = true;
    link.opened = now;
    context_.log(log_level::info, "connected to " + link.endpoint->name);
    bucket.is_poll_wanted = false;  // the bootstrap has just asked
    const bool is_newer_config =
        !text.empty() && owners_.nodes.apply(bucket, text, link.endpoint->host, now) ==
                             configuration_effect::applied;
    owners_.polls.on_open(bucket, now);
    if (!connection.is_open()) {
        return;  // the configuration has dropped this node
    }
    const bool has_collections =
        bucket.configuration && bucket.configuration->has_bucket_capability("collections");
    if (connection.skips_collections && has_collections) {
        return fail(connection, "the bucket has collections, which the node refused", now);
    }
    owners_.nodes.on_link_open(link, is_newer_config, now);
}

// From here on the client trusts the server, including the error map that it sent before. Also
// called at each later step of the bootstrap.
void connections::on_authenticated(kv_connection& connection, time_point now) {
    endpoint_record& endpoint = *connection.link->endpoint;
    if (const auto& map = connection.bootstrap->error_map()) {
        endpoint.offer_error_map(map);
    }
    if (endpoint.terminal->is_auth_refused) {
        endpoint.terminal->is_auth_refused = false;
        owners_.nodes.terminal().announce();
        owners_.nodes.terminal().refresh();
    }
    if (endpoint.logins->on_proved()) {
        context_.tell_others({loop_note::subject::logins_allowed, endpoint.name});
        owners_.nodes.reconnect_now(endpoint, now);  // logins no longer have to wait
    }
}

// The server received a proof and gave none, whether it refused, closed or answered something else.
// Pending logins to it end before they send it another proof, unless this end does not count.
void connections::pace_logins(
    endpoint_record& endpoint, const kv_connection& ended, time_point now) {
    const bootstrap_failure failure = ended.bootstrap->failure();
    const bool has_old_identity = ended.identity_number != context_.client.identity.number();
    if (is_server_unproved(failure)) {
        endpoint.logins->on_unproved(now);
    } else if (failure != bootstrap_failure::credentials_refused) {
        endpoint.logins->on_lost(now);
    } else if (!has_old_identity) {
        endpoint.logins->on_refused(now);
    }
    if (endpoint.logins->has_to_wait()) {
        context_.tell_others({loop_note::subject::logins_held_back, endpoint.name});
        end_pending_logins(endpoint, now);
    }
}

void connections::end_pending_logins(const endpoint_record& endpoint, time_point now) {
    std::vector<kv_connection*> pending;
    for (const auto& [id, connection] : connections_) {
        const bool is_beginning = connection->state == connection_state::connecting ||
                                  connection->state == connection_state::bootstrapping;
        const bool is_in = connection->bootstrap && connection->bootstrap->is_authenticated();
        if (is_beginning && !is_in && connection->link->endpoint == &endpoint) {
            pending.push_back(connection.get());
        }
    }
    for (kv_connection* connection : pending) {
        connection->is_given_up = true;
        fail(*connection, "this server does not know the password", now);
    }
}

// Empty if the system has no randomness. SCRAM then refuses to start.
std::string connections::fresh_nonce() const {
    std::array<std::byte, 16> bytes{};
    return context_.entropy(bytes) ? wire::encode_nonce(bytes) : std::string();
}

// Continues the login with the stretched password: now if the key is known, otherwise once it is
// derived.
void connections::want_key(kv_connection& connection, time_point now) {
    bootstrap_fsm& bootstrap = *connection.bootstrap;
    if (auto known = keys_.find(*bootstrap.wanted_key())) {
        bootstrap.on_key(*known, {}, connection.control);
        wire::wipe_secret(*known);
        return on_bootstrap_step(connection, now);
    }
    if (!keys_.want(*bootstrap.wanted_key(), connection.id)) {
        bootstrap.on_key({}, "too many logins are waiting for their keys", connection.control);
        return on_bootstrap_step(connection, now);
    }
    keys_.begin(context_.actions);
}

void connections::on_key_derived(derivation_id derivation, std::string&& key, time_point now) {
    for (const connection_id waiting : keys_.on_derived(derivation, key)) {
        kv_connection* connection = find(waiting);
        if (connection != nullptr && connection->state == connection_state::bootstrapping) {
            connection->bootstrap->on_key(
                key, "the password could not be stretched", connection->control);
            on_bootstrap_step(*connection, now);
        }
    }
    wire::wipe_secret(key);
    context_.tell_others({loop_note::subject::derivation_ended});
    begin_derivations();
}

void connections::begin_derivations() {
    if (!context_.is_closed) {
        keys_.begin(context_.actions);
    }
}

}  // namespace reprise::engine
