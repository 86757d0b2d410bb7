#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <iterator>
#include <optional>
#include <ranges>
#include <string_view>
#include <utility>

#include <reprise/wire/connection_string.hpp>

#include "session.hpp"

// Derives the options of a client from a connection string and cluster_options.

namespace reprise::couchbase::detail {
namespace {

constexpr std::size_t http_connections_max = 1024;  // to one service of one node

error option_error(std::string text) {
    return {client_errc::option_invalid, std::move(text)};
}

error string_error(const std::string& parameter, const std::string& text) {
    return {client_errc::connection_string_invalid, parameter + ": " + text};
}

// Parameters that are valid in connection strings of other SDKs but not implemented here. They are
// refused, because an operator who sets one must not believe that it works.
std::expected<void, error> check_parameters(const wire::connection_string& where) {
    const auto& given = where.parameters;
    const std::pair<bool, const char*> missing[] = {
        {given.config_idle_redial_timeout.has_value(), "config_idle_redial_timeout"}};
    for (const auto& [is_given, name] : missing) {
        if (is_given) {
            return std::unexpected(string_error(name, "not supported by this client"));
        }
    }
    const std::pair<bool, const char*> for_tls[] = {
        {given.tls_verify.has_value(), "tls_verify"},
        {given.trust_certificate.has_value(), "trust_certificate"}};
    for (const auto& [is_given, name] : for_tls) {
        if (is_given && where.security != wire::transport::tls) {
            return std::unexpected(string_error(name, "needs TLS: use couchbases://"));
        }
    }
    // The system counts in whole seconds, and zero would disable keepalives.
    if (given.tcp_keepalive_time && *given.tcp_keepalive_time < std::chrono::seconds{1}) {
        return std::unexpected(string_error(
            "tcp_keepalive_time", "must be at least 1s; enable_tcp_keepalives=false is off"));
    }
    return {};
}

// Whether PLAIN and tokens may be sent: the server is verified, or the user allows it.
bool may_send_secrets(const cluster_options& options, const wire::connection_string& where) {
    const auto& given = where.parameters;
    const bool is_verified = given.tls_verify.value_or(options.tls.is_verified);
    return (where.security == wire::transport::tls && is_verified) ||
           given.allow_plain_without_tls.value_or(options.allow_plain_without_tls);
}

// Otherwise every login would fail before it starts, and calls would only time out.
error bearer_token_error() {
    return option_error("bearer_token needs TLS and a verified certificate: use couchbases://");
}

// Checks the client's identity and its protection.
std::expected<void, error> check_identity(
    const cluster_options& options, const wire::connection_string& where) {
    const bool has_certificate = !options.tls.certificate_file.empty();
    const int identities =
        int{!options.username.empty()} + int{!options.bearer_token.empty()} + int{has_certificate};
    if (identities == 0) {
        return std::unexpected(
            option_error("username, bearer_token or tls.certificate_file must be given"));
    }
    if (identities > 1) {
        return std::unexpected(option_error(
            "only one of username, bearer_token and tls.certificate_file can be used"));
    }
    if (options.username.empty() && !options.password.empty()) {
        return std::unexpected(option_error("password needs a username"));
    }
    if (!options.bearer_token.empty() && !may_send_secrets(options, where)) {
        return std::unexpected(bearer_token_error());
    }
    // A user who sets options for TLS must not end up without TLS.
    const std::pair<bool, const char*> for_tls[] = {
        {has_certificate, "tls.certificate_file"},
        {!options.tls.key_file.empty(), "tls.key_file"},
        {!options.tls.ca_file.empty(), "tls.ca_file"},
        {!options.tls.ca_pem.empty(), "tls.ca_pem"},
        {!options.tls.is_verified, "tls.is_verified"}};
    for (const auto& [is_given, name] : for_tls) {
        if (is_given && where.security != wire::transport::tls) {
            return std::unexpected(
                option_error(std::string(name) + " needs TLS: use couchbases://"));
        }
    }
    return {};
}

// Checks the options that the engine does not see.
std::expected<void, error> check_driver(const cluster_options& options) {
    if (options.dns_timeout < std::chrono::milliseconds{1} ||
        options.dns_timeout > std::chrono::minutes{1}) {
        return std::unexpected(option_error("dns_timeout must be 1 ms to 60 s"));
    }
    if (options.prepared_statement_count_max == 0 ||
        options.prepared_statement_count_max > 1'000'000) {
        return std::unexpected(option_error("prepared_statement_count_max must be 1 to 1,000,000"));
    }
    if (options.submission_count_max == 0) {
        return std::unexpected(option_error("submission_count_max must be above zero"));
    }
    return {};
}

engine::credentials to_credentials(const cluster_options& options) {
    return {
        options.username, options.password, options.bearer_token,
        !options.tls.certificate_file.empty()};
}

// Each HTTP service has its timeout, with the name that connection strings use.
static_assert(std::ranges::is_permutation(
    service_timeout_fields, wire::service_table | std::views::filter(wire::is_http_service), {},
    &service_timeout_field::name, &wire::service_facts::timeout_name));

wire::service service_of(const service_timeout_field& field) noexcept {
    return std::ranges::find(wire::service_table, field.name, &wire::service_facts::timeout_name)
        ->which;
}

engine::engine_options to_engine(const cluster_options& from) {
    engine::engine_options to;
    to.network = from.network;
    to.kv_timeout = from.kv_timeout;
    to.kv_durable_timeout = from.kv_durable_timeout;
    to.connect_timeout = from.connect_timeout;
    to.config_poll_interval = from.config_poll_interval;
    to.not_my_vbucket_delay = from.not_my_vbucket_delay;
    to.revision_delay_max = from.revision_delay_max;
    to.missing_bucket_patience = from.missing_bucket_patience;
    to.kv_connections_per_node = from.kv_connections_per_node;
    to.connecting_count_max = from.connecting_count_max;
    for (const service_timeout_field& each : service_timeout_fields) {
        to.http.timeouts[static_cast<std::size_t>(service_of(each))] = from.*each.timeout;
    }
    to.http.connections_per_node_max = from.http_connections_per_node_max;
    to.http.idle_timeout = from.idle_http_connection_timeout;
    to.parked_count_max = from.parked_count_max;
    to.strategy = from.strategy;
    to.retry_budget = from.retry_budget;
    to.service_retry_budgets = from.service_retry_budgets;
    to.circuit_breaker = from.circuit_breaker;
    to.is_breaker_failure = from.is_breaker_failure;
    to.observer = from.observer;
    std::ranges::copy_if(
        from.operation_observers, std::back_inserter(to.operation_observers),
        [](const auto& each) { return each != nullptr; });
    to.log = from.log;
    to.log_keys = from.log_keys;
    to.log_decisions_per_second_max = from.log_decisions_per_second_max;
    to.hello = from.hello;
    to.allow_plain_without_tls = from.allow_plain_without_tls;
    to.scram_iterations_max = from.scram_iterations_max;
    to.allow_plain_http = from.allow_plain_http;
    to.trust_srv_targets = from.trust_srv_targets;
    to.seed_silence_max = from.seed_silence_max;
    to.enable_compression = from.enable_compression;
    to.enable_mutation_tokens = from.enable_mutation_tokens;
    return to;
}

net::client_options to_client(const cluster_options& from) {
    net::client_options to;
    to.engine = to_engine(from);
    to.identity = to_credentials(from);
    to.tls = {
        from.tls.ca_file, from.tls.ca_pem, from.tls.certificate_file, from.tls.key_file,
        from.tls.is_verified};
    to.dns.servers = from.dns_servers;
    to.dns.timeout = from.dns_timeout;
    to.threads = from.threads == thread_mode::caller_drives ? net::thread_mode::caller_drives
                                                            : net::thread_mode::own_thread;
    to.submission_count_max = from.submission_count_max;
    return to;
}

template <class Target, class Source>
void override_with(Target& target, const std::optional<Source>& given) {
    if (given) {
        target = *given;
    }
}

void apply_hosts(net::client_options& to, const wire::connection_string& where) {
    to.engine.seeds = where.hosts;
    to.engine.transport = where.security;
    if (where.is_dns_srv_eligible()) {
        to.engine.dns_srv_name = where.dns_srv_name();
    }
}

// The connection string overrides the options.
void apply_parameters(net::client_options& to, const wire::connection_parameters& given) {
    override_with(to.engine.connect_timeout, given.kv_connect_timeout);
    override_with(to.engine.kv_timeout, given.kv_timeout);
    override_with(to.engine.kv_durable_timeout, given.kv_durable_timeout);
    for (std::size_t index = 0; index < wire::service_count; ++index) {
        override_with(to.engine.http.timeouts[index], given.service_timeouts[index]);
    }
    override_with(to.engine.http.idle_timeout, given.idle_http_connection_timeout);
    if (given.max_http_connections) {
        to.engine.http.connections_per_node_max =
            *given.max_http_connections == 0 ? http_connections_max : *given.max_http_connections;
    }
    override_with(to.engine.config_poll_interval, given.config_poll_interval);
    override_with(to.engine.config_poll_floor, given.config_poll_floor);
    override_with(to.engine.revision_delay_max, given.revision_delay_max);
    override_with(to.engine.missing_bucket_patience, given.missing_bucket_patience);
    override_with(to.engine.kv_connections_per_node, given.num_kv_connections);
    override_with(to.engine.enable_mutation_tokens, given.enable_mutation_tokens);
    override_with(to.engine.allow_plain_http, given.allow_plain_http);
    override_with(to.engine.trust_srv_targets, given.trust_srv_targets);
    override_with(to.engine.seed_silence_max, given.seed_silence_max);
    override_with(to.engine.network, given.network);
    override_with(to.dns.ipv4_only, given.force_ipv4);
    override_with(to.tls.is_verified, given.tls_verify);
    override_with(to.engine.allow_plain_without_tls, given.allow_plain_without_tls);
    override_with(to.engine.scram_iterations_max, given.scram_iterations_max);
    if (given.hello_after_authentication) {
        to.engine.hello = *given.hello_after_authentication ? hello_order::after_authentication
                                                            : hello_order::first;
    }
    override_with(to.tls.ca_file, given.trust_certificate);
    override_with(to.keepalive_time, given.tcp_keepalive_time);
    if (given.enable_tcp_keepalives == false) {
        to.keepalive_time = duration::zero();
    }
}

// The first field that is out of range, with its name in cluster_options.
std::optional<settings_error> check_all(const engine::engine_options& options) {
    static constexpr std::pair<std::string_view, std::string_view> other_names[] = {
        {"http.idle_timeout", "idle_http_connection_timeout"},
        {"http.connections_per_node_max", "http_connections_per_node_max"}};
    auto refused = engine::check(options);
    if (!refused || !refused->field.starts_with("http.")) {
        return refused;
    }
    const auto other = std::ranges::find_if(
        other_names, [&](const auto& names) { return names.first == refused->field; });
    refused->field =
        other != std::end(other_names) ? std::string(other->second) : refused->field.substr(5);
    return refused;
}

// Maps fields that have another name in a connection string.
std::string parameter_name(const std::string& field) {
    if (field == "connect_timeout") {
        return "kv_connect_timeout";
    }
    if (field == "http_connections_per_node_max") {
        return "max_http_connections";
    }
    return field == "kv_connections_per_node" ? "num_kv_connections" : field;
}

}  // namespace

std::expected<connect_plan, error> plan_connect(
    std::string_view connection_string, const cluster_options& options) {
    auto where = wire::parse_connection_string(connection_string);
    if (!where) {
        return std::unexpected(
            error(client_errc::connection_string_invalid, wire::to_string(where.error())));
    }
    if (auto checked = check_parameters(*where); !checked) {
        return std::unexpected(std::move(checked.error()));
    }
    if (auto checked = check_identity(options, *where); !checked) {
        return std::unexpected(std::move(checked.error()));
    }
    if (auto checked = check_driver(options); !checked) {
        return std::unexpected(std::move(checked.error()));
    }
    connect_plan plan{to_client(options), {}};
    plan.facts.bucket = where->bucket;
    plan.facts.server_group =
        where->parameters.preferred_server_group.value_or(options.preferred_server_group);
    plan.facts.may_send_secrets = may_send_secrets(options, *where);
    plan.facts.has_certificate = plan.options.identity.has_client_certificate;
    apply_hosts(plan.options, *where);
    // Checks the options alone first, then with the connection string, so that the error names the
    // right source.
    if (const auto refused = check_all(plan.options.engine)) {
        return std::unexpected(option_error(refused->field + " " + refused->message));
    }
    apply_parameters(plan.options, where->parameters);
    if (const auto refused = check_all(plan.options.engine)) {
        return std::unexpected(string_error(parameter_name(refused->field), refused->message));
    }
    plan.facts.kv_timeout = plan.options.engine.kv_timeout;
    plan.facts.http = plan.options.engine.http;
    plan.facts.prepared_statement_count_max = options.prepared_statement_count_max;
    plan.facts.enhanced_prepared_statements = options.enhanced_prepared_statements;
    return plan;
}

error to_error(const net::setup_error& failed) {
    switch (failed.code) {
        case net::setup_errc::certificate_unreadable:
            return {client_errc::certificate_unreadable, failed.text};
        case net::setup_errc::no_resources:
            return {client_errc::no_resources, failed.text};
        case net::setup_errc::option_invalid:
        case net::setup_errc::name_service:
            break;
    }
    return {client_errc::option_invalid, failed.text};
}

cluster begin_session(std::unique_ptr<net::client> client, session_facts facts) {
    client->open(facts.bucket);
    return cluster_access::make(std::make_shared<session>(std::move(client), std::move(facts)));
}

std::expected<engine::credentials, error> check_credentials(
    const credentials& identity, const session_facts& facts) {
    if (facts.has_certificate) {
        return std::unexpected(
            option_error("tls.certificate_file is the client's identity and cannot be replaced"));
    }
    if (identity.username.empty() == identity.bearer_token.empty()) {
        return std::unexpected(option_error("one of username and bearer_token must be given"));
    }
    if (identity.username.empty() && !identity.password.empty()) {
        return std::unexpected(option_error("password needs a username"));
    }
    if (!identity.bearer_token.empty() && !facts.may_send_secrets) {
        return std::unexpected(bearer_token_error());
    }
    return engine::credentials{identity.username, identity.password, identity.bearer_token, false};
}

}  // namespace reprise::couchbase::detail
