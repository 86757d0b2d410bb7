#include <gtest/gtest.h>

#include <algorithm>

#include "engine_driver.hpp"

// A large value is written from the memory that its request owns, on every attempt.

namespace reprise::engine::testing::large_values_tests {

constexpr std::size_t large_size = std::size_t{1024} * 1024;

engine_options uncompressed() {
    engine_options options;
    options.enable_compression = false;
    return options;
}

struct large_upsert {
    explicit large_upsert(engine_driver& to, std::size_t size = large_size)
        : driver(to), block(base::block_ref::make(size)) {
        std::ranges::fill(block.bytes(), std::byte{'v'});
        auto request = driver.request(operation_kind::upsert, "k");
        request.value = base::slice::cut(block, block.bytes());
        stored = driver.start(std::move(request));
    }
    // Whether the last write took the value from where it is.
    [[nodiscard]] bool is_written_in_place() const {
        return std::ranges::any_of(driver.parts_last, [&](base::byte_view part) {
            return base::lies_within(part, block.bytes());
        });
    }

    engine_driver& driver;
    base::block_ref block;
    engine_driver::outcome_ptr stored;
};

TEST(large_values, are_written_from_where_they_are_on_every_attempt) {
    auto [cluster, driver] = connected_node(uncompressed());
    cluster.on_request = [left = 1](const seen_request& seen) mutable -> std::optional<answer> {
        return seen.op == opcode::set && left-- > 0
                   ? std::optional(answer{.status = status::etmpfail})
                   : std::nullopt;
    };
    large_upsert call(driver);
    driver.settle();
    EXPECT_TRUE(call.is_written_in_place());
    driver.parts_last.clear();
    driver.advance(1s);
    EXPECT_TRUE(call.is_written_in_place()) << "the retry";
    ASSERT_TRUE(call.stored->has_succeeded());
    EXPECT_EQ(call.stored->result.retry_attempts, 1U);
    EXPECT_TRUE(call.block.is_unique()) << "nothing holds it any more";
    const auto seen = cluster.all(opcode::set);
    ASSERT_EQ(seen.size(), 2U);
    EXPECT_TRUE(seen.at(0).value == std::string(large_size, 'v'));
    EXPECT_TRUE(seen.at(1).value == seen.at(0).value);
}

TEST(large_values, small_ones_are_copied) {
    auto [cluster, driver] = connected_node(uncompressed());
    large_upsert call(driver, driver.made_options.large_value_size_min_bytes - 1);
    driver.settle();
    EXPECT_FALSE(call.is_written_in_place());
    EXPECT_TRUE(call.stored->result.has_value());
}

// The server must receive the whole frame, because others follow it on the same connection.
TEST(large_values, a_half_written_one_outlives_its_operation) {
    auto [cluster, driver] = connected_node(uncompressed());
    driver.write_room = large_size / 2;
    large_upsert call(driver);
    const operation_id id = driver.last_id;
    driver.settle();
    ASSERT_TRUE(driver.engine().cancel(id, driver.now));
    driver.settle();
    ASSERT_EQ(call.stored->code(), errc::request_canceled);
    EXPECT_TRUE(call.stored->result.error->is_ambiguous);
    EXPECT_FALSE(call.block.is_unique()) << "the write goes on";
    EXPECT_TRUE(call.is_written_in_place());
    const auto read = driver.get("other");
    driver.write_room = std::size_t(-1);
    driver.settle();
    EXPECT_TRUE(call.block.is_unique());
    EXPECT_EQ(cluster.all(opcode::set).size(), 1U);
    EXPECT_EQ(cluster.all(opcode::get).size(), 1U);
    EXPECT_EQ(read->calls, 1);
    EXPECT_TRUE(driver.closes.empty());
}

TEST(large_values, a_closed_connection_releases_a_half_written_one) {
    auto [cluster, driver] = connected_node(uncompressed());
    driver.write_room = large_size / 2;
    large_upsert call(driver);
    driver.settle();
    cluster.nodes[0].refuses_connections = true;
    driver.close_node(0);
    driver.advance(3s);
    ASSERT_EQ(call.stored->calls, 1);
    EXPECT_TRUE(call.stored->result.error->is_ambiguous);
    EXPECT_TRUE(call.block.is_unique());
}

}  // namespace reprise::engine::testing::large_values_tests
