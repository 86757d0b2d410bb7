#include "lab/local_server.hpp"

#include <chrono>
#include <random>
#include <utility>

#include <fmt/format.h>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>

#include "output/output.hpp"

namespace reprise::app {

namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace beast_http = beast::http;
using asio::ip::tcp;
using namespace std::chrono_literals;

constexpr std::size_t body_size_max_bytes = 1'000'000;
constexpr std::uint32_t header_size_max_bytes = 16 * 1024;

using answerer = std::function<local_response(const local_request&)>;

[[nodiscard]] beast_http::response<beast_http::string_body> to_response(
    const local_response& answer, unsigned version, bool keeps_alive) {
    beast_http::response<beast_http::string_body> response{
        static_cast<beast_http::status>(answer.status), version, answer.body};
    response.set(beast_http::field::content_type, answer.type);
    response.set(beast_http::field::cache_control, "no-store");
    response.set("X-Content-Type-Options", "nosniff");
    response.set("X-Frame-Options", "DENY");
    response.set("Referrer-Policy", "no-referrer");
    // Everything is inline; the page may only talk to this server.
    response.set(
        "Content-Security-Policy",
        "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; "
        "connect-src 'self'; img-src data:; base-uri 'none'; form-action 'none'");
    response.keep_alive(keeps_alive);
    response.prepare_payload();
    return response;
}

asio::awaitable<void> serve_connection(tcp::socket socket, const answerer& answer) {
    beast::tcp_stream stream(std::move(socket));
    beast::flat_buffer buffer;
    beast::error_code ec;
    for (bool keeps_alive = true; keeps_alive;) {
        beast_http::request_parser<beast_http::string_body> parser;
        parser.body_limit(body_size_max_bytes);
        parser.header_limit(header_size_max_bytes);
        stream.expires_after(10s);
        co_await beast_http::async_read(
            stream, buffer, parser, asio::redirect_error(asio::use_awaitable, ec));
        if (ec) {
            co_return;
        }
        const auto& request = parser.get();
        const auto field = [&](auto name) { return std::string(request[name]); };
        const local_request asked{std::string(request.method_string()),
                                  std::string(request.target()),
                                  field(beast_http::field::host),
                                  field(beast_http::field::origin),
                                  field("X-Reprise-Token"),
                                  request.body()};
        keeps_alive = request.keep_alive();
        const auto response = to_response(answer(asked), request.version(), keeps_alive);
        stream.expires_after(10s);
        co_await beast_http::async_write(
            stream, response, asio::redirect_error(asio::use_awaitable, ec));
        if (ec) {
            co_return;
        }
    }
    static_cast<void>(stream.socket().shutdown(tcp::socket::shutdown_send, ec));
}

asio::awaitable<void> accept_connections(tcp::acceptor& acceptor, const answerer& answer) {
    for (;;) {
        beast::error_code ec;
        tcp::socket socket =
            co_await acceptor.async_accept(asio::redirect_error(asio::use_awaitable, ec));
        if (ec) {
            co_return;
        }
        asio::co_spawn(
            acceptor.get_executor(), serve_connection(std::move(socket), answer), asio::detached);
    }
}

asio::awaitable<void> wait_for_signal(asio::io_context& context, const interrupt_watch& watch) {
    asio::steady_timer timer(context);
    while (!watch.has_come()) {
        timer.expires_after(50ms);
        co_await timer.async_wait(asio::use_awaitable);
    }
    context.stop();
}

/// Takes the same time wherever the texts differ.
[[nodiscard]] bool is_equal(std::string_view a, std::string_view b) {
    unsigned difference = a.size() == b.size() ? 0U : 1U;
    for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i) {
        difference |= static_cast<unsigned>(static_cast<unsigned char>(a[i])) ^
                      static_cast<unsigned>(static_cast<unsigned char>(b[i]));
    }
    return difference == 0;
}

}  // namespace

access_check::access_check(std::string token, std::uint16_t port)
    : token_(std::move(token)), port_(port) {}

local_response access_check::check(const local_request& request) const {
    const std::string by_address = fmt::format("127.0.0.1:{}", port_);
    const std::string by_name = fmt::format("localhost:{}", port_);
    const auto refuse = [](const char* why) {
        return local_response{403, "text/plain; charset=utf-8", why};
    };
    if (request.host != by_address && request.host != by_name) {
        return refuse("Wrong host. Open the link that reprise printed.\n");
    }
    if (!request.origin.empty() && request.origin != "http://" + request.host) {
        return refuse("Requests of other sites are refused.\n");
    }
    const std::string_view prefix = "/?token=";
    const bool is_page = request.target.starts_with(prefix);
    const std::string_view token = is_page ? std::string_view(request.target).substr(prefix.size())
                                           : std::string_view(request.token);
    if (!is_equal(token, token_)) {
        return refuse("The token is missing or wrong. Open the link that reprise printed.\n");
    }
    return {};
}

std::string access_check::link() const {
    return fmt::format("http://127.0.0.1:{}/?token={}", port_, token_);
}

std::string make_token() {
    std::random_device random;
    std::string token;
    for (int i = 0; i < 4; ++i) {
        token += fmt::format("{:08x}", random());
    }
    return token;
}

void serve_locally(
    std::uint16_t port, const interrupt_watch& watch,
    const std::function<void(std::uint16_t)>& on_ready,
    const std::function<local_response(const local_request&)>& answer) {
    asio::io_context context;
    tcp::acceptor acceptor(context);
    beast::error_code ec;
    static_cast<void>(acceptor.open(tcp::v4(), ec));
    static_cast<void>(acceptor.set_option(tcp::acceptor::reuse_address(true), ec));
    static_cast<void>(acceptor.bind({asio::ip::address_v4::loopback(), port}, ec));
    if (!ec) {
        static_cast<void>(acceptor.listen(asio::socket_base::max_listen_connections, ec));
    }
    if (ec) {
        throw failure(fmt::format("cannot listen on 127.0.0.1:{}: {}", port, ec.message()));
    }
    on_ready(acceptor.local_endpoint().port());
    asio::co_spawn(context, accept_connections(acceptor, answer), asio::detached);
    asio::co_spawn(context, wait_for_signal(context, watch), asio::detached);
    context.run();
}

}  // namespace reprise::app
