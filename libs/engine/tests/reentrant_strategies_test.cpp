#include <gtest/gtest.h>

#include "equipped_strategy.hpp"

// The observer of a strategy starts and cancels operations while the engine works on others. Unlike
// a log sink it may do so: neither lists nor tables break under the engine's hands.

namespace reprise::engine::testing::reentrant_strategies_tests {

// Calls `then` when a call ends.
class acting_observer final : public retry_observer {
public:
    std::function<void()> then;
    void on_completion(const call_summary&) noexcept override {
        if (then) {
            std::exchange(then, nullptr)();
        }
    }
};

class observed_strategy final : public fail_fast_on_terminal_error_strategy {
public:
    explicit observed_strategy(acting_observer& observer) { set_traits({.observer = &observer}); }
};

// Refuses every retry.
class refusing_strategy final : public driver::retry_strategy {
public:
    explicit refusing_strategy(acting_observer& observer)
        : retry_strategy({.observer = &observer}) {}
    void retry_after(const driver::retry_question&, driver::retry_sink& sink) override {
        sink.answer(driver::retry_action::no());
    }
};

engine_options observed_by(acting_observer& observer) {
    engine_options options;
    options.strategy = std::make_shared<observed_strategy>(observer);
    return options;
}

// 256 operations fill the first chunk of the pool, so the next one needs a second chunk. The engine
// went on through the table of chunks that the second one had replaced.
TEST(reentrant_strategies, RH_44_an_operation_started_while_the_client_closes_fails_at_once) {
    acting_observer observer;
    scripted_cluster cluster{1};
    connected_driver driver(cluster, observed_by(observer));
    cluster.answer_all(opcode::set, {.is_silent = true});
    const auto all = driver.settled(driver.upsert_many(256, "k"));
    std::vector<engine_driver::outcome_ptr> late;
    observer.then = [&] { late = driver.upsert_many(3, "late"); };
    driver.engine().close(driver.now);
    driver.settle();
    for (const auto& stored : all) {
        EXPECT_EQ(stored->code(), errc::request_canceled);
    }
    ASSERT_EQ(late.size(), 3U);
    for (const auto& stored : late) {
        EXPECT_EQ(stored->code(), errc::request_canceled);
    }
}

TEST(reentrant_strategies, a_collection_may_be_opened_while_a_terminal_state_is_announced) {
    acting_observer observer;
    scripted_cluster cluster{1};
    cluster.manifest_uid = 8;
    connected_driver driver(cluster, observed_by(observer));
    // Older than the manifest of the configuration: the client keeps asking.
    answer stale{.status = status::unknown_collection, .value = R"({"manifest_uid":"3"})"};
    stale.datatype = wire::datatype::json;
    cluster.answer_all(opcode::get_collection_id, stale);
    std::vector<engine_driver::outcome_ptr> all;
    for (const char* const name : {"one", "two", "three"}) {
        all.push_back(driver.start(operation_kind::upsert, "k", "v", "s", name));
    }
    driver.advance(700ms);
    observer.then = [&] {
        for (int index = 0; index < 16; ++index) {
            static_cast<void>(
                driver.engine().keyspace(cluster.bucket, "s", "new" + std::to_string(index)));
        }
    };
    cluster.nodes[0].sasl_status = status::auth_error;
    driver.close_node(0);
    driver.advance(1s);
    for (const auto& stored : all) {
        EXPECT_EQ(stored->code(), errc::authentication_failure);
    }
    EXPECT_FALSE(observer.then);
}

// The first write that fails with its connection cancels the others, and starts one that may take
// the place of one of them.
TEST(reentrant_strategies, RH_29_writes_may_be_canceled_while_their_connection_is_lost) {
    acting_observer observer;
    scripted_cluster cluster{1};
    connected_driver driver(cluster, observed_by(observer));
    cluster.answer_all(opcode::set, {.is_silent = true});
    std::vector<engine_driver::outcome_ptr> all;
    std::vector<operation_id> ids;
    for (int index = 0; index < 3; ++index) {
        all.push_back(driver.upsert("k", "v"));
        ids.push_back(driver.last_id);
    }
    driver.settle();
    engine_driver::outcome_ptr next;
    observer.then = [&] {
        EXPECT_TRUE(driver.engine().cancel(ids[1], driver.now));
        EXPECT_TRUE(driver.engine().cancel(ids[2], driver.now));
        next = driver.get("k");
    };
    driver.close_node(0);
    driver.advance(1s);
    for (const auto& stored : all) {
        EXPECT_EQ(stored->code(), errc::request_canceled);
    }
    EXPECT_EQ(next->code(), errc::document_not_found);
}

// Statements wait for a connection that cannot be opened. The first one that fails cancels the
// others.
TEST(reentrant_strategies, queued_requests_may_be_canceled_while_their_queue_is_emptied) {
    acting_observer observer;
    scripted_cluster cluster{1};
    cluster.nodes[0].services.set(wire::service::query, wire::transport::plain, 8093);
    cluster.nodes[0].ignores_http_connections = true;
    connected_driver driver(cluster);
    const auto strategy = std::make_shared<refusing_strategy>(observer);
    std::vector<engine_driver::outcome_ptr> all;
    std::vector<operation_id> ids;
    for (int index = 0; index < 3; ++index) {
        auto request = query_request("{}");
        request.strategy = strategy;
        all.push_back(driver.start_http(std::move(request)));
        ids.push_back(driver.last_id);
    }
    driver.settle();
    observer.then = [&] {
        EXPECT_TRUE(driver.engine().cancel(ids[1], driver.now));
        EXPECT_TRUE(driver.engine().cancel(ids[2], driver.now));
    };
    driver.advance(3s);
    for (const auto& done : all) {
        EXPECT_EQ(done->code(), errc::request_canceled);
    }
    EXPECT_FALSE(observer.then);
}

// A service on one connection, and a strategy whose circuit breaker is open.
class reentrant_requests : public ::testing::Test {
protected:
    reentrant_requests() {
        cluster_.nodes[0].services.set(wire::service::query, wire::transport::plain, 8093);
        cluster_.on_http = [](const seen_http_request& seen) {
            scripted_http_answer made;
            made.body = R"({"results":[]})";
            made.is_silent = seen.request.body == "silent";
            made.raw = seen.request.body == "garbage" ? "garbage" : "";
            return made;
        };
        options_.http_connections_per_node_max = 1;
    }
    // Ends as soon as it could be sent. Then the observer acts.
    http_request refused(engine_driver& driver) {
        open(breaker_, driver.now);
        auto request = query_request("{}");
        request.strategy = std::make_shared<three_attempts>(
            driver::strategy_traits{.circuit = &breaker_, .observer = &observer_});
        return request;
    }

