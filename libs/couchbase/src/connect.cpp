#include <string_view>
#include <utility>

#include <reprise/wire/connection_string.hpp>

#include "session.hpp"

// Derives the options of a client from a connection string and cluster_options.

namespace reprise::couchbase::detail {
namespace {

error option_error(std::string text) {
    return {errc::option_invalid, std::move(text)};
}

error string_error(std::string text) {
    return {errc::connection_string_invalid, std::move(text)};
}

// Whether PLAIN and tokens may be sent: the server is verified, or the user allows it.
bool may_send_secrets(const engine::engine_options& options) {
    return engine::is_server_verified(options) || options.allow_plain_without_tls;
}

// A login with a refused token would fail before it starts, and calls would only time out.
std::expected<void, error> check_secrets(
    const credentials& identity, const engine::engine_options& options) {
    if (identity.username.empty() && !identity.password.empty()) {
        return std::unexpected(option_error("password needs a username"));
    }
    if (!identity.bearer_token.empty() && !may_send_secrets(options)) {
        return std::unexpected(
            option_error("bearer_token needs TLS and a verified certificate: use couchbases://"));
    }
    return {};
}

// Checks that the client has exactly one identity.
std::expected<void, error> check_identity(
    const cluster_options& given, const engine::engine_options& options) {
    const int identities = int{!given.username.empty()} + int{!given.bearer_token.empty()} +
                           int{engine::has_client_certificate(options)};
    if (identities == 0) {
        return std::unexpected(
            option_error("username, bearer_token or tls.certificate_file must be given"));
    }
    if (identities > 1) {
        return std::unexpected(option_error(
            "only one of username, bearer_token and tls.certificate_file can be used"));
    }
    return check_secrets({given.username, given.password, given.bearer_token}, options);
}

}  // namespace

std::expected<connect_plan, error> plan_connect(
    std::string_view connection_string, const cluster_options& given) {
    const auto where = wire::parse_connection_string(connection_string);
    if (!where) {
        return std::unexpected(string_error(wire::to_string(where.error())));
    }
    // Checks the options alone first, then with the connection string, so that the error names the
    // right source.
    if (const auto refused = check(given)) {
        return std::unexpected(option_error(refused->field + " " + refused->message));
    }
    // A user who sets options for TLS must not end up without TLS.
    if (const auto name = find_tls_option(given); name && where->security != wire::transport::tls) {
        return std::unexpected(option_error(std::string(*name) + " needs TLS: use couchbases://"));
    }
    connect_plan plan{{given}, {}};
    engine::engine_options& options = plan.options;
    if (const auto applied = engine::apply(*where, options); !applied) {
        return std::unexpected(string_error(wire::to_string(applied.error())));
    }
    if (const auto refused = check(options)) {
        return std::unexpected(string_error(refused->field + ": " + refused->message));
    }
    if (auto checked = check_identity(given, options); !checked) {
        return std::unexpected(std::move(checked.error()));
    }
    std::erase(options.operation_observers, nullptr);
    plan.facts = {where->bucket, options};
    static_cast<void>(engine::take_credentials(plan.facts.options));
    return plan;
}

error to_error(const net::setup_error& failed) {
    switch (failed.code) {
        case net::setup_errc::certificate_unreadable:
            return {errc::certificate_unreadable, failed.text};
        case net::setup_errc::no_resources:
            return {errc::no_resources, failed.text};
        case net::setup_errc::option_invalid:
        case net::setup_errc::name_service:
            break;
    }
    return {errc::option_invalid, failed.text};
}

cluster begin_session(std::unique_ptr<net::client> client, session_facts facts) {
    client->open(facts.bucket);
    return cluster_access::make(std::make_shared<session>(std::move(client), std::move(facts)));
}

std::expected<void, error> check_credentials(
    const credentials& identity, const session_facts& facts) {
    if (engine::has_client_certificate(facts.options)) {
        return std::unexpected(
            option_error("tls.certificate_file is the client's identity and cannot be replaced"));
    }
    if (identity.username.empty() == identity.bearer_token.empty()) {
        return std::unexpected(option_error("one of username and bearer_token must be given"));
    }
    return check_secrets(identity, facts.options);
}

}  // namespace reprise::couchbase::detail
