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

}  // namespace reprise::engine
