#include <gtest/gtest.h>

#include "engine_driver.hpp"
#include "operations/operation_history.hpp"

// How errors and log lines show text from other sources.

namespace reprise::engine::testing {
namespace error_info_tests {

constexpr const char* hostile =
    "ok\n\x1b[2Jgone\xc2\x9b"
    "1A\r";
constexpr const char* harmless = "ok\\n\\x1b[2Jgone\\u009b1A\\r";

void expect_harmless(const std::string& text) {
    EXPECT_NE(text.find(harmless), std::string::npos) << text;
    EXPECT_EQ(text.find('\x1b'), std::string::npos);
    EXPECT_EQ(text.find("\xc2\x9b"), std::string::npos);
}

TEST(error_text, control_characters_in_names_of_nodes_are_escaped) {
    operation_history history;
    history.push(history_entry{}, 0);
    const auto hostile_text = [](std::uint32_t) { return std::string(hostile); };
    expect_harmless(to_string(history.report(hostile_text, hostile_text)));
}

class message_keeper final : public log_sink {
public:
    void on_decision(log_level, const decision_record&) noexcept override {}
    void on_message(log_level, std::string_view text) noexcept override { heard += text; }
    std::string heard;
};

TEST(error_text, control_characters_in_log_lines_are_escaped) {
    scripted_cluster cluster(1);
    cluster.nodes[0].host = hostile;
    const auto sink = std::make_shared<message_keeper>();
    engine_driver driver(cluster, {.log = sink});
    driver.connect();
    expect_harmless(sink->heard);
}

class http_error_text : public ::testing::Test {
protected:
    // The error of a call with a statement and a server message of these sizes.
    std::shared_ptr<const error_info> failed(std::size_t statement_size, std::size_t words_size) {
        cluster_.nodes[0].services.set(wire::service::query, wire::transport::plain, 8093);
        cluster_.on_http = [](const seen_http_request&) {
            scripted_http_answer answer;
            answer.status = 400;
            return answer;
        };
        engine_driver driver(cluster_);
        driver.connect();
        auto request = readonly_request("{}", [words_size](const http_answer&) {
            exchange_verdict verdict;
            verdict.what = exchange_verdict::step::failed;
            verdict.error = errc::parsing_failure;
            verdict.server_text = std::string(words_size, 'w');
            return verdict;
        });
        request.statement = std::string(statement_size, 's');
        const auto done = driver.start_http(std::move(request));
        driver.settle();
        return done->result.error;
    }
    scripted_cluster cluster_{1};
};

TEST_F(http_error_text, a_statement_is_cut_at_one_kibibyte_and_marked) {
    EXPECT_EQ(failed(1024, 0)->key, std::string(1024, 's'));
    EXPECT_EQ(failed(1025, 0)->key, std::string(1024, 's') + "... (1 more bytes)");
    const auto large = failed(1'000'000, 0);
    EXPECT_LT(large->key.size(), 1100U);
    EXPECT_NE(to_string(*large).find("... (998976 more bytes)"), std::string::npos);
}

// Services quote the statement in their messages.
TEST_F(http_error_text, the_message_of_the_service_is_cut_in_the_same_way) {
    EXPECT_EQ(failed(1, 1024)->server_context, std::string(1024, 'w'));
    EXPECT_EQ(failed(1, 5000)->server_context, std::string(1024, 'w') + "... (3976 more bytes)");
}

}  // namespace error_info_tests
}  // namespace reprise::engine::testing
