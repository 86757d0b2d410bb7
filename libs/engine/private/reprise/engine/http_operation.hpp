#pragma once

#include <any>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include <reprise/engine/row_batch.hpp>
#include <reprise/engine/vocabulary.hpp>
#include <reprise/retry/driver/admission.hpp>
#include <reprise/retry/driver/retry_strategy.hpp>
#include <reprise/services/http_exchange.hpp>

namespace reprise::engine {

using services::exchange_result;
using services::http_answer;
using services::http_exchange;
using services::service_call;

// A request to an HTTP service: an operation of the service, and how the engine runs it. Moved into
// the engine, which keeps it until the operation ends.
struct http_request : services::service_operation {
    http_request() = default;
    // NOLINTNEXTLINE(google-explicit-constructor): all other members have defaults
    http_request(services::service_operation&& what) : service_operation(std::move(what)) {}

    // Only this node is used: "host:port". Empty: any node.
    std::string node{};
    // Bound of the rows that wait to be taken: reading stops above it and resumes when rows are
    // taken.
    std::size_t rows_size_max_bytes = std::size_t{1024} * 1024;
    // The largest single row, and the largest answer without rows, in bytes.
    std::size_t row_size_max_bytes = std::size_t{20} * 1024 * 1024;
    std::size_t body_size_max_bytes = std::size_t{64} * 1024 * 1024;
    // Called from drain_completions when rows become available. If it is empty, rows are kept until
    // the end, and the operation fails if they exceed the bound above.
    std::function<void()> on_rows{};

    // Time to wait before the first attempt. The timeout includes it; the time that observers see
    // does not.
    duration delay{};
    std::optional<duration> timeout{};  // empty: the engine's default for the service
    time_point deadline = driver::no_deadline;
    std::shared_ptr<driver::retry_strategy> strategy{};
    std::shared_ptr<const std::any> user_data{};

    [[nodiscard]] driver::retry_strategy* own_strategy() const noexcept { return strategy.get(); }
    [[nodiscard]] const std::any* own_user_data() const noexcept { return user_data.get(); }
    std::shared_ptr<driver::retry_allowance> outer_allowance{};
};

// The HTTP part of an operation_result.
struct http_result {
    int status = 0;               // 0: no answer
    std::string body{};           // as in http_answer
    row_batch rows{};             // the rows that were not taken
    std::uint64_t row_count = 0;  // of the last answer, taken or not
    std::uint32_t server_code = 0;
    std::string server_text{};
    std::any metadata{};  // as in exchange_result
};

}  // namespace reprise::engine
