#include "config_fetch.hpp"

#include <array>
#include <exception>
#include <memory>
#include <optional>
#include <vector>

#include <fmt/format.h>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/buffer.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/connect.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl/context.hpp>
#include <boost/asio/ssl/host_name_verification.hpp>
#include <boost/asio/ssl/stream.hpp>
#include <boost/asio/use_awaitable.hpp>
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

// The client judges the string and the options, so that all commands refuse the same. Nobody drives
// this one, so nothing moves.
[[nodiscard]] wire::connection_string parse_where(const kv_access& access) {
    couchbase::cluster_options options = access.client;
    options.threads = couchbase::thread_mode::caller_drives;
    if (const auto made = couchbase::cluster::connect(access.connection, options); !made) {
        throw usage_error(made.error().message());
    }
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
    options.engine.connect_timeout = where.parameters.kv_connect_timeout.value_or(
        std::chrono::duration_cast<std::chrono::milliseconds>(access.client.connect_timeout));
    options.dns.ipv4_only = where.parameters.force_ipv4.value_or(false);
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

// The error map's text once its answer is whole.
[[nodiscard]] std::optional<std::string> find_answer(wire::frame_reader& reader) {
    for (;;) {
        const auto next = reader.next();
        if (!next) {
            throw failure(fmt::format("malformed answer: {}", wire::to_string(next.error())));
        }
        if (!*next) {
            return std::nullopt;
        }
        const wire::frame_view& frame = **next;
        if (frame.header().opaque != 2) {
            continue;
        }
        if (frame.status() != wire::status::success) {
            throw failure(
                fmt::format("the server has no error map: {}", wire::to_string(frame.status())));
        }
        return std::string(base::as_text(frame.value()));
    }
}

template <class Stream>
[[nodiscard]] asio::awaitable<std::string> converse(Stream& stream) {
    const std::vector<std::byte> questions = make_questions();
    co_await asio::async_write(stream, asio::buffer(questions), asio::use_awaitable);
    wire::frame_reader reader{wire::frame_limits{}};
    std::array<std::byte, 4096> chunk{};
    for (;;) {
        const std::size_t size =
            co_await stream.async_read_some(asio::buffer(chunk), asio::use_awaitable);
        reader.feed({chunk.data(), size});
        if (auto text = find_answer(reader)) {
            co_return std::move(*text);
        }
    }
}

// Where to ask; owned by the conversation.
struct map_source {
    std::string host;
    std::string port;
    bool is_tls = false;
    bool is_verified = true;
    std::string ca_file;
};

[[nodiscard]] map_source find_source(const kv_access& access) {
    const auto where = parse_where(access);
    const auto& seed = where.hosts.front();
    return {
        seed.host, std::to_string(seed.port.value_or(where.default_port())),
        where.security == wire::transport::tls, where.parameters.tls_verify.value_or(true),
        where.parameters.trust_certificate.value_or(access.client.tls.ca_file)};
}

// Connects, asks and answers with the text.
[[nodiscard]] asio::awaitable<std::string> ask_for_map(asio::io_context& context, map_source from) {
    tcp::resolver resolver(context);
    const auto found = co_await resolver.async_resolve(from.host, from.port, asio::use_awaitable);
    if (!from.is_tls) {
        tcp::socket socket(context);
        co_await asio::async_connect(socket, found, asio::use_awaitable);
        co_return co_await converse(socket);
    }
    asio::ssl::context tls(asio::ssl::context::tls_client);
    asio::ssl::stream<tcp::socket> stream(context, tls);
    if (from.is_verified) {
        from.ca_file.empty() ? tls.set_default_verify_paths() : tls.load_verify_file(from.ca_file);
        stream.set_verify_mode(asio::ssl::verify_peer);
        stream.set_verify_callback(asio::ssl::host_name_verification(from.host));
    }
    co_await asio::async_connect(stream.next_layer(), found, asio::use_awaitable);
    co_await stream.async_handshake(asio::ssl::stream_base::client, asio::use_awaitable);
    co_return co_await converse(stream);
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
    const map_source from = find_source(access);
    const duration patience = access.timeout.value_or(wait_default);
    auto context = std::make_unique<asio::io_context>(1);
    std::exception_ptr trouble;
    std::optional<std::string> text;
    asio::co_spawn(
        *context, ask_for_map(*context, from), [&](std::exception_ptr thrown, std::string found) {
            trouble = std::move(thrown);
            text = std::move(found);
        });
    context->run_for(patience);
    if (!text) {
        // A look-up of a name cannot be stopped, and the context's end would wait for it. The
        // program is about to end: what is under way is left to that. Volatile: kept in sight of
        // leak checkers.
        [[maybe_unused]] static asio::io_context* volatile left_behind = nullptr;
        left_behind = context.release();
        throw failure(fmt::format(
            "{}:{}: timeout: no error map within {} ms", from.host, from.port,
            std::chrono::duration_cast<std::chrono::milliseconds>(patience).count()));
    }
    try {
        if (trouble) {
            std::rethrow_exception(trouble);
        }
    } catch (const boost::system::system_error& error) {
        throw failure(fmt::format("{}:{}: {}", from.host, from.port, error.what()));
    }
    return std::move(*text);
}

}  // namespace reprise::app
