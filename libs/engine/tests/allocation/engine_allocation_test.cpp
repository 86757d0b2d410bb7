// Counts the engine's allocations and bytes. It is a separate program because it replaces operator
// new.

#include <gtest/gtest.h>

#include <atomic>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <new>

#include "engine_driver.hpp"

namespace {

std::atomic<std::size_t> new_count{0};
std::atomic<std::size_t> bytes_in_use{0};

// Each block stores its size in a prefix, which preserves the alignment.
constexpr std::size_t prefix_size = alignof(std::max_align_t);
static_assert(prefix_size >= sizeof(std::size_t));

void* counted_new(std::size_t size) {
    auto* memory = static_cast<std::byte*>(std::malloc(prefix_size + size));
    if (memory == nullptr) {
        throw std::bad_alloc{};
    }
    std::memcpy(memory, &size, sizeof(size));
    new_count.fetch_add(1, std::memory_order_relaxed);
    bytes_in_use.fetch_add(size, std::memory_order_relaxed);
    return memory + prefix_size;
}

void counted_delete(void* given) noexcept {
    if (given != nullptr) {
        std::byte* memory = static_cast<std::byte*>(given) - prefix_size;
        std::size_t size = 0;
        std::memcpy(&size, memory, sizeof(size));
        bytes_in_use.fetch_sub(size, std::memory_order_relaxed);
        std::free(memory);
    }
}

}  // namespace

void* operator new(std::size_t size) {
    return counted_new(size);
}
void* operator new[](std::size_t size) {
    return counted_new(size);
}
void operator delete(void* memory) noexcept {
    counted_delete(memory);
}
void operator delete[](void* memory) noexcept {
    counted_delete(memory);
}
void operator delete(void* memory, std::size_t) noexcept {
    counted_delete(memory);
}
void operator delete[](void* memory, std::size_t) noexcept {
    counted_delete(memory);
}

namespace reprise::engine::testing::engine_allocation_tests {

// Drives one open connection by hand, because the scripted servers of the other tests allocate.
struct canned_scene {
    canned_scene() : cluster(1), driver(cluster) {
        driver.connect();
        connection = driver.connections_to(0).at(0);
        keyspace = driver.engine().keyspace(cluster.bucket);
        actions.reserve(16);
        answer_bytes.reserve(256);
    }
    // Runs one operation from start to completion and returns the number of the engine's
    // allocations.
    std::size_t run(operation_kind kind, status answered, bool is_stored) {
        client_engine& engine = driver.engine();
        const std::size_t before = new_count.load();
        operation_request request;
        request.kind = kind;
        request.keyspace = keyspace;
        request.key = base::slice::copy_of(base::as_bytes("user::1234"));
        request.value = base::slice::copy_of(base::as_bytes("{\"n\":1}"));
        engine.start(
            std::move(request),
            [this](operation_result&& result) {
                ++completed;
                has_history = result.history != nullptr;
            },
            driver.now);
        exchange(kind, answered, is_stored);
        return new_count.load() - before;
    }
    void exchange(operation_kind kind, status answered, bool is_stored) {
        client_engine& engine = driver.engine();
        actions.clear();
        engine.take_actions(actions);
        const base::byte_views parts = engine.begin_write(connection, driver.now);
        if (parts.empty()) {
            return;
        }
        const base::byte_view bytes = parts.front();  // small values are part of it
        make_answer(kind, bytes, answered, is_stored);
        engine.on_written(connection, bytes.size(), driver.now);
        engine.on_bytes(connection, answer_bytes, driver.now);
        engine.drain_completions();
    }
    // Uses the opaque of the request. A stored document has four bytes of flags and its value.
    void make_answer(
        operation_kind kind, base::byte_view request, status answered, bool is_stored) {
        answer_bytes.assign(24, std::byte{});
        answer_bytes[0] = std::byte{0x81};
        answer_bytes[1] = static_cast<std::byte>(opcode_of(kind));
        answer_bytes[6] = static_cast<std::byte>(static_cast<unsigned>(answered) >> 8U);
        answer_bytes[7] = static_cast<std::byte>(static_cast<unsigned>(answered) & 0xffU);
        std::copy_n(request.begin() + 12, 4, answer_bytes.begin() + 12);
        if (is_stored) {
            answer_bytes[4] = std::byte{4};
            answer_bytes[11] = static_cast<std::byte>(4 + value_size);
            answer_bytes.resize(28 + value_size);
        }
    }

