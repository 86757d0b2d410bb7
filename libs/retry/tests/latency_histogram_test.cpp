#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <limits>
#include <thread>

#include <reprise/retry/driver/metrics_text.hpp>

namespace reprise {

using namespace std::chrono_literals;

TEST(latency_histogram, counts_what_is_shorter_than_a_microsecond_as_one) {
    driver::latency_histogram histogram;
    histogram.record(0ns);
    EXPECT_EQ(histogram.count(), 1U);
    EXPECT_EQ(histogram.sum(), 1us);
    EXPECT_EQ(histogram.percentile(1.0), 1us);
    histogram.record(1001ns);
    EXPECT_EQ(histogram.sum(), 3us) << "microseconds are rounded up";
    EXPECT_EQ(histogram.percentile(1.0), 2us);
}

TEST(latency_histogram, is_exact_below_16_microseconds_and_within_an_eighth_above) {
    for (int value = 1; value < 100'000; value += 1 + value / 7) {
        driver::latency_histogram histogram;
        histogram.record(value * 1us);
        const duration found = histogram.percentile(0.5);
        EXPECT_GE(found, value * 1us);
        EXPECT_LE(found, value < 16 ? value * 1us : value * 1us + value * 1us / 8) << value;
    }
}

TEST(latency_histogram, a_percentile_is_the_smallest_value_with_that_share_below_it) {
    driver::latency_histogram histogram;
    EXPECT_EQ(histogram.percentile(0.5), 0ns) << "nothing was recorded";
    for (int value = 1; value <= 4; ++value) {
        histogram.record(value * 1us);
    }
    EXPECT_EQ(histogram.percentile(0.0), 1us);
    EXPECT_EQ(histogram.percentile(0.25), 1us);
    EXPECT_EQ(histogram.percentile(0.26), 2us);
    EXPECT_EQ(histogram.percentile(0.75), 3us);
    EXPECT_EQ(histogram.percentile(1.0), 4us);
    EXPECT_EQ(histogram.percentile(2.0), 4us);
    EXPECT_EQ(histogram.percentile(-1.0), 1us);
    EXPECT_EQ(histogram.percentile(std::numeric_limits<double>::quiet_NaN()), 1us);
}

TEST(latency_histogram, what_is_longer_than_its_range_counts_in_the_last_place) {
    driver::latency_histogram histogram;
    histogram.record(24h * 365);
    EXPECT_EQ(histogram.count(), 1U);
    EXPECT_GT(histogram.percentile(1.0), 24h * 12);
}

TEST(latency_histogram, adds_copies_and_forgets_all_its_counts) {
    driver::latency_histogram histogram;
    for (int index = 0; index < 3; ++index) {
        histogram.record(2us);
    }
    histogram.record(20s);
    driver::latency_histogram other;
    other.record(7ms);
    other = histogram;
    EXPECT_EQ(other.count(), 4U) << "an assignment replaces";
    EXPECT_EQ(other.sum(), 20s + 6us);
    EXPECT_EQ(other.counts_up_to_limits().front(), 3U);
    EXPECT_EQ(other.counts_up_to_limits().back(), 4U);
    const driver::latency_histogram& same = other;
    other = same;
    EXPECT_EQ(other.count(), 4U) << "an assignment to itself keeps what there is";
    other.add(histogram);
    EXPECT_EQ(other.count(), 8U);
    EXPECT_EQ(other.sum(), 40s + 12us);
    other.forget_half();
    EXPECT_EQ(other.count(), 4U);
    EXPECT_EQ(other.sum(), 20s + 6us);
    EXPECT_EQ(other.counts_up_to_limits().back(), 4U);
    other.forget_half();
    EXPECT_EQ(other.count(), 2U);
    EXPECT_GE(other.percentile(1.0), 20s) << "half a record is passed on to the next place";
}

// Halves used to be rounded up: a service that had once been slow in many ways stayed slow for
// ever.
TEST(latency_histogram, forgets_single_records_in_many_places) {
    driver::latency_histogram histogram;
    for (int exponent = 0; exponent < 20; ++exponent) {
        histogram.record((1 << exponent) * 1us);
    }
    for (int index = 0; index < 5; ++index) {
        histogram.forget_half();
    }
    EXPECT_EQ(histogram.count(), 0U);
}

// The counts are read one after the other. If another thread halved them in between, the wanted
// rank was above all that were found, and hedging waited for the end of the range: 12 days.
TEST(latency_histogram, a_percentile_stays_in_range_while_another_thread_forgets) {
    driver::latency_histogram histogram;
    std::atomic<bool> is_over = false;
    const std::jthread forgets([&] {
        for (int round = 0; round < 20'000; ++round) {
            for (int index = 0; index < 64; ++index) {
                histogram.record(1ms);
            }
            histogram.forget_half();
        }
        is_over = true;
    });
    duration longest = 0ns;
    while (!is_over) {
        longest = std::max(longest, histogram.percentile(1.0));
    }
    EXPECT_LE(longest, 1125us) << "only 1 ms was recorded";
}

}  // namespace reprise
