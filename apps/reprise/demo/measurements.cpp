#include "measurements.hpp"

#include <algorithm>
#include <bit>
#include <utility>
#include <vector>

#include <fmt/format.h>

namespace reprise::demo {

namespace {

// Sixteen buckets for each power of two.
constexpr unsigned sub_bits = 4;
constexpr std::uint64_t sub_count = 1U << sub_bits;

[[nodiscard]] std::string name_of(const couchbase::error& failure) {
    const std::error_code code = failure.code();
    std::string name =
        code.category() == couchbase::couchbase_category()
            ? std::string(couchbase::to_string(static_cast<couchbase::errc>(code.value())))
            : code.message();
    if (failure.is_ambiguous()) {
        name += " (ambiguous)";
    }
    return name;
}

void count_retries(const couchbase::retry_history& history, retry_counts& to) {
    const auto& entries = history.entries;
    for (std::size_t i = 0; i < entries.size(); ++i) {
        if (entries[i].refusal() == refusal_reason::none) {
            ++to[static_cast<std::size_t>(entries[i].reason_as<couchbase::retry_reason>())];
        }
    }
    // The middle of a very long history is not kept; count it like its end.
    if (!entries.empty()) {
        to[static_cast<std::size_t>(entries.back().reason_as<couchbase::retry_reason>())] +=
            entries.dropped();
    }
}

}  // namespace

std::size_t latency_histogram::bucket_of(duration time) noexcept {
    const auto us = static_cast<std::uint64_t>(std::max<std::int64_t>(
        1, std::chrono::duration_cast<std::chrono::microseconds>(time).count()));
    if (us < sub_count) {
        return static_cast<std::size_t>(us);
    }
    const auto shift = static_cast<unsigned>(std::bit_width(us)) - sub_bits - 1;
    const std::size_t bucket = (shift + 1) * sub_count + ((us >> shift) - sub_count);
    return std::min(bucket, bucket_count - 1);
}

duration latency_histogram::time_of(std::size_t bucket) noexcept {
    if (bucket < sub_count) {
        return std::chrono::microseconds{bucket};
    }
    const std::size_t shift = bucket / sub_count - 1;
    const std::uint64_t us = (sub_count + bucket % sub_count) << shift;
    return std::chrono::microseconds{us};
}

void latency_histogram::record(duration time) noexcept {
    ++counts_[bucket_of(time)];
    ++total_;
    slowest_ = std::max(slowest_, time);
}

void latency_histogram::add(const latency_histogram& other) noexcept {
    for (std::size_t i = 0; i < bucket_count; ++i) {
        counts_[i] += other.counts_[i];
    }
    total_ += other.total_;
    slowest_ = std::max(slowest_, other.slowest_);
}

duration latency_histogram::quantile(double share) const noexcept {
    const auto wanted = static_cast<std::uint64_t>(share * static_cast<double>(total_));
    std::uint64_t seen = 0;
    for (std::size_t i = 0; i < bucket_count; ++i) {
        seen += counts_[i];
        if (counts_[i] != 0 && seen >= wanted) {
            return std::min(time_of(i), slowest_);
        }
    }
    return {};
}

void figures::add(const figures& other) {
    operations += other.operations;
    errors += other.errors;
    ambiguous += other.ambiguous;
    for (const auto& [name, count] : other.errors_by_name) {
        errors_by_name[name] += count;
    }
    for (std::size_t i = 0; i < retries.size(); ++i) {
        retries[i] += other.retries[i];
    }
    latency.add(other.latency);
}

std::uint64_t figures::retry_total() const noexcept {
    std::uint64_t sum = 0;
    for (const std::uint64_t count : retries) {
        sum += count;
    }
    return sum;
}

std::string to_text(const retry_counts& retries, std::size_t count_max) {
    std::vector<std::pair<std::uint64_t, std::string_view>> rows;
    for (const auto& facts : couchbase::all_retry_reasons()) {
        if (const auto count = retries[static_cast<std::size_t>(facts.reason)]) {
            rows.emplace_back(count, facts.name);
        }
    }
    std::ranges::sort(rows, std::greater{});
    std::string text;
    for (std::size_t i = 0; i < rows.size(); ++i) {
        if (i == count_max) {
            text += ", ...";
            break;
        }
        text += fmt::format("{}{} {}", i == 0 ? "" : ", ", rows[i].second, rows[i].first);
    }
    return text;
}

std::string to_text(duration time) {
    const double ms = std::chrono::duration<double, std::milli>(time).count();
    if (ms < 10) {
        return fmt::format("{:.2f} ms", ms);
    }
    return ms < 1000 ? fmt::format("{:.0f} ms", ms) : fmt::format("{:.1f} s", ms / 1000);
}

void measurements::record(
    traffic by, duration latency, const couchbase::error* failure,
    const couchbase::retry_history* history) {
    const std::lock_guard guard(mutex_);
    figures& to = by == traffic::key_value ? current_.key_value : current_.http;
    ++to.operations;
    to.latency.record(latency);
    if (failure != nullptr) {
        ++to.errors;
        to.ambiguous += failure->is_ambiguous() ? 1U : 0U;
        ++to.errors_by_name[name_of(*failure)];
    }
    if (history != nullptr) {
        count_retries(*history, to.retries);
    }
}

traffic_figures measurements::peek() const {
    const std::lock_guard guard(mutex_);
    return current_;
}

traffic_figures measurements::take() {
    const std::lock_guard guard(mutex_);
    return std::exchange(current_, {});
}

}  // namespace reprise::demo
