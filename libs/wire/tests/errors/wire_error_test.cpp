#include <reprise/wire/wire_error.hpp>

#include <set>
#include <string>

#include <gtest/gtest.h>

#include <reprise/wire/status.hpp>

namespace wire_error_test {

using namespace reprise::wire;

TEST(wire_error, every_code_has_a_name_and_a_message) {
    std::set<std::string> messages;
    for (int code = 1; code <= static_cast<int>(wire_errc::output_full); ++code) {
        const auto error = static_cast<wire_errc>(code);
        EXPECT_NE(to_string(error), "unknown") << code;
        EXPECT_TRUE(messages.insert(make_error_code(error).message()).second) << code;
    }
    EXPECT_EQ(to_string(static_cast<wire_errc>(0)), "unknown");
    const std::error_code ec = wire_errc::frame_too_large;
    EXPECT_STREQ(ec.category().name(), "reprise.wire");
}

TEST(wire_error, rejection_status_is_what_a_server_answers) {
    EXPECT_EQ(rejection_status(wire_errc::frame_info_unknown), status::unknown_frame_info);
    EXPECT_EQ(
        rejection_status(wire_errc::durability_timeout_invalid), status::durability_invalid_level);
    EXPECT_EQ(rejection_status(wire_errc::preserve_ttl_not_supported), status::not_supported);
    EXPECT_EQ(rejection_status(wire_errc::spec_count_invalid), status::subdoc_invalid_combo);
    EXPECT_EQ(rejection_status(wire_errc::leb128_not_canonical), status::einval);
    EXPECT_EQ(rejection_status(wire_errc::cas_must_be_zero), status::einval);
}

}  // namespace wire_error_test
