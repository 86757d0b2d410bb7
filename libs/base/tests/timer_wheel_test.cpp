#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <set>
#include <stdexcept>
#include <vector>

#include <gtest/gtest.h>
#include <reprise/base/timer_wheel.hpp>

namespace timer_wheel_test {

using reprise::base::timer_node;
using reprise::base::timer_wheel;
using time_point = timer_wheel::time_point;
using std::chrono::hours;
using std::chrono::microseconds;
using std::chrono::milliseconds;
using std::chrono::nanoseconds;
using std::chrono::seconds;

constexpr time_point origin{hours{1}};

struct named_timer : timer_node {
    explicit named_timer(int given = 0) : name(given) {}
    int name;
};

int name_of(timer_node& node) {
    return static_cast<named_timer&>(node).name;
}

std::vector<int> fired_at(timer_wheel& wheel, time_point now) {
    std::vector<int> names;
    wheel.advance(now, [&names](timer_node& node) { names.push_back(name_of(node)); });
    return names;
}

TEST(timer_wheel, fires_at_the_tick_and_never_before_the_planned_time) {
    timer_wheel wheel(origin);
    named_timer exact(1);
    named_timer between(2);
    wheel.arm(exact, origin + milliseconds{5});
    wheel.arm(between, origin + milliseconds{5} + nanoseconds{1});
    EXPECT_EQ(wheel.next_due(), origin + milliseconds{5});
    EXPECT_EQ(fired_at(wheel, origin + milliseconds{5} - nanoseconds{1}), std::vector<int>{});
    EXPECT_EQ(fired_at(wheel, origin + milliseconds{5}), std::vector<int>{1});
    EXPECT_EQ(wheel.next_due(), origin + milliseconds{6});
    EXPECT_EQ(fired_at(wheel, origin + milliseconds{6} - nanoseconds{1}), std::vector<int>{});
    EXPECT_EQ(fired_at(wheel, origin + milliseconds{6}), std::vector<int>{2});
    // The time is exact to the nanosecond.
    EXPECT_EQ(between.due(), origin + milliseconds{5} + nanoseconds{1});
    EXPECT_EQ(wheel.next_due(), std::nullopt);
    EXPECT_TRUE(wheel.empty());
}

TEST(timer_wheel, one_tick_fires_in_the_order_of_arming_even_across_levels) {
    timer_wheel wheel(origin);
    named_timer far(1);
    named_timer near(2);
    wheel.arm(far, origin + seconds{10});
    EXPECT_EQ(fired_at(wheel, origin + milliseconds{9999}), std::vector<int>{});
    wheel.arm(near, origin + seconds{10});
    EXPECT_EQ(fired_at(wheel, origin + seconds{10}), (std::vector<int>{1, 2}));
}

TEST(timer_wheel, a_long_jump_fires_everything_in_time_order) {
    std::vector<std::unique_ptr<named_timer>> timers;
    timer_wheel wheel(origin);
    for (const int delay_ms : {100000, 3, 64, 63, 4096, 65, 262144, 1}) {
        timers.push_back(std::make_unique<named_timer>(delay_ms));
        wheel.arm(*timers.back(), origin + milliseconds{delay_ms});
    }
    EXPECT_EQ(
        fired_at(wheel, origin + hours{1}),
        (std::vector<int>{1, 3, 63, 64, 65, 4096, 100000, 262144}));
}

TEST(timer_wheel, a_time_already_passed_fires_in_the_next_advance_at_the_same_now) {
    timer_wheel wheel(origin);
    const time_point now = origin + seconds{1};
    EXPECT_EQ(fired_at(wheel, now), std::vector<int>{});
    named_timer late(1);
    wheel.arm(late, origin - seconds{5});
    EXPECT_LE(*wheel.next_due(), now);
    EXPECT_EQ(fired_at(wheel, now), std::vector<int>{1});
}

TEST(timer_wheel, a_time_that_has_passed_is_due_at_once_even_if_it_was_the_last_one_armed) {
    timer_wheel wheel(origin);
    named_timer later(1);
    named_timer timer(2);
    wheel.arm(later, origin + milliseconds{64 + 5});  // the slot of `timer`, one turn later
    wheel.arm(timer, origin + milliseconds{5});
    const time_point now = origin + milliseconds{64};
    EXPECT_EQ(fired_at(wheel, now), std::vector<int>{2});
    wheel.arm(timer, origin + milliseconds{5});
    EXPECT_LE(*wheel.next_due(), now);
    EXPECT_EQ(fired_at(wheel, now), std::vector<int>{2});
    EXPECT_EQ(fired_at(wheel, origin + milliseconds{64 + 5}), std::vector<int>{1});
}

TEST(timer_wheel, timers_of_one_time_fire_in_the_order_of_arming_and_alone_if_others_are_disarmed) {
    timer_wheel wheel(origin);
    std::array<named_timer, 4> timers{
        named_timer(0), named_timer(1), named_timer(2), named_timer(3)};
    const time_point due = origin + seconds{2};
    for (named_timer& each : timers) {
        wheel.arm(each, due);
    }
    wheel.disarm(timers[0]);
    wheel.disarm(timers[2]);
    EXPECT_EQ(wheel.armed_count(), 2U);
    wheel.arm(timers[0], due);
    EXPECT_EQ(wheel.next_due(), due);
    EXPECT_EQ(fired_at(wheel, due - milliseconds{1}), std::vector<int>{});
    EXPECT_EQ(fired_at(wheel, due), (std::vector<int>{1, 3, 0}));
}

TEST(timer_wheel, time_going_backwards_fires_nothing_that_is_not_due) {
    timer_wheel wheel(origin);
    (void)fired_at(wheel, origin + seconds{10});
    named_timer timer(1);
    wheel.arm(timer, origin + seconds{11});
    EXPECT_EQ(fired_at(wheel, origin + seconds{5}), std::vector<int>{});
    EXPECT_EQ(fired_at(wheel, origin + seconds{11}), std::vector<int>{1});
}

TEST(timer_wheel, arming_an_armed_timer_moves_it) {
    timer_wheel wheel(origin);
    named_timer timer(1);
    wheel.arm(timer, origin + milliseconds{10});
    wheel.arm(timer, origin + milliseconds{20});
    EXPECT_EQ(wheel.armed_count(), 1u);
    EXPECT_EQ(fired_at(wheel, origin + milliseconds{19}), std::vector<int>{});
    EXPECT_EQ(fired_at(wheel, origin + milliseconds{20}), std::vector<int>{1});
}

TEST(timer_wheel, disarmed_timers_do_not_fire_and_next_due_moves_on) {
    timer_wheel wheel(origin);
    named_timer first(1);
    named_timer second(2);
    wheel.arm(first, origin + milliseconds{1000});
    wheel.arm(second, origin + milliseconds{1010});
    wheel.disarm(first);
    wheel.disarm(first);
    EXPECT_FALSE(first.is_armed());
    // The slot keeps the earlier time. Advancing to it fires nothing and corrects next_due.
    const time_point hint = *wheel.next_due();
    EXPECT_LE(hint, origin + milliseconds{1010});
    EXPECT_EQ(fired_at(wheel, hint), std::vector<int>{});
    EXPECT_EQ(wheel.next_due(), origin + milliseconds{1010});
    EXPECT_EQ(fired_at(wheel, origin + milliseconds{1010}), std::vector<int>{2});
}

TEST(timer_wheel, arming_inside_the_callback_fires_in_the_same_advance_when_due) {
    timer_wheel wheel(origin);
    named_timer timer(1);
    wheel.arm(timer, origin + milliseconds{1});
    int count = 0;
    // A retry every 10 ms, computed from the planned time, while the driver slept for 45 ms.
    wheel.advance(origin + milliseconds{45}, [&](timer_node& node) {
        ++count;
        wheel.arm(node, node.due() + milliseconds{10});
    });
    EXPECT_EQ(count, 5);
    EXPECT_EQ(wheel.next_due(), origin + milliseconds{51});
    wheel.disarm(timer);
}

TEST(timer_wheel, arming_for_the_past_inside_the_callback_waits_for_the_next_advance) {
    timer_wheel wheel(origin);
    named_timer timer(1);
    wheel.arm(timer, origin + milliseconds{1});
    int count = 0;
    const auto rearm = [&](timer_node& node) {
        ++count;
        wheel.arm(node, origin);
    };
    wheel.advance(origin + milliseconds{5}, rearm);
    EXPECT_EQ(count, 1);
    wheel.advance(origin + milliseconds{5}, rearm);
    EXPECT_EQ(count, 2);
    wheel.disarm(timer);
}

TEST(timer_wheel, disarming_another_timer_of_the_same_tick_inside_the_callback_stops_it) {
    timer_wheel wheel(origin);
    named_timer first(1);
    named_timer second(2);
    named_timer third(3);
    for (named_timer* timer : {&first, &second, &third}) {
        wheel.arm(*timer, origin + milliseconds{7});
    }
    std::vector<int> names;
    wheel.advance(origin + milliseconds{7}, [&](timer_node& node) {
        names.push_back(name_of(node));
        wheel.disarm(second);
    });
    EXPECT_EQ(names, (std::vector<int>{1, 3}));
    EXPECT_TRUE(wheel.empty());
}

TEST(timer_wheel, the_callback_may_destroy_its_timer) {
    timer_wheel wheel(origin);
    auto timer = std::make_unique<named_timer>(1);
    wheel.arm(*timer, origin + milliseconds{1});
    wheel.advance(origin + milliseconds{1}, [&](timer_node&) { timer.reset(); });
    EXPECT_EQ(timer, nullptr);
    EXPECT_TRUE(wheel.empty());
}

TEST(timer_wheel, timers_that_have_not_fired_when_the_callback_throws_fire_next_time) {
    timer_wheel wheel(origin);
    named_timer first(1);
    named_timer second(2);
    wheel.arm(first, origin + milliseconds{1});
    wheel.arm(second, origin + milliseconds{1});
    EXPECT_THROW(
        wheel.advance(
            origin + milliseconds{1}, [](timer_node&) { throw std::runtime_error("no"); }),
        std::runtime_error);
    EXPECT_EQ(wheel.armed_count(), 1u);
    EXPECT_EQ(fired_at(wheel, origin + milliseconds{1}), std::vector<int>{2});
}

TEST(timer_wheel, the_last_representable_time_can_be_armed) {
    timer_wheel wheel(time_point::min());
    named_timer timer(1);
    wheel.arm(timer, time_point::max());
    EXPECT_GT(*wheel.next_due(), time_point::max() - milliseconds{2});
    EXPECT_EQ(fired_at(wheel, time_point::max() - milliseconds{2}), std::vector<int>{});
    wheel.disarm(timer);
    EXPECT_TRUE(wheel.empty());
}

// A host's clock may show anything when a process starts. Ticks are counted from the start, in 64
// bits; the numbers around 32 bits of milliseconds are those that other fields once wrapped at.
TEST(timer_wheel, fires_in_time_at_any_uptime_and_after_a_jump_of_a_year) {
    constexpr auto year = std::chrono::duration_cast<time_point::duration>(hours{24 * 365});
    constexpr auto wrap =
        std::chrono::duration_cast<time_point::duration>(milliseconds{std::int64_t{1} << 32});
    std::vector<time_point> starts{
        time_point{}, time_point{nanoseconds{-1}}, time_point{-year}, time_point{100 * year},
        time_point{-100 * year}};
    for (const int halves : {-3, -2, -1, 1, 2, 3}) {
        for (const int distance : {-1, 0, 1}) {
            starts.emplace_back(halves * (wrap / 2) + seconds{distance});
        }
    }
    const std::vector<time_point::duration> delays{
        milliseconds{1}, seconds{1}, seconds{2}, wrap / 2, wrap, wrap + milliseconds{1}, year};
    for (const time_point start : starts) {
        SCOPED_TRACE(start.time_since_epoch() / milliseconds{1});
        std::vector<std::unique_ptr<named_timer>> timers;
        named_timer late(100);
        timer_wheel wheel(start);
        for (const auto delay : delays) {
            timers.push_back(std::make_unique<named_timer>(static_cast<int>(timers.size())));
            wheel.arm(*timers.back(), start + delay);
        }
        for (std::size_t index = 0; index + 1 < delays.size(); ++index) {
            ASSERT_EQ(wheel.next_due(), start + delays[index]);
            EXPECT_EQ(fired_at(wheel, start + delays[index] - nanoseconds{1}), std::vector<int>{});
            EXPECT_EQ(fired_at(wheel, start + delays[index]), std::vector{static_cast<int>(index)});
        }
        wheel.arm(late, start + 2 * year);
        EXPECT_EQ(fired_at(wheel, start + 3 * year), (std::vector{6, 100})) << "in order of time";
    }
}

TEST(timer_wheel, destroying_the_wheel_disarms_its_timers) {
    named_timer timer(1);
    named_timer late(2);
    {
        timer_wheel wheel(origin);
        wheel.arm(timer, origin + hours{1});
        wheel.arm(late, origin - hours{1});
    }
    EXPECT_FALSE(timer.is_armed());
    EXPECT_FALSE(late.is_armed());
}

TEST(timer_wheel_death, an_armed_timer_must_not_be_destroyed) {
    EXPECT_DEATH(
        {
            timer_wheel wheel(origin);
            {
                named_timer timer(1);
                wheel.arm(timer, origin + hours{1});
            }
        },
        "!is_armed");
}

TEST(timer_wheel_death, advance_inside_a_callback_is_a_programming_error) {
    timer_wheel wheel(origin);
    named_timer timer(1);
    wheel.arm(timer, origin);
    EXPECT_DEATH(
        wheel.advance(origin, [&](timer_node&) { wheel.advance(origin, [](timer_node&) {}); }),
        "is_advancing_");
    wheel.disarm(timer);
}

// Compares the wheel with the simplest implementation: a map sorted by (tick, order of arming).
// Arms, moves, disarms and advances at random; callbacks also arm and disarm timers.
class sorted_model {
public:
    explicit sorted_model(std::size_t count) : keys_(count) {}

