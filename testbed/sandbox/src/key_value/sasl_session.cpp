#include "key_value/sasl_session.hpp"

#include <algorithm>
#include <utility>

namespace reprise::sandbox::detail {

namespace {

using wire::sasl_mechanism;
using wire::status;

sasl_step_result malformed(std::string text) {
    return {status::einval, std::move(text), std::nullopt};
}

sasl_step_result refused(std::string text = {}) {
    return {status::auth_error, std::move(text), std::nullopt};
}

sasl_step_result welcome(
    const cluster_state& cluster, const user_options& user, std::string data = {}) {
    return {status::success, std::move(data), cluster.identity_of(user)};
}

sasl_step_result check_plain(cluster_state& cluster, std::string_view data) {
    const auto message = wire::decode_plain(data);
    if (!message) {
        return malformed(to_string(message.error()));
    }
    const user_options* user = cluster.accounts.find_user(message->username);
    if (user == nullptr || !wire::is_same_secret(message->password, user->password)) {
        return refused();
    }
    return welcome(cluster, *user);
}

sasl_step_result check_bearer(cluster_state& cluster, std::string_view data) {
    const auto token = wire::decode_oauthbearer(data);
    if (!token) {
        return malformed(to_string(token.error()));
    }
    for (const auto& [name, user] : cluster.accounts.all()) {
        if (!user.options.bearer_token.empty() &&
            wire::is_same_secret(*token, user.options.bearer_token)) {
            return welcome(cluster, user.options);
        }
    }
    return refused("Token not accepted");
}

}  // namespace

std::vector<sasl_mechanism> offered_mechanisms(
    const cluster_options& options, wire::transport over) {
    std::vector<sasl_mechanism> offered{
        sasl_mechanism::scram_sha512, sasl_mechanism::scram_sha256, sasl_mechanism::scram_sha1};
    const bool is_tls = over == wire::transport::tls;
    if (is_tls || options.offers_plain_without_tls) {
        offered.push_back(sasl_mechanism::plain);
    }
    if (is_tls) {
        offered.push_back(sasl_mechanism::oauthbearer);
    }
    return offered;
}

sasl_step_result sasl_session::on_auth(
    cluster_state& cluster, wire::transport over, std::string_view mechanism,
    std::string_view data) {
    if (is_waiting()) {
        scram_.reset();
        return malformed("SASL AUTH while a SASL STEP was expected");
    }
    const auto offered = offered_mechanisms(cluster.options, over);
    const auto wanted = wire::parse_sasl_mechanism(mechanism);
    if (!wanted || std::ranges::find(offered, *wanted) == offered.end()) {
        return refused("Mechanism not offered; offered: " + wire::to_mechanism_list(offered));
    }
    switch (*wanted) {
        case sasl_mechanism::plain:
            return check_plain(cluster, data);
        case sasl_mechanism::oauthbearer:
            return check_bearer(cluster, data);
        case sasl_mechanism::scram_sha1:
        case sasl_mechanism::scram_sha256:
        case sasl_mechanism::scram_sha512:
            break;
    }
    return start_scram(cluster, *wanted, data);
}

sasl_step_result sasl_session::start_scram(
    cluster_state& cluster, sasl_mechanism mechanism, std::string_view data) {
    wire::scram_server server(mechanism, cluster.random_hex(16));
    auto username = server.on_first(data);
    if (!username) {
        return malformed(to_string(username.error()));
    }
    // Unknown users get a challenge like known ones and fail at the step.
    account_list::account* user = cluster.accounts.find(*username);
    std::string challenge = server.challenge(
        user != nullptr
            ? cluster.credential_of(*user, mechanism)
            : wire::make_decoy_credential(
                  mechanism, *username, cluster.scram_secret, cluster.options.scram_iterations));
    scram_.emplace(std::move(server));
    mechanism_ = mechanism;
    username_ = std::move(*username);
    return {status::auth_continue, std::move(challenge), std::nullopt};
}

sasl_step_result sasl_session::on_step(
    cluster_state& cluster, std::string_view mechanism, std::string_view data) {
    if (!is_waiting()) {
        return malformed("SASL STEP without a SASL AUTH before it");
    }
    wire::scram_server server = std::move(*scram_);
    scram_.reset();
    if (wire::parse_sasl_mechanism(mechanism) != mechanism_) {
        return malformed("SASL STEP with a different mechanism than SASL AUTH");
    }
    auto final_message = server.on_final(data);
    if (!final_message) {
        return final_message.error().code == wire::sasl_errc::credentials_refused
                   ? refused()
                   : malformed(to_string(final_message.error()));
    }
    const user_options* user = cluster.accounts.find_user(username_);
    if (user == nullptr) {
        return refused();
    }
    return welcome(cluster, *user, std::move(*final_message));
}

}  // namespace reprise::sandbox::detail
