#include <reprise/asio/async_retry.hpp>
#include <reprise/asio/hedge.hpp>

#if defined(REPRISE_STANDALONE_ASIO)
#include <asio/io_context.hpp>
#include <asio/post.hpp>
#else
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#endif

#include "blocking_call.hpp"
#include "slow_answer.hpp"

namespace reprise::feature_pairs {

namespace {

/// A nested call: the inner loop blocks, in virtual time.
template <class Handler>
void call_nested_later(
    world& w, asio::io_context& io, testing::virtual_clock& clock, const attempt& current,
    Handler handler) {
    asio::post(io, [&w, &clock, current, handler = std::move(handler)]() mutable {
        const reply ended =
            call_in_inner_loop(w, current, [&](duration time) { clock.advance(time); });
        w.finish(0, ended);
        std::move(handler)(ended);
    });
}

}  // namespace

void run_with_token(const call_plan& plan, const std::function<void(world&)>& done) {
    testing::virtual_clock clock;
    asio::io_context io;
    world w(plan, clock, [&](time_point when, std::function<void()> action) {
        clock.at(when, std::move(action));
    });
    const auto initiate = [&](const attempt& current, auto handler) {
        w.start(0, current);
        if (plan.has(feature::nested)) {
            call_nested_later(w, io, clock, current, std::move(handler));
            return;
        }
        const attempt_script& script = w.call_service(current);
        using answer_type = slow_answer<decltype(handler)>;
        std::make_shared<answer_type>(w, 0, io, script, std::move(handler))->start(clock);
    };
    const auto recover = [&] { return w.recover(); };
    const auto complete = [&](const reply& result) { w.complete(result); };
    with_strategy(w, 0, [&](auto& strategy) {
        const async_call_options options = borrowed(w.options(0));
        const auto start = [&](auto operation) {
            async_retry<void(reply)>(io, strategy, options, std::move(operation), complete);
        };
        if (plan.has(feature::hedge)) {
            const auto hedging = hedged(plan.hedge_delay, initiate);
            plan.has(feature::fallback) ? start(with_fallback(recover, hedging)) : start(hedging);
        } else {
            plan.has(feature::fallback) ? start(with_fallback(recover, initiate)) : start(initiate);
        }
        clock.run(io);
    });
    w.verify();
    done(w);
}

}  // namespace reprise::feature_pairs
