#include "cancelable_operations.hpp"

#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace reprise::net::cancelable_operations_test {

struct started {
    engine::completion done;
    engine::operation_id id{};

    void begin(cancelable_operations& in, ticket name, engine::operation_id own) {
        id = own;
        in.begin(
            name, [](engine::operation_result&&) {},
            [&](engine::completion&& kept) {
                done = std::move(kept);
                return own;
            });
    }
};

std::vector<std::uint64_t> ids_of(const cancelable_operations& in, ticket name) {
    std::vector<std::uint64_t> found;
    in.visit(name, [&](engine::operation_id each) { found.push_back(each.value); });
    return found;
}

TEST(cancelable_operations, are_found_by_their_ticket_until_they_end) {
    cancelable_operations running;
    started first;
    started second;
    started other;
    first.begin(running, 1, engine::operation_id{10});
    second.begin(running, 1, engine::operation_id{11});
    other.begin(running, 2, engine::operation_id{12});
    EXPECT_EQ(ids_of(running, 1), (std::vector<std::uint64_t>{10, 11}));
    EXPECT_EQ(running.find(2), engine::operation_id{12});
    first.done(engine::operation_result{});
    EXPECT_EQ(ids_of(running, 1), (std::vector<std::uint64_t>{11}));
    other.done(engine::operation_result{});
    EXPECT_EQ(running.find(2), std::nullopt);
    second.done(engine::operation_result{});
    EXPECT_TRUE(ids_of(running, 1).empty());
}

TEST(cancelable_operations, are_gone_before_their_completion_runs) {
    cancelable_operations running;
    engine::completion kept;
    bool was_found = true;
    running.begin(
        1, [&](engine::operation_result&&) { was_found = running.find(1).has_value(); },
        [&](engine::completion&& made) {
            kept = std::move(made);
            return engine::operation_id{10};
        });
    kept(engine::operation_result{});
    EXPECT_FALSE(was_found);
}

}  // namespace reprise::net::cancelable_operations_test
