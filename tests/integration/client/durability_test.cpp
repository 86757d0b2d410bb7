#include <gtest/gtest.h>

#include <functional>
#include <utility>
#include <vector>

#include "live_cluster.hpp"

// Durable writes of every kind: each sends its level, and each status of the server has its own
// error.

namespace durability_test {

using namespace live;
using couchbase::durability_level;
using couchbase::errc;
using reprise::wire::opcode;
using reprise::wire::status;

struct outcome {
    std::error_code code;
    bool is_ambiguous = false;
    std::uint32_t retries = 0;
};

template <class Result>
outcome outcome_of(const Result& result) {
    return result ? outcome{}
                  : outcome{
                        result.error().code(), result.error().is_ambiguous(),
                        result.error().retry_attempts()};
}

struct durable_write {
    const char* name;
    opcode op;
    std::function<outcome(const couchbase::collection&, durability_level, reprise::duration)> run;
};

std::span<const std::byte> some_bytes() {
    static constexpr std::byte bytes[] = {std::byte{'!'}};
    return bytes;
}

// Every write except insert finds the document `k`. A `timeout` of zero means the default.
std::vector<durable_write> all_writes() {
    using collection = couchbase::collection;
    using level = durability_level;
    using time = reprise::duration;
    const auto limit = [](time timeout) {
        return timeout == time::zero() ? std::optional<time>() : std::optional(timeout);
    };
    return {
        {"upsert", opcode::set,
         [=](const collection& at, level of, time timeout) {
             return outcome_of(at.upsert("k", "v", {.timeout = limit(timeout), .durability = of}));
         }},
        {"insert", opcode::add,
         [=](const collection& at, level of, time timeout) {
             return outcome_of(
                 at.insert("fresh", "v", {.timeout = limit(timeout), .durability = of}));
         }},
        {"replace", opcode::replace,
         [=](const collection& at, level of, time timeout) {
             return outcome_of(at.replace("k", "w", {.timeout = limit(timeout), .durability = of}));
         }},
        {"append", opcode::append,
         [=](const collection& at, level of, time timeout) {
             return outcome_of(
                 at.append("k", some_bytes(), {.timeout = limit(timeout), .durability = of}));
         }},
        {"prepend", opcode::prepend,
         [=](const collection& at, level of, time timeout) {
             return outcome_of(
                 at.prepend("k", some_bytes(), {.timeout = limit(timeout), .durability = of}));
         }},
        {"increment", opcode::increment,
         [=](const collection& at, level of, time timeout) {
             return outcome_of(
                 at.increment("n", {.timeout = limit(timeout), .initial = 1, .durability = of}));
         }},
        {"decrement", opcode::decrement,
         [=](const collection& at, level of, time timeout) {
             return outcome_of(
                 at.decrement("n", {.timeout = limit(timeout), .initial = 1, .durability = of}));
         }},
        {"mutate_in", opcode::subdoc_multi_mutation,
         [=](const collection& at, level of, time timeout) {
             return outcome_of(at.mutate_in(
                 "j", {couchbase::mutate_spec::upsert("a", 1)},
                 {.timeout = limit(timeout), .durability = of}));
         }},
        {"remove", opcode::remove,
         [=](const collection& at, level of, time timeout) {
             return outcome_of(at.remove("k", {.timeout = limit(timeout), .durability = of}));
         }},
    };
}

class durability : public ::testing::Test {
protected:
    durability() : server_(start()), cluster_(connect(*server_)), at_(documents(cluster_)) {
        prepare();
    }
    void prepare() {
        EXPECT_TRUE(at_.upsert("k", "v"));
        EXPECT_TRUE(at_.upsert("j", couchbase::json_text{"{}"}));
    }
    void answer_with(opcode op, status code) {
        server_->with_cluster([&](sandbox::cluster& cluster) {
            cluster.faults().clear();
            cluster.faults().add(fault(op, sandbox::fault_status{code, {}}));
        });
    }

