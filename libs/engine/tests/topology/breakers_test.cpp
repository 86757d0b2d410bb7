#include "topology/breakers.hpp"

#include <gtest/gtest.h>

#include "engine_parts.hpp"

namespace reprise::engine::testing::breakers_tests {

struct one_breaker {
    one_breaker() : parts(options()) {}
    static engine_options options() {
        engine_options made;
        made.circuit_breaker.emplace();
        made.circuit_breaker->volume_threshold = 1;
        return made;
    }
    engine_parts parts;
    endpoint_record& endpoint = parts.endpoints.at("node1", 11210);
    breakers& all = parts.breakers_of_nodes;

    void fail() { all.on_outcome(endpoint, errc::unambiguous_timeout, parts.now); }
};

class message_log final : public log_sink {
public:
    void on_decision(log_level, const decision_record&) noexcept override {}
    void on_message(log_level level, std::string_view text) noexcept override {
        lines.push_back((level == log_level::warn ? "warn: " : "info: ") + std::string(text));
    }
    std::vector<std::string> lines;
};

TEST(breakers, arm_the_endpoint_when_its_breaker_opens) {
    one_breaker with;
    EXPECT_TRUE(breakers::allow(with.endpoint));
    with.fail();
    EXPECT_FALSE(breakers::allow(with.endpoint));
    EXPECT_TRUE(with.endpoint.is_armed());
}

TEST(breakers, warn_when_they_open_and_tell_when_they_close) {
    engine_options options = one_breaker::options();
    const auto log = std::make_shared<message_log>();
    options.log = log;
    engine_parts parts(options);
    endpoint_record& endpoint = parts.endpoints.at("node1", 11210);
    parts.breakers_of_nodes.on_outcome(endpoint, errc::unambiguous_timeout, parts.now);
    EXPECT_TRUE(parts.breakers_of_nodes.close(endpoint));
    const std::vector<std::string> expected{
        "warn: circuit breaker of node1:11210 opens",
        "info: circuit breaker of node1:11210 closes"};
    EXPECT_EQ(log->lines, expected);
}

TEST(breakers, RH_34_only_timeouts_count_unless_the_predicate_decides_otherwise) {
    one_breaker usual;
    usual.all.on_outcome(usual.endpoint, errc::temporary_failure, usual.parts.now);
    usual.all.on_outcome(usual.endpoint, errc::request_canceled, usual.parts.now);
    EXPECT_TRUE(breakers::allow(usual.endpoint));
    one_breaker ambiguous;
    ambiguous.all.on_outcome(ambiguous.endpoint, errc::ambiguous_timeout, ambiguous.parts.now);
    EXPECT_FALSE(breakers::allow(ambiguous.endpoint));
    engine_options options = one_breaker::options();
    options.is_breaker_failure = [](const std::error_code& outcome) {
        return outcome == errc::temporary_failure;
    };
    engine_parts parts(options);
    endpoint_record& endpoint = parts.endpoints.at("node1", 11210);
    parts.breakers_of_nodes.on_outcome(endpoint, errc::unambiguous_timeout, parts.now);
    EXPECT_TRUE(breakers::allow(endpoint));
    parts.breakers_of_nodes.on_outcome(endpoint, errc::temporary_failure, parts.now);
    EXPECT_FALSE(breakers::allow(endpoint));
}

TEST(breakers, sleep_again_when_no_canary_can_be_sent) {
    one_breaker with;
    with.fail();
    const time_point due = with.endpoint.due();
    with.all.on_due(with.endpoint, due, [](const endpoint_record&) { return false; });
    EXPECT_EQ(with.endpoint.breaker->state(), circuit_state::open);
    EXPECT_GT(with.endpoint.due(), due);
}

TEST(breakers, wait_for_the_canary_that_was_sent) {
    one_breaker with;
    with.fail();
    with.all.on_due(
        with.endpoint, with.endpoint.due(), [](const endpoint_record&) { return true; });
    EXPECT_EQ(with.endpoint.breaker->state(), circuit_state::half_open);
    with.all.on_canary_lost(with.endpoint, with.endpoint.due());
    EXPECT_EQ(with.endpoint.breaker->state(), circuit_state::open);
}

TEST(breakers, close_once_and_leave_no_timer) {
    one_breaker with;
    with.fail();
    EXPECT_TRUE(with.all.close(with.endpoint));
    EXPECT_FALSE(with.all.close(with.endpoint)) << "it was closed already";
    EXPECT_FALSE(with.endpoint.is_armed());
}

TEST(breakers, do_nothing_if_they_are_not_enabled) {
    engine_parts parts;
    endpoint_record& endpoint = parts.endpoints.at("node1", 11210);
    parts.breakers_of_nodes.on_outcome(endpoint, errc::unambiguous_timeout, parts.now);
    parts.breakers_of_nodes.on_canary_lost(endpoint, parts.now);
    parts.breakers_of_nodes.forget(endpoint);
    EXPECT_TRUE(breakers::allow(endpoint));
    EXPECT_FALSE(parts.breakers_of_nodes.close(endpoint));
    EXPECT_FALSE(endpoint.is_armed());
}

}  // namespace reprise::engine::testing::breakers_tests
