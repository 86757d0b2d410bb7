#pragma once

/// The building blocks of all metrics, of retries and of clients: a histogram, and the text format
/// of Prometheus.

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include <reprise/retry/detail/compiler.hpp>
#include <reprise/retry/time.hpp>

namespace reprise::driver {

/// A histogram of durations with a relative error of at most 1/8. Any number of threads fill it
/// without locks. From 1 microsecond (shorter counts as that) to about 12 days. 2.8 KB.
class REPRISE_EXPORT latency_histogram {
public:
    latency_histogram() noexcept = default;
    /// Copies what has been recorded; other threads may go on recording.
    latency_histogram(const latency_histogram& other) noexcept { add(other); }
    latency_histogram& operator=(const latency_histogram& other) noexcept;

    void record(duration latency) noexcept;
    /// Adds everything recorded in `other`.
    void add(const latency_histogram& other) noexcept;
    /// Halves all counts, so that what is recorded from now on weighs more. For percentiles that
    /// follow a service; never for the counters of a report.
    void forget_half() noexcept;

    [[nodiscard]] std::uint64_t count() const noexcept;
    /// Of everything recorded. What is longer than the histogram's range counts as its end; the sum
    /// saturates after 292 years.
    [[nodiscard]] duration sum() const noexcept;
    /// The percentile: at least this share of the records (0 to 1) took no longer; zero without
    /// records.
    [[nodiscard]] duration percentile(double share) const noexcept;

    /// Usual limits, for reports that compare several programs.
    static constexpr std::array<duration, 12> limits{
        std::chrono::milliseconds{1},    std::chrono::milliseconds{5},
        std::chrono::milliseconds{10},   std::chrono::milliseconds{25},
        std::chrono::milliseconds{50},   std::chrono::milliseconds{100},
        std::chrono::milliseconds{250},  std::chrono::milliseconds{500},
        std::chrono::milliseconds{1000}, std::chrono::milliseconds{2500},
        std::chrono::milliseconds{5000}, std::chrono::milliseconds{10000},
    };
    /// Cumulative counts per bucket bound; the last element is the total.
    [[nodiscard]] std::array<std::uint64_t, limits.size() + 1> counts_up_to_limits() const noexcept;

private:
    static constexpr std::size_t steps_per_octave = 8;
    static constexpr std::size_t octave_count = 41;

    [[nodiscard]] static std::size_t place_of(duration latency) noexcept;
    [[nodiscard]] static duration upper_end(std::size_t place) noexcept;

    std::array<std::atomic<std::uint64_t>, steps_per_octave * octave_count> counts_{};
    std::array<std::atomic<std::uint64_t>, limits.size() + 1> counts_by_limit_{};
    std::atomic<std::int64_t> sum_us_{0};
};

/// Names of metrics.
struct prometheus_options {
    /// Before the name of each metric: "shop_retry_calls_total". Letters, digits and underscores.
    std::string_view prefix = "reprise";
    /// Labels for all of them: `service="prices"`. Empty: none.
    std::string_view labels{};
};

/// Writes the text format 0.0.4 of Prometheus, one family of samples after the other.
class REPRISE_EXPORT prometheus_text {
public:
    /// `options` must outlive the object.
    explicit prometheus_text(const prometheus_options& options) noexcept
        : options_(options), labels_(options.labels) {}

    /// Labels of the samples that follow, in place of those of the options.
    void set_labels(std::string_view labels) noexcept { labels_ = labels; }
    /// The lines before the samples of one name. `type` is "counter", "gauge" or "histogram".
    void family(std::string_view name, std::string_view type, std::string_view help);
    /// `label` is empty or made by `label_of`.
    void sample(std::string_view name, std::string_view label, std::uint64_t value);
    void sample(std::string_view name, std::string_view label, double value);
    /// All samples of one histogram, whose family was written before.
    void histogram(std::string_view name, std::string_view label, const latency_histogram& times);

    /// `path="C:\\"`
    [[nodiscard]] static std::string label_of(std::string_view name, std::string_view value);
    /// `reason="budget_exhausted"`: a phrase of the library as one word.
    [[nodiscard]] static std::string word_label_of(std::string_view name, std::string_view phrase);

    [[nodiscard]] std::string take() noexcept { return std::move(text_); }

private:
    void write(std::string_view name, std::string_view label, std::string_view value);
    [[nodiscard]] std::string full(std::string_view name) const;

    const prometheus_options& options_;
    std::string_view labels_;
    std::string text_;
};

}  // namespace reprise::driver
