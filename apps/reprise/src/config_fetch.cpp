#include "config_fetch.hpp"

#include <utility>

#include <reprise/net/client.hpp>
#include <reprise/net/error_map_fetch.hpp>
#include <reprise/wire/connection_string.hpp>

#include "output/error_report.hpp"
#include "output/output.hpp"

namespace reprise::app {

namespace {

constexpr auto wait_default = std::chrono::seconds{10};

// Lets the client validate the string and the options, so that all commands refuse the same input.
// Nothing runs this client, so it does not connect.
[[nodiscard]] engine::engine_options to_options(const kv_access& access) {
    engine::engine_options options{access.client};
    options.threads = couchbase::thread_mode::caller_drives;
    if (const auto made = couchbase::cluster::connect(access.connection, options); !made) {
        throw usage_error(made.error().message());
    }
    const auto where = wire::parse_connection_string(access.connection);
    if (!where || !engine::apply(*where, options)) {
        throw failure("the client and this command read the connection string differently");
    }
    return options;
}

[[nodiscard]] exit_code exit_code_of_fetch(net::fetch_errc code) noexcept {
    switch (code) {
        case net::fetch_errc::setup:
            return exit_code::wrong_usage;
        case net::fetch_errc::tls:
            return exit_code::no_access;
        case net::fetch_errc::timeout:
            return exit_code::timeout;
        case net::fetch_errc::answer:
            return exit_code::server_error;
        case net::fetch_errc::unreachable:
            break;
    }
    return exit_code::failed;
}

}  // namespace

wire::cluster_configuration_ptr fetch_configuration(const kv_access& access) {
    auto client = net::client::make(to_options(access));
    if (!client) {
        throw failure(client.error().text);
    }
    const auto where = (*client)->keyspace(access.bucket);
    engine::operation_request ping;
    ping.kind = engine::operation_kind::noop;
    ping.timeout = access.timeout.value_or(wait_default);
    const auto answered = (*client)->call(where, std::move(ping));
    if (!answered) {
        throw failure("the client refused to request the configuration");
    }
    if (answered->ec) {
        throw operation_failure(couchbase::error(answered->error));
    }
    wire::cluster_configuration_ptr found;
    const auto refused = (*client)->inspect(
        [&](const engine::client_engine& engine) { found = engine.configuration(access.bucket); });
    if (refused != net::refusal::none || found == nullptr) {
        throw failure("the cluster sent no configuration");
    }
    return found;
}

std::string fetch_error_map(const kv_access& access) {
    auto text = net::fetch_error_map(to_options(access), access.timeout.value_or(wait_default));
    if (!text) {
        throw failure(text.error().text, exit_code_of_fetch(text.error().code));
    }
    return std::move(*text);
}

}  // namespace reprise::app
