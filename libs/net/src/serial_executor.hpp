#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <type_traits>
#include <utility>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/associated_allocator.hpp>
#include <boost/asio/basic_stream_socket.hpp>
#include <boost/asio/basic_waitable_timer.hpp>
#include <boost/asio/execution.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/prefer.hpp>
#include <boost/asio/require.hpp>

namespace reprise::net {

// Runs handlers on another executor, one at a time, as a strand does. A handler that finds no other
// one inside runs at once, which costs two atomic operations; a strand takes several locks and
// allocates. A handler that finds another one inside waits in a queue. Handlers keep the order in
// which the other executor runs them: if several threads run it, that may differ from the order in
// which they were posted.
//
// Copies share the queue. An io_context runs until its sockets and timers are done. Other contexts
// are kept running by copies with outstanding work, as Asio asks for them.
class serial_executor {
public:
    // Not a constructor: whether an any_io_executor can hold this class would depend on itself.
    [[nodiscard]] static serial_executor on(const boost::asio::any_io_executor& inner) {
        return serial_executor(std::make_shared<state>(inner));
    }
    serial_executor(const serial_executor& other) noexcept
        : serial_executor(other, other.is_never_blocking_, other.is_tracked_) {}
    serial_executor(serial_executor&& other) noexcept
        : shared_(std::move(other.shared_)),
          is_never_blocking_(other.is_never_blocking_),
          is_tracked_(std::exchange(other.is_tracked_, false)) {}
    serial_executor& operator=(serial_executor other) noexcept {
        std::swap(shared_, other.shared_);
        std::swap(is_never_blocking_, other.is_never_blocking_);
        std::swap(is_tracked_, other.is_tracked_);
        return *this;
    }
    ~serial_executor() {
        if (is_tracked_) [[unlikely]] {
            shared_->drop_work();
        }
    }

    // The executor that runs the handlers. Empty after `forget_context`.
    [[nodiscard]] const boost::asio::any_io_executor& inner() const noexcept {
        return shared_->inner;
    }
    // The context is about to be destroyed: drops the handlers that wait, and accepts no more. No
    // thread may run the context any longer.
    void forget_context() noexcept { shared_->forget_context(); }

    // --- what Asio requires of an executor ---

    template <class Function>
    void execute(Function&& function) const {
        const state& at = *shared_;
        if (!is_never_blocking_ && at.loop && at.loop->running_in_this_thread()) {
            shared_->run(std::forward<Function>(function));
        } else {
            post(std::forward<Function>(function));
        }
    }
    [[nodiscard]] boost::asio::execution_context& query(
        boost::asio::execution::context_t) const noexcept {
        return boost::asio::query(shared_->inner, boost::asio::execution::context);
    }
    [[nodiscard]] serial_executor require(
        boost::asio::execution::blocking_t::never_t) const noexcept {
        return {*this, true, is_tracked_};
    }
    [[nodiscard]] serial_executor require(
        boost::asio::execution::blocking_t::possibly_t) const noexcept {
        return {*this, false, is_tracked_};
    }
    [[nodiscard]] serial_executor require(
        boost::asio::execution::outstanding_work_t::tracked_t) const noexcept {
        return {*this, is_never_blocking_, !shared_->loop};
    }
    [[nodiscard]] serial_executor require(
        boost::asio::execution::outstanding_work_t::untracked_t) const noexcept {
        return {*this, is_never_blocking_, false};
    }
    [[nodiscard]] friend bool operator==(
        const serial_executor& left, const serial_executor& right) noexcept {
        return left.shared_ == right.shared_ &&
               left.is_never_blocking_ == right.is_never_blocking_ &&
               left.is_tracked_ == right.is_tracked_;
    }

private:
    struct state : std::enable_shared_from_this<state> {
        explicit state(const boost::asio::any_io_executor& given);

        template <class Function>
        void run(Function&& function) {
            std::size_t nobody = 0;
            if (count.compare_exchange_strong(nobody, 1, std::memory_order_acq_rel)) [[likely]] {
                const turn inside(*this);
                // Its captures are released before the next handler runs.
                std::decay_t<Function> held(std::forward<Function>(function));
                held();
            } else if (is_entered_here()) {
                std::forward<Function>(function)();
            } else {
                run_later(std::decay_t<Function>(std::forward<Function>(function)));
            }
        }
        // Whether a handler of this executor is running on this thread.
        [[nodiscard]] bool is_entered_here() const noexcept {
            return runner.load(std::memory_order_relaxed) == std::this_thread::get_id();
        }
        void run_later(std::move_only_function<void()> task);
        // Runs the handlers that wait now. This thread must be inside.
        void run_waiting();
        [[nodiscard]] std::move_only_function<void()> next_waiting();
        // `done_count` handlers have run.
        void leave(std::size_t done_count) noexcept;
        void add_work() noexcept;
        void drop_work() noexcept;
        void forget_context() noexcept;

        struct turn {
            explicit turn(state& owner, std::size_t done = 1) noexcept
                : at(owner), done_count(done) {
                at.runner.store(std::this_thread::get_id(), std::memory_order_relaxed);
            }
            turn(const turn&) = delete;
            turn& operator=(const turn&) = delete;
            ~turn() {
                at.runner.store(std::thread::id{}, std::memory_order_relaxed);
                at.leave(done_count);
            }
            state& at;
            std::size_t done_count;
        };

        boost::asio::any_io_executor inner;
        std::optional<boost::asio::io_context::executor_type> loop;  // `inner`, if it is one
        // Handlers that run or wait. Those that wait are in the queue before they are counted.
        std::atomic<std::size_t> count{0};
        std::atomic<std::thread::id> runner{};
        std::mutex mutex;
        std::deque<std::move_only_function<void()>> waiting;
        std::size_t work_count = 0;
        boost::asio::any_io_executor work;  // not empty while there is outstanding work
    };

    serial_executor(const serial_executor& other, bool is_never_blocking, bool is_tracked) noexcept
        : shared_(other.shared_), is_never_blocking_(is_never_blocking), is_tracked_(is_tracked) {
        if (is_tracked_) [[unlikely]] {
            shared_->add_work();
        }
    }

    explicit serial_executor(std::shared_ptr<state> shared) noexcept : shared_(std::move(shared)) {}

    template <class Function>
    void post(Function&& function) const {
        namespace execution = boost::asio::execution;
        const state& at = *shared_;
        if (!at.inner) {
            return;
        }
        const auto allocator = boost::asio::get_associated_allocator(function);
        auto next = [shared = shared_,
                     held = std::decay_t<Function>(std::forward<Function>(function))]() mutable {
            shared->run(std::move(held));
        };
        if (at.loop) {
            boost::asio::prefer(
                boost::asio::require(*at.loop, execution::blocking.never),
                execution::allocator(allocator))
                .execute(std::move(next));
        } else if (is_never_blocking_) {
            boost::asio::require(at.inner, execution::blocking.never).execute(std::move(next));
        } else {
            at.inner.execute(std::move(next));
        }
    }

    std::shared_ptr<state> shared_;
    bool is_never_blocking_ = false;
    bool is_tracked_ = false;
};

using stream_socket = boost::asio::basic_stream_socket<boost::asio::ip::tcp, serial_executor>;
using steady_timer = boost::asio::basic_waitable_timer<
    std::chrono::steady_clock, boost::asio::wait_traits<std::chrono::steady_clock>,
    serial_executor>;

}  // namespace reprise::net
