#include "slow_operations.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <utility>

#include <reprise/retry/detail/no_throw.hpp>

namespace reprise::couchbase::detail {

namespace {

/// A JSON string. Hosts come from the server, so anything may be in them.
[[nodiscard]] std::string quoted(std::string_view text) {
    std::string result = "\"";
    for (const char each : text) {
        if (each == '"' || each == '\\') {
            result += '\\';
        }
        if (const auto code = static_cast<unsigned char>(each); code < 0x20 || code >= 0x7f) {
            std::array<char, 8> escaped{};
            std::snprintf(escaped.data(), escaped.size(), "\\u%04x", unsigned{code});
            result += escaped.data();
        } else {
            result += each;
        }
    }
    return result + "\"";
}

}  // namespace

slow_operations::slow_operations(slow_operation_options options) : options_(std::move(options)) {}

bool slow_operations::is_slow(const operation_end& record) const noexcept {
    return record.total_time >
           (record.which.service == "kv" ? options_.kv_threshold : options_.http_threshold);
}

void slow_operations::on_end(const operation_end& record) noexcept {
    std::string line;
    {
        const std::scoped_lock lock(mutex_);
        if (first_ && record.ended - *first_ >= options_.interval) {
            line = take_line();
        }
        if (is_slow(record)) {
            collect(record);
        }
    }
    report(line);
}

void slow_operations::flush() noexcept {
    std::string line;
    {
        const std::scoped_lock lock(mutex_);
        line = take_line();
    }
    report(line);
}

void slow_operations::report(const std::string& line) const noexcept {
    if (!line.empty()) {
        static_cast<void>(reprise::detail::result_or(false, [&] {
            options_.report(line);
            return true;
        }));
    }
}

void slow_operations::collect(const operation_end& record) {
    if (!first_) {
        first_ = record.ended;
    }
    auto place = by_service_.find(record.which.service);
    if (place == by_service_.end()) {
        place = by_service_.try_emplace(std::string(record.which.service)).first;
    }
    slow_of_service& of = place->second;
    ++of.count;
    const auto slower = [&](const sample& each) { return each.total_time >= record.total_time; };
    const auto after = std::ranges::find_if_not(of.worst, slower);
    if (static_cast<std::size_t>(after - of.worst.begin()) >= options_.sample_count_max) {
        return;
    }
    of.worst.insert(
        after, {record.which.operation, record.total_time, record.retries, record.last_reason,
                record.error, std::string(record.endpoint), record.which.id});
    if (of.worst.size() > options_.sample_count_max) {
        of.worst.pop_back();
    }
}

std::string slow_operations::take_line() {
    first_.reset();
    std::string line;
    for (const auto& [service, of] : std::exchange(by_service_, {})) {
        line += (line.empty() ? "{" : ",") + quoted(service) +
                ":{\"total_count\":" + std::to_string(of.count) + ",\"top_requests\":[";
        for (const sample& each : of.worst) {
            line += &each == of.worst.data() ? "" : ",";
            write(line, each);
        }
        line += "]}";
    }
    return line.empty() ? line : line + "}";
}

void slow_operations::write(std::string& line, const sample& of) {
    const auto total = std::chrono::duration_cast<std::chrono::microseconds>(of.total_time);
    std::array<char, 24> id{};
    std::snprintf(id.data(), id.size(), "0x%llx", static_cast<unsigned long long>(of.id));
    line += "{\"operation_name\":" + quoted(of.operation) +
            ",\"total_duration_us\":" + std::to_string(total.count()) +
            ",\"retries\":" + std::to_string(of.retries);
    if (of.last_reason != retry_reason::unknown) {
        line += ",\"last_retry_reason\":" + quoted(to_string(of.last_reason));
    }
    if (of.error) {
        line += ",\"error\":" + quoted(of.error.message());
    }
    if (!of.endpoint.empty()) {
        line += ",\"last_remote_socket\":" + quoted(of.endpoint);
    }
    line += ",\"operation_id\":" + quoted(id.data()) + "}";
}

}  // namespace reprise::couchbase::detail
