#include "slow_operations.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <utility>

#include <reprise/json/write.hpp>
#include <reprise/retry/detail/compiler.hpp>

namespace reprise::couchbase::detail {

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
    if (by_service_.empty()) {
        return line;
    }
    json::writer out(line);
    out.begin_object();
    for (const auto& [service, of] : std::exchange(by_service_, {})) {
        out.key(service).begin_object();
        out.member("total_count", of.count);
        out.key("top_requests").begin_array();
        for (const sample& each : of.worst) {
            write(out, each);
        }
        out.end_array();
        out.end_object();
    }
    out.end_object();
    return line;
}

void slow_operations::write(json::writer& out, const sample& of) {
    const auto total = std::chrono::duration_cast<std::chrono::microseconds>(of.total_time);
    std::array<char, 24> id{};
    std::snprintf(id.data(), id.size(), "0x%llx", static_cast<unsigned long long>(of.id));
    out.begin_object();
    out.member("operation_name", of.operation);
    out.member("total_duration_us", total.count());
    out.member("retries", of.retries);
    if (of.last_reason != retry_reason::unknown) {
        out.member("last_retry_reason", to_string(of.last_reason));
    }
    if (of.error) {
        out.member("error", of.error.message());
    }
    if (!of.endpoint.empty()) {
        out.member("last_remote_socket", of.endpoint);
    }
    out.member("operation_id", std::string_view(id.data()));
    out.end_object();
}

}  // namespace reprise::couchbase::detail
