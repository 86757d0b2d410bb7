#include <reprise/couchbase_types/error_info.hpp>

#include <gtest/gtest.h>

namespace reprise::couchbase::error_info_tests {

constexpr const char* hostile =
    "ok\n\x1b[2Jgone\xc2\x9b"
    "1A\r";
constexpr const char* harmless = "ok\\n\\x1b[2Jgone\\u009b1A\\r";

TEST(error_info, control_characters_of_servers_are_escaped) {
    const auto expect_shown = [](auto change) {
        error_info error;
        error.code = errc::temporary_failure;
        error.operation = "get";
        change(error);
        const std::string text = to_string(error);
        EXPECT_NE(text.find(harmless), std::string::npos) << text;
        EXPECT_EQ(text.find('\x1b'), std::string::npos);
        EXPECT_EQ(text.find("\xc2\x9b"), std::string::npos);
        EXPECT_EQ(text.find('\n'), std::string::npos) << "one line without a history";
    };
    expect_shown([](error_info& error) { error.server_context = hostile; });
    expect_shown([](error_info& error) { error.server_ref = hostile; });
    expect_shown([](error_info& error) { error.error_map = error_map_note{hostile, "", {}}; });
    expect_shown([](error_info& error) { error.error_map = error_map_note{"", hostile, {}}; });
    expect_shown([](error_info& error) { error.last_dispatched_to = hostile; });
    expect_shown([](error_info& error) { error.detail = hostile; });
    expect_shown([](error_info& error) {
        error.key = hostile;
        error.shows_key = true;
    });
    expect_shown([](error_info& error) { error.error_map = error_map_note{"", "", {hostile}}; });
    expect_shown([](error_info& error) { error.bucket = hostile; });
}

TEST(error_info, texts_of_errors_show_keys_only_when_asked_for) {
    error_info error;
    error.operation = "get";
    error.key = "private";
    EXPECT_EQ(to_string(error).find("private"), std::string::npos);
    error.shows_key = true;
    EXPECT_NE(to_string(error).find("private"), std::string::npos);
}

}  // namespace reprise::couchbase::error_info_tests
