#pragma once

/// The token bucket: one allowance for retries, shared by all its holders.
///
/// A retry pays its whole price or does not happen; successes give a little back. When a service is
/// sick the bucket runs dry and the clients stop adding to its load. The bucket is a type of its
/// own, so that several strategies and clients can share one (`std::shared_ptr<token_bucket>`).

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>

#include <reprise/retry/detail/compiler.hpp>
#include <reprise/retry/retry_errc.hpp>

namespace reprise {

namespace detail {

/// Budgets count in thousandths of a unit, so that fractions are exact.
[[nodiscard]] constexpr std::int64_t milli_units(double units) noexcept {
    return static_cast<std::int64_t>(units * 1000.0 + (units < 0 ? -0.5 : 0.5));
}

}  // namespace detail

/// The size of a `token_bucket`.
struct token_bucket_options {
    double capacity = 500.0;  ///< Units at most; above 0, at most 1e12.
    /// Units at the start. Absent: full. 0 makes a bucket that earns its burst: after a cold start
    /// it pays for retries only out of what successes have put in.
    std::optional<double> initial{};
};

/// The first contradiction, if any.
[[nodiscard]] REPRISE_EXPORT std::optional<settings_error> check(
    const token_bucket_options& options);

/// Exact under concurrency: one atomic word, no unit created and none lost, never below zero and
/// never above capacity.
class token_bucket {
public:
    explicit token_bucket(const token_bucket_options& options = {})
        : capacity_(detail::milli_units(detail::checked(options).capacity)),
          level_(detail::milli_units(options.initial.value_or(options.capacity))) {}

    /// The result of a charge: the level it left or, when refused, the level it found.
    struct charge {
        bool paid = false;
        std::int64_t level = 0;
    };

    /// Takes `cost` milli-units, all or nothing.
    [[nodiscard]] charge try_take(std::int64_t cost) noexcept {
        std::int64_t level = level_.load(std::memory_order_relaxed);
        do {
            if (level < cost) {
                return {false, level};
            }
        } while (!level_.compare_exchange_weak(level, level - cost, std::memory_order_relaxed));
        return {true, level - cost};
    }

    /// Puts `amount` milli-units back, up to the capacity. A full bucket is only read.
    void give(std::int64_t amount) noexcept {
        std::int64_t level = level_.load(std::memory_order_relaxed);
        std::int64_t target = 0;
        do {
            if (level >= capacity_) {
                return;
            }
            // Adding first and correcting later would let others see a level above capacity.
            target = std::min(capacity_, level + amount);
        } while (!level_.compare_exchange_weak(level, target, std::memory_order_relaxed));
    }

    /// The units that retries can spend now; units as in the options.
    [[nodiscard]] double available() const noexcept {
        return static_cast<double>(milli_level()) / 1000.0;
    }
    [[nodiscard]] double capacity() const noexcept {
        return static_cast<double>(capacity_) / 1000.0;
    }
    /// The same, exactly.
    [[nodiscard]] std::int64_t milli_level() const noexcept {
        return level_.load(std::memory_order_relaxed);
    }
    [[nodiscard]] std::int64_t milli_capacity() const noexcept { return capacity_; }

private:
    const std::int64_t capacity_;
    std::atomic<std::int64_t> level_;
};

}  // namespace reprise
