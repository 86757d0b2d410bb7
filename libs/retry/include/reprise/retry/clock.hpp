#pragma once

/// The one place where loops meet the world: a clock that can also wait, and a source of
/// randomness. Replace both to run a program's retries in virtual time
/// (`reprise::testing::virtual_clock`).

#include <chrono>
#include <cstdint>

#include <reprise/retry/detail/compiler.hpp>
#include <reprise/retry/detail/stop_token.hpp>
#include <reprise/retry/time.hpp>

namespace reprise {

/// Must be safe to use from all threads that run loops with it.
class REPRISE_EXPORT retry_clock {
public:
    virtual ~retry_clock();
    [[nodiscard]] virtual time_point now() noexcept = 0;
    /// Waits until `until` or until `stop` is requested, whichever is first. True if the time was
    /// reached. A time in the past returns at once.
    [[nodiscard]] virtual bool wait_until(time_point until, const std::stop_token& stop) = 0;
    /// The date that corresponds to `now`, for services that name dates (`Retry-After`). Unless
    /// overridden, `now` counts from the start of 2000: right for virtual time, and the same in
    /// every run. The real clock returns the date of this machine.
    [[nodiscard]] virtual std::chrono::sys_seconds calendar_time() noexcept;
};

/// The steady clock of this machine; waiting sleeps and wakes at once on a stop request.
[[nodiscard]] REPRISE_EXPORT retry_clock& real_clock() noexcept;

/// Yields 64 uniform random bits per call. Not owned; the state must outlive the loops.
struct random_source {
    std::uint64_t (*generate)(void* state) noexcept = nullptr;
    void* state = nullptr;

    [[nodiscard]] std::uint64_t operator()() const noexcept;
};

namespace detail {

/// A generator per thread, seeded from the operating system once.
[[nodiscard]] REPRISE_EXPORT std::uint64_t thread_random() noexcept;

}  // namespace detail

inline std::uint64_t random_source::operator()() const noexcept {
    return generate != nullptr ? generate(state) : detail::thread_random();
}

}  // namespace reprise
