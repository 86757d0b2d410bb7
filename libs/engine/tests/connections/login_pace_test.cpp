#include "connections/login_pace.hpp"

#include <gtest/gtest.h>

namespace reprise::engine::login_pace_tests {

constexpr time_point start{std::chrono::hours{1}};

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

TEST(login_pace, counts_a_refusal_until_the_credentials_are_replaced) {
    login_pace pace;
    pace.on_refused(start);
    EXPECT_EQ(pace.try_begin(start), start + login_pace::pause);
    pace.on_new_credentials();
    EXPECT_FALSE(pace.try_begin(start));
    pace.on_unproved(start);
    pace.on_refused(start);
    pace.on_new_credentials();
    EXPECT_TRUE(pace.try_begin(start)) << "it never proved itself";
}

TEST(login_pace, the_first_lost_connection_in_a_pause_does_not_count) {
    login_pace pace;
    pace.on_lost(start);
    EXPECT_FALSE(pace.try_begin(start)) << "a server may restart";
    pace.on_lost(start + login_pace::pause);
    EXPECT_FALSE(pace.try_begin(start + login_pace::pause)) << "a pause later again";
    const time_point soon = start + login_pace::pause + duration{1};
    pace.on_lost(soon);
    EXPECT_EQ(pace.try_begin(soon), soon + login_pace::pause);
    EXPECT_FALSE(pace.try_begin(soon + login_pace::pause));
    pace.on_lost(soon + login_pace::pause);
    EXPECT_TRUE(pace.try_begin(soon + login_pace::pause))
        << "the login after a pause is the only one";
}

TEST(login_pace, ends_with_a_proof) {
    login_pace pace;
    pace.on_unproved(start);
    EXPECT_TRUE(pace.on_proved());
    EXPECT_FALSE(pace.try_begin(start));
}

}  // namespace reprise::engine::login_pace_tests
