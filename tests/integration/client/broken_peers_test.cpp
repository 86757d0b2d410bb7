#include <gtest/gtest.h>

#include <array>
#include <boost/asio/buffer.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <functional>
#include <list>
#include <string>
#include <thread>

#include "live_cluster.hpp"

// Peers that are not Couchbase servers. Whatever they send, an operation ends at its timeout with a
// plain error, and the client keeps working.

namespace {

using namespace live;
namespace asio = boost::asio;
using tcp = asio::ip::tcp;

// Accepts all connections and handles each in the same way.
class odd_listener {
public:
    using deed = std::function<void(tcp::socket&)>;

    explicit odd_listener(deed to_each)
        : acceptor_(context_, {asio::ip::address_v4::loopback(), 0}),
          to_each_(std::move(to_each)),
          thread_([this] {
              accept();
              context_.run();
          }) {}
    ~odd_listener() {
        context_.stop();
        thread_.join();
    }
    std::string where(const char* scheme) const {
        return std::string(scheme) +
               "://127.0.0.1:" + std::to_string(acceptor_.local_endpoint().port());
    }
    int accepted_count() const { return accepted_; }

private:
    void accept() {
        acceptor_.async_accept([this](const boost::system::error_code& ec, tcp::socket socket) {
            if (!ec) {
                ++accepted_;
                to_each_(sockets_.emplace_back(std::move(socket)));
                accept();
            }
        });
    }

    asio::io_context context_;
    tcp::acceptor acceptor_;
    deed to_each_;
    std::list<tcp::socket> sockets_;
    std::atomic<int> accepted_ = 0;
    std::thread thread_;
};

// Waits for the client's first bytes. An earlier close would be reported as a failure to connect.
void hear_first_words(tcp::socket& socket) {
    std::array<char, 4096> words;
    boost::system::error_code ignored;
    socket.read_some(asio::buffer(words), ignored);
}

void close_at_first_words(tcp::socket& socket) {
    hear_first_words(socket);
    socket.close();
}
void say_nothing(tcp::socket&) {}
void reset_at_first_words(tcp::socket& socket) {
    hear_first_words(socket);
    socket.set_option(asio::socket_base::linger(true, 0));
    socket.close();
}
void say(tcp::socket& socket, std::string_view text) {
    boost::system::error_code ignored;
    socket.send(asio::buffer(text), 0, ignored);
}

couchbase::error read_from(const odd_listener& peer, const char* scheme) {
    auto options = app_options();
    options.connect_timeout = 200ms;
    const auto cluster = couchbase::cluster::connect(peer.where(scheme), options).value();
    const auto read = documents(cluster).get("k", {.timeout = 700ms});
    EXPECT_FALSE(read);
    EXPECT_GE(peer.accepted_count(), 1);
    return read ? couchbase::error(couchbase::errc::parsing_failure, "no error") : read.error();
}

struct odd_case {
    const char* name;
    const char* words;  // expected in the error
    odd_listener::deed deed;
};

class broken_peers : public ::testing::TestWithParam<odd_case> {};

TEST_P(broken_peers, a_plain_client_times_out_unambiguously) {
    const odd_listener peer(GetParam().deed);
    const auto failed = read_from(peer, "couchbase");
    EXPECT_EQ(failed.code(), couchbase::errc::unambiguous_timeout) << failed;
    EXPECT_NE(failed.message().find(GetParam().words), std::string::npos) << failed;
}

INSTANTIATE_TEST_SUITE_P(
    that, broken_peers,
    ::testing::Values(
        odd_case{"close", "or this is a TLS port", close_at_first_words},
        odd_case{"reset", "before it answered", reset_at_first_words},
        odd_case{"are_silent", "the login is not complete", say_nothing},
        odd_case{
            "speak_tls", "this is a TLS port",
            [](auto& to) { say(to, std::string("\x15\x03\x03\x00\x02\x02\x46", 7)); }},
        odd_case{
            "speak_http", "not a Couchbase server",
            [](auto& to) { say(to, "HTTP/1.1 400 Bad Request\r\n\r\n"); }},
        odd_case{
            "send_zeros", "not a Couchbase server",
            [](auto& to) { say(to, std::string(100'000, '\0')); }},
        odd_case{
            "promise_too_much", "not a Couchbase server",
            [](auto& to) {
                say(to, std::string("\x81\x1f\0\0\0\0\0\0\xff\xff\xff\xff", 12) +
                            std::string(12, '\0'));
            }},
        odd_case{
            "answer_what_nobody_asked", "unexpected answer",
            [](auto& to) {
                say(to, std::string("\x81\x00\0\0\0\0\0\0\0\0\0\0\x12\x34\x56\x78", 16) +
                            std::string(8, '\0'));
            }}),
    [](const auto& each) { return std::string(each.param.name); });

// A connection that breaks during the handshake is no evidence against the certificate.
TEST(broken_handshakes, RH_26_a_close_during_the_tls_handshake_is_not_a_tls_failure) {
    const odd_listener peer(close_at_first_words);
    EXPECT_EQ(read_from(peer, "couchbases").code(), couchbase::errc::unambiguous_timeout);
}

TEST(broken_handshakes, RH_26_a_reset_during_the_tls_handshake_is_not_a_tls_failure) {
    const odd_listener peer(reset_at_first_words);
    EXPECT_EQ(read_from(peer, "couchbases").code(), couchbase::errc::unambiguous_timeout);
}

TEST(broken_handshakes, RH_26_silence_during_the_tls_handshake_is_not_a_tls_failure) {
    const odd_listener peer(say_nothing);
    EXPECT_EQ(read_from(peer, "couchbases").code(), couchbase::errc::unambiguous_timeout);
}

TEST(broken_handshakes, another_protocol_than_tls_is_a_tls_failure_that_names_it) {
    const odd_listener peer([](auto& to) { say(to, "220 smtp.example ready\r\n"); });
    const auto failed = read_from(peer, "couchbases");
    EXPECT_EQ(failed.code(), couchbase::errc::tls_failure);
    EXPECT_NE(failed.message().find("does not speak TLS"), std::string::npos) << failed;
}

}  // namespace
