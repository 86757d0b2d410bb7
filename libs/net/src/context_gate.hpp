#pragma once

#include <cstdint>
#include <mutex>
#include <optional>
#include <utility>

namespace reprise::net {

// The owner of the context of a driver's executor.
enum class context_owner : std::uint8_t {
    client,  // it outlives the driver
    caller,  // it may be destroyed at any time
};

// Guards the use of the caller's context from other threads. A context of our own is always there
// and needs no lock.
class context_gate {
public:
    explicit context_gate(context_owner owner) noexcept
        : is_callers_(owner == context_owner::caller) {}

    // The context stays while the result is held. Empty if it is gone.
    [[nodiscard]] std::optional<std::unique_lock<std::mutex>> enter() const {
        auto lock = is_callers_ ? std::unique_lock(mutex_) : std::unique_lock<std::mutex>();
        return is_gone_ ? std::nullopt : std::optional(std::move(lock));
    }
    // The context is gone.
    void close() {
        const std::scoped_lock lock(mutex_);
        is_gone_ = true;
    }

private:
    mutable std::mutex mutex_;
    const bool is_callers_;
    bool is_gone_ = false;
};

}  // namespace reprise::net
