#pragma once

#include <cstdint>

#include <reprise/base/timer_wheel.hpp>

namespace reprise::engine {

// Whose timer fired. The owner derives from engine_timer, and the kind determines the cast.
enum class timer_kind : std::uint8_t {
    operation,        // operation_slot: retry or deadline is due
    wake,             // waiting_operations: the next part of a large wake-up
    connection,       // kv_connection: connect, bootstrap, probe
    link,             // node_link: reconnect
    bucket,           // bucket_state: configuration poll
    configuration,    // pushed_configuration: waits to be applied
    missing_bucket,   // missing_bucket_timer: no node has had the bucket for a while
    collection,       // collection_entry: answer overdue, or time to ask again
    endpoint,         // endpoint_record: its circuit breaker
    log,              // operation_retries: summary of suppressed log records is due
    http_operation,   // http_slot: retry or deadline is due
    http_connection,  // http_connection: connect, idle
};

class engine_timer : public base::timer_node {
public:
    explicit engine_timer(timer_kind kind) noexcept : kind_(kind) {}
    [[nodiscard]] timer_kind kind() const noexcept { return kind_; }

private:
    timer_kind kind_;
};

}  // namespace reprise::engine