    static std::int64_t tick_of(time_point due) {
        const auto since = due - origin;
        if (since <= nanoseconds{0}) {
            return 0;
        }
        return std::chrono::ceil<milliseconds>(since).count();
    }

    void arm(int name, time_point due) {
        disarm(name);
        const std::int64_t tick = tick_of(due);
        // A timer armed for a tick that has already fired is next, before all others.
        const std::int64_t effective = std::max(tick, current_tick_);
        const bool is_late = tick <= current_tick_;
        const key_type key{is_late ? current_tick_ : effective, ++sequence_};
        if (is_late && is_advancing_) {
            postponed_.insert(key);
        }
        keys_[static_cast<std::size_t>(name)] = key;
        sorted_.emplace(key, name);
    }

    void disarm(int name) {
        auto& key = keys_[static_cast<std::size_t>(name)];
        if (key.second != 0) {
            postponed_.erase(key);
            sorted_.erase(key);
            key = {};
        }
    }

    void begin_advance() {
        is_advancing_ = true;
        postponed_.clear();
    }

    // Returns the next timer to fire, or -1 if none is due.
    int pop(std::int64_t now_tick) {
        for (const auto& [key, name] : sorted_) {
            if (key.first > now_tick && key.first > current_tick_) {
                break;
            }
            if (!postponed_.contains(key)) {
                const int popped = name;
                current_tick_ = std::max(current_tick_, key.first);
                disarm(popped);
                return popped;
            }
        }
        current_tick_ = std::max(current_tick_, now_tick);
        is_advancing_ = false;
        return -1;
    }

