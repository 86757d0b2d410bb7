#pragma once

#include <string>
#include <string_view>

#include <gtest/gtest.h>
#include <reprise/json/parse.hpp>
#include <reprise/sandbox/control.hpp>

#include "conversation.hpp"

namespace sandbox_testing {

inline reprise::json::value ask_control(
    sandbox::cluster& cluster, std::string_view request, sandbox::control_front* front = nullptr) {
    const auto parsed = reprise::json::parse(request);
    EXPECT_TRUE(parsed) << request;
    return sandbox::handle_control(cluster, parsed->root, front);
}
// Empty if the answer is ok.
inline std::string control_error(
    sandbox::cluster& cluster, std::string_view request, sandbox::control_front* front = nullptr) {
    const reprise::json::value answer = ask_control(cluster, request, front);
    const reprise::json::value* text = answer.find("error");
    EXPECT_EQ(answer.find("ok")->as_bool(), text == nullptr);
    return text == nullptr ? "" : std::string(text->as_string().value());
}

// A cluster of three nodes that is asked through its control commands.
struct control_commands : testing::Test {
    sandbox::cluster cluster = make_cluster(small_options(3));

    reprise::json::value ask(std::string_view request, sandbox::control_front* front = nullptr) {
        return ask_control(cluster, request, front);
    }
    std::string error(std::string_view request, sandbox::control_front* front = nullptr) {
        return control_error(cluster, request, front);
    }
};

}  // namespace sandbox_testing
