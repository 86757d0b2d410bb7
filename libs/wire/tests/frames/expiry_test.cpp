#include <reprise/wire/expiry.hpp>

#include <gtest/gtest.h>

#include <chrono>

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

}  // namespace reprise::wire::expiry_test
