#include <array>
#include <memory>
#include <string>

#include <gtest/gtest.h>
#include <boost/asio/ssl/stream.hpp>

#include "certificate.hpp"
#include "driver.hpp"
#include "fake_name_server.hpp"
#include "loop.hpp"

// Goal: an impostor of the name server cannot lead the credentials to another host. Method: a lying
// name server, and TLS servers on loopback whose certificates are valid, for other names.

namespace reprise::net::srv_trust_test {

namespace asio = boost::asio;
namespace ssl = asio::ssl;
using tcp = asio::ip::tcp;
using boost::system::error_code;
using namespace testing;

// Does TLS handshakes with a certificate for one name and keeps what it receives.
class tls_listener {
public:
    tls_listener(asio::io_context& loop, const std::string& name)
        : key_(make_key()),
          certificate_(make_certificate(key_.get(), "server", "DNS:" + name)),
          context_(ssl::context::tls_server),
          acceptor_(loop, any_loopback_port()) {
        SSL_CTX_use_certificate(context_.native_handle(), certificate_.get());
        SSL_CTX_use_PrivateKey(context_.native_handle(), key_.get());
        accept();
    }
    std::uint16_t port() const { return acceptor_.local_endpoint().port(); }
    std::string pem() const { return to_pem(certificate_.get()); }
    std::size_t handshake_count() const noexcept { return handshakes_; }
    const std::string& received() const noexcept { return received_; }

private:
    using stream = ssl::stream<tcp::socket>;

    void accept() {
        acceptor_.async_accept([this](const error_code& ec, tcp::socket socket) {
            if (ec) {
                return;
            }
            auto made = std::make_shared<stream>(std::move(socket), context_);
            made->async_handshake(ssl::stream_base::server, [this, made](const error_code& failed) {
                ++handshakes_;
                if (!failed) {
                    read(made);
                }
            });
            accept();
        });
    }
    void read(const std::shared_ptr<stream>& from) {
        auto buffer = std::make_shared<std::array<char, 4096>>();
        from->async_read_some(
            asio::buffer(*buffer), [this, from, buffer](const error_code& ec, std::size_t size) {
                received_.append(buffer->data(), size);
                if (!ec) {
                    read(from);
                }
            });
    }

    key_ptr key_;
    certificate_ptr certificate_;
    ssl::context context_;
    tcp::acceptor acceptor_;
    std::size_t handshakes_ = 0;
    std::string received_;
};

class srv_trust_on_sockets : public ::testing::Test {
protected:
    static constexpr const char* service = "_couchbases._tcp.cluster.test";

    // The user wrote cluster.test, and trusts every certificate of the listener.
    engine::engine_options options_for(const tls_listener& server) const {
        engine::engine_options options;
        options.seeds = {{"cluster.test", {}}};
        options.dns_srv_name = service;
        options.transport = wire::transport::tls;
        options.username = "user";
        options.password = "password";
        options.tls.ca_pem = server.pem();
        options.dns_servers = names.address();
        options.force_ipv4 = true;
        return options;
    }
    std::shared_ptr<driver> begin(engine::engine_options options) {
        auto made = driver::make(loop.get_executor(), std::move(options)).value();
        made->run([at = made.get()] { at->engine().open("bucket", at->now()); });
        return made;
    }
    // The problem that prevents the connection; empty if there is none.
    static std::string problem_of(const driver& at) {
        const auto report = at.describe();
        return report.connections.empty() ? "" : report.connections.front().endpoint.problem;
    }
    void stop(driver& at) {
        at.run([&at] { at.stop(); });
        loop.restart();
        loop.run_for(std::chrono::milliseconds{10});
    }
    // Answers that `target` is the server.
    void answer(const std::string& target, std::uint16_t port) {
        names.add_srv(service, {.port = port, .target = target});
        names.add_address(target, {127, 0, 0, 1});
        names.begin();
    }

