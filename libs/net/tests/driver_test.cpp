#include "driver.hpp"

#include <array>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>
#include <boost/asio/strand.hpp>
#include <boost/asio/write.hpp>

#include <reprise/couchbase_types/errc.hpp>

#include "fake_name_server.hpp"
#include "loop.hpp"

// Goal: test the loop around an engine and make it fail at each step. Method: use a real engine and
// loopback sockets. The test runs the loop itself, so everything happens on its thread.

namespace reprise::net::driver_test {

namespace asio = boost::asio;
using tcp = asio::ip::tcp;
using boost::system::error_code;
using couchbase::errc;
using namespace std::chrono_literals;
using namespace testing;

// Accepts every connection and never answers.
class listener {
public:
    explicit listener(asio::io_context& loop) : acceptor_(loop, any_loopback_port()) { accept(); }
    std::uint16_t port() const { return acceptor_.local_endpoint().port(); }
    std::size_t accepted_count() const noexcept { return sockets_.size(); }
    void stop_accepting() { acceptor_.close(); }
    tcp::socket& last() { return sockets_.back(); }

private:
    void accept() {
        acceptor_.async_accept([this](const error_code& ec, tcp::socket socket) {
            if (!ec) {
                sockets_.push_back(std::move(socket));
                accept();
            }
        });
    }

    tcp::acceptor acceptor_;
    std::vector<tcp::socket> sockets_;
};

// How an operation ended, and how often.
struct outcome {
    std::optional<std::error_code> code;
    int count = 0;
    std::thread::id thread;

    engine::completion receiver() {
        return [this](engine::operation_result&& result) {
            code = result.ec;
            thread = std::this_thread::get_id();
            ++count;
        };
    }
};

engine::operation_request get_request(std::optional<duration> timeout = {}) {
    engine::operation_request request;
    request.kind = engine::operation_kind::get;
    request.key = base::slice::copy_of(base::as_bytes("key"));
    request.timeout = timeout;
    return request;
}

engine::engine_options options_for(std::uint16_t port) {
    engine::engine_options options;
    options.seeds = {{"127.0.0.1", port}};
    options.kv_timeout = 20s;
    options.username = "user";
    options.password = "password";
    return options;
}

class driver_flow : public ::testing::Test {
protected:
    std::shared_ptr<driver> make(engine::engine_options options) {
        auto made = driver::make(loop.get_executor(), std::move(options)).value();
        made->add_keyspace("bucket", "", "");
        return made;
    }
    // Returns the problem of the only endpoint, or an empty text.
    static std::string problem_of(const driver& at) {
        const auto report = at.describe();
        return report.connections.empty() ? "" : report.connections.front().endpoint.problem;
    }
    // Stops the driver and checks that no handler is left.
    void stop(driver& at) {
        at.run([&at] { at.stop(); });
        run_out_of_work();
    }
    void run_out_of_work() {
        server.stop_accepting();
        loop.restart();
        loop.run_for(patience);
        EXPECT_TRUE(loop.stopped()) << "something keeps the loop busy";
    }

