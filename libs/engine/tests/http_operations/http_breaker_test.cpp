#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <limits>

#include "equipped_strategy.hpp"

// Circuit breakers of HTTP endpoints, in virtual time.

namespace reprise::engine::testing {
namespace {

class http_breaker : public ::testing::Test {
protected:
    static constexpr std::uint16_t query_port_here = 8093;

    http_breaker() : cluster_(2) {
        for (scripted_node& node : cluster_.nodes) {
            node.services.set(wire::service::query, wire::transport::plain, query_port_here);
        }
        cluster_.on_http = [this](const seen_http_request& seen) { return answer(seen); };
    }
    scripted_http_answer answer(const seen_http_request& seen) const {
        const bool is_canary = seen.request.target == "/admin/ping";
        scripted_http_answer made;
        made.body = R"({"results":[1],"status":"success"})";
        made.status = is_canary ? canary_status : 200;
        made.is_silent = mute_nodes.contains(seen.node) && (!is_canary || is_canary_mute);
        return made;
    }
    static engine_options with_http_breaker() {
        engine_options options;
        options.circuit_breaker.emplace();
        options.circuit_breaker->volume_threshold = 4;
        return options;
    }
    // Starts statements that are never answered, equally many on each node, and lets them time out.
    static void time_out_statements(engine_driver& driver, int count) {
        for (int index = 0; index < count; ++index) {
            http_request asked = readonly_request("{}");
            asked.timeout = 10ms;
            driver.start_http(std::move(asked));
        }
        driver.advance(10ms);
    }
    std::size_t count(std::string_view target) const {
        return static_cast<std::size_t>(std::ranges::count_if(
            cluster_.http_requests,
            [&](const auto& seen) { return seen.request.target == target; }));
    }

