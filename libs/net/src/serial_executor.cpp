#include "serial_executor.hpp"

#include <boost/asio/post.hpp>

namespace reprise::net {

namespace asio = boost::asio;

serial_executor::state::state(const asio::any_io_executor& given) : inner(given) {
    if (const auto* own = given.target<asio::io_context::executor_type>()) {
        loop = *own;
    }
}

void serial_executor::state::run_later(std::move_only_function<void()> task) {
    {
        const std::scoped_lock lock(mutex);
        waiting.push_back(std::move(task));
    }
    // A thread that was running tasks may have left before it could see this one.
    if (count.fetch_add(1, std::memory_order_acq_rel) == 0) {
        run_waiting();
    }
}

void serial_executor::state::run_waiting() {
    // Not those that arrive meanwhile: other handlers of the executor get a chance to run first.
    const std::size_t due_count = count.load(std::memory_order_acquire);
    turn inside(*this, 0);
    while (inside.done_count < due_count) {
        auto task = next_waiting();
        ++inside.done_count;
        if (task) {
            task();
        }
    }
}

// Empty if the context is gone.
std::move_only_function<void()> serial_executor::state::next_waiting() {
    const std::scoped_lock lock(mutex);
    if (waiting.empty()) {
        return {};
    }
    auto task = std::move(waiting.front());
    waiting.pop_front();
    return task;
}

void serial_executor::state::leave(std::size_t done_count) noexcept {
    if (count.fetch_sub(done_count, std::memory_order_acq_rel) != done_count && inner) {
        asio::post(inner, [self = shared_from_this()] { self->run_waiting(); });
    }
}

void serial_executor::state::add_work() noexcept {
    const std::scoped_lock lock(mutex);
    if (++work_count == 1 && inner) {
        work = asio::prefer(inner, asio::execution::outstanding_work.tracked);
    }
}

void serial_executor::state::drop_work() noexcept {
    asio::any_io_executor ended;  // released after the lock, because the context may stop then
    const std::scoped_lock lock(mutex);
    if (--work_count == 0) {
        std::swap(ended, work);
    }
}

void serial_executor::state::forget_context() noexcept {
    // Released without the lock: a handler may own the last copy of this executor.
    std::deque<std::move_only_function<void()>> dropped;
    asio::any_io_executor ended;
    const std::scoped_lock lock(mutex);
    dropped.swap(waiting);
    std::swap(ended, work);
    loop.reset();
    inner = {};
}

}  // namespace reprise::net
