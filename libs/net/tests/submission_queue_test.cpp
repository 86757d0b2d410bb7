#include "submission_queue.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <thread>
#include <vector>

namespace {

using reprise::net::operation_submission;
using reprise::net::submission;
using reprise::net::submission_places;
using reprise::net::submission_queue;
using reprise::net::task_submission;

submission make_operation(std::uint32_t number) {
    operation_submission made;
    made.where = number;
    return made;
}

TEST(submission_queue, only_the_first_push_wakes_the_loop) {
    submission_queue queue(std::make_shared<submission_places>(10));
    EXPECT_EQ(queue.push(make_operation(1)), submission_queue::outcome::taken_first);
    EXPECT_EQ(queue.push(make_operation(2)), submission_queue::outcome::taken);
    std::vector<submission> taken;
    queue.take(taken);
    EXPECT_EQ(taken.size(), 2U);
    EXPECT_EQ(queue.push(make_operation(3)), submission_queue::outcome::taken_first);
}

TEST(submission_queue, http_operations_also_count_against_the_limit) {
    submission_queue queue(std::make_shared<submission_places>(1));
    const auto push_http = [&] {
        return queue.push(std::make_unique<reprise::net::http_submission>());
    };
    EXPECT_EQ(push_http(), submission_queue::outcome::taken_first);
    EXPECT_EQ(push_http(), submission_queue::outcome::full);
}

TEST(submission_queue, a_full_queue_rejects_operations_and_accepts_tasks) {
    submission_queue queue(std::make_shared<submission_places>(2));
    EXPECT_NE(queue.push(make_operation(1)), submission_queue::outcome::full);
    EXPECT_NE(queue.push(make_operation(2)), submission_queue::outcome::full);
    EXPECT_EQ(queue.push(make_operation(3)), submission_queue::outcome::full);
    EXPECT_EQ(queue.push(task_submission([] {})), submission_queue::outcome::taken);
    std::vector<submission> taken;
    queue.take(taken);
    ASSERT_EQ(taken.size(), 3U);
    EXPECT_EQ(std::get<operation_submission>(taken[1]).where, 2U);
    EXPECT_TRUE(std::holds_alternative<task_submission>(taken[2]));
}

TEST(submission_queue, RH_50_the_queues_of_all_loops_share_the_limit) {
    const auto places = std::make_shared<submission_places>(2);
    submission_queue one(places);
    submission_queue other(places);
    EXPECT_NE(one.push(make_operation(1)), submission_queue::outcome::full);
    EXPECT_NE(other.push(make_operation(2)), submission_queue::outcome::full);
    EXPECT_EQ(one.push(make_operation(3)), submission_queue::outcome::full);
    std::vector<submission> taken;
    other.take(taken);
    EXPECT_NE(one.push(make_operation(3)), submission_queue::outcome::full);
}

TEST(submission_queue, a_rejected_operation_is_unchanged) {
    submission_queue queue(std::make_shared<submission_places>(0));
    operation_submission operation;
    bool is_called = false;
    operation.done = [&](reprise::engine::operation_result&&) { is_called = true; };
    submission wrapped(std::move(operation));
    EXPECT_EQ(queue.push(std::move(wrapped)), submission_queue::outcome::full);
    EXPECT_TRUE(std::get<operation_submission>(wrapped).done);
    EXPECT_FALSE(is_called);
}

TEST(submission_queue, nothing_is_lost_or_duplicated_between_threads) {
    constexpr std::uint32_t per_thread = 2000;
    submission_queue queue(std::make_shared<submission_places>(100'000));
    std::vector<int> seen(4 * per_thread);
    {
        std::vector<std::jthread> threads;
        for (std::uint32_t thread = 0; thread < 4; ++thread) {
            threads.emplace_back([&queue, thread] {
                for (std::uint32_t number = 0; number < per_thread; ++number) {
                    (void)queue.push(make_operation(thread * per_thread + number));
                }
            });
        }
        std::vector<submission> taken;
        std::size_t total = 0;
        while (total < seen.size()) {
            queue.take(taken);
            total += taken.size();
            for (const auto& each : taken) {
                ++seen[std::get<operation_submission>(each).where];
            }
        }
    }
    EXPECT_EQ(std::count(seen.begin(), seen.end(), 1), std::ssize(seen));
}

}  // namespace
