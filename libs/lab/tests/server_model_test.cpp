#include <gtest/gtest.h>

#include "server_model.hpp"

namespace reprise::lab {

namespace server_model_test {

using namespace std::chrono_literals;

/// One piece of work takes exactly 10 ms.
storm_options slow_server(outage_kind outage, std::size_t queue_limit) {
    storm_options options;
    options.capacity_per_second = 100.0;
    options.service_time = service_time::fixed;
    options.queue_limit = queue_limit;
    options.outage = outage;
    return options;
}

}  // namespace server_model_test

using server_model_test::slow_server;
using namespace std::chrono_literals;

TEST(server_model, processes_arrivals_in_order_one_at_a_time) {
    server_model server(slow_server(outage_kind::stalled, 5));
    EXPECT_EQ(server.next_completion(), never);
    EXPECT_EQ(server.arrive({1, 0}, 0ms), admission::queued);
    EXPECT_EQ(server.arrive({2, 0}, 4ms), admission::queued);
    EXPECT_EQ(server.next_completion(), 10ms);
    EXPECT_EQ(server.complete(), (attempt_id{1, 0}));
    EXPECT_EQ(server.next_completion(), 20ms);
    EXPECT_EQ(server.complete(), (attempt_id{2, 0}));
    EXPECT_EQ(server.next_completion(), never);
}

TEST(server_model, rejects_what_exceeds_the_queue_in_addition_to_the_one_in_service) {
    server_model server(slow_server(outage_kind::stalled, 1));
    EXPECT_EQ(server.arrive({1, 0}, 0ms), admission::queued);
    EXPECT_EQ(server.arrive({2, 0}, 0ms), admission::queued);
    EXPECT_EQ(server.arrive({3, 0}, 0ms), admission::full);
    EXPECT_EQ(server.complete(), (attempt_id{1, 0}));
    EXPECT_EQ(server.arrive({4, 0}, 10ms), admission::queued);
    EXPECT_EQ(server.waiting(), 2U);
}

TEST(server_model, stalled_server_keeps_its_queue_and_resumes_the_work_it_had_started) {
    server_model server(slow_server(outage_kind::stalled, 5));
    std::vector<attempt_id> dropped;
    EXPECT_EQ(server.arrive({1, 0}, 0ms), admission::queued);
    server.start_outage(4ms, dropped);
    EXPECT_TRUE(dropped.empty());
    EXPECT_EQ(server.arrive({2, 0}, 50ms), admission::queued);
    EXPECT_EQ(server.next_completion(), never);
    server.end_outage(100ms);
    EXPECT_EQ(server.next_completion(), 106ms);
    EXPECT_EQ(server.complete(), (attempt_id{1, 0}));
    EXPECT_EQ(server.next_completion(), 116ms);
}

TEST(server_model, idle_stalled_server_starts_on_its_queue_when_the_outage_ends) {
    server_model server(slow_server(outage_kind::stalled, 5));
    std::vector<attempt_id> dropped;
    server.start_outage(0ms, dropped);
    EXPECT_EQ(server.arrive({1, 0}, 5ms), admission::queued);
    server.end_outage(20ms);
    EXPECT_EQ(server.next_completion(), 30ms);
}

TEST(server_model, refusing_server_drops_its_queue_and_refuses_until_the_end) {
    server_model server(slow_server(outage_kind::refusing, 5));
    std::vector<attempt_id> dropped;
    EXPECT_EQ(server.arrive({1, 0}, 0ms), admission::queued);
    EXPECT_EQ(server.arrive({2, 0}, 0ms), admission::queued);
    server.start_outage(4ms, dropped);
    EXPECT_EQ(dropped, (std::vector<attempt_id>{{1, 0}, {2, 0}}));
    EXPECT_EQ(server.arrive({3, 0}, 5ms), admission::refused);
    EXPECT_EQ(server.waiting(), 0U);
    server.end_outage(20ms);
    EXPECT_EQ(server.next_completion(), never);
    EXPECT_EQ(server.arrive({4, 0}, 21ms), admission::queued);
    EXPECT_EQ(server.next_completion(), 31ms);
}

}  // namespace reprise::lab