    std::optional<std::int64_t> earliest_tick() const {
        if (sorted_.empty()) {
            return std::nullopt;
        }
        return sorted_.begin()->first.first;
    }
    std::size_t size() const { return sorted_.size(); }

private:
    using key_type = std::pair<std::int64_t, std::uint64_t>;
    std::vector<key_type> keys_;
    std::map<key_type, int> sorted_;
    std::set<key_type> postponed_;
    std::uint64_t sequence_ = 0;
    std::int64_t current_tick_ = 0;
    bool is_advancing_ = false;
};

class random_run {
public:
    random_run(std::uint64_t seed, std::size_t timer_count) : rng_(seed), model_(timer_count) {
        for (std::size_t i = 0; i < timer_count; ++i) {
            timers_.push_back(std::make_unique<named_timer>(static_cast<int>(i)));
        }
    }

    ~random_run() {
        for (const auto& timer : timers_) {
            wheel_.disarm(*timer);
        }
    }

    void step() {
        switch (pick(4)) {
            case 0:
            case 1:
                arm_one();
                break;
            case 2:
                disarm_one();
                break;
            default:
                advance_some();
                break;
        }
        ASSERT_EQ(wheel_.armed_count(), model_.size());
        check_next_due();
    }

private:
    std::uint64_t pick(std::uint64_t count) { return rng_() % count; }