    scripted_cluster cluster_;
    std::set<std::size_t> mute_nodes{0, 1};
    bool is_canary_mute = false;
    int canary_status = 200;
};

TEST_F(
    http_breaker,
    RH_15_RH_34_statements_wait_while_all_are_open_and_are_sent_after_a_canary_is_answered) {
    connected_driver driver(cluster_, with_http_breaker());
    time_out_statements(driver, 8);
    ASSERT_EQ(count("/query/service"), 8U);
    const time_point opened = driver.now;
    mute_nodes.clear();
    auto done = driver.after(4980ms, driver.start_http(query_request("{}")));
    EXPECT_EQ(done->calls, 0);
    EXPECT_EQ(count("/admin/ping"), 0U);
    EXPECT_EQ(count("/query/service"), 8U) << "nothing is sent to an endpoint that is open";
    driver.advance(20ms);
    EXPECT_EQ(count("/admin/ping"), 2U) << "one for each endpoint";
    // As soon as the canary was answered, not when the backoff ends.
    ASSERT_EQ(done->calls, 1);
    EXPECT_EQ(done->at - opened, 5s);
    EXPECT_FALSE(done->result.ec) << done->result.ec.message();
    ASSERT_NE(done->result.history, nullptr);
    EXPECT_EQ(
        done->result.history->entries[0].reason_as<retry_reason>(),
        retry_reason::circuit_breaker_open);
    EXPECT_EQ(done->result.history->entries[0].stage(), attempt_stage::dispatch);
    EXPECT_EQ(driver.engine().statistics().operations_open, 0U);
}

TEST_F(http_breaker, RH_34_the_node_that_answers_is_used_meanwhile) {
    connected_driver driver(cluster_, with_http_breaker());
    mute_nodes = {1};
    time_out_statements(driver, 8);
    const std::size_t before = cluster_.http_requests.size();
    for (int round = 0; round < 6; ++round) {
        auto done = driver.after(1ms, driver.start_http(query_request("{}")));
        ASSERT_TRUE(done->has_succeeded());
        EXPECT_EQ(done->result.retry_attempts, 0U);
    }
    ASSERT_EQ(cluster_.http_requests.size(), before + 6);
    for (std::size_t at = before; at < before + 6; ++at) {
        EXPECT_EQ(cluster_.http_requests[at].node, 0U);
    }
}

TEST_F(http_breaker, RH_34_a_canary_without_a_good_answer_opens_it_again) {
    for (const bool is_mute : {true, false}) {
        cluster_.http_requests.clear();
        mute_nodes = {0, 1};
        is_canary_mute = is_mute;
        canary_status = is_mute ? 200 : 503;
        connected_driver driver(cluster_, with_http_breaker());
        time_out_statements(driver, 8);
        http_request asked = query_request("{}");
        asked.timeout = 60s;
        auto done = driver.after(5s, driver.start_http(std::move(asked)));
        EXPECT_EQ(count("/admin/ping"), 2U);
        EXPECT_EQ(done->calls, 0) << "half open admits no requests";
        EXPECT_EQ(count("/query/service"), 8U);
        mute_nodes.clear();
        canary_status = 200;
        // Silence is noticed after the canary's timeout, a refusal at once. Then the breaker sleeps
        // again.
        driver.advance(is_mute ? 10s : 5s);
        EXPECT_EQ(count("/admin/ping"), 4U);
        ASSERT_TRUE(done->has_succeeded());
    }
}

// Seed 2958 of the simulation: a canary whose connection was still opening counted as a waiting
// operation, beyond the bound.
TEST_F(http_breaker, RH_32_a_canary_takes_no_place_among_the_operations_that_wait) {
    engine_options options = with_http_breaker();
    options.parked_count_max = 1;
    cluster_.nodes.resize(1);
    cluster_.map = {{0}};
    connected_driver driver(cluster_, options);
    for (int round = 0; round < 4; ++round) {
        time_out_statements(driver, 1);
    }
    cluster_.nodes[0].ignores_http_connections = true;
    const auto waiting = driver.after(5s, driver.start_http(query_request("{}")));
    EXPECT_EQ(waiting->calls, 0);
    EXPECT_EQ(driver.engine().statistics().operations_parked, 1U);
    EXPECT_EQ(driver.engine().statistics().operations_open, 1U);
}

TEST_F(http_breaker, RH_34_queued_requests_are_not_sent_once_the_breaker_opens) {
    cluster_.nodes.resize(1);
    cluster_.map = {{0}};
    engine_options options = with_http_breaker();
    options.http_connections_per_node_max = 4;
    options.strategy = std::make_shared<fail_fast_on_terminal_error_strategy>();
    connected_driver driver(cluster_, options);
    std::vector<engine_driver::outcome_ptr> all;
    for (int index = 0; index < 6; ++index) {
        http_request asked = readonly_request("{}");
        asked.timeout = index < 4 ? 10ms : 60s;
        all.push_back(driver.start_http(std::move(asked)));
    }
    driver.advance(10ms);
    EXPECT_EQ(count("/query/service"), 4U);
    EXPECT_EQ(driver.engine().statistics().operations_parked, 2U);
    mute_nodes.clear();
    driver.advance(5s);
    for (std::size_t index = 4; index < 6; ++index) {
        ASSERT_TRUE(all[index]->has_succeeded());
        EXPECT_EQ(
            all[index]->result.history->entries[0].reason_as<retry_reason>(),
            retry_reason::circuit_breaker_open);
    }
}

TEST_F(http_breaker, RH_34_a_strategy_may_refuse) {
    connected_driver driver(cluster_, with_http_breaker());
    time_out_statements(driver, 8);
    class refusing final : public driver::retry_strategy {
        void retry_after(const driver::retry_question&, driver::retry_sink& sink) override {
            sink.answer(driver::retry_action::no());
        }
    };
    http_request asked = query_request("{}");
    asked.strategy = std::make_shared<refusing>();
    const auto refused = driver.settled(driver.start_http(std::move(asked)));
    ASSERT_EQ(refused->calls, 1);
    ASSERT_NE(refused->result.error, nullptr);
    EXPECT_EQ(refused->result.error->last_reason, retry_reason::circuit_breaker_open);
    EXPECT_FALSE(refused->result.error->is_ambiguous);
}

// Records how far apart on the stack the calls end.
class stack_meter final : public retry_observer {
public:
    void on_completion(const call_summary&) noexcept override {
        const auto here = reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0));
        lowest_ = std::min(lowest_, here);
        highest_ = std::max(highest_, here);
        ++count_;
    }
    std::size_t spread() const noexcept { return highest_ - lowest_; }
    std::size_t count() const noexcept { return count_; }

private:
    std::uintptr_t lowest_ = std::numeric_limits<std::uintptr_t>::max();
    std::uintptr_t highest_ = 0;
    std::size_t count_ = 0;
};

