#include <array>
#include <cstdio>

#include <reprise/retry/detail/prometheus_text.hpp>

namespace reprise::detail {

namespace {

constexpr std::array bucket_limits_ms{1, 5, 10, 25, 50, 100, 250, 500, 1000, 2500, 5000, 10000};

[[nodiscard]] std::string number_text(double value) {
    std::array<char, 48> text{};
    const int size = std::snprintf(text.data(), text.size(), "%.9g", value);
    return {text.data(), static_cast<std::size_t>(size)};
}

[[nodiscard]] std::string both_labels(std::string_view first, std::string_view second) {
    std::string labels(first);
    labels += !first.empty() && !second.empty() ? "," : "";
    return labels.append(second);
}

}  // namespace

void prometheus_text::family(std::string_view name, std::string_view type, std::string_view help) {
    text_ += "# HELP " + full(name) + " ";
    text_.append(help);
    text_ += "\n# TYPE " + full(name) + " ";
    text_.append(type);
    text_ += '\n';
}

void prometheus_text::sample(std::string_view name, std::string_view label, std::uint64_t value) {
    write(name, label, std::to_string(value));
}

void prometheus_text::histogram(
    std::string_view name, std::string_view label, const latency_histogram& times) {
    const std::string bucket = std::string(name) + "_bucket";
    for (const int limit : bucket_limits_ms) {
        sample(
            bucket, both_labels(label, label_of("le", number_text(limit / 1000.0))),
            times.count_up_to(std::chrono::milliseconds{limit}));
    }
    const std::uint64_t total = times.count();
    sample(bucket, both_labels(label, label_of("le", "+Inf")), total);
    write(
        std::string(name) + "_sum", label,
        number_text(std::chrono::duration<double>(times.sum()).count()));
    sample(std::string(name) + "_count", label, total);
}

std::string prometheus_text::label_of(std::string_view name, std::string_view value) {
    return std::string(name) + "=\"" + std::string(value) + "\"";
}

void prometheus_text::write(std::string_view name, std::string_view label, std::string_view value) {
    const std::string labels = both_labels(options_.labels, label);
    text_ += full(name) + (labels.empty() ? "" : "{" + labels + "}") + " ";
    text_.append(value);
    text_ += '\n';
}

std::string prometheus_text::full(std::string_view name) const {
    return std::string(options_.prefix) + "_" + std::string(name);
}

}  // namespace reprise::detail