    asio::io_context loop;
    listener server{loop};
};

// --- setup ---

TEST_F(driver_flow, a_certificate_that_cannot_be_read_is_rejected_with_its_name) {
    auto options = options_for(1);
    options.transport = wire::transport::tls;
    options.tls.ca_file = "/nowhere/ca.pem";
    const auto made = driver::make(loop.get_executor(), std::move(options));
    ASSERT_FALSE(made.has_value());
    EXPECT_EQ(made.error().code, setup_errc::certificate_unreadable);
    EXPECT_NE(made.error().text.find("/nowhere/ca.pem"), std::string::npos);
}

TEST_F(driver_flow, certificates_are_not_read_without_tls) {
    auto options = options_for(1);
    options.tls.ca_file = "/nowhere/ca.pem";
    EXPECT_TRUE(driver::make(loop.get_executor(), std::move(options)).has_value());
}

TEST_F(driver_flow, invalid_name_servers_are_rejected) {
    auto options = options_for(1);
    options.dns_servers = "not an address";
    const auto made = driver::make(loop.get_executor(), std::move(options));
    ASSERT_FALSE(made.has_value());
    EXPECT_EQ(made.error().code, setup_errc::name_service);
}

// --- connections ---

TEST_F(driver_flow, an_operation_connects_and_sends_the_first_request) {
    const auto at = make(options_for(server.port()));
    outcome get;
    ASSERT_EQ(at->start(0, get_request(), get.receiver(), 0), refusal::none);
    EXPECT_EQ(server.accepted_count(), 0U);
    ASSERT_TRUE(run_until(loop, [&] { return server.accepted_count() == 1; }));
    std::array<char, 4096> buffer{};
    std::size_t size = 0;
    server.last().async_read_some(
        asio::buffer(buffer), [&](const error_code&, std::size_t read) { size = read; });
    ASSERT_TRUE(run_until(loop, [&] { return size > 0; }));
    EXPECT_EQ(static_cast<unsigned char>(buffer[0]), 0x80) << "a request of the key-value protocol";
    const auto report = at->describe();
    ASSERT_EQ(report.connections.size(), 1U);
    EXPECT_EQ(
        report.connections[0].local,
        "127.0.0.1:" + std::to_string(server.last().remote_endpoint().port()));
    EXPECT_EQ(report.connections[0].endpoint.state, engine::endpoint_state::connecting);
    EXPECT_EQ(get.count, 0);
    stop(*at);
    EXPECT_EQ(get.code, errc::request_canceled);
    EXPECT_EQ(get.count, 1);
}

TEST_F(driver_flow, a_refused_connection_is_reported_and_tried_again) {
    auto options = options_for(unused_port());
    options.reconnect_delay_min = 1ms;
    options.reconnect_delay_max = 1ms;
    const auto at = make(std::move(options));
    outcome get;
    ASSERT_EQ(at->start(0, get_request(), get.receiver(), 0), refusal::none);
    ASSERT_TRUE(run_until(loop, [&] { return problem_of(*at) != ""; }));
    EXPECT_NE(problem_of(*at).find("refused"), std::string::npos) << problem_of(*at);
    EXPECT_EQ(get.count, 0) << "the operation waits for the next attempt";
    stop(*at);
    EXPECT_EQ(get.count, 1);
}

TEST_F(driver_flow, a_connection_that_breaks_is_replaced_after_its_delay) {
    auto options = options_for(server.port());
    options.reconnect_delay_min = 1ms;
    options.reconnect_delay_max = 1ms;
    const auto at = make(std::move(options));
    at->run([&] { at->engine().open("bucket", at->now()); });
    ASSERT_TRUE(run_until(loop, [&] { return server.accepted_count() == 1; }));
    server.last().set_option(asio::socket_base::linger(true, 0));
    server.last().close();  // a reset
    ASSERT_TRUE(run_until(loop, [&] { return server.accepted_count() == 2; }));
    stop(*at);
}

TEST_F(driver_flow, a_peer_that_sends_garbage_is_disconnected) {
    const auto at = make(options_for(server.port()));
    at->run([&] { at->engine().open("bucket", at->now()); });
    ASSERT_TRUE(run_until(loop, [&] { return server.accepted_count() == 1; }));
    asio::write(server.last(), asio::buffer(std::string(100, 'x')));
    std::array<char, 4096> buffer{};
    std::optional<error_code> ended;
    const std::function<void()> read_on = [&] {
        server.last().async_read_some(asio::buffer(buffer), [&](const error_code& ec, std::size_t) {
            if (ec) {
                ended = ec;
            } else {
                read_on();
            }
        });
    };
    read_on();
    ASSERT_TRUE(run_until(loop, [&] { return ended.has_value(); }));
    ASSERT_TRUE(run_until(loop, [&] { return problem_of(*at) != ""; }));
    stop(*at);
}

TEST_F(driver_flow, service_records_lead_to_the_first_node) {
    fake_name_server names;
    names.add_srv(
        "_couchbase._tcp.reprise.test", {.port = server.port(), .target = "a.reprise.test"});
    names.add_address("a.reprise.test", {127, 0, 0, 1});
    names.begin();
    auto options = options_for(unused_port());
    options.dns_srv_name = "_couchbase._tcp.reprise.test";
    options.dns_servers = names.address();
    options.force_ipv4 = true;
    const auto at = make(std::move(options));
    at->run([&] { at->engine().open("bucket", at->now()); });
    EXPECT_TRUE(run_until(loop, [&] { return server.accepted_count() == 1; }));
    stop(*at);
}

// --- the ends of an operation ---

TEST_F(driver_flow, the_timer_ends_an_operation_when_nothing_else_happens) {
    const auto at = make(options_for(server.port()));
    outcome get;
    ASSERT_EQ(at->start(0, get_request(20ms), get.receiver(), 0), refusal::none);
    ASSERT_TRUE(run_until(loop, [&] { return get.count > 0; }));
    EXPECT_EQ(get.code, errc::unambiguous_timeout);
    EXPECT_EQ(get.thread, std::this_thread::get_id());
    stop(*at);
    EXPECT_EQ(get.count, 1);
}

TEST_F(driver_flow, cancelling_a_ticket_ends_all_its_operations_and_no_others) {
    const auto at = make(options_for(unused_port()));
    constexpr ticket name = 1;
    outcome first;
    outcome second;
    outcome other;
    outcome unnamed;
    ASSERT_EQ(at->start(0, get_request(), first.receiver(), name), refusal::none);
    ASSERT_EQ(at->start(0, get_request(), second.receiver(), name), refusal::none);
    ASSERT_EQ(at->start(0, get_request(), other.receiver(), name + 1), refusal::none);
    ASSERT_EQ(at->start(0, get_request(), unnamed.receiver(), 0), refusal::none);
    at->run([&] { at->cancel(name); });
    ASSERT_TRUE(run_until(loop, [&] { return first.count > 0 && second.count > 0; }));
    EXPECT_EQ(first.code, errc::request_canceled);
    EXPECT_EQ(second.code, errc::request_canceled);
    EXPECT_EQ(other.count + unnamed.count, 0);
    at->run([&] { at->cancel(name); });  // no operation has this ticket any more
    stop(*at);
    EXPECT_EQ(first.count + second.count, 2);
    EXPECT_EQ(other.code, errc::request_canceled);
    EXPECT_EQ(unnamed.code, errc::request_canceled);
}

TEST_F(driver_flow, rows_of_an_operation_that_has_ended_are_absent) {
    const auto at = make(options_for(unused_port()));
    EXPECT_FALSE(at->take_rows(ticket{1}, {}).has_value());
}

TEST_F(driver_flow, closing_ends_open_operations_and_refuses_later_ones) {
    const auto at = make(options_for(server.port()));
    outcome open;
    ASSERT_EQ(at->start(0, get_request(), open.receiver(), 0), refusal::none);
    ASSERT_TRUE(run_until(loop, [&] { return server.accepted_count() == 1; }));
    at->run([&] { at->close(); });
    ASSERT_TRUE(run_until(loop, [&] { return open.count > 0; }));
    EXPECT_EQ(open.code, errc::request_canceled);
    outcome late;
    ASSERT_EQ(at->start(0, get_request(), late.receiver(), 0), refusal::none);
    ASSERT_TRUE(run_until(loop, [&] { return late.count > 0; }));
    EXPECT_EQ(late.code, errc::request_canceled);
    stop(*at);
}

TEST_F(driver_flow, stopping_while_a_name_is_looked_up_leaves_nothing_to_run) {
    fake_name_server names;
    names.be_silent();
    names.begin();
    auto options = options_for(1);
    options.seeds = {{"silent.reprise.test", std::uint16_t{1}}};
    options.dns_servers = names.address();
    auto at = make(std::move(options));
    outcome get;
    ASSERT_EQ(at->start(0, get_request(), get.receiver(), 0), refusal::none);
    ASSERT_TRUE(run_until(loop, [&] { return names.question_count() > 0; }));
    stop(*at);
    EXPECT_EQ(get.code, errc::request_canceled);
    const std::weak_ptr<driver> watched = at;
    at.reset();
    EXPECT_TRUE(watched.expired());
}

TEST_F(driver_flow, a_driver_without_owners_completes_the_remaining_operations) {
    auto at = make(options_for(unused_port()));
    outcome get;
    ASSERT_EQ(at->start(0, get_request(), get.receiver(), 0), refusal::none);
    const std::weak_ptr<driver> watched = at;
    at.reset();
    EXPECT_FALSE(watched.expired()) << "the pending handler owns it";
    EXPECT_EQ(get.count, 0);
    run_out_of_work();
    EXPECT_TRUE(watched.expired()) << "the timer of the next attempt does not own it";
    EXPECT_EQ(get.code, errc::request_canceled);
    EXPECT_EQ(get.count, 1);
}

TEST(driver_lifetime, a_context_that_is_destroyed_completes_operations_once) {
    auto loop = std::make_unique<asio::io_context>();
    auto server = std::make_unique<listener>(*loop);
    auto at = driver::make(loop->get_executor(), options_for(server->port())).value();
    at->add_keyspace("bucket", "", "");
    outcome get;
    ASSERT_EQ(at->start(0, get_request(), get.receiver(), 0), refusal::none);
    ASSERT_TRUE(run_until(*loop, [&] { return server->accepted_count() == 1; }));
    const std::weak_ptr<driver> watched = at;
    at.reset();
    server.reset();
    loop.reset();  // with a connection and its handlers inside
    EXPECT_TRUE(watched.expired());
    EXPECT_EQ(get.code, errc::request_canceled);
    EXPECT_EQ(get.count, 1);
}

TEST(driver_lifetime, a_context_that_is_destroyed_before_the_first_run_completes_operations_once) {
    auto loop = std::make_unique<asio::io_context>();
    auto at = driver::make(loop->get_executor(), options_for(unused_port())).value();
    at->add_keyspace("bucket", "", "");
    outcome get;
    ASSERT_EQ(at->start(0, get_request(), get.receiver(), 0), refusal::none);
    at.reset();
    EXPECT_EQ(get.count, 0);
    loop.reset();
    EXPECT_EQ(get.code, errc::request_canceled);
    EXPECT_EQ(get.count, 1);
}

// --- iterations ---

TEST_F(driver_flow, a_full_queue_refuses_and_does_not_call_the_completion) {
    auto options = options_for(unused_port());
    options.submission_count_max = 2;
    const auto at = make(std::move(options));
    std::array<outcome, 3> gets;
    EXPECT_EQ(at->start(0, get_request(), gets[0].receiver(), 0), refusal::none);
    EXPECT_EQ(at->start(0, get_request(), gets[1].receiver(), 0), refusal::none);
    EXPECT_EQ(at->start(0, get_request(), gets[2].receiver(), 0), refusal::queue_full);
    stop(*at);  // a task, which is always accepted
    EXPECT_EQ(gets[0].count, 1);
    EXPECT_EQ(gets[1].count, 1);
    EXPECT_EQ(gets[2].count, 0);
}

TEST_F(driver_flow, tasks_and_operations_run_in_the_order_of_submission) {
    const auto at = make(options_for(unused_port()));
    std::vector<std::size_t> open_counts;
    const auto note = [&] { open_counts.push_back(at->engine().statistics().operations_open); };
    outcome get;
    at->run(note);
    ASSERT_EQ(at->start(0, get_request(), get.receiver(), 0), refusal::none);
    at->run(note);
    ASSERT_TRUE(run_until(loop, [&] { return open_counts.size() == 2; }));
    EXPECT_EQ(open_counts, (std::vector<std::size_t>{0, 1}));
    stop(*at);
}

TEST_F(driver_flow, an_operation_started_by_a_completion_belongs_to_the_same_run) {
    const auto at = make(options_for(unused_port()));
    at->run([&] { at->close(); });
    outcome second;
    bool was_running = false;
    const auto start_second = [&](engine::operation_result&&) {
        was_running = at->is_running();
        EXPECT_EQ(at->start(0, get_request(), second.receiver(), 0), refusal::none);
        EXPECT_EQ(second.count, 0) << "never from inside the call";
    };
    EXPECT_FALSE(at->is_running());
    ASSERT_EQ(at->start(0, get_request(), start_second, 0), refusal::none);
    loop.restart();
    loop.run_one();  // the only iteration
    EXPECT_TRUE(was_running);
    EXPECT_EQ(second.count, 1);
    EXPECT_FALSE(at->is_running());
    stop(*at);
}

TEST_F(driver_flow, completions_that_start_operations_forever_let_other_handlers_run) {
    const auto at = make(options_for(unused_port()));
    at->run([&] { at->close(); });
    int count = 0;
    std::function<void()> again = [&] {
        ++count;
        EXPECT_EQ(
            at->start(
                0, get_request(), [&](engine::operation_result&&) { again ? again() : void(); }, 0),
            refusal::none);
    };
    again();
    bool is_other_run = false;
    asio::post(loop, [&] { is_other_run = true; });
    ASSERT_TRUE(run_until(loop, [&] { return is_other_run; }));
    EXPECT_GT(count, 1);
    again = nullptr;
    stop(*at);
}

TEST_F(driver_flow, an_operation_started_on_the_loop_thread_needs_no_post) {
    const auto at = make(options_for(unused_port()));
    at->close();
    outcome get;
    at->start_here(0, get_request(), get.receiver());
    EXPECT_EQ(get.code, errc::request_canceled);
    EXPECT_EQ(get.count, 1);
}

TEST_F(driver_flow, an_operation_started_on_the_loop_thread_follows_earlier_submissions) {
    const auto at = make(options_for(unused_port()));
    at->close();
    std::vector<int> order;
    at->run([&] { order.push_back(1); });
    at->start_here(0, get_request(), [&](engine::operation_result&&) { order.push_back(2); });
    EXPECT_EQ(order, (std::vector<int>{1, 2}));
}

TEST_F(driver_flow, any_executor_that_runs_one_handler_at_a_time_works) {
    const auto at = driver::make(asio::make_strand(loop), options_for(unused_port())).value();
    at->add_keyspace("bucket", "", "");
    outcome get;
    ASSERT_EQ(at->start(0, get_request(20ms), get.receiver(), 0), refusal::none);
    ASSERT_TRUE(run_until(loop, [&] { return get.count > 0; }));
    EXPECT_EQ(get.code, errc::unambiguous_timeout);
    stop(*at);
}

}  // namespace reprise::net::driver_test
