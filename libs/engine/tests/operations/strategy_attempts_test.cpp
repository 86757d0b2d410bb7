#include <gtest/gtest.h>

#include "equipped_strategy.hpp"

// What the breaker, the observer and the tracer of a strategy see. An attempt of an operation is
// one attempt for them, however many requests it takes. Only requests that were sent count, and a
// retry that the protocol demands is no failure.

namespace reprise::engine::testing::strategy_attempts_tests {

using wire::status;
using answer = scripted_cluster::scripted_answer;

engine_options with(driver::strategy_traits traits) {
    engine_options options;
    options.strategy = std::make_shared<three_attempts>(traits);
    return options;
}

// --- the tracer ---

// Such a strategy was taken for one that is only asked about failures, although it has a tracer.
TEST(strategy_attempts, a_strategy_that_only_answers_is_traced) {
    for (const bool only_answers : {false, true}) {
        span_counter tracer;
        scripted_cluster cluster{1};
        connected_driver driver(cluster);
        auto request = driver.request(operation_kind::upsert, "k", "v");
        request.terms().strategy = std::make_shared<three_attempts>(
            driver::strategy_traits{.only_answers = only_answers, .tracer = &tracer});
        EXPECT_TRUE(driver.after(10ms, driver.start(std::move(request)))->has_succeeded());
        EXPECT_EQ(tracer.seen.made, 2) << "the call and its attempt";
        EXPECT_EQ(tracer.seen.open, 0);
    }
}

}  // namespace reprise::engine::testing::strategy_attempts_tests
