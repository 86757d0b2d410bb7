#pragma once

/// The threads that run the executors of a call: one, or three at the same time.

#include <atomic>
#include <barrier>
#include <cstddef>
#include <functional>
#include <stdexcept>
#include <thread>
#include <utility>

#include <reprise/asio/detail/library.hpp>
#include <reprise/asio/hedge.hpp>
#include <reprise/testing/virtual_clock.hpp>

#if defined(REPRISE_STANDALONE_ASIO)
#include <asio/io_context.hpp>
#include <asio/post.hpp>
#else
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#endif

#include "world.hpp"

namespace reprise::feature_pairs {

namespace asio = detail::asio;

/// Thrown where no result can carry an exception.
struct failed_start : std::runtime_error {
    failed_start() : std::runtime_error("the operation cannot be started") {}
};

/// Two threads that wait for work. It runs on them and on the caller's thread at the same time.
class helper_threads {
public:
    helper_threads() = default;
    helper_threads(const helper_threads&) = delete;
    helper_threads& operator=(const helper_threads&) = delete;
    ~helper_threads() {
        work_ = nullptr;
        start_.arrive_and_wait();
        first_.join();
        second_.join();
    }

    void run(const std::function<void()>& work) {
        work_ = &work;
        start_.arrive_and_wait();
        work();
        end_.arrive_and_wait();
    }

private:
    void help() {
        for (start_.arrive_and_wait(); work_ != nullptr; start_.arrive_and_wait()) {
            (*work_)();
            end_.arrive_and_wait();
        }
    }

    const std::function<void()>* work_ = nullptr;
    std::barrier<> start_{3};
    std::barrier<> end_{3};
    std::thread first_{[this] { help(); }};
    std::thread second_{[this] { help(); }};
};

/// The contexts of a call. `clock.run(crew)` plays it: time stands still while something runs.
class crew {
public:
    crew(const call_plan& plan, testing::virtual_clock& clock) : plan_(plan), clock_(clock) {}

    /// Where the loop's timers are.
    [[nodiscard]] asio::io_context& io() { return io_; }
    /// Where the handler and the attempts are.
    [[nodiscard]] asio::io_context& handlers() {
        return plan_.has(feature::own_context) ? handlers_ : io_;
    }

    void restart() {
        io_.restart();
        handlers_.restart();
    }
    void poll() {
        const std::function<void()> work = [this] { poll_once(); };
        do {
            ran_ = 0;
            restart();
            if (plan_.has(feature::threads)) {
                if (std::exchange(has_started_, true)) {
                    clock_.advance({});  // What is due at the same time runs at the same time.
                }
                static helper_threads helpers;
                helpers.run(work);
            } else {
                work();
            }
        } while (ran_ != 0);
    }

private:
    /// What an operation throws while it is being started may come out here.
    void poll_once() {
        try {
            ran_ += io_.poll() + handlers_.poll();
        } catch (const failed_start&) {
            ++ran_;
        }
    }

    const call_plan& plan_;
    testing::virtual_clock& clock_;
    asio::io_context io_;
    asio::io_context handlers_;
    bool has_started_ = false;
    std::atomic<std::size_t> ran_ = 0;
};

[[nodiscard]] inline hedge_options hedging_of(const call_plan& plan) {
    return {.delay = plan.hedge_delay, .attempts_max = plan.hedged_attempts_max};
}

/// Emits the signals of the plan on `where`. A terminal one follows, as from a program that waits
/// no longer.
template <class Executor>
void schedule_signals(
    world& w, testing::virtual_clock& clock, const Executor& where,
    asio::cancellation_signal& signal) {
    w.emit_signal = [&w, &signal] {
        w.on_signal(1);
        signal.emit(asio::cancellation_type::terminal);
    };
    if (!w.plan().signal_at) {
        return;
    }
    const auto emit_at = [&](duration when, std::uint32_t type) {
        clock.at(clock.now() + when, [&w, &signal, where, type] {
            asio::post(where, [&w, &signal, type] {
                w.on_signal(type);
                signal.emit(static_cast<asio::cancellation_type_t>(type));
            });
        });
    };
    emit_at(*w.plan().signal_at, w.plan().signal_type);
    emit_at(*w.plan().signal_at + std::chrono::milliseconds{15}, 1);
}

}  // namespace reprise::feature_pairs
