#include <gtest/gtest.h>

#include <any>
#include <memory>
#include <string>

#include <reprise/retry.hpp>

#include "live_cluster.hpp"

// Each fault of the server, with a read and a write: the result for the user, and what the server
// really did according to its audit.

namespace {

using namespace live;
using reprise::wire::opcode;
using reprise::wire::status;

class faults : public ::testing::Test {
protected:
    faults() : server_(start()), cluster_(connect(*server_)), at_(documents(cluster_)) {
        EXPECT_TRUE(at_.upsert("old", "value"));
    }
    void disturb(opcode op, sandbox::fault_effect effect, std::optional<std::uint64_t> limit = {}) {
        auto rule = fault(op, std::move(effect));
        rule.when.limit = limit;
        add_fault(*server_, rule);
    }
    std::size_t requests(opcode op, const std::string& key) {
        return request_count(*server_, op, key);
    }

    std::unique_ptr<sandbox::embedded_cluster> server_;
    couchbase::cluster cluster_;
    couchbase::collection at_;
};

TEST_F(faults, RH_19_temporary_failures_are_retried_by_both) {
    disturb(opcode::get, sandbox::fault_status{status::etmpfail, {}}, 3);
    disturb(opcode::set, sandbox::fault_status{status::etmpfail, {}}, 3);
    const auto read = must(at_.get("old"));
    EXPECT_EQ(read.trace.retry_attempts, 3U);
    ASSERT_NE(read.trace.history, nullptr);
    EXPECT_EQ(read.trace.history->entries.total(), 3U);
    const auto stored = must(at_.upsert("new", "1"));
    EXPECT_EQ(stored.trace.retry_attempts, 3U);
    EXPECT_EQ(applied_count(*server_, opcode::set, "new"), 1U);
}

TEST_F(faults, RH_16_a_connection_closed_after_the_write_is_never_written_twice) {
    disturb(opcode::set, sandbox::fault_close_after{}, 1);
    const auto stored = must_fail(at_.upsert("once", "1"));
    EXPECT_EQ(stored.code(), couchbase::errc::request_canceled) << stored;
    EXPECT_TRUE(stored.is_ambiguous());
    EXPECT_EQ(requests(opcode::set, "once"), 1U);
    EXPECT_EQ(applied_count(*server_, opcode::set, "once"), 1U);
    EXPECT_EQ(at_.get("once")->text(), "1") << "ambiguous, and this time it was applied";
}

TEST_F(faults, RH_16_a_connection_closed_before_the_write_is_ambiguous_too) {
    disturb(opcode::set, sandbox::fault_close_before{}, 1);
    const auto stored = must_fail(at_.upsert("never", "1"));
    EXPECT_EQ(stored.code(), couchbase::errc::request_canceled);
    EXPECT_TRUE(stored.is_ambiguous());
    EXPECT_EQ(requests(opcode::set, "never"), 1U);
    EXPECT_EQ(applied_count(*server_, opcode::set, "never"), 0U);
}

TEST_F(faults, RH_16_a_read_is_repeated_after_its_connection_closed) {
    disturb(opcode::get, sandbox::fault_close_before{}, 1);
    const auto read = must(at_.get("old"));
    EXPECT_GE(read.trace.retry_attempts, 1U);
    ASSERT_NE(read.trace.history, nullptr);
    EXPECT_EQ(
        read.trace.history->entries[0].reason_as<couchbase::retry_reason>(),
        couchbase::retry_reason::socket_closed_while_in_flight);
}

TEST_F(faults, RH_29_silence_is_an_ambiguous_timeout_for_writes_only) {
    disturb(opcode::get, sandbox::fault_no_answer{});
    disturb(opcode::set, sandbox::fault_no_answer{});
    const auto read = must_fail(at_.get("old", {.timeout = 200ms}));
    EXPECT_EQ(read.code(), couchbase::errc::unambiguous_timeout);
    const auto stored = must_fail(at_.upsert("silent", "1", {.timeout = 200ms}));
    EXPECT_EQ(stored.code(), couchbase::errc::ambiguous_timeout);
    EXPECT_TRUE(stored.is_ambiguous());
    EXPECT_EQ(requests(opcode::set, "silent"), 1U);
}

TEST_F(faults, a_late_answer_is_an_orphan_and_does_no_harm) {
    disturb(opcode::get, sandbox::fault_delay{400ms}, 1);
    const auto late = must_fail(at_.get("old", {.timeout = 50ms}));
    EXPECT_EQ(late.code(), couchbase::errc::unambiguous_timeout);
    const auto until = std::chrono::steady_clock::now() + 20s;
    while (cluster_.statistics()->orphans == 0 && std::chrono::steady_clock::now() < until) {
        const auto read = must(at_.get("old"));
        EXPECT_EQ(read.text(), "value");
    }
    EXPECT_EQ(cluster_.statistics()->orphans, 1U);
}

TEST_F(faults, a_moved_vbucket_is_found_again_by_both) {
    server_->with_cluster([](sandbox::cluster& cluster) {
        const auto nodes = cluster.topology().nodes();
        for (std::uint16_t row = 0; row < 16; ++row) {
            const reprise::wire::vbucket_id vbucket{row};
            const auto owner = cluster.topology().active_node(bucket_name, vbucket);
            const auto to = owner == nodes[0] ? nodes[1] : nodes[0];
            ASSERT_TRUE(cluster.topology().move_vbucket(bucket_name, vbucket, to));
        }
    });
    must(at_.get("old"));
    must(at_.upsert("moved", "1"));
    EXPECT_EQ(applied_count(*server_, opcode::set, "moved"), 1U);
}

TEST_F(faults, a_failed_over_node_is_no_longer_used) {
    for (int number = 0; number < 16; ++number) {
        ASSERT_TRUE(at_.upsert("f" + std::to_string(number), "v"));
    }
    server_->with_cluster([](sandbox::cluster& cluster) {
        ASSERT_TRUE(cluster.topology().failover(cluster.topology().nodes().back()));
    });
    for (int number = 0; number < 16; ++number) {
        must(at_.get("f" + std::to_string(number)));
    }
}

// The example of the documentation: requests of robots are not worth waiting for.
class robots_do_not_wait final : public couchbase::fail_fast_on_terminal_error_strategy {
public:
    void retry_after(
        const couchbase::retry_question& question, couchbase::retry_sink& sink) override {
        const auto* who = question.at.user_data_as<std::string>();
        if (who != nullptr && *who == "robot") {
            sink.answer(couchbase::retry_action::no());
        } else {
            fail_fast_on_terminal_error_strategy::retry_after(question, sink);
        }
    }
};

TEST_F(faults, RH_04_RH_17_a_strategy_of_one_call_sees_its_user_data) {
    disturb(opcode::get, sandbox::fault_status{status::etmpfail, {}}, 2);
    const auto strategy = std::make_shared<robots_do_not_wait>();
    const auto robot = must_fail(at_.get(
        "old", {.strategy = strategy,
                .user_data = std::make_shared<const std::any>(std::string("robot"))}));
    EXPECT_EQ(robot.code(), couchbase::errc::temporary_failure) << robot;
    EXPECT_EQ(robot.retry_attempts(), 0U);
    const auto person = at_.get("old", {.strategy = strategy});
    EXPECT_TRUE(person) << words(person);
}

reprise::standard_strategy quick_strategy(std::uint32_t attempts) {
    reprise::standard_strategy::options options;
    options.attempts_max = attempts;
    options.backoff.base = 1ms;
    return reprise::standard_strategy(options);
}

TEST_F(faults, RH_35_any_call_can_be_wrapped_in_the_retry_loop) {
    disturb(opcode::get, sandbox::fault_status{status::etmpfail, {}});
    auto strategy = quick_strategy(3);
    int calls = 0;
    const auto read = reprise::retry(strategy, [&] {
        ++calls;
        return at_.get("old", {.timeout = 20ms});
    });
    EXPECT_FALSE(read);
    EXPECT_EQ(calls, 3);
}

// In this program, a missing document is one that another writer has not inserted yet.
struct not_yet_there {
    couchbase::error failed;

