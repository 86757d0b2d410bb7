#include <gtest/gtest.h>

#include "equipped_strategy.hpp"

// The observer of a strategy starts and cancels operations while the engine works on others. Unlike
// a log sink it may do so: neither lists nor tables break under the engine's hands.

namespace reprise::engine::testing::reentrant_strategies_tests {

using wire::status;
using answer = scripted_cluster::scripted_answer;

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
    class refusing final : public driver::retry_strategy {
    public:
        explicit refusing(driver::strategy_traits traits) : retry_strategy(traits) {}
        void retry_after(const driver::retry_question&, driver::retry_sink& sink) override {
            sink.answer(driver::retry_action::no());
        }
    };
    const auto strategy =
        std::make_shared<refusing>(driver::strategy_traits{.observer = &observer});
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

}  // namespace reprise::engine::testing::reentrant_strategies_tests
