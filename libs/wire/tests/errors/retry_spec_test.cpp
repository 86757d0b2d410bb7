#include <reprise/wire/retry_spec.hpp>

#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <optional>

namespace reprise::wire::retry_spec_test {

using std::chrono::milliseconds;

retry_spec make_spec(
    retry_spec_kind kind, int interval, int after,
    std::optional<milliseconds> ceil = std::nullopt) {
    retry_spec spec;
    spec.kind = kind;
    spec.interval = milliseconds(interval);
    spec.after = milliseconds(after);
    spec.ceil = ceil;
    return spec;
}

void expect_delays(const retry_spec& spec, std::initializer_list<int> expected) {
    std::uint32_t retry = 0;
    for (const int delay : expected) {
        EXPECT_EQ(spec.delay(retry).count(), delay) << "retry " << retry;
        ++retry;
    }
}

constexpr std::uint32_t last_retry = std::numeric_limits<std::uint32_t>::max();

TEST(retry_spec, EM_08_constant_spec_waits_after_and_from_then_on_the_interval) {
    expect_delays(make_spec(retry_spec_kind::constant, 25, 10), {10, 25, 25, 25});
    EXPECT_EQ(make_spec(retry_spec_kind::constant, 25, 10).delay(last_retry).count(), 25);
}

TEST(retry_spec, EM_08_linear_spec_is_capped_by_ceil) {
    const retry_spec spec = make_spec(retry_spec_kind::linear, 10, 10, milliseconds(200));
    expect_delays(spec, {10, 10, 20, 30, 40});
    EXPECT_EQ(spec.delay(19).count(), 190);
    EXPECT_EQ(spec.delay(20).count(), 200);
    EXPECT_EQ(spec.delay(21).count(), 200);
}

TEST(retry_spec, EM_08_exponential_spec_is_a_power_and_not_a_repeated_square) {
    expect_delays(
        make_spec(retry_spec_kind::exponential, 2, 10, milliseconds(500)),
        {10, 2, 4, 8, 16, 32, 64, 128, 256, 500, 500});
    expect_delays(
        make_spec(retry_spec_kind::exponential, 2, 50, milliseconds(200)),
        {50, 2, 4, 8, 16, 32, 64, 128, 200, 200});
    expect_delays(make_spec(retry_spec_kind::exponential, 3, 0), {0, 3, 9, 27, 81, 243});
}

TEST(retry_spec, EM_08_an_exponential_interval_of_one_never_grows_and_costs_nothing) {
    expect_delays(make_spec(retry_spec_kind::exponential, 1, 5), {5, 1, 1, 1});
    EXPECT_EQ(make_spec(retry_spec_kind::exponential, 1, 5).delay(last_retry).count(), 1);
}

TEST(retry_spec, EM_08_no_combination_overflows) {
    constexpr int most = std::numeric_limits<std::int32_t>::max();
    for (const int interval : {1, 2, 3, 1000, most}) {
        for (const std::uint32_t retry : {1U, 2U, 31U, 63U, 64U, 1000U, last_retry}) {
            for (const auto kind : {retry_spec_kind::linear, retry_spec_kind::exponential}) {
                const milliseconds open = make_spec(kind, interval, 0).delay(retry);
                EXPECT_GE(open.count(), 1);
                EXPECT_LE(open, retry_spec::delay_max);
                const retry_spec capped = make_spec(kind, interval, 0, milliseconds(100));
                EXPECT_LE(capped.delay(retry).count(), 100);
            }
        }
    }
}

TEST(retry_spec, EM_08_a_ceil_below_the_interval_applies) {
    expect_delays(make_spec(retry_spec_kind::linear, 50, 10, milliseconds(20)), {10, 20, 20});
    expect_delays(make_spec(retry_spec_kind::exponential, 50, 10, milliseconds(20)), {10, 20, 20});
    expect_delays(make_spec(retry_spec_kind::constant, 50, 10, milliseconds(20)), {10, 50, 50});
}

TEST(retry_spec, EM_08_no_delay_is_shorter_than_the_floor) {
    retry_spec linear = make_spec(retry_spec_kind::linear, 10, 5, milliseconds(40));
    linear.floor = milliseconds(25);
    expect_delays(linear, {25, 25, 25, 30, 40, 40});
    retry_spec exponential = make_spec(retry_spec_kind::exponential, 2, 0);
    exponential.floor = milliseconds(6);
    expect_delays(exponential, {6, 6, 6, 8, 16});
    retry_spec constant = make_spec(retry_spec_kind::constant, 3, 50);
    constant.floor = milliseconds(7);
    expect_delays(constant, {50, 7, 7});
}

TEST(retry_spec, EM_08_a_floor_is_never_above_the_ceil) {
    retry_spec spec = make_spec(retry_spec_kind::linear, 10, 5, milliseconds(20));
    spec.floor = milliseconds(500);
    expect_delays(spec, {20, 20, 20, 20});
    retry_spec open = make_spec(retry_spec_kind::linear, 10, 5);
    open.floor = milliseconds(500);
    expect_delays(open, {500, 500, 500});
}

}  // namespace reprise::wire::retry_spec_test