// A connection that became free offered itself to the next request from inside the refusal of the
// one before. The longest queue took 15 MB of stack.
TEST_F(http_breaker, an_open_breaker_of_the_strategy_empties_a_queue_without_recursion) {
    constexpr std::size_t queued_count = 1000;
    cluster_.nodes.resize(1);
    cluster_.map = {{0}};
    engine_options options;
    options.http_connections_per_node_max = 1;
    connected_driver driver(cluster_, options);
    http_request busy = readonly_request("{}");
    busy.timeout = 10ms;
    driver.start_http(std::move(busy));
    driver.settle();
    circuit_breaker breaker({.volume_threshold = 1, .sleep_window = 1h});
    breaker.on_failure(breaker.try_acquire(driver.now), {}, driver.now);
    ASSERT_EQ(breaker.state(), circuit_state::open);
    stack_meter meter;
    class guarded final : public driver::retry_strategy {
    public:
        explicit guarded(driver::strategy_traits traits) : retry_strategy(traits) {}
        void retry_after(const driver::retry_question&, driver::retry_sink& sink) override {
            sink.answer(driver::retry_action::no());
        }
    };
    const auto strategy =
        std::make_shared<guarded>(driver::strategy_traits{.circuit = &breaker, .observer = &meter});
    std::vector<engine_driver::outcome_ptr> all;
    for (std::size_t index = 0; index < queued_count; ++index) {
        http_request asked = readonly_request("{}");
        asked.strategy = strategy;
        all.push_back(driver.start_http(std::move(asked)));
    }
    const auto last = driver.settled(driver.start_http(readonly_request("{}")));
    ASSERT_EQ(meter.count(), 0U) << "they wait for the connection";
    mute_nodes.clear();
    driver.advance(10ms);
    EXPECT_EQ(meter.count(), queued_count);
    EXPECT_LT(meter.spread(), 4096U);
    for (const auto& refused : all) {
        ASSERT_EQ(refused->code(), errc::request_canceled);
        ASSERT_EQ(refused->result.error->last_reason, retry_reason::circuit_breaker_open);
    }
    EXPECT_TRUE(last->has_succeeded()) << "the connection is free for the next one";
    EXPECT_EQ(count("/query/service"), 2U);
}

TEST_F(http_breaker, RH_34_a_node_that_left_gets_no_more_canaries) {
    connected_driver driver(cluster_, with_http_breaker());
    time_out_statements(driver, 8);
    auto done = driver.after(100ms, driver.start_http(query_request("{}")));
    EXPECT_EQ(done->calls, 0);
    // The query service moves to another port of the first node. The old ports are gone.
    cluster_.nodes[0].services.set(wire::service::query, wire::transport::plain, 9093);
    cluster_.nodes[1].services = {};
    mute_nodes.clear();
    ++cluster_.revision.rev;
    driver.push_configuration(driver.connections_to(0)[0], 0, false);
    driver.settle();
    ASSERT_EQ(done->calls, 1) << "at once, not at the end of its backoff";
    EXPECT_EQ(cluster_.http_requests.back().port, 9093);
    driver.advance(30s);
    EXPECT_EQ(count("/admin/ping"), 0U);
    // A node that returns starts with a reset breaker.
    cluster_.nodes[1].services.set(wire::service::query, wire::transport::plain, query_port_here);
    ++cluster_.revision.rev;
    driver.push_configuration(driver.connections_to(0)[0], 0, false);
    driver.settle();
    for (int round = 0; round < 2; ++round) {
        driver.start_http(query_request("{}"));
        driver.settle();
    }
    EXPECT_TRUE(std::ranges::any_of(cluster_.http_requests, [&](const auto& seen) {
        return seen.node == 1 && seen.at == driver.now;
    }));
}

TEST_F(http_breaker, a_connection_lost_to_a_timeout_makes_room_for_waiting_calls) {
    cluster_.nodes.resize(1);
    cluster_.map = {{0}};
    engine_options options;
    options.http_connections_per_node_max = 2;
    connected_driver driver(cluster_, options);
    for (const duration timeout : {duration{60s}, duration{10ms}}) {
        http_request asked = readonly_request("{}");
        asked.timeout = timeout;
        driver.start_http(std::move(asked));
    }
    driver.settle();
    const auto waiting = driver.settled(driver.start_http(readonly_request("{}")));
    mute_nodes.clear();
    EXPECT_EQ(waiting->calls, 0);
    driver.advance(10ms);
    EXPECT_EQ(waiting->calls, 1) << "the other connection is still busy";
}

// A reader that is slower than its timeout: the endpoint has sent all that the client would take.
TEST_F(http_breaker, RH_34_rows_that_nobody_takes_do_not_open_it) {
    mute_nodes.clear();
    std::string rows = "0";
    for (int row = 1; row < 2000; ++row) {
        rows += "," + std::to_string(row);
    }
    const std::string body = R"({"results":[)" + rows + R"(],"status":"success"})";
    cluster_.answer_http({.body = body});
    circuit_breaker of_strategy(sensitive_breaker());
    engine_driver driver(cluster_, with_http_breaker());
    driver.read_size = 500;
    driver.connect();
    for (int index = 0; index < 8; ++index) {
        http_request asked = readonly_request("{}");
        asked.strategy =
            std::make_shared<three_attempts>(driver::strategy_traits{.circuit = &of_strategy});
        asked.timeout = 100ms;
        asked.rows_size_max_bytes = 1000;
        asked.on_rows = [] {};
        const auto done = driver.after(150ms, driver.start_http(std::move(asked)));
        ASSERT_EQ(done->code(), errc::unambiguous_timeout);
    }
    EXPECT_EQ(of_strategy.state(), circuit_state::closed);
    const auto next = driver.settled(driver.start_http(readonly_request("{}")));
    EXPECT_TRUE(next->has_succeeded()) << "it does not wait for a canary";
}

