#pragma once

/// Ready-made observers of a client's operations. `client_metrics`: counters as text for
/// Prometheus, and slow operations as JSON.
/// ```
///     const auto metrics = std::make_shared<couchbase::client_metrics>(...);
///     auto cluster = couchbase::cluster::connect(..., {..., .operation_observers = {metrics}});
///     ...
///     std::cout << metrics->to_prometheus();
/// ```
/// `operation_tracing`: spans, through the same small interface as the spans of retry loops
/// (`reprise/retry/retry_observer.hpp`).
///
/// ```
/// span               attributes (OpenTelemetry's names where it has them)
/// "get travel"       db.system.name, db.operation.name, db.namespace, reprise.couchbase.service,
///                    reprise.retry.attempts, error.type
///   attempt          reprise.retry.attempt, server.address, server.port, error.type
/// ```

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>

#include <reprise/couchbase_types/cluster_options.hpp>
#include <reprise/couchbase_types/operation_observer.hpp>
#include <reprise/retry/driver/metrics_text.hpp>
#include <reprise/retry/retry_observer.hpp>

namespace reprise::couchbase {

namespace detail {
class slow_operations;
}  // namespace detail

/// Thresholds for slow operations, and the destination of the reports about them.
struct slow_operation_options {
    /// Operations that take longer are slow.
    duration kv_threshold = std::chrono::milliseconds{500};
    duration http_threshold = std::chrono::seconds{1};
    /// Slow operations of this time are reported together. The report comes with the first
    /// operation that ends afterwards, or with `flush_slow_operations`.
    duration interval = std::chrono::seconds{10};
    /// The worst of each service are named, up to this many; the others are counted.
    std::size_t sample_count_max = 10;
    /// Gets one line of JSON, without its end. Called on a client's thread; must not call the
    /// client. What it throws is ignored. Empty: slow operations are not collected.
    ///
    /// `{"kv":{"total_count":7,"top_requests":[{"operation_name":"get",...},...]}}`
    std::function<void(std::string_view)> report{};
};

/// One object for any number of clients and threads. Counts without locks; slow operations take a
/// lock.
class client_metrics final : public operation_observer {
public:
    explicit client_metrics(slow_operation_options slow = {});
    /// Reports the slow operations that are left.
    ~client_metrics() override;
    client_metrics(const client_metrics&) = delete;
    client_metrics& operator=(const client_metrics&) = delete;

    void on_decision(
        const operation_identity& which, const decision_record& record) noexcept override;
    void on_end(const operation_end& record) noexcept override;
    void on_orphan(const orphan_record& record) noexcept override;

    /// Operations of a service ("kv") that have ended.
    [[nodiscard]] std::uint64_t successes(std::string_view service) const noexcept;
    [[nodiscard]] std::uint64_t failures(std::string_view service) const noexcept;
    /// Retries made for one reason, by the client's own requests, too.
    [[nodiscard]] std::uint64_t retries(retry_reason reason) const noexcept;
    /// Answers to requests that had already ended.
    [[nodiscard]] std::uint64_t orphans() const noexcept;

    /// The text format 0.0.4. Services that were not used and reasons that did not occur are left
    /// out.
    [[nodiscard]] std::string to_prometheus(
        const driver::prometheus_options& options = {.prefix = "couchbase"}) const;

    /// Reports the slow operations collected so far, if there are any.
    void flush_slow_operations();

private:
    using counter = std::atomic<std::uint64_t>;
    struct service_counters {
        counter successes{0};
        counter failures{0};
        driver::latency_histogram times;
    };
    [[nodiscard]] static std::size_t index_of(std::string_view service) noexcept;

    std::array<service_counters, detail::used_services.size() + 1> by_service_{};  // last: others
    std::array<counter, retry_reason_count> retries_{};
    std::array<counter, 32> refusals_{};
    counter orphans_{0};
    std::unique_ptr<detail::slow_operations> slow_;  // null: not collected
};

/// One object for any number of clients and threads.
///
/// Spans start on the client's thread, where nothing is known about the caller's span. To make
/// one the parent, pass a `retry_tracer::span*` in the operation's options
/// (`.user_data = std::make_shared<std::any>(&span)`); it must live until the operation ends. For a
/// stream that may be left before its end pass a `std::shared_ptr<retry_tracer::span>`.
class operation_tracing final : public operation_observer {
public:
    /// `tracer` is called under a lock.
    explicit operation_tracing(std::shared_ptr<retry_tracer> tracer) noexcept;
    ~operation_tracing() override;

    void on_start(const operation_start& record) noexcept override;
    void on_attempt(const operation_attempt& record) noexcept override;
    void on_decision(
        const operation_identity& which, const decision_record& record) noexcept override;
    void on_end(const operation_end& record) noexcept override;

private:
    struct open_operation {
        std::unique_ptr<retry_tracer::span> span;
        std::unique_ptr<retry_tracer::span> attempt;  // null between attempts
        std::int64_t attempts = 0;
    };
    using key = std::pair<std::uint64_t, std::uint64_t>;  // client and operation

    [[nodiscard]] open_operation* find(const operation_identity& which);

    std::shared_ptr<retry_tracer> tracer_;
    std::mutex mutex_;
    std::map<key, open_operation> open_;
};

}  // namespace reprise::couchbase
