#pragma once

// The loops of a client, and what waits for them.

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <functional>
#include <iterator>
#include <memory>
#include <mutex>
#include <optional>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>

#include <reprise/engine/completion.hpp>
#include <reprise/engine/operation_request.hpp>
#include <reprise/engine/operation_result.hpp>

#include "driver.hpp"
#include "loop_shift.hpp"
#include "loop_turn.hpp"

namespace reprise::net {

[[nodiscard]] inline std::string_view key_of(const engine::operation_request& request) {
    return request.key.text();
}
[[nodiscard]] inline std::string_view key_of(const engine::document_call& call) {
    return call.key;
}

[[nodiscard]] inline bool is_readiness_check(
    engine::operation_kind kind, std::string_view key) noexcept {
    return kind == engine::operation_kind::noop && key.empty();
}

// A result that a caller blocks for. set() notifies after it releases the lock, because the waiter
// would otherwise block on the lock again at once. set() may therefore still be running when the
// waiter wakes up. As this object is on the waiter's stack, wait() does not return before set() is
// done.
template <class Value>
class waiter {
public:
    void set(Value&& value) {
        {
            const std::scoped_lock lock(mutex_);
            value_ = std::move(value);
        }
        ready_.notify_one();
        is_released_.store(true, std::memory_order_release);
    }
    [[nodiscard]] Value wait() {
        {
            std::unique_lock lock(mutex_);
            ready_.wait(lock, [this] { return value_.has_value(); });
        }
        while (!is_released()) {
            std::this_thread::yield();
        }
        return std::move(*value_);
    }
    // Only for the thread that also runs the loop.
    [[nodiscard]] bool is_set() const noexcept { return value_.has_value(); }
    // For any thread. Once it is true, set() no longer uses this object.
    [[nodiscard]] bool is_released() const noexcept {
        return is_released_.load(std::memory_order_acquire);
    }

private:
    std::mutex mutex_;
    std::condition_variable ready_;
    std::optional<Value> value_;
    std::atomic<bool> is_released_{false};
};

// A loop of our own. The thread or call that runs it shares ownership, because the client may be
// destroyed inside.
struct own_loop {
    boost::asio::io_context context{1};
    boost::asio::executor_work_guard<boost::asio::io_context::executor_type> work{
        context.get_executor()};
    std::shared_ptr<driver> engine_driver;  // after the context, so that it is destroyed first
    // caller_drives: which caller runs the loop.
    loop_turn turn;
    // own_thread: who runs the loop.
    loop_shift shift{context};
    std::atomic<std::thread::id> runner{};

    [[nodiscard]] bool is_run_here() const noexcept {
        return runner.load(std::memory_order_relaxed) == std::this_thread::get_id();
    }
};

// One loop of a client, and the driver on it.
struct client_loop {
    std::shared_ptr<own_loop> own;  // null if the client runs on the caller's executor
    std::shared_ptr<driver> engine_driver;

    // Whether a blocking call from this thread would wait for this loop.
    [[nodiscard]] bool is_run_here() const {
        return engine_driver->is_running() ||
               (own ? own->is_run_here() : engine_driver->is_run_by_this_thread());
    }
};

// Never changes once the client is made. Code that visits the loops in turn holds the list, because
// a completion on one of them may destroy the client meanwhile.
using loop_list = std::vector<client_loop>;

// The result of an operation that every loop runs once: the first failure, or else the last result.
class joined_result {
public:
    joined_result(std::size_t count, engine::completion&& done)
        : open_count_(count), done_(std::move(done)) {}

    void add(engine::operation_result&& part) {
        engine::completion done;
        engine::operation_result result;
        {
            const std::scoped_lock lock(mutex_);
            if (!has_failed_) {
                result_ = std::move(part);
                has_failed_ = static_cast<bool>(result_.ec);
            }
            if (--open_count_ != 0) {
                return;
            }
            done = std::move(done_);
            result = std::move(result_);
        }
        done(std::move(result));
    }

private:
    std::mutex mutex_;
    std::size_t open_count_;
    bool has_failed_ = false;
    engine::operation_result result_;
    engine::completion done_;
};

// Adds the figures of one loop to those of its client.
inline void add_figures(engine::engine_statistics& sum, const driver& from) {
    sum.add_loop(from.engine().statistics());
}
inline void add_figures(client_report& sum, const driver& from) {
    client_report part = from.describe();
    sum.client = part.client;
    std::ranges::move(part.connections, std::back_inserter(sum.connections));
}

// Figures that every loop adds to once, in a task of its own. The tasks share it.
template <class Figures>
class joined_figures {
public:
    using receiver = std::move_only_function<void(Figures&&)>;

    joined_figures(std::size_t count, receiver&& done)
        : open_count_(count), done_(std::move(done)) {}

    void add(const driver& from) {
        {
            const std::scoped_lock lock(mutex_);
            add_figures(sum_, from);
            if (--open_count_ != 0) {
                return;
            }
        }
        done_(std::move(sum_));
    }

private:
    std::mutex mutex_;
    std::size_t open_count_;
    Figures sum_{};
    receiver done_;
};

// Runs the loop on this thread, which is its own, except while blocked callers do.
inline void attend(own_loop& loop) {
    loop.shift.attend([&loop] {
        loop.runner.store(std::this_thread::get_id(), std::memory_order_relaxed);
        loop.engine_driver->take_back();
    });
}

// Calls `begin`, then runs the loop as its only driver while `is_wanted` and the loop has work.
template <class Begin, class Condition>
void run_while(own_loop& loop, const Begin& begin, const Condition& is_wanted) {
    loop.runner.store(std::this_thread::get_id(), std::memory_order_relaxed);
    loop.context.restart();
    begin();
    while (is_wanted() && loop.context.run_one() > 0) {
    }
    loop.runner.store(std::thread::id{}, std::memory_order_relaxed);
}

// Waits for `result` from a loop that callers drive. If the loop is free, begins with `start_here`
// and runs it. If another caller runs it, `submit` gives that caller the work, and a loop that
// becomes free meanwhile is run here. The thread that sets a submitted result announces it.
template <class Here, class Submit, class Value>
[[nodiscard]] refusal drive_until_set(
    own_loop& loop, const waiter<Value>& result, const Here& start_here, const Submit& submit) {
    const auto is_missing = [&] { return !result.is_set(); };
    if (loop.turn.try_begin()) {
        const turn_end at_end(loop.turn);
        run_while(loop, start_here, is_missing);
        return refusal::none;
    }
    if (const refusal refused = submit(); refused != refusal::none) {
        return refused;
    }
    if (loop.turn.begin_unless([&] { return result.is_released(); })) {
        const turn_end at_end(loop.turn);
        run_while(loop, [] {}, is_missing);
    }
    return refusal::none;
}

// A blocked caller runs the loop for its own operation. False if `try_start` could not start it. If
// the loop's thread is called meanwhile, the rest is left to it.
template <class TryStart, class Value>
[[nodiscard]] bool try_run_lent(
    own_loop& loop, const TryStart& try_start, const waiter<Value>& result) {
    if (!loop.shift.try_begin()) {
        return false;
    }
    const turn_end at_end(loop.shift);
    bool has_started = false;
    run_while(
        loop,
        [&] {
            has_started = try_start();
            if (!has_started) {
                loop.shift.call();
            }
        },
        [&] { return has_started && !result.is_set() && !loop.shift.is_called(); });
    return has_started;
}

}  // namespace reprise::net