    acting_observer observer_;
    circuit_breaker breaker_{sensitive_breaker()};
    scripted_cluster cluster_{1};
    engine_options options_;
};

// It got the idle connection that was just offered to the next one in the queue.
TEST_F(reentrant_requests, one_may_be_started_while_a_connection_takes_the_next_one) {
    connected_driver driver(cluster_, options_);
    const auto first = driver.start_http(refused(driver));
    const auto second = driver.start_http(query_request("{}"));
    engine_driver::outcome_ptr third;
    observer_.then = [&] { third = driver.start_http(query_request("{}")); };
    driver.advance(10ms);
    EXPECT_EQ(first->calls, 1);
    EXPECT_TRUE(second->has_succeeded());
    ASSERT_NE(third, nullptr);
    EXPECT_TRUE(third->has_succeeded());
}

// What became of its answer was decided when it had ended.
TEST_F(reentrant_requests, one_may_be_canceled_while_its_connection_takes_the_next_one) {
    connected_driver driver(cluster_, options_);
    const auto answered = driver.start_http(query_request("{}"));
    const operation_id id = driver.last_id;
    const auto next = driver.start_http(refused(driver));
    bool was_canceled = true;
    observer_.then = [&] { was_canceled = driver.engine().cancel(id, driver.now); };
    driver.advance(10ms);
    EXPECT_TRUE(answered->has_succeeded());
    EXPECT_FALSE(was_canceled) << "it had its answer";
    EXPECT_EQ(next->calls, 1);
}

TEST_F(reentrant_requests, RH_29_one_may_be_canceled_while_its_lost_answer_opens_a_breaker) {
    for (const char* const body : {"silent", "garbage"}) {
        options_.circuit_breaker.emplace();
        options_.circuit_breaker->volume_threshold = 1;
        options_.is_breaker_failure = [](const std::error_code& outcome) { return !!outcome; };
        connected_driver driver(cluster_, options_);
        const auto lost = driver.start_http(query_request(body));
        const operation_id id = driver.last_id;
        auto request = query_request("{}");
        request.strategy = std::make_shared<refusing_strategy>(observer_);
        const auto next = driver.start_http(std::move(request));
        bool was_canceled = true;
        observer_.then = [&] { was_canceled = driver.engine().cancel(id, driver.now); };
        driver.settle();
        if (!cluster_.http_requests.empty() && lost->calls == 0) {
            driver.close_peer(cluster_.http_requests.back().connection, close_reason::reset);
        }
        driver.advance(10ms);
        ASSERT_EQ(lost->calls, 1) << body;
        EXPECT_FALSE(was_canceled) << body;
        EXPECT_TRUE(lost->result.error->is_ambiguous) << body;
        EXPECT_EQ(next->calls, 1) << body;
    }
}

TEST_F(reentrant_requests, RH_44_operations_that_end_cannot_be_canceled_any_more) {
    connected_driver driver(cluster_);
    operation_id id{};
    int canceled_count = 0;
    const auto cancel = [&] { canceled_count += driver.engine().cancel(id, driver.now) ? 1 : 0; };
    const auto strategy = std::make_shared<refusing_strategy>(observer_);
    observer_.then = cancel;
    auto request = query_request("{}");
    request.strategy = strategy;
    const auto answered = driver.start_http(std::move(request));
    id = driver.last_id;
    driver.advance(10ms);
    EXPECT_TRUE(answered->has_succeeded());
    EXPECT_FALSE(observer_.then);

    observer_.then = cancel;
    auto read = driver.request(operation_kind::get, "k");
    read.terms().strategy = strategy;
    const auto missing = driver.start(std::move(read));
    id = driver.last_id;
    driver.advance(10ms);
    EXPECT_EQ(missing->code(), errc::document_not_found);
    EXPECT_FALSE(observer_.then);
    EXPECT_EQ(canceled_count, 0);
}

// The answer ends the connection, and with it another write, whose observer cancels the first one.
TEST(reentrant_strategies, a_write_may_be_canceled_while_its_answer_closes_the_connection) {
    acting_observer observer;
    scripted_cluster cluster{1};
    connected_driver driver(cluster, observed_by(observer));
    cluster.on_request = [](const seen_request& seen) -> std::optional<answer> {
        if (seen.op != opcode::set) {
            return std::nullopt;
        }
        return seen.value == "silent" ? answer{.is_silent = true}
                                      : answer{.status = status::no_bucket};
    };
    const auto silent = driver.settled(driver.upsert("k", "silent"));
    const auto refused = driver.upsert("k", "v");
    const operation_id id = driver.last_id;
    bool was_canceled = true;
    observer.then = [&] { was_canceled = driver.engine().cancel(id, driver.now); };
    driver.advance(10ms);
    EXPECT_EQ(silent->code(), errc::request_canceled);
    EXPECT_NE(refused->code(), errc::request_canceled);
}

}  // namespace reprise::engine::testing::reentrant_strategies_tests