    // In microseconds, up to a limit that varies from a tick to many years.
    nanoseconds random_delay() {
        const std::uint64_t limit_us = std::uint64_t{1} << pick(50);
        return microseconds{static_cast<std::int64_t>(rng_() % limit_us)} - milliseconds{2};
    }

    void arm_one() {
        const auto name = static_cast<int>(pick(timers_.size()));
        const time_point due = now_ + random_delay();
        wheel_.arm(*timers_[static_cast<std::size_t>(name)], due);
        model_.arm(name, due);
    }

    void disarm_one() {
        const auto name = static_cast<int>(pick(timers_.size()));
        wheel_.disarm(*timers_[static_cast<std::size_t>(name)]);
        model_.disarm(name);
    }

    void advance_some() {
        // Often advances exactly to the next due time, as a driver would.
        const auto hint = wheel_.next_due();
        if (hint && *hint > now_ && pick(2) == 0) {
            now_ = *hint;
        } else {
            now_ += std::max(nanoseconds{0}, random_delay() / 16);
        }
        const std::int64_t now_tick = std::chrono::floor<milliseconds>(now_ - origin).count();
        model_.begin_advance();
        wheel_.advance(now_, [&](timer_node& node) {
            ASSERT_EQ(name_of(node), model_.pop(now_tick));
            if (pick(4) == 0) {
                arm_one();
            }
            if (pick(4) == 0) {
                disarm_one();
            }
        });
        ASSERT_EQ(model_.pop(now_tick), -1);
    }

