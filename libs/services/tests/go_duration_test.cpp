#include <gtest/gtest.h>

#include <reprise/services/go_duration.hpp>

namespace reprise::services {
namespace go_duration_test {

using namespace std::chrono_literals;

TEST(go_duration, reads_what_services_write) {
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

TEST(go_duration, refuses_everything_else) {
    for (const char* text :
         {"", "-", "+", "1", "1.5", "s", ".s", ".", "1x", "1 s", "1s ", "1d", "--1s", "1m-3s",
          "9223372036854775808ns", "9999999999h", "99999999999999999999s", "1s2", "\xb5s"}) {
        EXPECT_EQ(parse_go_duration(text), std::nullopt) << text;
    }
}

TEST(go_duration, is_written_as_go_writes_it) {
    EXPECT_EQ(to_go_duration(0ns), "0s");
    EXPECT_EQ(to_go_duration(3ns), "3ns");
    EXPECT_EQ(to_go_duration(84500ns), "84.5\xc2\xb5s");
    EXPECT_EQ(to_go_duration(1200us), "1.2ms");
    EXPECT_EQ(to_go_duration(90500ms), "1m30.5s");
    EXPECT_EQ(to_go_duration(3723s), "1h2m3s");
    EXPECT_EQ(to_go_duration(1h), "1h0m0s");
    EXPECT_EQ(to_go_duration(-1001ms), "-1.001s");
    EXPECT_EQ(to_millisecond_text(75s), "75000ms");
}

TEST(go_duration, what_is_written_is_read_back) {
    std::int64_t count = 1;
    for (int i = 0; i < 62; ++i) {
        for (const std::int64_t each : {count, -count, count + 1}) {
            const std::chrono::nanoseconds length(each);
            EXPECT_EQ(parse_go_duration(to_go_duration(length)), length) << each;
        }
        count *= 2;
    }
}

}  // namespace go_duration_test
}  // namespace reprise::services
