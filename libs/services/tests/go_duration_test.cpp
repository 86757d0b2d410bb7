#include <gtest/gtest.h>

#include <reprise/services/go_duration.hpp>

namespace reprise::services::go_duration_test {

using namespace std::chrono_literals;

TEST(go_duration, parses_what_services_write) {
    EXPECT_EQ(parse_go_duration("1m30.5s"), 90500ms);
    EXPECT_EQ(parse_go_duration("84.5\xc2\xb5s"), 84500ns);
    EXPECT_EQ(parse_go_duration("84.5\xce\xbcs"), 84500ns);
    EXPECT_EQ(parse_go_duration("84.5us"), 84500ns);
    EXPECT_EQ(parse_go_duration("1.167435ms"), 1167435ns);
    EXPECT_EQ(parse_go_duration("75000ms"), 75s);
    EXPECT_EQ(parse_go_duration("2h45m"), 165min);
    EXPECT_EQ(parse_go_duration("-1.5h"), -90min);
    EXPECT_EQ(parse_go_duration("+3ns"), 3ns);
    EXPECT_EQ(parse_go_duration("0"), 0ns);
    EXPECT_EQ(parse_go_duration(".5s"), 500ms);
    EXPECT_EQ(parse_go_duration("1.s"), 1s);
    EXPECT_EQ(parse_go_duration("0.0000000009s"), 0ns);
    EXPECT_EQ(parse_go_duration("9223372036854775807ns"), std::chrono::nanoseconds::max());
}

TEST(go_duration, rejects_everything_else) {
    for (const char* text :
         {"", "-", "+", "1", "1.5", "s", ".s", ".", "1x", "1 s", "1s ", "1d", "--1s", "1m-3s",
          "9223372036854775808ns", "9999999999h", "99999999999999999999s", "1s2", "\xb5s"}) {
        EXPECT_EQ(parse_go_duration(text), std::nullopt) << text;
    }
}

TEST(go_duration, timeouts_are_sent_in_milliseconds) {
    EXPECT_EQ(to_millisecond_text(75s), "75000ms");
}

}  // namespace reprise::services::go_duration_test
