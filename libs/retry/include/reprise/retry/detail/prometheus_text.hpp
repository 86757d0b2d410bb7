#pragma once

/// Writes the text format 0.0.4 of Prometheus, one family of samples after the other.

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include <reprise/retry/detail/compiler.hpp>
#include <reprise/retry/latency_histogram.hpp>

namespace reprise {

/// How metrics are named.
struct prometheus_options {
    /// Before the name of each metric: "shop_retry_calls_total". Letters, digits and underscores.
    std::string_view prefix = "reprise";
    /// Labels for all of them: `service="prices"`. Empty: none.
    std::string_view labels{};
};

namespace detail {

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

}  // namespace detail

}  // namespace reprise
