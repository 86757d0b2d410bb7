#include <reprise/net/error_map_fetch.hpp>

#include <array>
#include <cstddef>
#include <exception>
#include <memory>
#include <optional>
#include <stdexcept>
#include <utility>
#include <vector>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/buffer.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/connect.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/ssl/stream.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>
#include <boost/system/system_error.hpp>

#include <reprise/base/byte_writer.hpp>
#include <reprise/wire/connection_string.hpp>
#include <reprise/wire/frame_reader.hpp>
#include <reprise/wire/session_messages.hpp>
#include <reprise/wire/status.hpp>

#include "tls_context.hpp"

namespace reprise::net {

namespace {

namespace asio = boost::asio;
using tcp = asio::ip::tcp;

constexpr std::uint32_t hello_opaque = 1;
constexpr std::uint32_t map_opaque = 2;

// Ends the exchange. The caller puts the address in front of the text.
class fetch_stop : public std::runtime_error {
public:
    fetch_stop(fetch_errc code, const std::string& text) : std::runtime_error(text), code_(code) {}
    [[nodiscard]] fetch_errc code() const noexcept { return code_; }

private:
    fetch_errc code_;
};

std::vector<std::byte> make_questions() {
    std::vector<std::byte> bytes;
    base::byte_writer out(bytes);
    wire::hello_request hello;
    hello.agent = "reprise error-map";
    hello.features.insert(wire::hello_feature::xerror);
    wire::request_header header;
    header.opaque = hello_opaque;
    const bool has_hello = hello.encode(out, header).has_value();
    header.opaque = map_opaque;
    if (!has_hello || !wire::get_error_map_request{}.encode(out, header)) {
        throw fetch_stop(fetch_errc::setup, "the request cannot be encoded");
    }
    return bytes;
}

// Returns the text of the error map once the answer is complete.
std::optional<std::string> find_answer(wire::frame_reader& reader) {
    for (;;) {
        const auto next = reader.next();
        if (!next) {
            throw fetch_stop(
                fetch_errc::answer,
                "malformed answer: " + std::string(wire::to_string(next.error())));
        }
        if (!*next) {
            return std::nullopt;
        }
        const wire::frame_view& frame = **next;
        if (frame.header().opaque != map_opaque) {
            continue;
        }
        if (frame.status() != wire::status::success) {
            throw fetch_stop(
                fetch_errc::answer,
                "the server has no error map: " + std::string(wire::to_string(frame.status())));
        }
        return std::string(base::as_text(frame.value()));
    }
}

template <class Stream>
asio::awaitable<std::string> converse(Stream& stream) {
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

// The node to ask. The exchange owns it.
struct map_source {
    std::string host;
    std::string port;
    wire::transport security = wire::transport::plain;
    couchbase::tls_options tls;
};

asio::awaitable<std::string> converse_over_tls(tcp::socket socket, const map_source& from) {
    auto context = make_tls_context(from.tls);
    if (!context) {
        throw fetch_stop(fetch_errc::setup, context.error().text);
    }
    asio::ssl::stream<tcp::socket> stream(std::move(socket), *context);
    if (!set_server_name(stream.native_handle(), from.host, from.tls.is_verified)) {
        throw fetch_stop(fetch_errc::tls, "the server's name cannot be verified");
    }
    boost::system::error_code ec;
    co_await stream.async_handshake(
        asio::ssl::stream_base::client, asio::redirect_error(asio::use_awaitable, ec));
    if (ec) {
        const auto failed = classify_handshake(stream.native_handle(), ec);
        throw fetch_stop(
            engine::is_tls_failure(failed.failure) ? fetch_errc::tls : fetch_errc::unreachable,
            failed.text);
    }
    co_return co_await converse(stream);
}

asio::awaitable<std::string> ask_for_map(asio::io_context& context, map_source from) {
    tcp::resolver resolver(context);
    const auto found = co_await resolver.async_resolve(from.host, from.port, asio::use_awaitable);
    tcp::socket socket(context);
    co_await asio::async_connect(socket, found, asio::use_awaitable);
    if (from.security == wire::transport::tls) {
        co_return co_await converse_over_tls(std::move(socket), from);
    }
    co_return co_await converse(socket);
}

fetch_failure describe(const std::exception_ptr& trouble, const std::string& where) {
    try {
        std::rethrow_exception(trouble);
    } catch (const fetch_stop& stop) {
        return {stop.code(), where + stop.what()};
    } catch (const boost::system::system_error& error) {
        return {fetch_errc::unreachable, where + error.code().message()};
    } catch (const std::exception& error) {
        return {fetch_errc::unreachable, where + error.what()};
    }
}

}  // namespace

std::expected<std::string, fetch_failure> fetch_error_map(
    const engine::engine_options& options, duration timeout) {
    if (options.seeds.empty()) {
        return std::unexpected(fetch_failure{fetch_errc::setup, "there is no host to connect to"});
    }
    const auto& seed = options.seeds.front();
    wire::connection_string usual;
    usual.security = options.transport;
    const auto port = seed.port.value_or(usual.default_port());
    const map_source from{seed.host, std::to_string(port), usual.security, options.tls};
    const std::string where = wire::to_host_port(seed.host, port) + ": ";

    auto context = std::make_unique<asio::io_context>(1);
    std::exception_ptr trouble;
    std::optional<std::string> text;
    asio::co_spawn(
        *context, ask_for_map(*context, from), [&](std::exception_ptr thrown, std::string found) {
            trouble = std::move(thrown);
            text = std::move(found);
        });
    context->run_for(timeout);
    if (!text) {
        // A name lookup cannot be stopped, and destroying the context would wait for it. The
        // pointer is volatile so that leak checkers still find the context.
        [[maybe_unused]] static asio::io_context* volatile left_behind = nullptr;
        left_behind = context.release();
        const auto waited = std::chrono::duration_cast<std::chrono::milliseconds>(timeout).count();
        return std::unexpected(fetch_failure{
            fetch_errc::timeout,
            where + "timeout: no error map within " + std::to_string(waited) + " ms"});
    }
    if (trouble) {
        return std::unexpected(describe(trouble, where));
    }
    return std::move(*text);
}

}  // namespace reprise::net
