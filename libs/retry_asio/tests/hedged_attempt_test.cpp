#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <reprise/asio/async_retry.hpp>
#include <reprise/asio/hedge.hpp>
#include <reprise/retry/budget.hpp>
#include <reprise/retry/circuit_breaker.hpp>
#include <reprise/retry/simple_strategy.hpp>
#include <stdexcept>
#include <vector>

#include "chosen_asio.hpp"
#include "hedged_replica.hpp"

namespace reprise::hedge_test {

TEST(hedge, an_open_circuit_breaker_allows_no_hedge) {
    const auto breaker =
        std::make_shared<circuit_breaker>(driver::circuit_breaker_options{.volume_threshold = 2});
    replica r({{200ms}});
    r.time.after(20ms, [&] {
        breaker->on_failure(driver::breaker_permit::regular(), {}, r.time.now());
        breaker->on_failure(driver::breaker_permit::regular(), {}, r.time.now());
    });
    r.ask(attempts(3).breaker(breaker));
    EXPECT_EQ(r.started, 1U);
    EXPECT_EQ(r.trace.entries.back().refusal(), refusal_reason::circuit_open);
    r.time.advance(5s);
    r.io.restart();
    r.script = {{}, {200ms}};
    r.ask(attempts(3).breaker(breaker));
    EXPECT_EQ(r.started, 2U) << "a probe is not hedged";
    EXPECT_EQ(breaker->state(), circuit_state::closed);
}

// Two attempts that failed together counted as one failure, and one that failed while another
// succeeded as none, so the service looked healthier to a breaker and a throttle than it was.
TEST(hedge, each_failed_attempt_counts_for_the_breaker_and_for_the_throttle) {
    struct row {
        std::vector<planned> plan;
        int failures;
    };
    const row rows[] = {
        {{{60ms, refused}, {30ms, refused}}, 2},
        {{{60ms, refused}, {30ms}}, 1},
        {{{60ms}, {30ms, refused}}, 0},  // canceled, because the other one was better
        {{{10ms, refused}, {1ms}}, 1},   // ended before it was hedged
    };
    for (const row& each : rows) {
        int counted = 0;
        const auto breaker = std::make_shared<circuit_breaker>(
            driver::circuit_breaker_options{}, [&](const failure_facts&) { return ++counted > 0; });
        failure_throttle throttle({.units_max = 1000.0, .ratio = 0.001});
        replica r(each.plan);
        r.ask(attempts(2).every(1s).breaker(breaker).budget(throttle));
        EXPECT_EQ(counted, each.failures);
        const std::int64_t level = throttle.try_pay({}, r.time.now()).level;
        EXPECT_EQ((1'000'000 - level + 999) / 1000, each.failures) << "in whole units";
    }
}

// Attempts that could not be started are failed attempts if the signature has room for what was
// thrown. Once, such a hedge left through `run`, and the call never ended.
TEST(hedge, an_attempt_that_throws_at_its_start_has_failed) {
    for (const std::size_t throwing : {1U, 2U}) {
        replica r({{60ms}, {60ms}, {60ms}});
        async_retry<void(std::exception_ptr, int)>(
            r.io, attempts(3).every(1ms), r.options,
            hedged(
                50ms,
                [&](const attempt&, auto handler) {
                    if (r.started + 1 == throwing) {
                        ++r.started;
                        throw std::runtime_error("no socket");
                    }
                    const auto slot = asio::get_associated_cancellation_slot(handler);
                    r.read(asio::bind_cancellation_slot(
                        slot, [handler = std::move(handler)](error_code code, int number) mutable {
                            std::move(handler)(
                                code ? std::make_exception_ptr(std::runtime_error("slow"))
                                     : nullptr,
                                number);
                        }));
                }),
            [&](const std::exception_ptr& thrown, int number) {
                r.thrown = thrown;
                r.value = number;
            });
        EXPECT_NO_THROW(r.time.run(r.io));
        EXPECT_EQ(r.thrown, nullptr);
        EXPECT_EQ(r.value, throwing == 1 ? 2 : 1);
    }
}

/// Runs hedged reads whose errors have `facts` by their codes.
template <class Facts>
void ask_with_facts(replica& r, const hedge_options& hedging, Facts facts) {
    const auto judge = [facts](const error_code& code) {
        return code ? std::optional<failure_facts>(facts(code)) : std::nullopt;
    };
    async_retry<void(error_code, int)>(
        r.io, attempts(5).every(1s), r.options, hedged(hedging, fails_if(judge, r.initiate())),
        [&r](error_code code, int number) {
            r.ec = code;
            r.value = number;
        });
    r.time.run(r.io);
}

// The first attempt said that no retry is allowed, its hedge failed a little later with something
// harmless, and the call was retried.
TEST(hedge, SM_10_a_failure_that_forbids_a_retry_is_final_also_if_another_one_fails_after_it) {
    const error_code denied = asio::error::access_denied;
    for (const bool by_fault : {false, true}) {
        const auto facts = [&](const error_code& code) {
            if (code == refused) {
                return failure_facts{.safety = retry_safety::yes};
            }
            return by_fault ? failure_facts{.fault = failure_fault::client}
                            : failure_facts{.safety = retry_safety::no};
        };
        replica first({{60ms, denied}, {60ms, refused}, {1ms}});
        ask_with_facts(first, {.delay = 50ms}, facts);
        EXPECT_EQ(first.ec, denied);
        EXPECT_EQ(first.started, 2U);
        ASSERT_FALSE(first.trace.entries.empty());
        EXPECT_EQ(first.trace.entries.back().attempt(), 1U) << "the one that is decided about";
        replica second({{60ms, refused}, {60ms, denied}, {1ms}});
        ask_with_facts(second, {.delay = 50ms}, facts);
        EXPECT_EQ(second.ec, denied);
        replica three({{60ms, denied}, {100ms, refused}, {1ms}});
        ask_with_facts(three, {.delay = 50ms, .attempts_max = 3}, facts);
        EXPECT_EQ(three.started, 2U) << "no attempt is added";
        replica saved({{60ms, denied}, {60ms}});
        ask_with_facts(saved, {.delay = 50ms}, facts);
        EXPECT_EQ(saved.value, 2) << "a success is a success";
    }
}

// Only the strategy named the type of the failures, so only it had their facts. The stated `no` of
// the first one was forgotten when the hedge failed later.
TEST(hedge, SM_10_a_failure_that_only_the_strategy_names_is_final_as_well) {
    struct denied_by_service {
        [[nodiscard]] static failure_facts retry_facts() noexcept {
            return {.safety = retry_safety::no};
        }
    };
    struct dropped {};
    for (const bool is_virtual : {false, true}) {
        replica r({{60ms}, {60ms}, {1ms}});
        const auto read = [&](const attempt& current) -> asio::awaitable<int> {
            const std::uint32_t number = current.number;
            static_cast<void>(co_await r.read_in_coroutine());
            if (number == 1) {
                throw denied_by_service{};
            }
            if (number == 2) {
                throw dropped{};
            }
            co_return 3;
        };
        auto inlined = attempts(5).every(1s).on<denied_by_service, dropped>();
        driver::virtual_strategy<decltype(inlined)> through_interface(inlined);
        const auto operation = throws_on_failure(hedged(50ms, read));
        const auto caller = [&]() -> asio::awaitable<void> {
            auto pending = is_virtual ? async_retry(through_interface, r.options, operation)
                                      : async_retry(inlined, r.options, operation);
            static_cast<void>(co_await std::move(pending));
        };
        asio::co_spawn(r.io, caller, [&](const std::exception_ptr& thrown) { r.thrown = thrown; });
        r.time.run(r.io);
        ASSERT_NE(r.thrown, nullptr);
        EXPECT_THROW(std::rethrow_exception(r.thrown), denied_by_service);
        EXPECT_EQ(r.started, 2U);
    }
}

// The limit filled in a safety of `maybe`, and the strategy no longer looked at what the type of
// the failure states.
TEST(hedge, SM_10_a_failure_that_only_the_strategy_names_is_final_also_at_a_limit) {
    struct denied_by_service {
        [[nodiscard]] static failure_facts retry_facts() noexcept {
            return {.safety = retry_safety::no};
        }
    };
    struct mistake final : std::logic_error {
        mistake() : std::logic_error("mistake") {}
    };
    for (const bool has_facts : {false, true}) {
        for (const bool is_hedged_call : {false, true}) {
            replica r({{1h}, {1h}, {1h}, {1h}});
            r.options.attempt_timeout = 20ms;
            const auto read = [&]() -> asio::awaitable<int> {
                try {
                    static_cast<void>(co_await r.read_in_coroutine());
                } catch (const std::exception&) {
                    if (!has_facts) {
                        throw mistake();
                    }
                }
                throw denied_by_service{};
            };
            const auto caller = [&]() -> asio::awaitable<void> {
                const auto named = attempts(4).every(1s).on<denied_by_service>();
                const auto any = attempts(4).every(1s);
                const auto plain = throws_on_failure(read);
                const auto slow = throws_on_failure(hedged(50ms, read));
                if (is_hedged_call) {
                    auto pending = has_facts ? async_retry(named, r.options, slow)
                                             : async_retry(any, r.options, slow);
                    static_cast<void>(co_await std::move(pending));
                } else {
                    auto pending = has_facts ? async_retry(named, r.options, plain)
                                             : async_retry(any, r.options, plain);
                    static_cast<void>(co_await std::move(pending));
                }
            };
            asio::co_spawn(
                r.io, caller, [&](const std::exception_ptr& thrown) { r.thrown = thrown; });
            r.time.run(r.io);
            EXPECT_NE(r.thrown, nullptr);
            EXPECT_EQ(r.started, 1U);
        }
    }
}

// An observer canceled the call, which ended the other attempt at once and with it the loop, whose
// decision was still being made.
TEST(hedge, an_observer_may_cancel_attempts_that_then_end_at_once) {
    for (const bool has_limit : {false, true}) {
        asio::io_context io;
        asio::cancellation_signal signal;
        int completed = 0;
        const auto initiate = [](const attempt&, auto handler) {
            auto slot = asio::get_associated_cancellation_slot(handler);
            auto kept = std::make_shared<decltype(handler)>(std::move(handler));
            slot.assign([kept](asio::cancellation_type_t) {
                auto ended = std::move(*kept);
                std::move(ended)(error_code(asio::error::operation_aborted));
            });
        };
        const auto strategy = attempts(3).on_decision([&](const decision_event& event) {
            if (event.entry.is_hedge()) {
                signal.emit(asio::cancellation_type::all);
            }
        });
        async_call_options options{.repeat = repeatability::repeatable};
        if (has_limit) {
            options.attempt_timeout = 1h;
        }
        async_retry<void(error_code)>(
            io, strategy, options, hedged(1ms, initiate),
            asio::bind_cancellation_slot(signal.slot(), [&](error_code) { ++completed; }));
        io.run();
        EXPECT_EQ(completed, 1);
    }
}

// The first attempt was a probe that came too late. Its permit was used for the hedge as well, so
// that the hedge's failure did not count.
TEST(hedge, one_beside_a_late_probe_counts_as_a_regular_attempt) {
    const auto breaker = std::make_shared<circuit_breaker>(driver::circuit_breaker_options{
        .volume_threshold = 2, .sleep_window = 10ms, .probe_timeout = 10ms});
    replica r({{200ms, refused}, {30ms, refused}});
    for (int index = 0; index < 2; ++index) {
        breaker->on_failure(driver::breaker_permit::regular(), {}, r.time.now());
    }
    r.time.advance(10ms);
    r.time.after(20ms, [&] { static_cast<void>(breaker->try_acquire(r.time.now())); });
    r.time.after(
        40ms, [&] { breaker->on_success(breaker->try_acquire(r.time.now()), r.time.now()); });
    r.ask(attempts(2).breaker(breaker));
    EXPECT_EQ(r.started, 2U);
    EXPECT_EQ(breaker->state(), circuit_state::open) << "two failures";
}

// The hedge was made although the breaker was open.
TEST(hedge, is_not_made_if_the_breaker_opens_while_observers_are_notified_of_it) {
    const auto breaker =
        std::make_shared<circuit_breaker>(driver::circuit_breaker_options{.volume_threshold = 2});
    const auto bucket = std::make_shared<token_bucket>();
    replica r({{80ms}, {1ms}});
    r.ask(attempts(3).breaker(breaker).budget(bucket).on_decision([&](const decision_event&) {
        for (int index = 0; index < 2; ++index) {
            breaker->on_failure(driver::breaker_permit::regular(), {}, r.time.now());
        }
    }));
    EXPECT_EQ(r.started, 1U);
    EXPECT_EQ(r.value, 1);
    EXPECT_EQ(r.trace.entries.back().refusal(), refusal_reason::circuit_open);
    EXPECT_EQ(bucket->available(), bucket->capacity());
}

TEST(hedge, asks_a_predicate_once_for_each_attempt) {
    int asked = 0;
    const auto is_failure = [&asked](const error_code& code) {
        ++asked;
        return code.value() != 0;
    };
    replica r({{60ms, refused}, {60ms, refused}, {1ms}});
    async_retry<void(error_code, int)>(
        r.io, attempts(5).every(1s), r.options, hedged(50ms, fails_if(is_failure, r.initiate())),
        [&r](error_code code, int) { r.ec = code; });
    r.time.run(r.io);
    EXPECT_EQ(r.ec, error_code());
    EXPECT_EQ(asked, 3);
}

// The hedge was returned to the bucket, and with it the price of the retry before it: the success
// that followed had nothing to return. The history named an attempt that did not exist.
TEST(hedge, one_that_an_observer_cancels_leaves_the_retry_before_it_as_it_was) {
    const auto bucket = std::make_shared<token_bucket>(token_bucket::options{100.0, 50.0});
    std::stop_source stop;
    replica r({{1ms, refused}, {60ms}});
    r.options.stop = stop.get_token();
    r.ask(attempts(5)
              .every(1ms)
              .budget(driver::token_bucket_budget(bucket, {.refund_last_cost = true}))
              .on_decision([&](const decision_event& event) {
                  if (event.entry.is_hedge()) {
                      stop.request_stop();
                  }
              }));
    EXPECT_EQ(r.value, 2);
    EXPECT_EQ(bucket->available(), 50.0) << "the retry's price is returned by its success";
    EXPECT_EQ(
        to_string(r.trace),
        "+1 ms  attempt 1 failed, connection refused (111); retried after 1 ms (budget 45)\n"
        "+52 ms  attempt 2 still running; hedged by another attempt (budget 40)\n"
        "+52 ms  attempt 2 still running; not hedged: canceled\n");
    EXPECT_EQ(r.trace.refusal(), refusal_reason::none) << "the call has succeeded";
}

// A Retry-After of ten seconds was forgotten because the other attempt failed after it.
TEST(hedge, SM_09_the_longest_minimum_wait_of_all_attempts_counts) {
    const error_code busy = asio::error::try_again;
    const auto facts = [&](const error_code& code) {
        failure_facts known{.safety = retry_safety::yes};
        if (code == busy) {
            known.minimum_wait = 10s;
        }
        return known;
    };
    replica r({{60ms, busy}, {60ms, refused}, {1ms}});
    ask_with_facts(r, {.delay = 50ms}, facts);
    EXPECT_EQ(r.value, 3);
    EXPECT_EQ(r.elapsed(), 110ms + 10s + 1ms);
    replica three({{60ms, busy}, {100ms, refused}, {1ms}});
    ask_with_facts(three, {.delay = 50ms, .attempts_max = 3}, facts);
    EXPECT_EQ(three.elapsed(), 150ms + 10s + 1ms) << "no attempt is added before that";
    replica later({{60ms, busy}, {60ms, refused}, {60ms, refused}, {60ms, refused}, {1ms}});
    ask_with_facts(later, {.delay = 50ms}, facts);
    EXPECT_EQ(later.elapsed(), 110ms + 10s + 110ms + 1s + 1ms) << "it counts once";
}

/// Only a filter knows what it states.
struct busy_replica : std::runtime_error {
    busy_replica() : std::runtime_error("busy") {}
    [[nodiscard]] failure_facts retry_facts() const {
        return {.safety = retry_safety::yes, .minimum_wait = 10s};
    }
};

/// Reads in hedged coroutines, which report `try_again` as `busy_replica`.
template <class Strategy>
void ask_while_busy(replica& r, Strategy& strategy, const hedge_options& hedging) {
    const auto read = [&r]() -> asio::awaitable<int> {
        try {
            auto pending = r.read_in_coroutine();
            co_return co_await std::move(pending);
        } catch (const testing::system_error& error) {
            if (error.code() == asio::error::try_again) {
                throw busy_replica();
            }
            throw;
        }
    };
    const auto play = [&]() -> asio::awaitable<void> {
        const auto fetch = hedged(hedging, throws_on_failure(read));
        auto pending = async_retry(strategy, r.options, fetch);
        r.value = co_await std::move(pending);
    };
    r.thrown = testing::play(r.io, r.time, play);
}

// The hint of an exception that only the filter named was seen when the last attempt had failed
// with it, but not when another one failed after it: the retry came too early, and a third attempt
// was added before.
TEST(hedge, SM_09_the_minimum_wait_of_a_named_exception_counts_in_every_attempt) {
    const error_code busy = asio::error::try_again;
    auto named = attempts(5).every(1s).on<busy_replica, testing::system_error>();
    driver::virtual_strategy<decltype(named)> plugin(named);
    const auto play = [&](auto& strategy) {
        replica r({{60ms, busy}, {60ms, refused}, {1ms}});
        ask_while_busy(r, strategy, {.delay = 50ms});
        EXPECT_EQ(r.value, 3);
        EXPECT_EQ(r.elapsed(), 110ms + 10s + 1ms);
        replica three({{60ms, busy}, {100ms, refused}, {1ms}});
        ask_while_busy(three, strategy, {.delay = 50ms, .attempts_max = 3});
        EXPECT_EQ(three.elapsed(), 150ms + 10s + 1ms) << "no attempt is added before that";
    };
    play(named);
    play(plugin);
}

}  // namespace reprise::hedge_test
