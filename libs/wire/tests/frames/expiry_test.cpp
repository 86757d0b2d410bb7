#include <reprise/wire/expiry.hpp>

#include <gtest/gtest.h>

#include <chrono>

#include <reprise/wire/common_flags.hpp>

namespace reprise::wire::expiry_test {

using std::chrono::seconds;
using std::chrono::sys_seconds;

constexpr sys_seconds now{seconds(1'700'000'000)};

TEST(expiry, durations_up_to_thirty_days_are_relative) {
    EXPECT_EQ(encode_expiry(seconds(0), now), 0U);
    EXPECT_EQ(encode_expiry(seconds(1), now), 1U);
    EXPECT_EQ(encode_expiry(seconds(2'592'000), now), 2'592'000U);
}

TEST(expiry, longer_durations_become_a_time) {
    EXPECT_EQ(encode_expiry(seconds(2'592'001), now), 1'702'592'001U);
    EXPECT_EQ(encode_expiry(seconds(-1), now).error(), expiry_errc::negative_duration);
    EXPECT_EQ(encode_expiry(seconds(3'000'000'000), now).error(), expiry_errc::too_far);
    EXPECT_EQ(encode_expiry(seconds::max(), now).error(), expiry_errc::too_far);
}

TEST(expiry, times_are_absolute_even_in_the_past) {
    EXPECT_EQ(encode_expiry(now), 1'700'000'000U);
    EXPECT_EQ(encode_expiry(sys_seconds(seconds(2'592'001))), 2'592'001U);
    EXPECT_EQ(encode_expiry(sys_seconds(seconds(2'592'000))).error(), expiry_errc::too_early);
    EXPECT_EQ(encode_expiry(sys_seconds(seconds(-1))).error(), expiry_errc::too_early);
    EXPECT_EQ(encode_expiry(sys_seconds(seconds(4'294'967'296))).error(), expiry_errc::too_far);
}

TEST(expiry, a_server_decodes_the_field_by_the_same_rule) {
    EXPECT_EQ(decode_expiry(0, now), std::nullopt);
    EXPECT_EQ(decode_expiry(10, now), now + seconds(10));
    EXPECT_EQ(decode_expiry(2'592'000, now), now + seconds(2'592'000));
    EXPECT_EQ(decode_expiry(2'592'001, now), sys_seconds(seconds(2'592'001)));
}

TEST(common_flags, the_top_byte_holds_the_format) {
    EXPECT_EQ(encode_common_flags(common_format::json), 0x02000000U);
    EXPECT_EQ(encode_common_flags(common_format::binary), 0x03000000U);
    EXPECT_EQ(encode_common_flags(common_format::string), 0x04000000U);
    EXPECT_EQ(encode_common_flags(common_format::unknown), 0U);
    EXPECT_EQ(decode_common_flags(0x02000006), common_format::json);
    EXPECT_EQ(decode_common_flags(0x00000006), common_format::none);
    EXPECT_EQ(decode_common_flags(0x01000000), common_format::private_format);
    EXPECT_EQ(decode_common_flags(0x05000000), common_format::unknown);
    EXPECT_EQ(decode_common_flags(0x22000000), common_format::unknown);
}

}  // namespace reprise::wire::expiry_test
