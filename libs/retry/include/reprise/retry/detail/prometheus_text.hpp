#pragma once

/// Writes the text format 0.0.4 of Prometheus, one family of samples after the other.

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include <reprise/retry/detail/export.hpp>
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
    explicit prometheus_text(const prometheus_options& options) noexcept : options_(options) {}

    /// The lines before the samples of one name. `type` is "counter" or "histogram".
    void family(std::string_view name, std::string_view type, std::string_view help);
    /// `label` is empty or made by `label_of`.
    void sample(std::string_view name, std::string_view label, std::uint64_t value);
    /// All samples of one histogram, whose family was written before.
    void histogram(std::string_view name, std::string_view label, const latency_histogram& times);

    /// `reason="budget exhausted"`
    [[nodiscard]] static std::string label_of(std::string_view name, std::string_view value);

    [[nodiscard]] std::string take() noexcept { return std::move(text_); }

private:
    void write(std::string_view name, std::string_view label, std::string_view value);
    [[nodiscard]] std::string full(std::string_view name) const;

    const prometheus_options& options_;
    std::string text_;
};

}  // namespace detail

}  // namespace reprise
