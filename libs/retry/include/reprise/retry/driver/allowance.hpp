#pragma once

/// Retries inside retries multiply: three layers of five attempts are 125. An allowance lets an
/// outer loop pass its remaining retries down, so that the whole nest makes no more than the outer
/// loop would have made alone.

#include <atomic>
#include <cstdint>
#include <limits>
#include <optional>

namespace reprise::driver {

/// The retries one loop may still make, shared with the loops inside its operation. Thread-safe;
/// must outlive the loops that take from it (the loop that owns it does).
class retry_allowance {
public:
    /// Absent `retries`: unlimited by itself; a parent still counts.
    explicit retry_allowance(
        const std::optional<std::uint32_t>& retries, retry_allowance* parent = nullptr) noexcept
        : left_(retries.value_or(unlimited)), parent_(parent) {}
    retry_allowance(const retry_allowance&) = delete;
    retry_allowance& operator=(const retry_allowance&) = delete;

    /// Takes one retry here and from every enclosing loop, or nothing.
    [[nodiscard]] bool try_take() noexcept {
        if (!take_own()) {
            return false;
        }
        if (parent_ != nullptr && !parent_->try_take()) {
            give_own();
            return false;
        }
        return true;
    }

    /// Returns what `try_take` took, when the retry was refused for another reason.
    void give_back() noexcept {
        give_own();
        if (parent_ != nullptr) {
            parent_->give_back();
        }
    }

    /// Retries left here; absent when unlimited.
    [[nodiscard]] std::optional<std::uint32_t> left() const noexcept {
        const std::uint32_t value = left_.load(std::memory_order_relaxed);
        return value == unlimited ? std::nullopt : std::optional{value};
    }

private:
    static constexpr std::uint32_t unlimited = std::numeric_limits<std::uint32_t>::max();

    [[nodiscard]] bool take_own() noexcept {
        std::uint32_t left = left_.load(std::memory_order_relaxed);
        do {
            if (left == 0) {
                return false;
            }
            if (left == unlimited) {
                return true;
            }
        } while (!left_.compare_exchange_weak(left, left - 1, std::memory_order_relaxed));
        return true;
    }
    void give_own() noexcept {
        if (left_.load(std::memory_order_relaxed) != unlimited) {
            left_.fetch_add(1, std::memory_order_relaxed);
        }
    }

    std::atomic<std::uint32_t> left_;
    retry_allowance* parent_;
};

}  // namespace reprise::driver
