#include <reprise/couchbase/diagnostics.hpp>

#include <gtest/gtest.h>

// Reports as text, and their overall state.

namespace reprise::couchbase::diagnostics_text_test {

using enum endpoint_state;

std::vector<endpoint_report> with_states(std::initializer_list<endpoint_state> states) {
    std::vector<endpoint_report> made;
    for (const endpoint_state state : states) {
        made.emplace_back().state = state;
    }
    return made;
}

TEST(diagnostics_report, is_online_only_if_everything_wanted_is_connected) {
    EXPECT_EQ(state_of({}), cluster_state::offline);
    EXPECT_EQ(state_of(with_states({connected, connected})), cluster_state::online);
    EXPECT_EQ(state_of(with_states({connected, disconnecting})), cluster_state::online);
    EXPECT_EQ(state_of(with_states({connected, connecting})), cluster_state::degraded);
    EXPECT_EQ(state_of(with_states({connected, disconnected})), cluster_state::degraded);
    EXPECT_EQ(state_of(with_states({connecting})), cluster_state::offline);
    EXPECT_EQ(state_of(with_states({disconnected, disconnecting})), cluster_state::offline);
}

TEST(diagnostics_report, has_the_format_of_the_sdks) {
    diagnostics_report report;
    report.id = "00000000000000ff";
    report.state = cluster_state::degraded;
    endpoint_report query;
    query.service = service_kind::query;
    query.remote = "n\"1:8093";
    endpoint_report documents;
    documents.state = connected;
    documents.id = "00000000000000ff/0000000000000001";
    documents.remote = "n1:11210";
    documents.local = "127.0.0.1:5";
    documents.bucket = "travel";
    documents.last_activity = std::chrono::milliseconds{3};
    report.endpoints = {query, documents};
    std::string text = to_json(report);
    std::erase_if(text, [](char c) { return c == '\n' || c == ' '; });
    EXPECT_EQ(
        text,
        R"({"version":2,"id":"00000000000000ff","sdk":"reprise","state":"degraded","services":{)"
        R"("kv":[{"id":"00000000000000ff/0000000000000001","last_activity_us":3000,)"
        R"("remote":"n1:11210","local":"127.0.0.1:5","state":"connected","namespace":"travel"}],)"
        R"("query":[{"id":"","remote":"n\"1:8093","local":"","state":"disconnected"}]}})");
}

}  // namespace reprise::couchbase::diagnostics_text_test
