#include <atomic>
#include <cstddef>
#include <memory_resource>

#include <reprise/asio/async_retry.hpp>
#include <reprise/asio/hedge.hpp>

#include "blocking_call.hpp"
#include "crew.hpp"
#include "slow_answer.hpp"

namespace reprise::feature_pairs {

namespace {

/// The handler's memory: what is in use.
class handler_memory final : public std::pmr::memory_resource {
public:
    [[nodiscard]] bool is_in_use() const { return blocks_ != 0; }

private:
    void* do_allocate(std::size_t size, std::size_t alignment) override {
        ++blocks_;
        return std::pmr::new_delete_resource()->allocate(size, alignment);
    }
    void do_deallocate(void* block, std::size_t size, std::size_t alignment) override {
        --blocks_;
        std::pmr::new_delete_resource()->deallocate(block, size, alignment);
    }
    [[nodiscard]] bool do_is_equal(const memory_resource& other) const noexcept override {
        return this == &other;
    }

    std::atomic<std::size_t> blocks_ = 0;
};

/// The caller's handler.
struct call_handler {
    using executor_type = asio::any_io_executor;
    using allocator_type = std::pmr::polymorphic_allocator<std::byte>;
    using cancellation_slot_type = asio::cancellation_slot;

    world& w;
    handler_memory& memory;
    executor_type executor;
    cancellation_slot_type slot;

    [[nodiscard]] const executor_type& get_executor() const noexcept { return executor; }
    [[nodiscard]] allocator_type get_allocator() const noexcept { return {&memory}; }
    [[nodiscard]] cancellation_slot_type get_cancellation_slot() const noexcept { return slot; }
    void operator()(const reply& result) {
        if (memory.is_in_use()) {
            w.report("the handler's memory is not returned before it runs");
        }
        if (slot.is_connected() && slot.has_handler()) {
            w.report("the caller's slot still has a handler of the call");
        }
        w.complete(result);
    }
};

/// A nested call: the inner loop blocks, in virtual time.
template <class Handler>
void call_nested_later(
    world& w, testing::virtual_clock& clock, const attempt& current, Handler handler) {
    const auto where = asio::get_associated_executor(handler);
    asio::post(where, [&w, &clock, current, handler = std::move(handler)]() mutable {
        reply ended;
        try {
            ended = call_in_inner_loop(w, current, [&](duration time) { clock.advance(time); });
        } catch (const retry_error&) {
            ended = w.canceled_reply();
        }
        w.finish(0, ended);
        std::move(handler)(ended);
    });
}

/// One attempt at the service.
template <class Handler>
void call_once(
    world& w, crew& all, testing::virtual_clock& clock, const attempt& current, Handler handler) {
    w.enter_start();
    const attempt_script& script = w.call_service(current);
    if (script.is_failed_start) {
        reply ended = w.answer(script, false);
        w.abandon(ended);
        w.finish(0, ended);
        w.leave_start();
        throw failed_start();
    }
    if (script.is_at_once) {
        const reply ended = w.answer(script, false);
        w.finish(0, ended);
        std::move(handler)(ended);
    } else {
        using answer_type = slow_answer<Handler>;
        std::make_shared<answer_type>(w, 0, all.io(), script, std::move(handler))->start(clock);
    }
    w.leave_start();
}

}  // namespace

void run_with_token(const call_plan& plan, const std::function<void(world&)>& done) {
    testing::virtual_clock clock(plan.start);
    crew all(plan, clock);
    world w(plan, clock, [&](time_point when, std::function<void()> action) {
        clock.at(when, std::move(action));
    });
    handler_memory memory;
    asio::cancellation_signal signal;
    const auto strand = asio::make_strand(all.handlers());
    const asio::any_io_executor where =
        plan.has_strand ? asio::any_io_executor(strand) : all.handlers().get_executor();
    w.is_in_place = [&] {
        return plan.has_strand ? strand.running_in_this_thread()
                               : all.handlers().get_executor().running_in_this_thread();
    };
    if (!plan.has(feature::nested)) {  // The inner loop blocks the executor.
        w.run_anywhere = [&](std::function<void()> run) { asio::post(all.io(), std::move(run)); };
    }
    schedule_signals(w, clock, where, signal);
    const auto initiate = [&](const attempt& current, auto handler) {
        w.start(0, current);
        if (plan.has(feature::nested)) {
            call_nested_later(w, clock, current, std::move(handler));
        } else {
            call_once(w, all, clock, current, std::move(handler));
        }
    };
    const auto recover = [&] { return w.recover(); };
    with_strategy(w, 0, [&](auto& strategy) {
        const async_call_options options = borrowed(w.options(0));
        const auto start = [&](auto operation) {
            try {
                async_retry<void(reply)>(
                    all.io(), strategy, options, std::move(operation),
                    call_handler{w, memory, where, signal.slot()});
            } catch (const failed_start&) {  // The first attempt starts in here.
            }
        };
        if (plan.has(feature::hedge)) {
            const auto hedging = hedged(hedging_of(plan), initiate);
            plan.has(feature::fallback) ? start(with_fallback(recover, hedging)) : start(hedging);
        } else {
            plan.has(feature::fallback) ? start(with_fallback(recover, initiate)) : start(initiate);
        }
        clock.run(all);
    });
    if (memory.is_in_use()) {
        w.report("the handler's memory is not returned after the call");
    }
    w.verify();
    done(w);
}

}  // namespace reprise::feature_pairs
