#pragma once

/// A call in the blocking loop, for sources with and without exceptions: everything here is a
/// template in a namespace of its own for each of the two.

#include <algorithm>
#include <functional>

#include <reprise/retry/blocking.hpp>
#include <reprise/retry/detail/compiler.hpp>
#include <reprise/testing/virtual_clock.hpp>

#include "user_strategies.hpp"
#include "world.hpp"

namespace reprise::feature_pairs {

inline namespace REPRISE_VARIANT {

template <class Use>
void with_user_strategy(world& w, std::size_t level, const Use& use) {
    if (w.plan().has(feature::virtual_interface)) {
        driver::virtual_strategy<user_strategy> strategy(w, level);
        use(static_cast<driver::retry_strategy&>(strategy));
    } else {
        user_strategy strategy(w, level);
        use(strategy);
    }
}

/// Calls `use` with the strategy of this level, in the form that the plan asks for.
template <class Use>
void with_strategy(world& w, std::size_t level, const Use& use) {
    if (w.plan().has_deferring_strategy()) {
        deferring_strategy strategy(w, level);
        use(static_cast<driver::retry_strategy&>(strategy));
    } else if (w.plan().has_user_strategy()) {
        with_user_strategy(w, level, use);
    } else if (w.plan().has(feature::virtual_interface)) {
        driver::virtual_strategy<strategy_type> strategy(w.strategy(level));
        use(static_cast<driver::retry_strategy&>(strategy));
    } else {
        strategy_type strategy = w.strategy(level);
        use(strategy);
    }
}

/// Calls the service; the attempt keeps its limit itself.
template <class Advance>
[[nodiscard]] reply call_and_wait(
    world& w, std::size_t level, const attempt& current, const Advance& advance) {
    w.start(level, current);
    const attempt_script& script = w.call_service(current);
    const bool is_cut = !script.is_late && script.time >= current.timeout;
    advance(is_cut ? current.timeout : script.time);
    const reply ended = w.answer(script, is_cut);
    w.finish(level, ended);
    if (script.is_thrown && !ended.has_value()) {
        w.throw_failure(ended);
    }
    return ended;
}

/// The inner loop of a nested call.
template <class Advance>
[[nodiscard]] reply call_in_inner_loop(world& w, const attempt& outer, const Advance& advance) {
    reply ended;
    with_strategy(w, 1, [&](auto& strategy) {
        ended = retry(strategy, w.options(1, &outer), [&](const attempt& current) {
            return call_and_wait(w, 1, current, advance);
        });
    });
    return ended;
}

/// An outer attempt that contains an inner loop.
template <class Advance>
[[nodiscard]] reply call_nested(world& w, const attempt& current, const Advance& advance) {
    w.start(0, current);
#if defined(__cpp_exceptions)
    try {
        const reply ended = call_in_inner_loop(w, current, advance);
        w.finish(0, ended);
        return ended;
    } catch (const thrown_reply& thrown) {
        w.finish(0, thrown.failed());
        throw;
    } catch (const retry_error&) {
        w.finish(0, w.canceled_reply());
        throw;
    }
#else
    const reply ended = call_in_inner_loop(w, current, advance);
    w.finish(0, ended);
    return ended;
#endif
}

template <class Result>
void run_and_complete(world& w, const Result& result) {
#if defined(__cpp_exceptions)
    try {
        w.complete(result());
    } catch (const thrown_reply& thrown) {
        w.complete(thrown.failed());
    } catch (const retry_error&) {
        w.complete(w.canceled_reply());
    }
#else
    w.complete(result());
#endif
}

template <class Done>
void play_blocking(const call_plan& plan, const Done& done) {
    testing::virtual_clock clock(plan.start);
    world w(plan, clock, [&](time_point when, std::function<void()> action) {
        clock.at(when, std::move(action));
    });
    const auto advance = [&](duration time) { clock.advance(time); };
    const auto operation = [&](const attempt& current) {
        return plan.has(feature::nested) ? call_nested(w, current, advance)
                                         : call_and_wait(w, 0, current, advance);
    };
    with_strategy(w, 0, [&](auto& strategy) {
        run_and_complete(w, [&] {
            const call_options options = w.options(0);
            return plan.has(feature::fallback)
                       ? retry(
                             strategy, options,
                             with_fallback([&] { return w.recover(); }, operation))
                       : retry(strategy, options, operation);
        });
    });
    w.verify();
    done(w);
}

}  // namespace REPRISE_VARIANT

}  // namespace reprise::feature_pairs
