#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>

#include <boost/asio/io_context.hpp>

namespace reprise::net {

// Assigns a loop to its own thread, or to a blocked caller that would otherwise wait for it. A
// caller that runs the loop itself saves two switches between threads.
//
//     nobody -- called, or no caller for `patience` --> thread
//     thread -- a caller asks ------------------------> caller
//     nobody -- a caller asks ------------------------> caller
//     caller -- its operation ended, or it was called -> nobody
//
// While nobody runs the loop, the thread sleeps until it is called or `patience` is over: then
// callers come too seldom. A thread that gives the loop work calls the loop's own thread.
class loop_shift {
public:
    static constexpr std::chrono::milliseconds patience{1};

    explicit loop_shift(boost::asio::io_context& context) noexcept : context_(context) {}

    // --- the thread of the loop ---

    // Runs the loop until it is out of work, except while callers do. Calls `begin` each time that
    // it has taken the loop.
    void attend(const std::function<void()>& begin);

    // --- callers ---

    // False if another thread should run the loop: another caller does, or callers were called away
    // recently.
    [[nodiscard]] bool try_begin();
    // Whether the thread was called. The caller must leave the loop to it.
    [[nodiscard]] bool is_called() const noexcept {
        return is_called_.load(std::memory_order_relaxed);
    }
    void end() noexcept;

    // --- any thread ---

    // There is something to do that no caller may do.
    void call() noexcept;
    // The same, and `post` adds it to the loop. In this order: a caller that runs the loop looks
    // whether the thread was called only after it has run something.
    template <class Post>
    void call_then(const Post& post) {
        call();
        post();
    }

private:
    enum class holder : std::uint8_t { nobody, thread, caller };

    void wait_for_turn(std::unique_lock<std::mutex>& lock);

    // Calls that do not try, after one that was called away: others use the loop as well.
    static constexpr int calls_left_out = 64;

    boost::asio::io_context& context_;
    std::mutex mutex_;
    std::condition_variable changed_;
    holder holder_ = holder::nobody;
    bool is_ended_ = false;
    std::uint64_t calls_ = 0;             // that callers have begun
    std::atomic<bool> is_wanted_{false};  // a caller waits for the thread to leave the loop
    std::atomic<bool> is_called_{true};   // the thread; it begins with the first turn
    std::atomic<int> left_out_{0};
};

}  // namespace reprise::net
