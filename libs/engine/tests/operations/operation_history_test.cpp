#include "operations/operation_history.hpp"

#include <gtest/gtest.h>

#include "engine_driver.hpp"

namespace reprise::engine::operation_history_tests {

using namespace std::chrono_literals;
using wire::opcode;
using wire::status;
using answer = testing::scripted_cluster::scripted_answer;

TEST(operation_history, control_characters_in_names_of_nodes_are_escaped) {
    history_blocks blocks;
    operation_history history;
    history.push(retry_history::entry{}, 0, blocks);
    const auto hostile = [](std::uint32_t) { return std::string("ok\n\x1b[2J"); };
    const std::string text = to_string(history.report(hostile, hostile));
    EXPECT_NE(text.find("ok\\n\\x1b[2J"), std::string::npos) << text;
    EXPECT_EQ(text.find('\x1b'), std::string::npos);
}

TEST(operation_history, reports_the_nodes_that_were_used_and_no_others) {
    history_blocks blocks;
    operation_history history;
    history.push(retry_history::entry{}, 7, blocks);
    history.push(retry_history::entry{}, 9, blocks);
    history.push(retry_history::entry{}, 7, blocks);
    const auto name = [](std::uint32_t number) { return "node" + std::to_string(number); };
    const retry_history report = history.report(name, name);
    ASSERT_NE(report.protocol, nullptr);
    EXPECT_EQ(report.protocol->places, (std::vector<std::string>{"node7", "node9"}));
    EXPECT_EQ(report.protocol->problems.size(), 2U);
    EXPECT_EQ(report.entries.size(), 3U);
}

TEST(operation_history, a_block_that_is_used_again_has_nothing_of_the_history_before) {
    history_blocks blocks;
    const auto name = [](std::uint32_t number) { return "node" + std::to_string(number); };
    {
        operation_history before;
        for (int each = 0; each < 5; ++each) {
            before.push(retry_history::entry{}, 7, blocks);
        }
        EXPECT_EQ(before.report(name, name).entries.size(), 5U);
    }
    operation_history history;
    EXPECT_TRUE(history.empty());
    EXPECT_TRUE(history.report(name, name).entries.empty());
    history.push(retry_history::entry{}, 9, blocks);
    EXPECT_FALSE(history.empty());
    const retry_history report = history.report(name, name);
    ASSERT_NE(report.protocol, nullptr);
    EXPECT_EQ(report.protocol->places, (std::vector<std::string>{"node9"}));
    EXPECT_EQ(report.entries.size(), 1U);
}

TEST(operation_history, RH_30_an_attempt_that_found_no_node_has_no_endpoint) {
    testing::scripted_cluster cluster(1, 1);
    testing::connected_driver driver(cluster);
    cluster.answer_each(opcode::get, [&](const testing::seen_request&) {
        cluster.map = {{-1}};
        ++cluster.revision.rev;
        return answer{
            .status = status::not_my_vbucket,
            .value = cluster.configuration_text(0),
            .datatype = wire::datatype::json};
    });
    const auto read = driver.after(3s, driver.get("k"));
    ASSERT_EQ(read->calls, 1);
    ASSERT_NE(read->result.history, nullptr);
    const retry_history& history = *read->result.history;
    ASSERT_GE(history.entries.size(), 2U);
    EXPECT_EQ(driver::place_of(history, history.entries[0]), "node1:11210");
    EXPECT_EQ(history.entries[1].reason_as<retry_reason>(), retry_reason::node_not_available);
    EXPECT_EQ(driver::place_of(history, history.entries[1]), "");
}

TEST(operation_history, RH_30_an_answer_that_cannot_be_read_is_in_the_history_with_its_code) {
    testing::scripted_cluster cluster(1);
    testing::connected_driver driver(cluster);
    cluster.on_request = [](const testing::seen_request& seen) -> std::optional<answer> {
        return seen.op == opcode::subdoc_multi_lookup
                   ? std::optional(
                         answer{.status = status::subdoc_multi_path_failure, .value = "short"})
                   : std::nullopt;
    };
    auto request = driver.request(operation_kind::lookup_in, "k");
    request.terms().specs.resize(2);
    for (path_spec& spec : request.terms().specs) {
        spec.path = "a";
    }
    const auto read = driver.after(100ms, driver.start(std::move(request)));
    ASSERT_EQ(read->code(), errc::decoding_failure);
    ASSERT_NE(read->result.history, nullptr);
    EXPECT_EQ(read->result.history->entries.back().code(), 0xccU);
}

}  // namespace reprise::engine::operation_history_tests