    reprise::failure_facts retry_facts() const {
        auto facts = reprise::facts_of(failed);
        if (failed.code() == couchbase::errc::document_not_found) {
            facts.safety = reprise::retry_safety::yes;
        }
        return facts;
    }
};

TEST_F(faults, RH_35_replace_is_retried_until_another_writer_inserts) {
    auto strategy = quick_strategy(10);
    int calls = 0;
    const auto replaced =
        reprise::retry(strategy, [&]() -> std::expected<couchbase::mutation_result, not_yet_there> {
            if (++calls == 3) {
                EXPECT_TRUE(at_.insert("awaited", "first"));
            }
            auto result = at_.replace("awaited", "second");
            if (!result) {
                return std::unexpected(not_yet_there{result.error()});
            }
            return std::move(*result);
        });
    EXPECT_TRUE(replaced);
    EXPECT_EQ(calls, 3);
    EXPECT_EQ(at_.get("awaited")->text(), "second");
}

TEST_F(faults, RH_30_the_text_of_an_error_lists_every_attempt) {
    disturb(opcode::get, sandbox::fault_status{status::etmpfail, {}});
    const auto read = must_fail(at_.get("old", {.timeout = 40ms}));
    const auto text = read.message();
    std::size_t lines = 0;
    for (auto at = text.find("KV_TEMPORARY_FAILURE"); at != std::string::npos;
         at = text.find("KV_TEMPORARY_FAILURE", at + 1)) {
        ++lines;
    }
    EXPECT_GE(lines, 3U) << text;
    EXPECT_NE(text.find("127.0.0.1:"), std::string::npos) << text;
}

}  // namespace
