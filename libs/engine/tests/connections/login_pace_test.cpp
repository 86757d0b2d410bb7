#include "connections/login_pace.hpp"

#include <gtest/gtest.h>

namespace reprise::engine {
namespace login_pace_tests {

constexpr time_point start{std::chrono::hours{1}};

}  // namespace login_pace_tests

using login_pace_tests::start;

TEST(login_pace, allows_logins_as_long_as_servers_prove_themselves) {
    login_pace pace;
    EXPECT_FALSE(pace.try_begin(start));
    EXPECT_FALSE(pace.try_begin(start));
    EXPECT_FALSE(pace.on_proved());
}

TEST(login_pace, returns_the_time_of_the_next_login_after_a_server_gave_no_proof) {
    login_pace pace;
    pace.on_unproved(start);
    EXPECT_EQ(pace.try_begin(start), start + login_pace::pause);
    EXPECT_EQ(pace.try_begin(start + login_pace::pause - duration{1}), start + login_pace::pause);
}

TEST(login_pace, allows_one_login_after_each_pause) {
    login_pace pace;
    pace.on_unproved(start);
    const time_point later = start + login_pace::pause;
    EXPECT_FALSE(pace.try_begin(later));
    EXPECT_EQ(pace.try_begin(later), later + login_pace::pause);
}

TEST(login_pace, ends_with_a_proof) {
    login_pace pace;
    pace.on_unproved(start);
    EXPECT_TRUE(pace.on_proved());
    EXPECT_FALSE(pace.try_begin(start));
}

}  // namespace reprise::engine
