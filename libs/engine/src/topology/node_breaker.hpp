#pragma once

#include <atomic>
#include <mutex>
#include <optional>

#include <reprise/retry/circuit_breaker.hpp>

namespace reprise::engine {

// The circuit breaker of one endpoint, which all loops of a client share: their requests are
// counted together, and one of them sends the canary.
class node_breaker {
public:
    explicit node_breaker(const driver::circuit_breaker_options& options) noexcept
        : states_(options) {}

    [[nodiscard]] bool allows() const noexcept { return allows_.load(std::memory_order_relaxed); }
    // Returns true if this outcome has opened it.
    bool on_outcome(bool has_failed, time_point now) noexcept {
        const std::lock_guard lock(mutex_);
        const bool was_closed = states_.allows();
        states_.on_outcome(has_failed, now);
        publish();
        return was_closed && !states_.allows();
    }
    [[nodiscard]] std::optional<time_point> next_due() const noexcept {
        const std::lock_guard lock(mutex_);
        return states_.next_due();
    }
    // True for one loop only: it must send the canary.
    [[nodiscard]] bool on_due(time_point now) noexcept {
        const std::lock_guard lock(mutex_);
        return states_.on_due(now);
    }
    void on_probe_lost(time_point now) noexcept {
        const std::lock_guard lock(mutex_);
        states_.on_probe_lost(now);
    }
    // Returns true if it was not closed before.
    bool close() noexcept {
        const std::lock_guard lock(mutex_);
        const bool was_open = states_.close();
        publish();
        return was_open;
    }
    [[nodiscard]] circuit_state state() const noexcept {
        const std::lock_guard lock(mutex_);
        return states_.state();
    }

private:
    void publish() noexcept { allows_.store(states_.allows(), std::memory_order_relaxed); }

    mutable std::mutex mutex_;
    driver::circuit_breaker_fsm states_;
    std::atomic<bool> allows_{true};
};

}  // namespace reprise::engine
