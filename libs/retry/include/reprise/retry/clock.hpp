#pragma once

/// All that loops need from outside: a clock that can also wait, and a source of randomness.
/// Replace both to run a program's retries in virtual time (`reprise::testing::virtual_clock`).

#include <chrono>
#include <cstdint>
#include <stop_token>
#include <version>

#include <reprise/retry/detail/compiler.hpp>
#include <reprise/retry/time.hpp>

/// `std::stop_token`, or one error that names the remedy.

#if !defined(__cpp_lib_jthread)

#error "no std::stop_token here: libc++ before version 20 needs the flag -fexperimental-library"

// Only so that the error above remains the only one.
namespace std {

class stop_token {
public:
    bool stop_requested() const noexcept;
    bool stop_possible() const noexcept;
};

class stop_source {
public:
    stop_token get_token() const noexcept;
    bool request_stop() noexcept;
    bool stop_requested() const noexcept;
};

template <class Callback>
class stop_callback {
public:
    template <class Function>
    stop_callback(const stop_token&, Function&&);
};

}  // namespace std

#endif

namespace reprise {

/// Must be safe to use from all threads that run loops with it.
class REPRISE_EXPORT retry_clock {
public:
    virtual ~retry_clock();
    [[nodiscard]] virtual time_point now() noexcept = 0;
    /// Waits until `until` or until `stop` is requested, whichever is first. True if the time was
    /// reached. A time in the past returns at once. It cannot fail: a retry that waits is paid for.
    [[nodiscard]] virtual bool wait_until(
        time_point until, const std::stop_token& stop) noexcept = 0;
    /// The date that corresponds to `now`, for services that name dates (`Retry-After`). Unless
    /// overridden, `now` counts from the start of 2000: right for virtual time, and the same in
    /// every run. The real clock returns the date of this machine.
    [[nodiscard]] virtual std::chrono::sys_seconds calendar_time() noexcept;

    /// The steady clock of this machine; waiting sleeps and wakes at once on a stop request.
    [[nodiscard]] static retry_clock& real() noexcept;
};

namespace driver {

/// Must be safe to use from all threads that run loops with it.
class REPRISE_EXPORT random_source {
public:
    virtual ~random_source();
    /// Returns 64 uniform random bits.
    [[nodiscard]] virtual std::uint64_t next() noexcept = 0;
};

}  // namespace driver

namespace detail {

/// A generator per thread, seeded from the operating system once.
[[nodiscard]] REPRISE_EXPORT std::uint64_t thread_random() noexcept;

}  // namespace detail

}  // namespace reprise
