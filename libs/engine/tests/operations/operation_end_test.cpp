#include <gtest/gtest.h>

#include "engine_driver.hpp"

// Cancel, close and destruction in every state: each operation completes exactly once.

namespace reprise::engine::testing::lifetime_tests {

enum class place {
    waiting_for_connection,
    waiting_for_collection,
    in_backoff,
    deciding,
    ready,
    on_wire,
};

constexpr place all_places[] = {
    place::waiting_for_connection,
    place::waiting_for_collection,
    place::in_backoff,
    place::deciding,
    place::ready,
    place::on_wire};

class holding_strategy final : public driver::retry_strategy {
public:
    void retry_after(const driver::retry_question&, driver::retry_sink& sink) override {
        pending = sink.defer();
    }
    driver::deferred_answer pending;
};

// Brings a write to this state and keeps it there.
struct scene {
    scripted_cluster cluster{1};
    std::shared_ptr<holding_strategy> strategy = std::make_shared<holding_strategy>();
    std::unique_ptr<engine_driver> driver;
    engine_driver::outcome_ptr stored;

    explicit scene(place where) {
        cluster.nodes[0].ignores_connections = where == place::waiting_for_connection;
        driver = std::make_unique<engine_driver>(cluster);
        driver->engine().open(cluster.bucket, driver->now);
        driver->settle();
        cluster.on_request = [where](const seen_request& seen) -> std::optional<answer> {
            if (seen.op == opcode::get_collection_id ||
                (seen.op == opcode::set && where == place::on_wire)) {
                return answer{.is_silent = true};
            }
            if (seen.op == opcode::set) {
                return answer{.status = status::locked};
            }
            return std::nullopt;
        };
        const bool is_named = where == place::waiting_for_collection;
        auto request = driver->request(
            operation_kind::upsert, "k", "v", is_named ? "s" : "", is_named ? "c" : "");
        if (where == place::deciding) {
            request.terms().strategy = strategy;
        }
        stored = driver->start(std::move(request));
        if (where != place::ready) {
            driver->settle();
        }
    }
};

TEST(lifetime, RH_29_cancel_ends_an_operation_in_every_state_exactly_once) {
    for (const place where : all_places) {
        scene now(where);
        ASSERT_EQ(now.stored->calls, 0) << static_cast<int>(where);
        EXPECT_TRUE(now.driver->engine().cancel(now.driver->last_id, now.driver->now));
        EXPECT_FALSE(now.driver->engine().cancel(now.driver->last_id, now.driver->now));
        EXPECT_EQ(now.stored->calls, 0);
        now.driver->advance(5s);
        EXPECT_EQ(now.stored->code(), errc::request_canceled) << static_cast<int>(where);
        EXPECT_EQ(now.stored->result.error->is_ambiguous, where == place::on_wire);
        EXPECT_EQ(now.driver->engine().statistics().operations_open, 0U);
        EXPECT_EQ(now.driver->engine().statistics().operations_parked, 0U);
    }
}

TEST(lifetime, RH_29_a_canceled_write_that_was_not_sent_is_never_sent) {
    scene now(place::ready);
    EXPECT_TRUE(now.driver->engine().cancel(now.driver->last_id, now.driver->now));
    now.driver->advance(1s);
    EXPECT_FALSE(now.stored->result.error->is_ambiguous);
    EXPECT_EQ(now.cluster.count(opcode::set), 0U);
}

TEST(lifetime, RH_44_close_completes_an_operation_in_every_state_exactly_once) {
    for (const place where : all_places) {
        scene now(where);
        now.driver->engine().close(now.driver->now);
        now.driver->engine().close(now.driver->now);
        now.driver->settle();
        ASSERT_EQ(now.stored->code(), errc::request_canceled) << static_cast<int>(where);
        EXPECT_EQ(now.stored->result.error->is_ambiguous, where == place::on_wire);
        now.strategy->pending.answer(driver::retry_action::after(0ms));
        now.driver->engine().on_wake(now.driver->now);
        now.driver->advance(10s);
        EXPECT_EQ(now.stored->calls, 1);
        EXPECT_FALSE(now.driver->engine().next_due().has_value());
        const auto late = now.driver->get("k");
        now.driver->settle();
        EXPECT_EQ(late->code(), errc::request_canceled);
    }
}

TEST(lifetime, destroying_the_engine_completes_an_operation_in_every_state_exactly_once) {
    for (const place where : all_places) {
        scene now(where);
        now.driver->destroy();
        EXPECT_EQ(now.stored->code(), errc::request_canceled) << static_cast<int>(where);
        now.strategy->pending.answer(driver::retry_action::after(0ms));
    }
}

TEST(lifetime, a_completion_never_runs_inside_start_and_may_start_the_next_operation) {
    auto [cluster, driver] = unconnected_node();
    int rounds = 0;
    std::function<void()> next = [&] {
        auto request = driver.request(operation_kind::get, "");
        driver.engine().start(
            std::move(request),
            [&](operation_result&& result) {
                EXPECT_EQ(result.ec, errc::invalid_argument);
                if (++rounds < 5) {
                    next();
                }
            },
            driver.now);
    };
    next();
    EXPECT_EQ(rounds, 0);
    EXPECT_EQ(driver.engine().drain_completions(), 1U);
    EXPECT_EQ(rounds, 1);
    EXPECT_TRUE(driver.engine().has_completions());
    driver.settle();
    EXPECT_EQ(rounds, 5);
}

TEST(lifetime, an_operation_whose_deadline_has_passed_is_not_sent) {
    auto [cluster, driver] = connected_node();
    auto request = driver.request(operation_kind::upsert, "k", "v");
    request.deadline = driver.now;
    const auto stored = driver.settled(driver.start(std::move(request)));
    EXPECT_EQ(stored->result.ec, errc::unambiguous_timeout);
    EXPECT_EQ(cluster.count(opcode::set), 0U);
}

TEST(lifetime, arguments_are_checked_without_a_cluster) {
    scripted_cluster cluster(1);
    cluster.nodes[0].refuses_connections = true;
    engine_driver driver(cluster);
    const auto empty = driver.get("");
    const auto longest = driver.get(std::string(251, 'k'));
    const auto named = driver.start(operation_kind::get, std::string(247, 'k'), "", "s", "c");
    const auto unlock = driver.start(operation_kind::unlock, "k");
    const auto paths = driver.settled(driver.start(operation_kind::lookup_in, "k"));
    for (const auto& one : {empty, longest, named, unlock, paths}) {
        ASSERT_EQ(one->code(), errc::invalid_argument);
        EXPECT_FALSE(one->result.error->detail.empty());
    }
    EXPECT_TRUE(driver.connects.empty());
}

TEST(lifetime, a_large_completion_is_called_and_destroyed_once) {
    struct large {
        std::shared_ptr<int> calls;
        std::array<char, 200> room{};
        void operator()(operation_result&&) { ++*calls; }
    };
    auto calls = std::make_shared<int>(0);
    {
        completion first{large{calls, {}}};
        EXPECT_EQ(calls.use_count(), 2);
        completion second = std::move(first);
        EXPECT_FALSE(static_cast<bool>(first));  // NOLINT: moved from on purpose
        second(operation_result{});
        EXPECT_EQ(calls.use_count(), 1);
        completion never{large{calls, {}}};
    }
    EXPECT_EQ(*calls, 1);
    EXPECT_EQ(calls.use_count(), 1);
}

}  // namespace reprise::engine::testing::lifetime_tests