// The rest of the answer does not come, although the reader has taken all rows.
TEST_F(http_breaker, RH_34_a_timeout_after_the_rows_were_taken_counts) {
    scripted_http_answer part;
    part.raw = "HTTP/1.1 200 OK\r\nContent-Length: 9000\r\n\r\n{\"results\":[";
    for (int row = 0; row < 400; ++row) {
        part.raw += "100,";
    }
    cluster_.answer_http(part);
    engine_driver driver(cluster_, with_http_breaker());
    driver.read_size = 500;
    driver.connect();
    row_batch batch;
    for (int index = 0; index < 8; ++index) {
        circuit_breaker of_strategy(sensitive_breaker());
        http_request asked = readonly_request("{}");
        asked.strategy =
            std::make_shared<three_attempts>(driver::strategy_traits{.circuit = &of_strategy});
        asked.timeout = 100ms;
        asked.rows_size_max_bytes = 1000;
        asked.on_rows = [] {};
        const auto done = driver.start_http(std::move(asked));
        const operation_id id = driver.last_id;
        for (int round = 0; round < 20; ++round) {
            driver.advance(1ms);
            ASSERT_TRUE(driver.engine().take_rows(id, batch, driver.now));
        }
        driver.advance(100ms);
        ASSERT_EQ(done->code(), errc::unambiguous_timeout);
        EXPECT_EQ(of_strategy.state(), circuit_state::open) << "a success, then a failure";
    }
    const auto next = driver.settled(driver.start_http(readonly_request("{}")));
    EXPECT_EQ(next->calls, 0) << "all endpoints are open";
}

// The rest was on its way when reading stopped, and reports a failure.
TEST_F(http_breaker, a_failed_answer_counts_for_the_strategy_although_its_rows_were_not_taken) {
    const std::string rows = std::string(R"({"results":[)") + std::string(2000, '1') + ",";
    const std::string rest = "2]}";
    cluster_.answer_http(
        {.raw = "HTTP/1.1 200 OK\r\nContent-Length: " + std::to_string(rows.size() + rest.size()) +
                "\r\n\r\n" + rows});
    connected_driver driver(cluster_);
    for (const bool is_readable : {true, false}) {
        circuit_breaker of_strategy(sensitive_breaker());
        http_request asked = readonly_request("{}", [](const http_answer&) {
            exchange_result verdict;
            verdict.what = exchange_result::step::failed;
            verdict.error = errc::internal_server_failure;
            return verdict;
        });
        asked.strategy =
            std::make_shared<three_attempts>(driver::strategy_traits{.circuit = &of_strategy});
        asked.rows_size_max_bytes = 1000;
        asked.on_rows = [] {};
        const auto done = driver.settled(driver.start_http(std::move(asked)));
        const connection_id used = cluster_.http_requests.back().connection;
        ASSERT_TRUE(driver.is_paused(used));
        driver.send(used, base::as_bytes(is_readable ? rest : std::string("}}}")));
        driver.settle();
        EXPECT_TRUE(done->code());
        EXPECT_EQ(of_strategy.state(), circuit_state::open) << "a success, then a failure";
    }
}

TEST_F(http_breaker, RH_34_a_closing_engine_drops_its_canaries) {
    is_canary_mute = true;
    connected_driver driver(cluster_, with_http_breaker());
    time_out_statements(driver, 8);
    driver.advance(6s);
    EXPECT_EQ(count("/admin/ping"), 2U);
    driver.engine().close(driver.now);
    driver.advance(60s);
    EXPECT_EQ(count("/admin/ping"), 2U);
    EXPECT_EQ(driver.engine().statistics().operations_open, 0U);
}

TEST_F(http_breaker, RH_34_is_off_unless_enabled) {
    connected_driver driver(cluster_);
    time_out_statements(driver, 40);
    mute_nodes.clear();
    const auto done = driver.settled(driver.start_http(query_request("{}")));
    EXPECT_EQ(done->calls, 1);
}

}  // namespace
}  // namespace reprise::engine::testing
