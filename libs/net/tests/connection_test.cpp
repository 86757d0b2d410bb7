#include "connection.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <boost/asio/completion_condition.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/ssl/stream.hpp>
#include <boost/asio/write.hpp>

#include "certificate.hpp"
#include "connection_recorder.hpp"
#include "fake_name_server.hpp"
#include "loop.hpp"
#include "tls_context.hpp"
#include "unresponsive_listener.hpp"

// Goal: test one socket from name lookup to close and make it fail at each step. Method: use a real
// loopback socket with the peer in the same loop, and a recorder in place of the driver.

namespace reprise::net::connection_test {

namespace asio = boost::asio;
namespace ssl = boost::asio::ssl;
using tcp = asio::ip::tcp;
using boost::system::error_code;
using engine::close_reason;
using engine::connect_failure;
using namespace std::chrono_literals;
using namespace testing;

// The peer. It accepts one connection and collects what it receives.
class peer {
public:
    explicit peer(asio::io_context& loop) : acceptor_(loop, any_loopback_port()), socket_(loop) {
        acceptor_.async_accept(socket_, [this](const error_code& ec) { is_accepted_ = !ec; });
    }
    std::uint16_t port() const { return acceptor_.local_endpoint().port(); }
    bool is_accepted() const noexcept { return is_accepted_; }
    tcp::socket& socket() noexcept { return socket_; }
    const std::string& received() const noexcept { return received_; }

    void send(std::string_view text) { asio::write(socket_, asio::buffer(text)); }
    void reset() {
        socket_.set_option(asio::socket_base::linger(true, 0));
        socket_.close();
    }
    void read_on() {
        socket_.async_read_some(asio::buffer(buffer_), [this](const error_code& ec, std::size_t n) {
            received_.append(buffer_.data(), n);
            if (!ec) {
                read_on();
            }
        });
    }

private:
    tcp::acceptor acceptor_;
    tcp::socket socket_;
    bool is_accepted_ = false;
    std::array<char, 65536> buffer_{};
    std::string received_;
};

std::string numbered_text(std::size_t size) {
    std::string made(size, ' ');
    std::ranges::generate(made, [n = 0U]() mutable { return static_cast<char>(n++ % 251); });
    return made;
}

class connection_flow : public ::testing::Test {
protected:
    using setup = connection_recorder::setup;

    std::shared_ptr<connection_recorder> opened(setup with) {
        auto made = connection_recorder::make(loop, std::move(with));
        made->open();
        return made;
    }
    // Returns an open connection to `other`.
    std::shared_ptr<connection_recorder> connected_to(peer& other) {
        auto made = opened({.port = other.port()});
        EXPECT_TRUE(run_until(loop, [&] { return made->is_open() && other.is_accepted(); }));
        return made;
    }
    bool run_to_end(const connection_recorder& of) {
        return run_until(loop, [&] { return of.is_ended(); });
    }
    // Runs what is ready, to check that no further event arrives.
    void run_out() {
        loop.restart();
        loop.poll();
    }

