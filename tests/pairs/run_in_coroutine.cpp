#include <reprise/asio/async_retry.hpp>
#include <reprise/asio/hedge.hpp>

#if defined(REPRISE_STANDALONE_ASIO)
#include <asio/bind_cancellation_slot.hpp>
#else
#include <boost/asio/bind_cancellation_slot.hpp>
#endif

#include "blocking_call.hpp"
#include "crew.hpp"
#include "slow_answer.hpp"

namespace reprise::feature_pairs {

namespace {

/// Shared by all coroutines of a call.
struct stage {
    world& w;
    crew& all;
    testing::virtual_clock& clock;
    asio::any_io_executor where;
    asio::cancellation_signal& signal;
};

/// One attempt at the service.
asio::awaitable<reply> call_once(stage on, std::size_t level, attempt current) {
    on.w.start(level, current);
    const attempt_script& script = on.w.call_service(current);
    reply ended;
    if (script.is_at_once) {
        ended = on.w.answer(script, false);
        on.w.finish(level, ended);
    } else {
        auto initiate = [&on, level, &script](auto handler) {
            using answer_type = slow_answer<decltype(handler)>;
            std::make_shared<answer_type>(on.w, level, on.all.io(), script, std::move(handler))
                ->start(on.clock);
        };
        auto pending = asio::async_initiate<const asio::use_awaitable_t<>, void(reply)>(
            initiate, asio::use_awaitable);
        ended = co_await std::move(pending);
    }
    if (script.is_thrown && !ended.has_value()) {
        on.w.throw_failure(ended);
    }
    co_return ended;
}

/// The same; it may throw before it is a coroutine.
asio::awaitable<reply> start_once(stage on, std::size_t level, attempt current) {
    if (on.w.plan().script_of(on.w.service_calls()).is_failed_start) {
        on.w.start(level, current);
        const reply ended = on.w.answer(on.w.call_service(current), false);
        on.w.finish(level, ended);
        on.w.throw_failure(ended);
    }
    return call_once(on, level, current);
}

/// A fallback that is a coroutine.
asio::awaitable<reply> recover_later(stage on) {
    co_return on.w.recover();
}

/// The inner loop of a nested call.
template <class Strategy>
asio::awaitable<reply> call_in_loop(stage on, Strategy& strategy, attempt outer) {
    const async_call_options options = borrowed(on.w.options(1, &outer));
    const auto operation = [on](attempt current) { return start_once(on, 1, current); };
    auto pending = async_retry(strategy, options, operation);
    co_return co_await std::move(pending);
}

/// An outer attempt that contains an inner loop.
template <class Strategy>
asio::awaitable<reply> call_nested_loop(stage on, Strategy& strategy, attempt current) {
    on.w.start(0, current);
    try {
        auto pending = call_in_loop(on, strategy, current);
        const reply ended = co_await std::move(pending);
        on.w.finish(0, ended);
        co_return ended;
    } catch (const thrown_reply& thrown) {
        on.w.finish(0, thrown.failed());
        throw;
    } catch (const retry_error&) {
        on.w.finish(0, on.w.canceled_reply());
        throw;
    }
}

/// The whole call.
template <class Strategy, class Operation>
asio::awaitable<void> call_outer(stage on, Strategy& strategy, Operation operation) {
    // Coroutines hide all signals but terminal ones unless told otherwise.
    const auto all_types =
        asio::this_coro::reset_cancellation_state(asio::enable_total_cancellation());
    co_await all_types;
    const async_call_options options = borrowed(on.w.options(0));
    try {
        auto pending = async_retry(strategy, options, operation);
        const reply result = co_await std::move(pending);
        on.w.complete(result);
    } catch (const thrown_reply& thrown) {
        on.w.complete(thrown.failed());
    } catch (const retry_error&) {
        on.w.complete(on.w.canceled_reply());
    }
}

template <class Strategy, class Operation>
void spawn_call(stage on, Strategy& strategy, Operation operation) {
    const auto ended = [on](std::exception_ptr error) {
        if (error) {
            on.w.report("the call ends with an exception that the operation did not throw");
        }
    };
    asio::co_spawn(
        on.where, call_outer(on, strategy, std::move(operation)),
        asio::bind_cancellation_slot(on.signal.slot(), ended));
    on.clock.run(on.all);
}

/// Adds what wraps the operation.
template <class Strategy, class Operation>
void spawn_wrapped(stage on, Strategy& strategy, const Operation& operation) {
    const call_plan& plan = on.w.plan();
    const auto spawn = [&](const auto& wrapped) {
        if (plan.has(feature::fallback)) {
            spawn_call(on, strategy, with_fallback([on] { return on.w.recover(); }, wrapped));
        } else if (plan.has(feature::awaited_fallback)) {
            spawn_call(on, strategy, with_fallback([on] { return recover_later(on); }, wrapped));
        } else {
            spawn_call(on, strategy, wrapped);
        }
    };
    plan.has(feature::hedge) ? spawn(hedged(hedging_of(plan), operation)) : spawn(operation);
}

}  // namespace

void run_in_coroutine(const call_plan& plan, const std::function<void(world&)>& done) {
    testing::virtual_clock clock(plan.start);
    crew all(plan, clock);
    world w(plan, clock, [&](time_point when, std::function<void()> action) {
        clock.at(when, std::move(action));
    });
    asio::cancellation_signal signal;
    const auto strand = asio::make_strand(all.io());
    const asio::any_io_executor where =
        plan.has_strand ? asio::any_io_executor(strand) : all.io().get_executor();
    w.is_in_place = [&] { return !plan.has_strand || strand.running_in_this_thread(); };
    w.run_anywhere = [&](std::function<void()> action) { asio::post(all.io(), std::move(action)); };
    schedule_signals(w, clock, where, signal);
    const stage on{w, all, clock, where, signal};
    with_strategy(w, 0, [&](auto& outer) {
        with_strategy(w, 1, [&](auto& inner) {
            using inner_type = std::remove_reference_t<decltype(inner)>;
            if constexpr (std::is_same_v<inner_type, std::remove_reference_t<decltype(outer)>>) {
                const std::function<asio::awaitable<reply>(attempt)> operation =
                    [on, &plan, &inner](attempt current) {
                        return plan.has(feature::nested) ? call_nested_loop(on, inner, current)
                                                         : start_once(on, 0, current);
                    };
                spawn_wrapped(on, outer, operation);
            }
        });
    });
    w.verify();
    done(w);
}

}  // namespace reprise::feature_pairs
