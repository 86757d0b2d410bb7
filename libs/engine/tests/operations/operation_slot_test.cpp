#include "operations/operation_slot.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <any>
#include <memory>

namespace reprise::engine::testing {

TEST(operation_pool, a_request_that_is_built_in_its_slot_owns_its_texts) {
    operation_pool pool;
    std::string key = "key";
    std::string value = "value";
    document_call call;
    call.key = key;
    call.value = base::as_bytes(value);
    const operation_slot& slot = pool.acquire(keyspace_id{}, std::move(call));
    key = "gone";
    value = "gone";
    EXPECT_EQ(slot.request.key.text(), "key");
    EXPECT_EQ(slot.request.value.text(), "value");
}

TEST(operation_pool, a_slot_that_is_used_again_has_nothing_of_the_operation_before) {
    history_blocks blocks;
    operation_pool pool;
    operation_slot& first = pool.acquire();
    const std::uint32_t index = first.index;
    const std::uint32_t generation = first.generation;
    const auto kept = std::make_shared<int>(1);
    first.is_silent = true;
    first.skipped_backoffs = 3;
    first.decision = 4;
    first.last_reason = retry_reason::kv_locked;
    first.refusal = refusal_reason::canceled;
    first.endpoint = 5;
    first.wire_offset = 6;
    first.vbucket = wire::vbucket_id{7};
    first.route.map = route_map::forward;
    first.route.node = 1;
    first.connection = reinterpret_cast<kv_connection*>(&first);
    first.failed.reason = retry_reason::kv_locked;
    first.failed.status = 9;
    first.reasons.insert(retry_reason::kv_locked);
    first.history.push(retry_history::entry{}, 2, blocks);
    first.sent = sent_request{1, 2, 3};
    first.sent_before = sent_request{1, 2, 3};
    first.request.key = base::slice::copy_of(base::as_bytes("key"));
    first.request.value = base::slice::copy_of(base::as_bytes("value"));
    first.request.terms().specs.emplace_back();
    first.request.terms().user_data = std::make_shared<std::any>(kept);
    first.done = [kept](operation_result&&) {};
    EXPECT_EQ(pool.open_count(), 1U);
    pool.release(first);
    EXPECT_EQ(pool.open_count(), 0U);
    EXPECT_EQ(kept.use_count(), 1) << "what holds memory is released at once";

    operation_slot& again = pool.acquire();
    EXPECT_EQ(again.index, index);
    EXPECT_EQ(again.generation, generation + 1);
    const operation_slot fresh;
    EXPECT_FALSE(again.is_silent);
    EXPECT_EQ(again.skipped_backoffs, 0);
    EXPECT_EQ(again.decision, 0U);
    EXPECT_EQ(again.last_reason, retry_reason::unknown);
    EXPECT_EQ(again.refusal, refusal_reason::none);
    EXPECT_EQ(again.endpoint, -1);
    EXPECT_EQ(again.wire_offset, 0U);
    EXPECT_EQ(again.vbucket, wire::vbucket_id{});
    EXPECT_EQ(again.route.map, route_map::current);
    EXPECT_FALSE(again.route.node);
    EXPECT_EQ(again.connection, nullptr);
    EXPECT_EQ(again.progress.retries(), 0U);
    EXPECT_FALSE(again.progress.is_started());
    EXPECT_EQ(again.failed.reason, fresh.failed.reason);
    EXPECT_EQ(again.failed.status, 0);
    EXPECT_TRUE(again.reasons == fresh.reasons);
    EXPECT_TRUE(again.history.empty());
    EXPECT_EQ(again.sent.opaque, fresh.sent.opaque);
    EXPECT_EQ(again.sent_before.opaque, fresh.sent_before.opaque);
    EXPECT_TRUE(again.request.key.empty());
    EXPECT_TRUE(again.request.value.empty());
    EXPECT_TRUE(again.request.specs().empty());
    pool.release(again);
}

TEST(operation_pool, a_callback_that_was_not_called_is_released_at_once) {
    operation_pool pool;
    operation_slot& slot = pool.acquire();
    const auto kept = std::make_shared<int>(1);
    slot.done = [kept](operation_result&&) {};
    pool.release(slot);
    EXPECT_EQ(kept.use_count(), 1);
}

TEST(operation_pool, uses_the_slots_of_ended_operations_before_it_grows) {
    operation_pool pool;
    std::uint32_t highest = 0;
    for (int round = 0; round < 1000; ++round) {
        operation_slot& slot = pool.acquire();
        highest = std::max(highest, slot.index);
        pool.release(slot);
    }
    EXPECT_LT(highest, 256U);
}

}  // namespace reprise::engine::testing
