#include <gtest/gtest.h>

#include <cstddef>
#include <exception>
#include <memory>
#include <memory_resource>
#include <new>
#include <reprise/asio/async_retry.hpp>
#include <reprise/asio/hedge.hpp>
#include <reprise/retry/simple_strategy.hpp>
#include <reprise/testing/virtual_clock.hpp>
#include <set>
#include <utility>

#include "chosen_asio.hpp"

/// Loops that get no memory in the middle of a call. Whatever happens, the caller's handler must
/// not run while an attempt runs, which may use the caller's buffers.

namespace reprise::exhausted_memory_test {

using namespace std::chrono_literals;
namespace asio = testing::asio;
using testing::error_code;

/// The memory of a handler, of which one allocation fails, and a clock whose timers may fail.
class limited_memory final : public std::pmr::memory_resource, public driver::async_clock {
public:
    testing::virtual_clock time;
    int allocations = 0;
    int failing = 0;  ///< The number of the allocation that fails; 0: none.
    bool has_timers = true;

    [[nodiscard]] time_point now() noexcept override { return time.now(); }
    [[nodiscard]] bool wait_until(time_point, const std::stop_token&) noexcept override {
        return false;
    }
    void arm(time_point when, std::weak_ptr<driver::wake_target> target) override {
        if (!has_timers) {
            throw std::bad_alloc();
        }
        time.arm(when, std::move(target));
    }

private:
    void* do_allocate(std::size_t size, std::size_t alignment) override {
        if (++allocations == failing) {
            throw std::bad_alloc();
        }
        return std::pmr::new_delete_resource()->allocate(size, alignment);
    }
    void do_deallocate(void* place, std::size_t size, std::size_t alignment) override {
        std::pmr::new_delete_resource()->deallocate(place, size, alignment);
    }
    bool do_is_equal(const memory_resource& other) const noexcept override {
        return this == &other;
    }
};

struct call {
    limited_memory memory;
    asio::io_context io;
    async_call_options options{.repeat = repeatability::repeatable, .clock = borrowed(&memory)};
    int started = 0;
    int running = 0;
    int canceled = 0;
    int completed = 0;
    int left_by_throwing = 0;  // exceptions that left through the executor

    /// Attempts that take 200 ms unless they are canceled. They succeed, canceled or not.
    template <class First>
    [[nodiscard]] auto operation() {
        return [this](const attempt&, auto handler) {
            ++started;
            ++running;
            const auto slot = asio::get_associated_cancellation_slot(handler);
            detail::async_pause(
                io.get_executor(), {memory.now() + 200ms, {}, &memory.time},
                asio::bind_cancellation_slot(
                    slot, [this, handler = std::move(handler)](bool reached) mutable {
                        --running;
                        canceled += reached ? 0 : 1;
                        std::move(handler)(First());
                    }));
        };
    }
    /// On a strand, where what is thrown at the start of an attempt returns to the loop.
    template <class First, class Operation>
    void run(const Operation& initiate) {
        const auto strand = asio::make_strand(io);
        asio::post(strand, [this, strand, initiate] {
            const auto done = [this](const First&) {
                ++completed;
                EXPECT_EQ(running, 0);
            };
            const std::pmr::polymorphic_allocator<std::byte> allocator(&memory);
            async_retry<void(First)>(
                io, attempts(3), options, initiate,
                asio::bind_executor(strand, asio::bind_allocator(allocator, done)));
        });
        for (bool is_idle = false; !is_idle;) {
            try {
                memory.time.run(io);
                is_idle = true;
            } catch (const std::bad_alloc&) {
                ++left_by_throwing;
            }
        }
    }
};

/// Each allocation of a call fails in turn. Returns how many attempts the completed calls made.
template <class First>
[[nodiscard]] std::set<int> attempts_of_hedged_calls() {
    std::set<int> made;
    for (int failing = 1;; ++failing) {
        SCOPED_TRACE(failing);
        call c;
        c.memory.failing = failing;
        c.run<First>(hedged({.delay = 50ms, .attempts_max = 3}, c.operation<First>()));
        EXPECT_EQ(c.completed + c.left_by_throwing, 1);
        EXPECT_EQ(c.running, 0);
        if (c.completed == 1) {
            made.insert(c.started);
        }
        if (c.memory.allocations < failing) {
            return made;
        }
    }
}

// The exception was taken for one that the operation had thrown at its start: the handler ran while
// the attempt was still running. Without an argument for exceptions the call never completed.
TEST(exhausted_memory, without_memory_for_its_wait_a_hedge_is_not_made) {
    const std::set<int> made = attempts_of_hedged_calls<error_code>();
    EXPECT_EQ(made, (std::set{1, 2, 3}));
    const std::set<int> carried = attempts_of_hedged_calls<std::exception_ptr>();
    EXPECT_EQ(carried, (std::set{0, 1, 2, 3})) << "0: its own start failed";
}

// As above: the handler ran while the attempt was running, without its limit.
TEST(exhausted_memory, without_memory_for_its_limit_an_attempt_is_canceled_at_once) {
    call c;
    c.memory.has_timers = false;
    c.options.attempt_timeout = 10s;
    c.run<std::exception_ptr>(c.operation<std::exception_ptr>());
    EXPECT_EQ(c.started, 1);
    EXPECT_EQ(c.canceled, 1);
    EXPECT_EQ(c.completed, 1);
    EXPECT_EQ(c.left_by_throwing, 0);
}

}  // namespace reprise::exhausted_memory_test
