/// The real-time driver of the blocking loop: the only file of this library that reads a clock,
/// sleeps, or asks the operating system for randomness.

#include <algorithm>
#include <array>
#include <condition_variable>
#include <cstddef>
#include <mutex>
#include <new>
#include <random>

#include <reprise/retry/clock.hpp>
#include <reprise/retry/detail/compiler.hpp>
#include <reprise/retry/random_generator.hpp>

namespace reprise {

retry_clock::~retry_clock() = default;
driver::random_source::~random_source() = default;

std::chrono::sys_seconds retry_clock::calendar_time() noexcept {
    constexpr std::chrono::sys_seconds start{
        std::chrono::sys_days{std::chrono::year{2000} / std::chrono::January / 1}};
    return start + std::chrono::floor<std::chrono::seconds>(now().time_since_epoch());
}

namespace {

class steady_driver final : public retry_clock {
public:
    time_point now() noexcept override {
        return std::chrono::time_point_cast<duration>(std::chrono::steady_clock::now());
    }

    std::chrono::sys_seconds calendar_time() noexcept override {
        return std::chrono::floor<std::chrono::seconds>(std::chrono::system_clock::now());
    }

    bool wait_until(time_point until, const std::stop_token& stop) noexcept override {
        std::mutex mutex;
        std::condition_variable stopped;
        // A wait for the token itself, which `condition_variable_any` has, can hang with libstdc++
        // on Windows.
        const std::stop_callback wake(stop, [&] {
            std::unique_lock(mutex).unlock();  // The wait has begun then, or it does not begin.
            stopped.notify_all();
        });
        std::unique_lock lock(mutex);
        // Waits for distant times in pieces, because some systems overflow in the kernel interface.
        for (;;) {
            const time_point current = now();
            if (stop.stop_requested()) {
                return false;
            }
            if (until <= current) {
                return true;
            }
            const time_point piece =
                std::min(until, driver::add_saturated(current, std::chrono::hours{1}));
            stopped.wait_until(lock, piece);
        }
    }
};

[[nodiscard]] std::uint64_t steady_ticks() noexcept {
    return static_cast<std::uint64_t>(std::chrono::steady_clock::now().time_since_epoch().count());
}

/// An unreadable random device must not stop a program, so the clock provides the seed instead.
std::uint64_t seed_from_system() noexcept {
    return detail::result_or(steady_ticks(), [] {
        std::random_device device;
        return (static_cast<std::uint64_t>(device()) << 32U) ^ device();
    });
}

}  // namespace

retry_clock& retry_clock::real() noexcept {
    // Never destroyed: objects with static lifetime may retry in their destructors.
    alignas(steady_driver) static std::array<std::byte, sizeof(steady_driver)> place;
    static auto* const driver = new (place.data()) steady_driver;
    return *driver;
}

std::uint64_t detail::thread_random() noexcept {
    thread_local random_generator generator(seed_from_system());
    // The time is mixed in because a process has the same generator after a fork as its parent.
    return random_generator::mix(generator.next() ^ steady_ticks());
}

}  // namespace reprise
