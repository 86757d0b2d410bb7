// What a login that succeeded or failed means for its node.

#include <array>
#include <utility>
#include <vector>

#include "engine_core.hpp"

namespace reprise::engine {
namespace {

// A server that does not know the password collects material for guessing it with every login.
constexpr duration unproved_login_pause = std::chrono::seconds{10};

}  // namespace

// From here on what this server says counts, and so does what it said about errors before. Called
// for each further step of the bootstrap, too.
void engine_core::on_authenticated(kv_connection& connection, time_point now) {
    endpoint_record& endpoint = *connection.link->endpoint;
    if (const auto& map = connection.bootstrap->error_map()) {
        take_error_map(endpoint, map);
    }
    if (endpoint.is_auth_refused) {
        endpoint.is_auth_refused = false;
        refresh_terminal_states();
    }
    if (!endpoint.next_login) {
        return;
    }
    endpoint.next_login.reset();
    for (const auto& bucket : buckets_) {
        for (const auto& link : bucket->links) {
            if (link->endpoint == &endpoint && link->is_armed()) {
                wheel_.arm(*link, now);  // nobody has to wait any longer
            }
        }
    }
}

// The server took a proof and gave none. Logins that are under way there end before they hand out
// another one.
void engine_core::pace_logins(endpoint_record& endpoint, time_point now) {
    endpoint.next_login = add_saturated(now, unproved_login_pause);
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
        fail_connection(*connection, "this server does not know the password", now);
    }
}

// False: not now; the link tries again when it may. One login at a time gets through.
bool engine_core::may_log_in(node_link& link, time_point now) {
    auto& next_login = link.endpoint->next_login;
    if (!next_login) {
        return true;
    }
    if (now < *next_login) {
        link.has_failed = true;
        wheel_.arm(link, *next_login);
        return false;
    }
    next_login = add_saturated(now, unproved_login_pause);
    return true;
}

// Empty if the system has no randomness: then SCRAM refuses to begin.
std::string engine_core::fresh_nonce() const {
    std::array<std::byte, 16> bytes{};
    return entropy_(bytes) ? wire::encode_nonce(bytes) : std::string();
}

// The login goes on with the stretched password, now if it is known, else when it is derived.
void engine_core::want_key(kv_connection& connection, time_point now) {
    bootstrap_fsm& bootstrap = *connection.bootstrap;
    if (auto known = keys_.find(*bootstrap.wanted_key())) {
        bootstrap.on_key(*known, {}, connection.control);
        wire::wipe_secret(*known);
        return on_bootstrap_step(connection, now);
    }
    if (!keys_.want(*bootstrap.wanted_key(), connection.id)) {
        bootstrap.on_key({}, "too many logins wait for their keys", connection.control);
        return on_bootstrap_step(connection, now);
    }
    keys_.begin(actions_);
}

void engine_core::on_key_derived(derivation_id derivation, std::string&& key, time_point now) {
    for (const connection_id waiting : keys_.on_derived(derivation, key)) {
        kv_connection* connection = find(waiting);
        if (connection != nullptr && connection->state == connection_state::bootstrapping) {
            connection->bootstrap->on_key(
                key, "the password could not be stretched", connection->control);
            on_bootstrap_step(*connection, now);
        }
    }
    wire::wipe_secret(key);
    if (!is_closed_) {
        keys_.begin(actions_);
    }
}

}  // namespace reprise::engine
