#include "operations/operation_history.hpp"

#include <gtest/gtest.h>

namespace reprise::engine {

TEST(operation_history, control_characters_in_names_of_nodes_are_escaped) {
    operation_history history;
    history.push(history_entry{}, 0);
    const auto hostile = [](std::uint32_t) { return std::string("ok\n\x1b[2J"); };
    const std::string text = to_string(history.report(hostile, hostile));
    EXPECT_NE(text.find("ok\\n\\x1b[2J"), std::string::npos) << text;
    EXPECT_EQ(text.find('\x1b'), std::string::npos);
}

TEST(operation_history, reports_the_nodes_that_were_used_and_no_others) {
    operation_history history;
    history.push(history_entry{}, 7);
    history.push(history_entry{}, 9);
    history.push(history_entry{}, 7);
    const auto name = [](std::uint32_t number) { return "node" + std::to_string(number); };
    const retry_history report = history.report(name, name);
    EXPECT_EQ(report.endpoints, (std::vector<std::string>{"node7", "node9"}));
    EXPECT_EQ(report.problems.size(), 2U);
    EXPECT_EQ(report.entries.size(), 3U);
}

}  // namespace reprise::engine