    scripted_cluster cluster;
    engine_driver driver;
    connection_id connection{};
    keyspace_id keyspace{};
    action_list actions;
    std::vector<std::byte> answer_bytes;
    std::size_t value_size = 1;
    int completed = 0;
    bool has_history = false;
};

TEST(engine_allocation, the_counter_counts) {
    const std::size_t before = new_count.load();
    const auto memory = std::make_unique<int>(1);
    EXPECT_GT(new_count.load(), before) << *memory;
}

TEST(engine_allocation, RH_30_an_operation_that_was_not_retried_allocates_nothing) {
    canned_scene scene;
    for (int warming = 0; warming < 4; ++warming) {
        scene.run(operation_kind::get, status::success, true);
        scene.run(operation_kind::upsert, status::success, false);
    }
    const int before = scene.completed;
    for (int index = 0; index < 100; ++index) {
        ASSERT_EQ(scene.run(operation_kind::get, status::success, true), 0U) << index;
        ASSERT_FALSE(scene.has_history);
        ASSERT_EQ(scene.run(operation_kind::upsert, status::success, false), 0U) << index;
    }
    EXPECT_EQ(scene.completed, before + 200);
}

TEST(engine_allocation, RH_30_a_value_that_does_not_fit_into_the_result_allocates_nothing_either) {
    canned_scene scene;
    for (const std::size_t size : {49U, 64U, 200U}) {
        scene.value_size = size;
        for (int warming = 0; warming < 4; ++warming) {
            scene.run(operation_kind::get, status::success, true);
        }
        for (int index = 0; index < 10; ++index) {
            ASSERT_EQ(scene.run(operation_kind::get, status::success, true), 0U) << size;
        }
    }
}

TEST(engine_allocation, RH_30_a_retry_allocates_only_for_its_history) {
    canned_scene scene;
    for (int warming = 0; warming < 4; ++warming) {
        scene.run(operation_kind::get, status::success, true);
    }
    // The failed attempt and its parking allocate nothing. The success allocates the history for
    // the user.
    EXPECT_EQ(scene.run(operation_kind::get, status::etmpfail, false), 0U);
    EXPECT_EQ(scene.driver.engine().statistics().operations_parked, 1U);
    const std::size_t before = new_count.load();
    scene.driver.now += 1ms;
    scene.driver.engine().on_time(scene.driver.now);
    scene.exchange(operation_kind::get, status::success, true);
    EXPECT_TRUE(scene.has_history);
    EXPECT_LE(new_count.load() - before, 4U);
}

// A million operations wait for the first connection. Each costs 512 bytes and the room that its
// slot has for a key and a value, and waking them allocates nothing per operation.
TEST(engine_allocation, RH_32_a_million_operations_park_in_512_bytes_each_and_wake_for_nothing) {
    constexpr std::size_t count = 1'000'000;
    scripted_cluster cluster(1);
    cluster.nodes[0].ignores_connections = true;
    engine_options options;
    options.parked_count_max = count;
    engine_driver driver(cluster, options);
    const keyspace_id keyspace = driver.engine().keyspace(cluster.bucket);
    const auto start_one = [&](completion done) {
        operation_request request;
        request.kind = operation_kind::get;
        request.keyspace = keyspace;
        request.key = base::slice::copy_of(base::as_bytes("user::1234"));
        request.timeout = 1h;
        return driver.engine().start(std::move(request), std::move(done), driver.now);
    };
    std::vector<operation_id> ids;
    ids.reserve(count);
    std::size_t completed = 0;
    const std::size_t bytes_before = bytes_in_use.load();
    for (std::size_t index = 0; index < count; ++index) {
        ids.push_back(start_one([&](operation_result&&) { ++completed; }));
    }
    const std::size_t bytes_each = (bytes_in_use.load() - bytes_before) / count;
    RecordProperty("bytes_for_each_parked_operation", static_cast<int>(bytes_each));
    EXPECT_LE(bytes_each, 512U + 2 * base::slice::inline_size_max);
    EXPECT_EQ(driver.engine().statistics().operations_parked, count);
    std::error_code refused;
    start_one([&](operation_result&& result) { refused = result.ec; });
    driver.engine().drain_completions();
    EXPECT_EQ(refused, errc::retry_queue_full);

    cluster.nodes[0].ignores_connections = false;
    cluster.answer_all(opcode::get, {.is_silent = true});
    const std::size_t news_before = new_count.load();
    driver.advance(options.connect_timeout + options.reconnect_delay_max);
    EXPECT_LE(new_count.load() - news_before, 20'000U)
        << "one bootstrap, and no allocation per operation";
    EXPECT_EQ(driver.engine().statistics().operations_parked, 0U);
    EXPECT_EQ(driver.engine().statistics().operations_on_wire, options.pipeline_credit);
    EXPECT_EQ(driver.engine().statistics().operations_ready, count - options.pipeline_credit);

    for (std::size_t index = 0; index < count; ++index) {
        ASSERT_TRUE(driver.engine().cancel(ids[index], driver.now));
        if (index % 1000 == 999) {
            driver.engine().drain_completions();
        }
    }
    driver.engine().drain_completions();
    EXPECT_EQ(completed, count);
    EXPECT_EQ(driver.engine().statistics().operations_open, 0U);
}

}  // namespace reprise::engine::testing::engine_allocation_tests
