#include <gtest/gtest.h>

#include <reprise/lab/recovery.hpp>
#include <reprise/lab/slot.hpp>

namespace reprise::lab {

using namespace std::chrono_literals;

namespace recovery_test {

constexpr outage_window outage{4s, 2s};

/// Slots with 100 requests each. `useful(i)` of them are answered in slot i.
template <class Useful>
std::vector<slot> make_slots(std::size_t count, Useful useful) {
    std::vector<slot> slots(count);
    for (std::size_t i = 0; i < count; ++i) {
        slots[i].offered = 100;
        slots[i].useful = useful(i);
    }
    return slots;
}

}  // namespace recovery_test

using recovery_test::make_slots;
using recovery_test::outage;

TEST(recovery, is_immediate_if_the_first_slot_after_the_outage_is_good) {
    const auto slots = make_slots(200, [](std::size_t i) { return i < 40 || i >= 60 ? 100U : 0U; });
    EXPECT_EQ(find_recovery(slots, outage), (recovery{recovery_outcome::recovered, 0s}));
}

TEST(recovery, counts_from_the_end_of_the_outage_to_the_first_good_second) {
    const auto slots = make_slots(200, [](std::size_t i) { return i < 40 || i >= 75 ? 100U : 0U; });
    EXPECT_EQ(find_recovery(slots, outage), (recovery{recovery_outcome::recovered, 1500ms}));
}

TEST(recovery, needs_five_consecutive_seconds_so_a_short_flicker_does_not_count) {
    const auto slots = make_slots(200, [](std::size_t i) {
        const bool flicker = i >= 60 && i < 109;  // One slot short of five seconds.
        return i < 40 || flicker || i >= 130 ? 100U : 0U;
    });
    EXPECT_EQ(find_recovery(slots, outage), (recovery{recovery_outcome::recovered, 7s}));
}

TEST(recovery, ninety_five_percent_is_enough_and_ninety_four_is_not) {
    const auto with = [](std::uint32_t after) {
        return make_slots(200, [=](std::size_t i) { return i < 40 ? 100U : i < 60 ? 0U : after; });
    };
    EXPECT_EQ(find_recovery(with(95), outage).outcome, recovery_outcome::recovered);
    EXPECT_EQ(find_recovery(with(94), outage).outcome, recovery_outcome::never);
}

TEST(recovery, is_measured_against_the_level_before_the_outage) {
    const auto slots = make_slots(200, [](std::size_t i) {
        return i < 40 ? 98U : i < 60 ? 0U : 94U;  // 94 >= 95 % of 98
    });
    EXPECT_EQ(find_recovery(slots, outage).outcome, recovery_outcome::recovered);
}

TEST(recovery, five_good_seconds_must_fit_into_the_run) {
    const auto good_from = [](std::size_t first) {
        return make_slots(120, [=](std::size_t i) { return i < 40 || i >= first ? 100U : 0U; });
    };
    EXPECT_EQ(find_recovery(good_from(70), outage).outcome, recovery_outcome::recovered);
    EXPECT_EQ(find_recovery(good_from(76), outage).outcome, recovery_outcome::never);
}

TEST(recovery, reports_when_the_system_was_unhealthy_before_or_when_there_was_no_outage) {
    const auto ill = make_slots(200, [](std::size_t) { return 50U; });
    EXPECT_EQ(find_recovery(ill, outage).outcome, recovery_outcome::not_healthy_before);
    EXPECT_EQ(find_recovery({}, outage).outcome, recovery_outcome::not_healthy_before);
    EXPECT_EQ(find_recovery(ill, {4s, 0s}).outcome, recovery_outcome::no_outage);
}

}  // namespace reprise::lab
