#include "config_fetch.hpp"

#include <array>
#include <optional>
#include <vector>

#include <fmt/format.h>
#include <boost/asio/buffer.hpp>
#include <boost/asio/connect.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl/context.hpp>
#include <boost/asio/ssl/host_name_verification.hpp>
#include <boost/asio/ssl/stream.hpp>
#include <boost/asio/write.hpp>

#include <reprise/base/byte_writer.hpp>
#include <reprise/net/client.hpp>
#include <reprise/wire/connection_string.hpp>
#include <reprise/wire/frame_reader.hpp>
#include <reprise/wire/session_messages.hpp>
#include <reprise/wire/status.hpp>

#include "output.hpp"

namespace reprise::app {

namespace {

namespace asio = boost::asio;
using tcp = asio::ip::tcp;

constexpr auto wait_default = std::chrono::seconds{10};

[[nodiscard]] wire::connection_string parse_where(const kv_access& access) {
    auto parsed = wire::parse_connection_string(access.connection);
    if (!parsed) {
        throw usage_error("-c: " + wire::to_string(parsed.error()));
    }
    return std::move(*parsed);
}

[[nodiscard]] net::client_options to_options(const kv_access& access) {
    const auto where = parse_where(access);
    net::client_options options;
    options.engine.seeds = where.hosts;
    options.engine.transport = where.security;
    if (where.is_dns_srv_eligible()) {
        options.engine.dns_srv_name = where.dns_srv_name();
    }
    options.engine.network = where.parameters.network.value_or("auto");
    options.identity.username = access.client.username;
    options.identity.password = access.client.password;
    options.tls.ca_file = where.parameters.trust_certificate.value_or(access.client.tls.ca_file);
    options.tls.is_verified = where.parameters.tls_verify.value_or(true);
    options.threads = net::thread_mode::caller_drives;
    return options;
}

[[nodiscard]] std::vector<std::byte> make_questions() {
    std::vector<std::byte> bytes;
    base::byte_writer out(bytes);
    wire::hello_request hello;
    hello.agent = "reprise error-map";
    hello.features.insert(wire::hello_feature::xerror);
    wire::request_header header;
    header.opaque = 1;
    if (!hello.encode(out, header)) {
        throw failure("HELLO cannot be encoded");
    }
    header.opaque = 2;
    if (!wire::get_error_map_request{}.encode(out, header)) {
        throw failure("the question cannot be encoded");
    }
    return bytes;
}

// Reads answers until the one to the error map's question.
template <class Stream>
[[nodiscard]] std::string converse(Stream& stream) {
    asio::write(stream, asio::buffer(make_questions()));
    wire::frame_reader reader{wire::frame_limits{}};
    std::array<std::byte, 4096> chunk{};
    for (;;) {
        const std::size_t size = stream.read_some(asio::buffer(chunk));
        reader.feed({chunk.data(), size});
        for (;;) {
            const auto next = reader.next();
            if (!next) {
                throw failure(fmt::format("malformed answer: {}", wire::to_string(next.error())));
            }
            if (!*next) {
                break;
            }
            const wire::frame_view& frame = **next;
            if (frame.header().opaque != 2) {
                continue;
            }
            if (frame.status() != wire::status::success) {
                throw failure(fmt::format(
                    "the server has no error map: {}", wire::to_string(frame.status())));
            }
            return std::string(base::as_text(frame.value()));
        }
    }
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
    if (!answered || answered->ec) {
        throw failure(
            answered ? couchbase::error(answered->error).message() : "the client refused");
    }
    wire::cluster_configuration_ptr found;
    const auto refused = (*client)->inspect(
        [&](const engine::client_engine& engine) { found = engine.configuration(access.bucket); });
    if (refused != net::refusal::none || found == nullptr) {
        throw failure("the cluster gave no configuration");
    }
    return found;
}

std::string fetch_error_map(const kv_access& access) {
    const auto where = parse_where(access);
    const auto& seed = where.hosts.front();
    const auto port = std::to_string(seed.port.value_or(where.default_port()));
    try {
        asio::io_context context;
        if (where.security == wire::transport::plain) {
            tcp::socket socket(context);
            asio::connect(socket, tcp::resolver(context).resolve(seed.host, port));
            return converse(socket);
        }
        asio::ssl::context tls(asio::ssl::context::tls_client);
        if (where.parameters.tls_verify.value_or(true)) {
            tls.set_verify_mode(asio::ssl::verify_peer);
            access.client.tls.ca_file.empty() ? tls.set_default_verify_paths()
                                              : tls.load_verify_file(access.client.tls.ca_file);
        }
        asio::ssl::stream<tcp::socket> stream(context, tls);
        if (where.parameters.tls_verify.value_or(true)) {
            stream.set_verify_callback(asio::ssl::host_name_verification(seed.host));
        }
        asio::connect(stream.next_layer(), tcp::resolver(context).resolve(seed.host, port));
        stream.handshake(asio::ssl::stream_base::client);
        return converse(stream);
    } catch (const boost::system::system_error& error) {
        throw failure(fmt::format("{}:{}: {}", seed.host, port, error.what()));
    }
}

}  // namespace reprise::app