    asio::io_context loop;
};

TEST_F(connection_flow, connects_reads_and_writes) {
    peer other(loop);
    const auto at = connected_to(other);
    other.send("from the server");
    other.read_on();
    at->write("from the client");
    ASSERT_TRUE(run_until(loop, [&] {
        return at->received == "from the server" && other.received() == "from the client" &&
               at->written_size == other.received().size();
    }));
    EXPECT_EQ(at->socket_count, 1);
    EXPECT_EQ(at->at().peer_address(), "127.0.0.1");
    EXPECT_EQ(
        at->at().local_address(),
        "127.0.0.1:" + std::to_string(other.socket().remote_endpoint().port()));
    at->close();
    ASSERT_TRUE(run_to_end(*at));
    EXPECT_EQ(at->closed, close_reason::requested);
    EXPECT_EQ(at->unwritten_size, 0U);
    EXPECT_EQ(at->at().local_address(), "");
}

// --- the connection cannot be opened ---

TEST_F(connection_flow, a_port_without_a_listener_is_refused) {
    const auto at = opened({.port = unused_port()});
    ASSERT_TRUE(run_to_end(*at));
    EXPECT_EQ(at->failure, connect_failure::refused);
    EXPECT_EQ(at->failure_text, "") << "the address is the one requested";
    run_out();
}

TEST_F(connection_flow, an_unknown_name_is_reported_as_such) {
    fake_name_server names;
    names.begin();
    const auto at = opened({.host = "unknown.reprise.test", .name_servers = names.address()});
    ASSERT_TRUE(run_to_end(*at));
    EXPECT_EQ(at->failure, connect_failure::name_not_found);
    EXPECT_NE(at->failure_text, "");
}

TEST_F(connection_flow, the_next_address_of_a_name_is_tried_after_one_that_refuses) {
    peer other(loop);
    fake_name_server names;
    for (const int last : {2, 1, 3}) {  // only 127.0.0.1 has a listener
        names.add_address("three.reprise.test", {127, 0, 0, static_cast<std::uint8_t>(last)});
    }
    names.begin();
    const auto at = opened(
        {.host = "three.reprise.test", .port = other.port(), .name_servers = names.address()});
    ASSERT_TRUE(run_until(loop, [&] { return at->is_open() || at->is_ended(); }));
    EXPECT_TRUE(at->is_open()) << at->failure_text;
}

TEST_F(connection_flow, a_name_whose_addresses_all_refuse_reports_the_last_address) {
    fake_name_server names;
    names.add_address("one.reprise.test", {127, 0, 0, 2});
    names.begin();
    const auto at = opened(
        {.host = "one.reprise.test", .port = unused_port(), .name_servers = names.address()});
    ASSERT_TRUE(run_to_end(*at));
    EXPECT_EQ(at->failure, connect_failure::refused);
    EXPECT_EQ(at->failure_text, "127.0.0.2");
}

TEST_F(connection_flow, an_address_that_does_not_answer_times_out) {
    const unresponsive_listener nobody(loop);
    const auto at = opened({.port = nobody.port(), .connect_timeout = 20ms});
    ASSERT_TRUE(run_to_end(*at));
    EXPECT_EQ(at->failure, connect_failure::timed_out);
}

// --- closed by the owner, at each step ---

TEST_F(connection_flow, closing_while_resolving_cancels) {
    fake_name_server names;
    names.be_silent();
    names.begin();
    const auto at = opened({.host = "silent.reprise.test", .name_servers = names.address()});
    at->close();
    ASSERT_TRUE(run_to_end(*at));
    EXPECT_EQ(at->failure, connect_failure::canceled);
    at->resolver().stop();  // the late answer has no effect
    run_out();
}

TEST_F(connection_flow, closing_while_connecting_cancels) {
    const unresponsive_listener nobody(loop);
    const auto at = opened({.port = nobody.port()});
    run_out();  // the address is resolved and the connect is running
    ASSERT_FALSE(at->is_ended());
    at->close();
    at->close();
    ASSERT_TRUE(run_to_end(*at));
    EXPECT_EQ(at->failure, connect_failure::canceled);
    run_out();
}

TEST_F(connection_flow, closing_twice_ends_once) {
    peer other(loop);
    const auto at = connected_to(other);
    at->close();
    at->close();
    ASSERT_TRUE(run_to_end(*at));
    EXPECT_EQ(at->closed, close_reason::requested);
    at->close();
    at->write("this is never read");
    run_out();
    EXPECT_EQ(at->written_size, 0U);
}

TEST_F(connection_flow, closing_while_handling_bytes_ends_once) {
    peer other(loop);
    const auto at = connected_to(other);
    at->closes_at_bytes = true;
    other.send("the last bytes");
    ASSERT_TRUE(run_to_end(*at));
    EXPECT_EQ(at->closed, close_reason::requested);
    EXPECT_EQ(at->received, "the last bytes");
    run_out();
}

TEST_F(connection_flow, bytes_that_the_system_did_not_take_are_reported_as_unwritten) {
    peer other(loop);
    const auto at = connected_to(other);
    constexpr std::size_t size = std::size_t{64} << 20U;  // more than any buffer on the way
    at->write(std::string(size, 'x'));
    run_out();
    ASSERT_GT(at->written_size, 0U);
    ASSERT_LT(at->written_size, size);
    at->close();
    ASSERT_TRUE(run_to_end(*at));
    EXPECT_EQ(at->written_size + at->unwritten_size, size);
}

TEST_F(connection_flow, a_write_in_many_parts_arrives_in_order) {
    peer other(loop);
    const auto at = connected_to(other);
    at->part_size = 99'991;
    const std::string sent = numbered_text(std::size_t{16} << 20U);
    at->write(sent);
    ASSERT_LT(at->written_size, sent.size()) << "some of it must wait";
    other.read_on();
    ASSERT_TRUE(run_until(loop, [&] { return other.received().size() == sent.size(); }));
    EXPECT_TRUE(other.received() == sent);
}

TEST_F(connection_flow, a_second_flush_does_not_write_twice) {
    peer other(loop);
    const auto at = connected_to(other);
    at->write("once");
    at->flush();
    other.read_on();
    ASSERT_TRUE(run_until(loop, [&] { return at->outgoing.empty(); }));
    at->write(", then the rest");
    ASSERT_TRUE(run_until(loop, [&] { return other.received().ends_with("rest"); }));
    EXPECT_EQ(other.received(), "once, then the rest");
}

// --- ended by the peer ---

TEST_F(connection_flow, the_read_after_a_large_one_uses_the_place_of_the_owner) {
    peer other(loop);
    const auto at = connected_to(other);
    at->place = base::block_ref::make(5'000);
    const std::string text = numbered_text(30'000);
    other.send(std::string_view(text).substr(0, 100));
    ASSERT_TRUE(run_until(loop, [&] { return at->received.size() == 100; }));
    EXPECT_EQ(at->placed_size, 0U) << "a small read asks for no place";
    other.send(std::string_view(text).substr(100));
    ASSERT_TRUE(run_until(loop, [&] { return at->received.size() == text.size(); }));
    other.send(text);
    ASSERT_TRUE(run_until(loop, [&] { return at->received.size() == 2 * text.size(); }));
    EXPECT_EQ(at->received, text + text);
    EXPECT_EQ(at->placed_size, 5'000U);
}

TEST_F(connection_flow, a_place_outlives_its_owners_reference_while_it_is_read_into) {
    peer other(loop);
    const auto at = connected_to(other);
    at->place = base::block_ref::make(100'000);
    other.send(numbered_text(30'000));
    ASSERT_TRUE(run_until(loop, [&] { return at->received.size() == 30'000; }));
    EXPECT_FALSE(at->place.is_unique()) << "the pending read keeps it";
    at->place.reset();
    at->close();
    ASSERT_TRUE(run_to_end(*at));
    EXPECT_EQ(at->closed, close_reason::requested);
}

TEST_F(connection_flow, a_closing_peer_causes_an_end_of_stream_after_its_last_bytes) {
    peer other(loop);
    const auto at = connected_to(other);
    other.send("good bye");
    other.socket().close();
    ASSERT_TRUE(run_to_end(*at));
    EXPECT_EQ(at->received, "good bye");
    EXPECT_EQ(at->closed, close_reason::end_of_stream);
}

TEST_F(connection_flow, a_peer_that_closes_one_direction_causes_an_end_of_stream) {
    peer other(loop);
    const auto at = connected_to(other);
    other.read_on();
    other.socket().shutdown(tcp::socket::shutdown_send);
    ASSERT_TRUE(run_to_end(*at));
    EXPECT_EQ(at->closed, close_reason::end_of_stream);
}

TEST_F(connection_flow, a_peer_that_resets_is_reported_as_reset) {
    peer other(loop);
    const auto at = connected_to(other);
    other.reset();
    ASSERT_TRUE(run_to_end(*at));
    EXPECT_EQ(at->closed, close_reason::reset);
}

TEST_F(connection_flow, a_reset_during_a_write_ends_once_and_counts_the_unwritten_bytes) {
    peer other(loop);
    const auto at = connected_to(other);
    constexpr std::size_t size = std::size_t{64} << 20U;
    at->write(std::string(size, 'x'));
    run_out();
    other.reset();
    ASSERT_TRUE(run_to_end(*at));
    EXPECT_NE(at->closed, close_reason::requested);
    EXPECT_EQ(at->written_size + at->unwritten_size, size);
    run_out();
}

// --- paused reading ---

TEST_F(connection_flow, bytes_wait_while_reading_is_off) {
    peer other(loop);
    const auto at = connected_to(other);
    at->at().set_reading(false, engine::read_size_default);
    other.send("first");  // a read was outstanding, so these still arrive
    ASSERT_TRUE(run_until(loop, [&] { return at->received == "first"; }));
    other.send("second");
    run_out();
    EXPECT_EQ(at->received, "first");
    at->at().set_reading(true, engine::read_size_default);
    ASSERT_TRUE(run_until(loop, [&] { return at->received == "firstsecond"; }));
}

TEST_F(connection_flow, RH_47_bytes_that_have_arrived_are_reported_before_a_request_is_written) {
    peer other(loop);
    const auto at = connected_to(other);
    other.send("stray");
    at->write_when_read("request");
    ASSERT_TRUE(run_until(loop, [&] { return at->written_size > 0; }));
    EXPECT_EQ(at->read_at_write, "stray");
}

TEST_F(connection_flow, a_paused_connection_can_be_closed) {
    peer other(loop);
    const auto at = connected_to(other);
    at->at().set_reading(false, engine::read_size_default);
    other.send("first");
    ASSERT_TRUE(run_until(loop, [&] { return at->received == "first"; }));
    at->close();
    ASSERT_TRUE(run_to_end(*at));
    EXPECT_EQ(at->closed, close_reason::requested);
}

// --- lifetime ---

TEST(connection_lifetime, a_context_that_is_destroyed_leaves_nothing_behind) {
    auto loop = std::make_unique<asio::io_context>();
    auto other = std::make_unique<peer>(*loop);
    connection_recorder::setup with;
    with.port = other->port();
    std::weak_ptr<connection_recorder> watched;
    {
        const auto at = connection_recorder::make(*loop, std::move(with));
        watched = at;
        at->open();
        ASSERT_TRUE(run_until(*loop, [&] { return at->is_open(); }));
        at->drop_connection();
    }
    EXPECT_FALSE(watched.expired()) << "the outstanding read owns both";
    other.reset();
    loop.reset();
    EXPECT_TRUE(watched.expired());
}

// --- TLS ---

// A server with a certificate for host.example, and a client that trusts it.
class tls_connection_flow : public connection_flow {
protected:
    tls_connection_flow()
        : key(make_key()),
          certificate(make_certificate(key.get(), "server", "DNS:host.example")),
          server_context(with_certificate(certificate.get(), key.get())),
          other(loop),
          server(other.socket(), server_context) {}

    // A stream copies its context's settings when it is created.
    static ssl::context with_certificate(X509* shown, EVP_PKEY* with) {
        ssl::context made(ssl::context::tls_server);
        SSL_CTX_use_certificate(made.native_handle(), shown);
        SSL_CTX_use_PrivateKey(made.native_handle(), with);
        return made;
    }

    std::shared_ptr<connection_recorder> make_client(const std::string& ca_pem) {
        couchbase::tls_options options;
        options.ca_pem = ca_pem;
        setup with;
        with.port = other.port();
        with.tls.emplace(std::move(make_tls_context(options).value()));
        with.server_name = server_name;
        return connection_recorder::make(loop, std::move(with));
    }
    std::shared_ptr<connection_recorder> make_client() {
        return make_client(to_pem(certificate.get()));
    }
    // Opens the client. The server starts its handshake once it has accepted.
    void shake_hands(connection_recorder& client) {
        client.open();
        ASSERT_TRUE(run_until(loop, [&] { return other.is_accepted(); }));
        other.socket().set_option(tcp::no_delay(true));  // what it writes arrives at once
        server.async_handshake(
            ssl::stream_base::server, [this](const error_code& ec) { handshake = ec; });
        ASSERT_TRUE(run_until(loop, [&] {
            return handshake.has_value() && (client.is_open() || client.is_ended());
        }));
    }

    // A client that has tried the handshake.
    std::shared_ptr<connection_recorder> shaken_client() {
        auto made = make_client();
        shake_hands(*made);
        return made;
    }
    std::shared_ptr<connection_recorder> connected_client() {
        auto made = shaken_client();
        EXPECT_TRUE(made->is_open()) << made->failure_text;
        return made;
    }
    // A client whose handshake has not begun.
    std::shared_ptr<connection_recorder> accepted_client() {
        auto made = make_client();
        made->open();
        EXPECT_TRUE(run_until(loop, [&] { return other.is_accepted(); }));
        return made;
    }

    key_ptr key;
    certificate_ptr certificate;
    std::string server_name = "host.example";
    ssl::context server_context;
    peer other;
    ssl::stream<tcp::socket&> server;
    std::optional<error_code> handshake;  // how the server's handshake ended
};

TEST_F(tls_connection_flow, connects_reads_and_writes) {
    const auto at = connected_client();
    asio::write(server, asio::buffer(std::string_view("from the server")));
    at->write("from the client");
    std::array<char, 64> buffer{};
    std::string received;
    server.async_read_some(asio::buffer(buffer), [&](const error_code&, std::size_t size) {
        received.assign(buffer.data(), size);
    });
    ASSERT_TRUE(run_until(loop, [&] { return !received.empty() && !at->received.empty(); }));
    EXPECT_EQ(received, "from the client");
    EXPECT_EQ(at->received, "from the server");
    at->close();
    ASSERT_TRUE(run_to_end(*at));
    EXPECT_EQ(at->closed, close_reason::requested);
    EXPECT_EQ(at->unwritten_size, 0U) << "what TLS accepted counts as sent";
}

TEST_F(tls_connection_flow, a_write_in_many_parts_arrives_in_order) {
    const auto at = connected_client();
    at->part_size = 30'011;
    const std::string sent = numbered_text(std::size_t{1} << 20U);
    at->write(sent);
    std::string received;
    asio::async_read(
        server, asio::dynamic_buffer(received), asio::transfer_exactly(sent.size()),
        [&](const error_code&, std::size_t) { received += '.'; });
    ASSERT_TRUE(run_until(loop, [&] { return received.ends_with('.'); }));
    EXPECT_TRUE(received == sent + '.');
}

TEST_F(
    tls_connection_flow, RH_47_bytes_that_have_arrived_are_reported_before_a_request_is_written) {
    const auto at = connected_client();
    asio::write(server, asio::buffer(std::string_view("stray")));
    at->write_when_read("request");
    ASSERT_TRUE(run_until(loop, [&] { return at->written_size > 0; }));
    EXPECT_EQ(at->read_at_write, "stray");
}

// One read returns one record, so the next request may be ready while TLS holds a second one.
TEST_F(tls_connection_flow, RH_47_a_second_record_is_reported_before_a_request_is_written) {
    const auto at = connected_client();
    at->written_at_bytes = "next request";
    asio::write(server, asio::buffer(std::string_view("answer")));
    asio::write(server, asio::buffer(std::string_view(" and more")));
    ASSERT_TRUE(run_until(loop, [&] { return at->written_size > 0; }));
    EXPECT_EQ(at->read_at_write, "answer and more");
}

// The head of a record whose rest never arrives.
TEST_F(tls_connection_flow, a_part_of_a_record_does_not_hold_back_a_request) {
    const auto at = connected_client();
    other.send(std::string_view("\x17\x03\x03\x00\x40", 5));
    at->write_when_read("request");
    ASSERT_TRUE(run_until(loop, [&] { return at->written_size > 0; }));
    EXPECT_EQ(at->read_at_write, "");
}

TEST_F(tls_connection_flow, an_untrusted_issuer_is_reported) {
    const key_ptr other_key = make_key();
    const auto other_certificate = make_certificate(other_key.get(), "other", "DNS:host.example");
    const auto at = make_client(to_pem(other_certificate.get()));
    shake_hands(*at);
    EXPECT_EQ(at->failure, connect_failure::tls_untrusted);
}

TEST_F(tls_connection_flow, a_certificate_for_another_name_is_reported) {
    server_name = "elsewhere.example";
    const auto at = shaken_client();
    EXPECT_EQ(at->failure, connect_failure::tls_wrong_host);
}

TEST_F(tls_connection_flow, a_server_that_rejects_the_handshake_is_reported_as_an_alert) {
    // Before TLS 1.3 the server rejects a missing client certificate inside the handshake.
    SSL_set_max_proto_version(server.native_handle(), TLS1_2_VERSION);
    server.set_verify_mode(ssl::verify_peer | ssl::verify_fail_if_no_peer_cert);
    const auto at = shaken_client();
    EXPECT_EQ(at->failure, connect_failure::tls_alert);
}

TEST_F(
    tls_connection_flow,
    a_server_that_rejects_after_the_handshake_is_reported_as_an_alert_at_the_end) {
    SSL_set_min_proto_version(server.native_handle(), TLS1_3_VERSION);
    server.set_verify_mode(ssl::verify_peer | ssl::verify_fail_if_no_peer_cert);
    const auto at = shaken_client();
    ASSERT_TRUE(run_to_end(*at));
    EXPECT_EQ(at->closed, close_reason::tls_alert);
}

TEST_F(tls_connection_flow, a_server_without_tls_is_reported_as_a_protocol_failure) {
    const auto at = accepted_client();
    other.send("HTTP/1.1 400 Bad Request\r\n\r\n");
    ASSERT_TRUE(run_to_end(*at));
    EXPECT_EQ(at->failure, connect_failure::tls_protocol);
}

TEST_F(tls_connection_flow, a_close_inside_the_handshake_is_not_a_tls_failure) {
    const auto at = accepted_client();
    other.socket().close();
    ASSERT_TRUE(run_to_end(*at));
    EXPECT_EQ(at->failure, connect_failure::reset);
}

TEST_F(tls_connection_flow, closing_inside_the_handshake_cancels) {
    const auto at = make_client();
    at->open();
    ASSERT_TRUE(run_until(loop, [&] { return other.is_accepted() && at->socket_count == 1; }));
    at->close();
    ASSERT_TRUE(run_to_end(*at));
    EXPECT_EQ(at->failure, connect_failure::canceled);
    run_out();
}

// Anyone on the path can end the stream below TLS. That must not complete a body that only the end
// of the stream delimits.
TEST_F(tls_connection_flow, only_a_close_inside_tls_is_an_end_of_stream) {
    const auto at = connected_client();
    asio::write(server, asio::buffer(std::string_view("the first half")));
    other.socket().close();
    ASSERT_TRUE(run_to_end(*at));
    EXPECT_EQ(at->received, "the first half");
    EXPECT_EQ(at->closed, close_reason::reset);
}

TEST_F(tls_connection_flow, a_peer_that_closes_inside_tls_causes_an_end_of_stream) {
    const auto at = connected_client();
    server.async_shutdown([](const error_code&) {});
    ASSERT_TRUE(run_to_end(*at));
    EXPECT_EQ(at->closed, close_reason::end_of_stream);
}

}  // namespace reprise::net::connection_test