    void check_next_due() {
        const auto due = wheel_.next_due();
        const auto earliest = model_.earliest_tick();
        ASSERT_EQ(due.has_value(), earliest.has_value());
        if (due) {
            // A timer armed for the past may be reported as late as now.
            ASSERT_LE(*due, std::max(now_, origin + milliseconds{*earliest}));
        }
        const time_point asked = now_ + random_delay();
        if (wheel_.waits_until(asked)) {
            ASSERT_TRUE(earliest);
            ASSERT_LE(asked, std::max(now_, origin + milliseconds{*earliest}));
        }
    }

    std::mt19937_64 rng_;
    sorted_model model_;
    timer_wheel wheel_{origin};
    std::vector<std::unique_ptr<named_timer>> timers_;
    time_point now_ = origin;
};

TEST(timer_wheel, behaves_like_a_sorted_map_over_random_operations) {
    for (std::uint64_t seed = 1; seed <= 200; ++seed) {
        SCOPED_TRACE(seed);
        random_run run(seed, 1 + seed % 50);
        for (int i = 0; i < 1000 && !::testing::Test::HasFatalFailure(); ++i) {
            run.step();
        }
        ASSERT_FALSE(::testing::Test::HasFatalFailure());
    }
}

TEST(timer_wheel, next_due_is_exact_while_nothing_is_disarmed) {
    std::mt19937_64 rng(7);
    std::vector<std::unique_ptr<named_timer>> timers;
    timer_wheel wheel(origin);
    time_point earliest = time_point::max();
    for (int i = 0; i < 1000; ++i) {
        timers.push_back(std::make_unique<named_timer>(i));
        const auto delay = milliseconds{static_cast<std::int64_t>(rng() % (1u << (rng() % 32)))};
        const time_point due = origin + milliseconds{1} + delay;
        wheel.arm(*timers.back(), due);
        earliest = std::min(earliest, due);
        ASSERT_EQ(wheel.next_due(), earliest);
        ASSERT_TRUE(wheel.waits_until(earliest));
        ASSERT_FALSE(wheel.waits_until(earliest + nanoseconds{1}));
    }
}

TEST(last_slot_of_a_timer_wheel, is_not_that_of_a_time_that_has_passed) {
    timer_wheel wheel(origin);
    named_timer first(1);
    named_timer second(2);
    wheel.arm(first, origin + milliseconds{100});
    wheel.advance(origin + milliseconds{120}, [](timer_node&) {});
    wheel.arm(second, origin + milliseconds{110});
    EXPECT_EQ(wheel.next_due(), origin + milliseconds{120});
    wheel.disarm(second);
}

TEST(timer_wheel, a_later_time_of_an_empty_slot_is_its_earliest) {
    timer_wheel wheel(origin);
    named_timer first(1);
    named_timer second(2);
    named_timer third(3);
    wheel.arm(first, origin + milliseconds{100});
    wheel.disarm(first);
    wheel.arm(second, origin + milliseconds{120});
    EXPECT_EQ(wheel.next_due(), origin + milliseconds{120});
    wheel.arm(third, origin + milliseconds{110});
    EXPECT_EQ(wheel.next_due(), origin + milliseconds{110});
    wheel.disarm(second);
    wheel.disarm(third);
}

}  // namespace timer_wheel_test
