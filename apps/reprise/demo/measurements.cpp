#include "measurements.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include <fmt/format.h>

namespace reprise::demo {

namespace {

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
    slowest = std::max(slowest, other.slowest);
}

duration figures::percentile(double share) const noexcept {
    return std::min(latency.percentile(share), slowest);
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
    for (traffic_figures* each : {&current_, &recent_}) {
        figures& to = by == traffic::key_value ? each->key_value : each->http;
        ++to.operations;
        to.latency.record(latency);
        to.slowest = std::max(to.slowest, latency);
        if (failure != nullptr) {
            ++to.errors;
            to.ambiguous += failure->is_ambiguous() ? 1U : 0U;
            ++to.errors_by_name[name_of(*failure)];
        }
        if (history != nullptr) {
            count_retries(*history, to.retries);
        }
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

traffic_figures measurements::take_recent() {
    const std::lock_guard guard(mutex_);
    return std::exchange(recent_, {});
}

}  // namespace reprise::demo
