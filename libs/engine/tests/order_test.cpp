#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "engine_driver.hpp"

// Tests the order of operations that the client promises, and the cases without a promise.

namespace reprise::engine::testing {
namespace {

std::string text_of(const char* path) {
    std::ifstream in(path);
    std::ostringstream all;
    all << in.rdbuf();
    return all.str();
}

TEST(order, RH_31_of_two_writes_under_way_the_first_may_be_applied_last) {
    scripted_cluster cluster(1);
    int seen = 0;
    cluster.on_request =
        [&](const seen_request& request) -> std::optional<scripted_cluster::scripted_answer> {
        if (request.op == wire::opcode::set && seen++ == 0) {
            scripted_cluster::scripted_answer answer;
            answer.status = wire::status::etmpfail;
            return answer;
        }
        return std::nullopt;
    };
    connected_driver driver(cluster);
    auto first = driver.upsert("k", "first");
    auto second = driver.after(10ms, driver.upsert("k", "second"));
    EXPECT_FALSE(first->result.ec);
    EXPECT_FALSE(second->result.ec);
    EXPECT_EQ(first->result.retry_attempts, 1U);
    auto read = driver.settled(driver.get("k"));
    EXPECT_EQ(read->result.value.text(), "first") << "its retry was last";
}

TEST(order, RH_31_an_operation_started_after_another_completed_sees_it) {
    auto [cluster, driver] = connected_node();
    auto stored = driver.settled(driver.upsert("k", "value"));
    ASSERT_EQ(stored->calls, 1);
    auto read = driver.settled(driver.get("k"));
    EXPECT_EQ(read->result.value.text(), "value");
}

TEST(order, RH_31_the_header_and_the_guide_document_both) {
    for (const char* path : {REPRISE_COLLECTION_HEADER, REPRISE_CLIENT_GUIDE}) {
        std::string text = text_of(path);
        ASSERT_FALSE(text.empty()) << path;
        for (char& letter : text) {
            letter = letter == '\n' ? ' ' : letter;
        }
        EXPECT_NE(text.find("run at the same time have no order"), std::string::npos) << path;
        EXPECT_NE(text.find("sufficient durability"), std::string::npos) << path;
    }
}

}  // namespace
}  // namespace reprise::engine::testing
