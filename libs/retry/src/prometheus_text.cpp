#include <reprise/retry/driver/metrics_text.hpp>

#include "failure_line.hpp"

namespace reprise::driver {

namespace {

[[nodiscard]] std::string exact_text(double value) {
    return detail::number_text("%.15g", value);
}

[[nodiscard]] std::string seconds_text(duration time) {
    return exact_text(std::chrono::duration<double>(time).count());
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

void prometheus_text::sample(std::string_view name, std::string_view label, double value) {
    write(name, label, exact_text(value));
}

void prometheus_text::histogram(
    std::string_view name, std::string_view label, const driver::latency_histogram& times) {
    const std::string bucket = std::string(name) + "_bucket";
    constexpr auto& limits = driver::latency_histogram::limits;
    const auto counts = times.counts_up_to_limits();
    for (std::size_t index = 0; index < limits.size(); ++index) {
        sample(
            bucket, both_labels(label, label_of("le", seconds_text(limits[index]))), counts[index]);
    }
    sample(bucket, both_labels(label, label_of("le", "+Inf")), counts.back());
    write(std::string(name) + "_sum", label, seconds_text(times.sum()));
    sample(std::string(name) + "_count", label, counts.back());
}

std::string prometheus_text::label_of(std::string_view name, std::string_view value) {
    std::string label = std::string(name) + "=\"";
    for (const char each : value) {
        if (each == '\\' || each == '"') {
            label += '\\';
        }
        label += each == '\n' ? "\\n" : std::string(1, each);
    }
    return label + '"';
}

std::string prometheus_text::word_label_of(std::string_view name, std::string_view phrase) {
    std::string word;
    for (const char each : phrase) {
        if (each != '\'') {
            word += each == ' ' ? '_' : each;
        }
    }
    return label_of(name, word);
}

void prometheus_text::write(std::string_view name, std::string_view label, std::string_view value) {
    const std::string labels = both_labels(labels_, label);
    text_ += full(name) + (labels.empty() ? "" : "{" + labels + "}") + " ";
    text_.append(value);
    text_ += '\n';
}

std::string prometheus_text::full(std::string_view name) const {
    return std::string(options_.prefix) + "_" + std::string(name);
}

}  // namespace reprise::driver