    std::unique_ptr<sandbox::embedded_cluster> server_;
    couchbase::cluster cluster_;
    couchbase::collection at_;
};

TEST_F(durability, every_mutation_takes_every_level) {
    for (const auto level :
         {durability_level::majority, durability_level::majority_and_persist_to_active,
          durability_level::persist_to_majority}) {
        for (const durable_write& write : all_writes()) {
            const outcome ended = write.run(at_, level, {});
            EXPECT_FALSE(ended.code) << write.name << ": " << ended.code.message();
        }
        prepare();
        EXPECT_TRUE(at_.remove("fresh"));
    }
}

TEST_F(durability, each_status_of_a_durable_write_has_its_error_and_only_one_is_ambiguous) {
    const std::vector<std::pair<status, errc>> final_words{
        {status::durability_invalid_level, errc::durability_level_not_available},
        {status::durability_impossible, errc::durability_impossible},
        {status::sync_write_ambiguous, errc::durability_ambiguous}};
    for (const durable_write& write : all_writes()) {
        for (const auto& [code, expected] : final_words) {
            answer_with(write.op, code);
            const outcome ended = write.run(at_, durability_level::majority, {});
            EXPECT_EQ(ended.code, expected) << write.name;
            EXPECT_EQ(ended.is_ambiguous, code == status::sync_write_ambiguous) << write.name;
            EXPECT_EQ(ended.retries, 0U) << write.name;
        }
    }
}

TEST_F(durability, RH_19_a_write_waits_for_a_pending_one_and_the_timeout_names_it) {
    for (const auto code :
         {status::sync_write_in_progress, status::sync_write_re_commit_in_progress}) {
        for (const durable_write& write : all_writes()) {
            answer_with(write.op, code);
            // Sent for the last time after about 127 ms: on a busy machine, too, the answer is
            // there long before the timeout, which would be ambiguous otherwise.
            const outcome ended = write.run(at_, durability_level::majority, 200ms);
            EXPECT_EQ(ended.code, errc::unambiguous_timeout) << write.name;
            EXPECT_FALSE(ended.is_ambiguous) << write.name;
            EXPECT_GE(ended.retries, 1U) << write.name;
        }
    }
    // A strategy that does not wait gets this error at once.
    answer_with(opcode::set, status::sync_write_in_progress);
    const auto refused = must_fail(at_.upsert(
        "k", "v",
        {.strategy = couchbase::overriding(
             std::make_shared<couchbase::best_effort_strategy>(),
             {{couchbase::retry_reason::kv_sync_write_in_progress,
               couchbase::retry_action::no()}})}));
    EXPECT_EQ(refused.code(), errc::durable_write_in_progress);
}

TEST(durability_options, too_few_replicas_are_impossible_and_an_ephemeral_bucket_cannot_persist) {
    auto options = small_options();
    sandbox::bucket_options memory;
    memory.name = "memory";
    memory.type = sandbox::bucket_type::ephemeral;
    options.cluster.buckets.push_back(memory);
    options.cluster.node_count = 1;
    options.cluster.replica_count = 1;
    const auto [server, cluster] = connected(start(std::move(options)));
    EXPECT_EQ(
        documents(cluster)
            .upsert("k", "v", {.durability = durability_level::majority})
            .error()
            .code(),
        errc::durability_impossible);
    EXPECT_EQ(
        cluster.bucket("memory")
            .default_collection()
            .upsert("k", "v", {.durability = durability_level::persist_to_majority})
            .error()
            .code(),
        errc::durability_level_not_available);
}

TEST(durability_options, durable_writes_have_their_own_default_timeout) {
    auto options = app_options();
    options.kv_timeout = 60s;
    options.kv_durable_timeout = 200ms;
    const auto [server, cluster] = connected(start(), options);
    const auto at = documents(cluster);
    ASSERT_TRUE(at.upsert("k", "v"));
    add_fault(*server, fault(opcode::set, sandbox::fault_no_answer{}));
    const auto stored = must_fail(at.upsert("k", "v", {.durability = durability_level::majority}));
    EXPECT_EQ(stored.code(), errc::ambiguous_timeout);
    EXPECT_TRUE(stored.is_ambiguous());
}

}  // namespace durability_test
