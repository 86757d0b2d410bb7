#include <gtest/gtest.h>

#include <reprise/retry/http_facts.hpp>

namespace reprise {
namespace retry_after_test {

using std::chrono::seconds;

// 1994-11-06 08:49:37 UTC, the date of RFC 9110's examples.
constexpr std::chrono::sys_seconds example{seconds{784111777}};

TEST(retry_after, RH_43_seconds_are_used_unchanged) {
    EXPECT_EQ(driver::parse_retry_after("120", example), seconds(120));
    EXPECT_EQ(driver::parse_retry_after(" 0\t", example), seconds(0));
    EXPECT_EQ(driver::parse_retry_after("007", example), seconds(7));
}

TEST(retry_after, RH_43_all_three_forms_of_a_date_count_from_now) {
    const auto now = example - seconds(90);
    EXPECT_EQ(driver::parse_retry_after("Sun, 06 Nov 1994 08:49:37 GMT", now), seconds(90));
    EXPECT_EQ(driver::parse_retry_after("Sunday, 06-Nov-94 08:49:37 GMT", now), seconds(90));
    EXPECT_EQ(driver::parse_retry_after("Sun Nov  6 08:49:37 1994", now), seconds(90));
}

TEST(retry_after, RH_43_a_date_that_has_passed_means_now) {
    EXPECT_EQ(
        driver::parse_retry_after("Sun, 06 Nov 1994 08:49:37 GMT", example + seconds(1)),
        seconds(0));
}

TEST(retry_after, SM_12_RH_43_more_than_a_day_is_ignored_in_both_forms) {
    EXPECT_EQ(driver::parse_retry_after("86400", example), std::chrono::hours{24});
    EXPECT_EQ(driver::parse_retry_after("86401", example), std::nullopt);
    EXPECT_EQ(driver::parse_retry_after("99999999999999999999999999", example), std::nullopt);
    EXPECT_EQ(driver::parse_retry_after("Fri, 31 Dec 9999 23:59:59 GMT", example), std::nullopt);
    EXPECT_EQ(
        driver::parse_retry_after("Mon, 07 Nov 1994 08:49:37 GMT", example),
        std::chrono::hours{24});
    EXPECT_EQ(driver::parse_retry_after("Mon, 07 Nov 1994 08:49:38 GMT", example), std::nullopt);
    EXPECT_EQ(driver::parse_retry_after("90000", example, std::chrono::hours{48}), seconds(90000));
    const auto no_limit = std::chrono::floor<seconds>(std::chrono::nanoseconds::max());
    EXPECT_EQ(
        driver::parse_retry_after("99999999999999999999999999", example, no_limit), std::nullopt);
}

TEST(retry_after, anything_else_is_ignored) {
    for (const char* text :
         {"", " ", "-1", "1.5", "1s", "+3", "soon", "Sun", "Sun, ", "Sun, 06 Nov 1994 08:49:37",
          "Sun, 06 Nov 1994 08:49:37 GMT+1", "Sun, 31 Feb 1994 08:49:37 GMT",
          "Sun, 06 Nov 1994 24:00:00 GMT", "Sun, 6 Nov 1994 08:49:37 GMT",
          "Sunday, 06 Nov 1994 08:49:37 GMT", "Sun Nov 6 08:49:37 1994", "Xxx, 06 Nov 1994"}) {
        EXPECT_EQ(driver::parse_retry_after(text, example), std::nullopt) << text;
    }
}

TEST(retry_after, the_last_hour_minute_and_second_of_a_day_exist) {
    for (const char* text :
         {"Sun, 06 Nov 1994 23:00:00 GMT", "Sun, 06 Nov 1994 08:59:00 GMT",
          "Sun, 06 Nov 1994 23:59:60 GMT"}) {
        EXPECT_TRUE(driver::parse_retry_after(text, example).has_value()) << text;
    }
    for (const char* text : {"Sun, 06 Nov 1994 08:60:00 GMT", "Sun, 06 Nov 1994 08:00:61 GMT"}) {
        EXPECT_EQ(driver::parse_retry_after(text, example), std::nullopt) << text;
    }
}

TEST(http_date, two_digits_of_a_year_mean_the_nearest_past_beyond_fifty_years) {
    EXPECT_EQ(driver::parse_http_date("Sunday, 06-Nov-94 08:49:37 GMT", example), example);
    const auto in_2026 = std::chrono::sys_seconds(seconds(1790000000));
    EXPECT_EQ(driver::parse_http_date("Sunday, 06-Nov-94 08:49:37 GMT", in_2026), example);
    const auto in_2046 = driver::parse_http_date("Tuesday, 06-Nov-46 08:49:37 GMT", in_2026);
    ASSERT_TRUE(in_2046);
    EXPECT_GT(*in_2046, in_2026);
}

}  // namespace retry_after_test
}  // namespace reprise
