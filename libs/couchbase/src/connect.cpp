#include <chrono>
#include <cstddef>
#include <utility>

#include <reprise/wire/connection_string.hpp>

#include "session.hpp"

// From a connection string and options to a client's options.

namespace reprise::couchbase::detail {
namespace {

error option_error(std::string text) {
    return {client_errc::option_invalid, std::move(text)};
}

std::expected<void, error> check_options(
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
    if (has_certificate && where.security != wire::transport::tls) {
        return std::unexpected(option_error("tls.certificate_file needs TLS: use couchbases://"));
    }
    if (options.kv_connections_per_node < 1 || options.kv_connections_per_node > 64) {
        return std::unexpected(option_error("kv_connections_per_node must be 1 to 64"));
    }
    const std::pair<duration, const char*> times[] = {
        {options.kv_timeout, "kv_timeout"},
        {options.kv_durable_timeout, "kv_durable_timeout"},
        {options.connect_timeout, "connect_timeout"},
        {options.config_poll_interval, "config_poll_interval"},
        {options.dns_timeout, "dns_timeout"}};
    for (const auto& [value, name] : times) {
        if (value <= duration::zero()) {
            return std::unexpected(option_error(std::string(name) + " must be above zero"));
        }
    }
    if (options.parked_count_max == 0 || options.submission_count_max == 0) {
        return std::unexpected(
            option_error("parked_count_max and submission_count_max must be above zero"));
    }
    return {};
}

engine::credentials to_credentials(const cluster_options& options) {
    return {
        options.username, options.password, options.bearer_token,
        !options.tls.certificate_file.empty()};
}

engine::engine_options to_engine(const cluster_options& from) {
    engine::engine_options to;
    to.network = from.network;
    to.kv_timeout = from.kv_timeout;
    to.kv_durable_timeout = from.kv_durable_timeout;
    to.connect_timeout = from.connect_timeout;
    to.config_poll_interval = from.config_poll_interval;
    to.not_my_vbucket_delay = from.not_my_vbucket_delay;
    to.kv_connections_per_node = from.kv_connections_per_node;
    to.parked_count_max = from.parked_count_max;
    to.strategy = from.strategy;
    to.retry_budget = from.retry_budget;
    to.log = from.log;
    to.log_keys = from.log_keys;
    to.allow_plain_without_tls = from.allow_plain_without_tls;
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

// What the string says wins. Parameters of services that are not there yet are legal and wait.
void apply_string(net::client_options& to, const wire::connection_string& where) {
    to.engine.seeds = where.hosts;
    to.engine.transport = where.security;
    if (where.is_dns_srv_eligible()) {
        to.engine.dns_srv_name = where.dns_srv_name();
    }
    const auto& given = where.parameters;
    override_with(to.engine.connect_timeout, given.kv_connect_timeout);
    override_with(to.engine.kv_timeout, given.kv_timeout);
    override_with(to.engine.kv_durable_timeout, given.kv_durable_timeout);
    override_with(to.engine.config_poll_interval, given.config_poll_interval);
    override_with(to.engine.config_poll_floor, given.config_poll_floor);
    override_with(to.engine.kv_connections_per_node, given.num_kv_connections);
    override_with(to.engine.enable_mutation_tokens, given.enable_mutation_tokens);
    override_with(to.engine.network, given.network);
    override_with(to.dns.ipv4_only, given.force_ipv4);
    override_with(to.tls.is_verified, given.tls_verify);
    override_with(to.tls.ca_file, given.trust_certificate);
    override_with(to.keepalive_time, given.tcp_keepalive_time);
    if (given.enable_tcp_keepalives == false) {
        to.keepalive_time = duration::zero();
    }
}

}  // namespace

std::expected<connect_plan, error> plan_connect(
    std::string_view connection_string, const cluster_options& options) {
    auto where = wire::parse_connection_string(connection_string);
    if (!where) {
        return std::unexpected(
            error(client_errc::connection_string_invalid, wire::to_string(where.error())));
    }
    if (auto checked = check_options(options, *where); !checked) {
        return std::unexpected(std::move(checked.error()));
    }
    connect_plan plan{to_client(options), where->bucket};
    apply_string(plan.options, *where);
    return plan;
}

error to_error(const net::setup_error& failed) {
    const auto code = failed.code == net::setup_errc::certificate_unreadable
                          ? client_errc::certificate_unreadable
                          : client_errc::option_invalid;
    return {code, failed.text};
}

cluster begin_session(std::unique_ptr<net::client> client, std::string bucket) {
    client->open(bucket);
    return cluster_access::make(std::make_shared<session>(std::move(client), std::move(bucket)));
}

}  // namespace reprise::couchbase::detail