    asio::io_context loop;
    fake_name_server names;
};

TEST_F(srv_trust_on_sockets, RH_46_a_target_with_a_certificate_for_itself_receives_no_bytes) {
    tls_listener server(loop, "evil.test");
    answer("evil.test", server.port());
    const auto at = begin(options_for(server));
    ASSERT_TRUE(run_until(loop, [&] { return !problem_of(*at).empty(); }));
    for (const char* part : {"evil.test", "cluster.test", "trust_srv_targets=true"}) {
        EXPECT_NE(problem_of(*at).find(part), std::string::npos) << problem_of(*at);
    }
    ASSERT_TRUE(run_until(loop, [&] { return server.handshake_count() > 0; }));
    EXPECT_EQ(server.received(), "");
    stop(*at);
}

TEST_F(srv_trust_on_sockets, RH_46_a_target_with_a_certificate_for_the_written_name_is_used) {
    tls_listener server(loop, "cluster.test");
    answer("elsewhere.test", server.port());
    const auto at = begin(options_for(server));
    EXPECT_TRUE(run_until(loop, [&] { return !server.received().empty(); }));
    stop(*at);
}

TEST_F(srv_trust_on_sockets, RH_46_a_target_below_the_written_name_may_have_either_name) {
    for (const char* name : {"a.cluster.test", "cluster.test"}) {
        SCOPED_TRACE(name);
        fake_name_server own_names;
        tls_listener server(loop, name);
        own_names.add_srv(service, {.port = server.port(), .target = "a.cluster.test"});
        own_names.add_address("a.cluster.test", {127, 0, 0, 1});
        own_names.begin();
        auto options = options_for(server);
        options.dns_servers = own_names.address();
        const auto at = begin(std::move(options));
        EXPECT_TRUE(run_until(loop, [&] { return !server.received().empty(); }));
        stop(*at);
    }
}

TEST_F(srv_trust_on_sockets, RH_46_the_option_trusts_a_target_under_its_own_name) {
    tls_listener server(loop, "evil.test");
    answer("evil.test", server.port());
    auto options = options_for(server);
    options.trust_srv_targets = true;
    const auto at = begin(std::move(options));
    EXPECT_TRUE(run_until(loop, [&] { return !server.received().empty(); }));
    stop(*at);
}

TEST_F(srv_trust_on_sockets, RH_46_without_tls_a_target_elsewhere_is_not_even_resolved) {
    const tls_listener server(loop, "evil.test");
    answer("evil.test", server.port());
    auto options = options_for(server);
    options.transport = wire::transport::plain;
    const auto at = begin(std::move(options));
    ASSERT_TRUE(run_until(loop, [&] { return !problem_of(*at).empty(); }));
    EXPECT_NE(problem_of(*at).find("evil.test"), std::string::npos) << problem_of(*at);
    EXPECT_EQ(names.question_count(), 1);
    stop(*at);
}

TEST_F(srv_trust_on_sockets, RH_46_many_targets_cause_few_questions) {
    const tls_listener server(loop, "t");
    // The names are short, because the answer must fit into one datagram.
    for (char letter = 'a'; letter <= 't'; ++letter) {
        names.add_srv("_couchbases._tcp.t", {.port = 1, .target = std::string{letter} + ".t"});
    }
    names.begin();
    auto options = options_for(server);
    options.dns_srv_name = "_couchbases._tcp.t";
    options.seeds = {{"t", {}}};
    const auto at = begin(std::move(options));
    // Every target that is used has been asked for at least once.
    ASSERT_TRUE(run_until(loop, [&] { return names.question_count() >= 17; }));
    EXPECT_EQ(at->describe().connections.size(), 16U);
    stop(*at);
}

TEST_F(srv_trust_on_sockets, RH_46_a_single_dot_leads_nowhere) {
    const tls_listener server(loop, "cluster.test");
    names.add_srv(service, {.port = 0, .target = ""});
    names.begin();
    const auto at = begin(options_for(server));
    std::string cause;
    engine::operation_request get;
    get.kind = engine::operation_kind::get;
    get.key = base::slice::copy_of(base::as_bytes("key"));
    get.timeout = std::chrono::milliseconds{500};
    at->run([&] { at->add_keyspace("bucket", "", ""); });
    ASSERT_TRUE(run_until(loop, [&] { return names.question_count() > 0; }));
    ASSERT_EQ(
        at->start(
            0, std::move(get),
            [&](engine::operation_result&& result) { cause = to_string(*result.error); }, 0),
        refusal::none);
    ASSERT_TRUE(run_until(loop, [&] { return !cause.empty(); }));
    EXPECT_NE(cause.find("names no host"), std::string::npos) << cause;
    stop(*at);
}

}  // namespace reprise::net::srv_trust_test
