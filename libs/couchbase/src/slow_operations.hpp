#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <reprise/couchbase/ready_observers.hpp>

namespace reprise::json {
class writer;
}  // namespace reprise::json

namespace reprise::couchbase::detail {

// Collects slow operations, the worst of each service with details, and reports them as one line.
// Reads no clock: an interval ends with the first operation that ends after it.
class slow_operations {
public:
    // `options.report` is not empty.
    explicit slow_operations(slow_operation_options options);

    void on_end(const operation_end& record) noexcept;
    void flush() noexcept;

private:
    struct sample {
        std::string_view operation;  // static text
        duration total_time{};
        std::uint32_t retries = 0;
        retry_reason last_reason = retry_reason::unknown;
        std::error_code error{};
        std::string endpoint;
        std::uint64_t id = 0;
    };
    struct slow_of_service {
        std::uint64_t count = 0;
        std::vector<sample> worst;  // the slowest first
    };

    [[nodiscard]] bool is_slow(const operation_end& record) const noexcept;
    // Without the lock: the function may take its time.
    void report(const std::string& line) const noexcept;
    void collect(const operation_end& record);
    // The line about what was collected, which is then cleared. Empty if there is nothing.
    [[nodiscard]] std::string take_line();
    static void write(json::writer& out, const sample& of);

    const slow_operation_options options_;
    std::mutex mutex_;
    std::optional<time_point> first_;  // end of the first slow operation of the interval
    std::map<std::string, slow_of_service, std::less<>> by_service_;
};

}  // namespace reprise::couchbase::detail
