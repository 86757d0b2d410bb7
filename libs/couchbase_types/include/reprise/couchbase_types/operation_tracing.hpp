#pragma once

/// Spans of a client's operations, through the same small interface as the spans of retry loops
/// (`reprise/retry/retry_observer.hpp`).
///
/// ```
/// span               attributes (OpenTelemetry's names where it has them)
/// "get travel"       db.system.name, db.operation.name, db.namespace, reprise.couchbase.service,
///                    reprise.retry.attempts, error.type
///   attempt          reprise.retry.attempt, server.address, server.port, error.type
/// ```

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <utility>

#include <reprise/couchbase_types/operation_observer.hpp>
#include <reprise/retry/retry_observer.hpp>

namespace reprise::couchbase {

/// One object for any number of clients and threads.
///
/// Spans start on the client's thread, where nothing is known about the caller's span. To make
/// one the parent, pass a `retry_tracer::span*` in the operation's options
/// (`.user_data = std::make_shared<std::any>(&span)`); it must live until the operation ends.
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
