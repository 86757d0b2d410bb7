#include <reprise/base/duration_text.hpp>

#include <gtest/gtest.h>

namespace reprise::base {

using namespace std::chrono_literals;

TEST(duration_text, a_duration_is_one_or_more_numbers_with_units) {
    EXPECT_EQ(parse_duration_text("2.5s"), 2500ms);
    EXPECT_EQ(parse_duration_text("100ms"), 100ms);
    EXPECT_EQ(parse_duration_text("1m30s"), 90s);
    EXPECT_EQ(parse_duration_text("1h"), 1h);
    EXPECT_EQ(parse_duration_text("15us"), 15us);
    EXPECT_EQ(parse_duration_text("15\xc2\xb5s"), 15us);
    EXPECT_EQ(parse_duration_text("7ns"), 7ns);
    EXPECT_EQ(parse_duration_text("0s"), 0s);
    for (const char* bad :
         {"", "0", "250", "s", "-1s", "1x", "1.2.3s", ".", "1e3s", "inf", "1s2", "1 s", "9000h",
          "99999999999999999999s", "8000h8000h"}) {
        EXPECT_EQ(parse_duration_text(bad), std::nullopt) << bad;
    }
}

TEST(duration_text, milliseconds_may_be_a_bare_number) {
    EXPECT_EQ(parse_milliseconds("2.5s"), 2500ms);
    EXPECT_EQ(parse_milliseconds("1500us"), 2ms);
    EXPECT_EQ(parse_milliseconds("250"), 250ms);
    EXPECT_EQ(parse_milliseconds("0"), 0ms);
    EXPECT_EQ(parse_milliseconds("0s"), 0ms);
    EXPECT_EQ(parse_milliseconds("2147483647"), 2147483647ms);
    for (const char* bad :
         {"", "s", "-1s", "1e3s", "999us", "2147483648", "99999999999999999999", "1000h", "1 s"}) {
        EXPECT_EQ(parse_milliseconds(bad), std::nullopt) << bad;
    }
}

}  // namespace reprise::base
