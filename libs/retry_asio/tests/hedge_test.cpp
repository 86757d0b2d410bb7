#include <gtest/gtest.h>

#include <limits>
#include <memory>
#include <random>
#include <reprise/asio/async_retry.hpp>
#include <reprise/asio/hedge.hpp>
#include <reprise/retry/budget.hpp>
#include <reprise/retry/circuit_breaker.hpp>
#include <reprise/retry/simple_strategy.hpp>
#include <reprise/testing/virtual_clock.hpp>
#include <stdexcept>
#include <string>
#include <vector>

#include "chosen_asio.hpp"

namespace reprise::hedge_test {

using namespace std::chrono_literals;
namespace asio = testing::asio;
using testing::error_code;

/// One attempt of the script: it ends after a time, with an error or well.
struct planned {
    duration takes{};
    error_code ends_with{};
};

/// A service whose attempts follow a script in virtual time and can be canceled.
struct replica {
    testing::virtual_clock time;
    asio::io_context io;
    retry_history trace;
    call_options options{.repeat = repeatability::repeatable, .history = &trace, .clock = &time};
    std::vector<planned> script;
    std::size_t started = 0;
    std::size_t canceled = 0;
    error_code ec = asio::error::would_block;
    int value = -1;
    std::exception_ptr thrown;

    explicit replica(std::vector<planned> plan) : script(std::move(plan)) {}

    template <class Handler>
    void read(Handler handler) {
        const std::size_t index = started++;
        const planned plan = script.at(index);
        const detail::pause_request request{time.now() + plan.takes, {}, &time};
        auto slot = asio::get_associated_cancellation_slot(handler);
        auto ended = [this, index, plan, handler = std::move(handler)](bool reached) mutable {
            canceled += reached ? 0U : 1U;
            const error_code code = reached ? plan.ends_with : asio::error::operation_aborted;
            std::move(handler)(code, static_cast<int>(index) + 1);
        };
        detail::async_pause(
            io.get_executor(), request, asio::bind_cancellation_slot(slot, std::move(ended)));
    }
    asio::awaitable<int> read_in_coroutine() {
        auto initiation = [this](auto handler) { read(std::move(handler)); };
        auto pending = asio::async_initiate<const asio::use_awaitable_t<>, void(error_code, int)>(
            initiation, asio::use_awaitable);
        co_return co_await std::move(pending);
    }
    [[nodiscard]] auto initiate() {
        return [this](const attempt&, auto handler) { read(std::move(handler)); };
    }
    template <class Strategy>
    void ask(Strategy strategy, hedge_options hedging = {.delay = 50ms}) {
        async_retry<void(error_code, int)>(
            io, strategy, options, hedged(std::move(hedging), initiate()),
            [this](error_code code, int number) {
                ec = code;
                value = number;
            });
        time.run(io);
    }
    [[nodiscard]] duration elapsed() { return time.now().time_since_epoch(); }
};

const error_code refused = asio::error::connection_refused;

TEST(hedge, a_fast_attempt_is_not_hedged) {
    replica r({{10ms}});
    r.ask(attempts(3));
    EXPECT_EQ(r.ec, error_code());
    EXPECT_EQ(r.started, 1U);
    EXPECT_EQ(r.elapsed(), 10ms);
    EXPECT_TRUE(r.trace.entries.empty());
}

TEST(hedge, a_slow_attempt_is_hedged_and_the_first_good_answer_wins) {
    replica r({{10s}, {20ms}});
    r.ask(attempts(3));
    EXPECT_EQ(r.ec, error_code());
    EXPECT_EQ(r.value, 2);
    EXPECT_EQ(r.canceled, 1U) << "the slow one";
    EXPECT_EQ(r.elapsed(), 70ms);
    EXPECT_EQ(to_string(r.trace), "+50 ms  attempt 1 still running; hedged by another attempt\n");
    EXPECT_EQ(r.trace.refusal(), refusal_reason::none);
}

TEST(hedge, the_first_attempt_may_still_win) {
    replica r({{60ms}, {10s}});
    r.ask(attempts(3));
    EXPECT_EQ(r.value, 1);
    EXPECT_EQ(r.canceled, 1U);
    EXPECT_EQ(r.elapsed(), 60ms);
}

TEST(hedge, a_failure_waits_for_the_other_attempt) {
    replica r({{60ms, refused}, {30ms}});
    r.ask(attempts(3));
    EXPECT_EQ(r.ec, error_code());
    EXPECT_EQ(r.value, 2);
    EXPECT_EQ(r.elapsed(), 80ms);
}

TEST(hedge, observers_see_all_attempts_and_the_failure_of_a_loser) {
    std::vector<call_summary> calls;
    replica r({{60ms, refused}, {30ms}});
    r.ask(attempts(3).on_completion([&](const call_summary& call) { calls.push_back(call); }));
    ASSERT_EQ(calls.size(), 1U);
    EXPECT_TRUE(calls[0].is_success);
    EXPECT_EQ(calls[0].attempts, 2U);
    EXPECT_EQ(calls[0].total_time, 80ms);
    EXPECT_EQ(calls[0].last_failure.code, static_cast<std::uint32_t>(refused.value()));
}

TEST(hedge, when_all_have_failed_the_strategy_decides_about_the_last_failure) {
    replica r({{60ms, refused}, {30ms, refused}, {1ms}});
    r.ask(attempts(3).every(1s));
    EXPECT_EQ(r.value, 3);
    EXPECT_EQ(r.elapsed(), 1081ms);
    EXPECT_EQ(r.trace.failed_attempts(), 1U);
}

TEST(hedge, an_attempt_that_fails_early_ends_the_wait_for_its_hedge) {
    replica r({{10ms, refused}, {1ms}});
    r.ask(attempts(3).every(1s));
    EXPECT_EQ(r.value, 2);
    EXPECT_EQ(r.elapsed(), 1011ms);
}

TEST(hedge, counts_as_a_retry_and_is_paid_from_the_same_budget) {
    const auto bucket =
        std::make_shared<token_bucket>(token_bucket::options{.capacity = 10, .initial = 5});
    replica r({{200ms}, {200ms}, {200ms}, {200ms}});
    r.ask(attempts(5).budget(bucket), {.delay = 50ms, .attempts_max = 4});
    EXPECT_EQ(r.started, 2U) << "the bucket pays for one";
    EXPECT_EQ(r.trace.entries.back().refusal(), refusal_reason::budget_exhausted);
    EXPECT_NE(to_string(r.trace).find("not hedged: budget exhausted"), std::string::npos);
    replica limited({{200ms}, {200ms}, {200ms}, {200ms}});
    limited.ask(attempts(2), {.delay = 50ms, .attempts_max = 4});
    EXPECT_EQ(limited.started, 2U) << "two attempts in all";
    EXPECT_EQ(limited.trace.entries.back().refusal(), refusal_reason::attempts_exhausted);
    driver::retry_allowance spent(0);
    replica inner({{200ms}, {200ms}});
    inner.options.outer_allowance = &spent;
    inner.ask(attempts(2));
    EXPECT_EQ(inner.trace.entries.back().refusal(), refusal_reason::outer_allowance);
}

TEST(hedge, a_call_that_is_not_marked_as_repeatable_is_refused) {
    replica r({{10ms}});
    for (const repeatability repeat : {repeatability::unspecified, repeatability::not_repeatable}) {
        r.options.repeat = repeat;
        EXPECT_THROW(r.ask(attempts(3)), invalid_settings);
    }
    EXPECT_EQ(r.started, 0U);
}

TEST(hedge, contradictions_are_refused_by_name) {
    const auto field_of = [](const hedge_options& options) {
        const auto error = check(options);
        return error ? error->field : "";
    };
    EXPECT_EQ(field_of({}), "");
    EXPECT_EQ(field_of({.delay = -1ms}), "delay");
    EXPECT_EQ(field_of({.attempts_max = 0}), "attempts_max");
    EXPECT_EQ(field_of({.attempts_max = 17}), "attempts_max");
    EXPECT_EQ(field_of({.percentile = 95.0}), "percentile");
    EXPECT_EQ(field_of({.percentile = std::numeric_limits<double>::quiet_NaN()}), "percentile");
    EXPECT_EQ(field_of({.seen_min = 20, .seen_max = 39}), "seen_max");
    EXPECT_EQ(field_of({.seen_min = 20, .seen_max = 40}), "");
    const auto seen = std::make_shared<first_attempt_latencies>();
    EXPECT_EQ(field_of({.delay = 2s, .seen = seen}), "delay_max");
    EXPECT_EQ(field_of({.delay = 2s, .seen = seen, .delay_max = 2s}), "");
    EXPECT_EQ(field_of({.delay = 2s}), "") << "a fixed delay has no maximum";
    EXPECT_THROW(static_cast<void>(hedged(-1ms, [] { return 1; })), invalid_settings);
}

TEST(hedge, the_delay_may_follow_what_was_seen) {
    const auto seen = std::make_shared<first_attempt_latencies>();
    for (int index = 0; index < 19; ++index) {
        seen->record(10ms);
    }
    const hedge_options hedging{.delay = 1s, .seen = seen};
    replica before({{500ms}});
    before.ask(attempts(3), hedging);
    EXPECT_EQ(before.started, 1U) << "19 records are too few: the fixed delay counts";
    EXPECT_EQ(seen->count(), 20U);
    replica after({{500ms}, {1ms}});
    after.ask(attempts(3), hedging);
    EXPECT_EQ(after.started, 2U);
    EXPECT_LE(after.elapsed(), 13ms);
}

// The slow attempts are those that are canceled. Once, only winners were recorded, so the
// percentile sank, and of these calls 173 were hedged instead of about 100.
TEST(hedge, a_percentile_keeps_its_meaning_although_slow_attempts_are_canceled) {
    const auto seen = std::make_shared<first_attempt_latencies>();
    const hedge_options hedging{.delay = 1s, .seen = seen, .percentile = 0.9};
    std::mt19937 random(1);
    const auto takes = [&] { return planned{duration(1s) / (random() % 1000 + 1)}; };
    constexpr std::size_t call_count = 1000;
    std::size_t hedge_count = 0;
    for (std::size_t call = 0; call < call_count; ++call) {
        replica r({takes(), takes()});
        r.ask(attempts(2), hedging);
        hedge_count += r.started - 1;
    }
    EXPECT_GT(hedge_count, call_count / 50);
    EXPECT_LT(hedge_count, call_count / 7);
}

// A histogram that never forgot would still be at 100 ms: a sixth of all records.
TEST(hedge, a_percentile_follows_a_service_that_becomes_faster) {
    const auto seen = std::make_shared<first_attempt_latencies>();
    const hedge_options hedging{.delay = 1s, .seen = seen, .seen_max = 100};
    const auto call = [&](duration takes, std::size_t count) {
        for (std::size_t each = 0; each < count; ++each) {
            replica r({{takes}, {takes}});
            r.ask(attempts(2), hedging);
        }
    };
    call(100ms, 100);
    EXPECT_GE(hedging.current_delay(), 100ms);
    EXPECT_EQ(seen->count(), 50U);
    call(1ms, 500);
    EXPECT_LT(hedging.current_delay(), 2ms);
    EXPECT_LT(seen->count(), 100U);
}

TEST(hedge, a_percentile_among_attempts_that_were_not_left_to_end_is_unknown) {
    first_attempt_latencies seen;
    EXPECT_EQ(seen.percentile(0.5), std::nullopt) << "no records";
    for (int each = 0; each < 9; ++each) {
        seen.record(5us);
    }
    seen.record_unfinished();
    EXPECT_EQ(seen.count(), 10U);
    EXPECT_EQ(seen.percentile(0.9), 5us);
    EXPECT_EQ(seen.percentile(0.91), std::nullopt);
    EXPECT_EQ(seen.percentile(0.0), 5us);
    EXPECT_EQ(seen.percentile(std::numeric_limits<double>::quiet_NaN()), 5us);
    seen.forget_half();
    EXPECT_EQ(seen.count(), 4U);
}

/// A service with a share of slow attempts, called with hedges that follow its latencies.
struct uneven_service {
    std::shared_ptr<first_attempt_latencies> seen = std::make_shared<first_attempt_latencies>();
    hedge_options hedging{.seen = seen};
    std::mt19937 random{1};
    replica service{{}};
    duration shortest = duration::max();  ///< The delays after each call of the last `run`.
    duration longest{};

    void run(std::size_t calls, unsigned slow_percent, duration slow, duration fast) {
        const auto takes = [&] { return planned{random() % 100 < slow_percent ? slow : fast}; };
        shortest = duration::max();
        longest = {};
        for (std::size_t call = 0; call < calls; ++call) {
            service.script = {takes(), takes()};
            service.started = 0;
            service.ask(attempts(2), hedging);
            shortest = std::min(shortest, hedging.current_delay());
            longest = std::max(longest, hedging.current_delay());
        }
    }
};

// Canceled attempts used to count with the time that they had run, which the delay itself decides:
// it rose with every call, from 53 ms after 20 calls to 180 ms after 5,000.
TEST(hedge, a_percentile_settles_and_follows_changes_of_the_service) {
    uneven_service s;
    s.run(200, 10, 2s, 3ms);
    s.run(9'800, 10, 2s, 3ms);
    EXPECT_EQ(s.shortest, 1s) << "more than 5 % are slow: the maximum";
    EXPECT_EQ(s.longest, 1s);
    s.run(2'000, 1, 2s, 3ms);
    s.run(2'000, 1, 2s, 3ms);
    EXPECT_GE(s.shortest, 3ms);
    EXPECT_LE(s.longest, 3400us);
    s.run(2'000, 0, 2s, 20ms);
    s.run(100, 0, 2s, 20ms);
    EXPECT_GE(s.shortest, 20ms);
    EXPECT_LE(s.longest, 22500us);
    s.run(2'000, 10, 2s, 3ms);
    s.run(100, 10, 2s, 3ms);
    EXPECT_EQ(s.shortest, 1s);
}

TEST(hedge, a_percentile_below_the_share_of_slow_attempts_is_that_of_the_fast_ones) {
    uneven_service s;
    s.hedging.percentile = 0.8;
    s.run(200, 10, 2s, 3ms);
    s.run(9'800, 10, 2s, 3ms);
    EXPECT_GE(s.shortest, 3ms);
    EXPECT_LE(s.longest, 3400us);
}

TEST(hedge, an_attempt_that_reached_its_limit_counts_as_slow_and_one_that_failed_does_not_count) {
    const auto seen = std::make_shared<first_attempt_latencies>();
    const hedge_options hedging{.delay = 1s, .seen = seen};
    replica limited({{10s}, {5ms}});
    limited.options.attempt_timeout = 20ms;
    limited.ask(attempts(2).every(0s), hedging);
    EXPECT_EQ(seen->count(), 2U) << "the first attempts of both";
    EXPECT_EQ(seen->percentile(1.0), std::nullopt);
    EXPECT_LT(seen->percentile(0.5), 6ms);
    replica failing({{1ms, refused}, {1ms, refused}});
    failing.ask(attempts(2).every(0s), hedging);
    EXPECT_EQ(seen->count(), 2U);
}

TEST(hedge, a_strategy_that_grants_no_retries_grants_no_hedges) {
    struct refusing final : driver::retry_strategy {
        void retry_after(const driver::retry_question&, driver::retry_sink& sink) override {
            sink.answer(driver::retry_action::after(0s));
        }
        driver::decision on_start(driver::token_state&, const driver::decision_context&) override {
            return {refusal_reason::budget_exhausted, -1};
        }
    } strategy;
    replica r({{200ms}, {1ms}});
    async_retry<void(error_code, int)>(
        r.io, strategy, r.options, hedged(50ms, r.initiate()), [&](error_code code, int number) {
            r.ec = code;
            r.value = number;
        });
    r.time.run(r.io);
    EXPECT_EQ(r.value, 1);
    EXPECT_EQ(r.started, 1U);
    EXPECT_EQ(r.trace.entries.back().refusal(), refusal_reason::no_initial_token);
}

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

// Two attempts that failed together counted as one failure, and one beside a success as none, so a
// breaker and a throttle saw a healthier service than there was.
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
TEST(hedge, SM_10_a_failure_that_only_the_strategy_knows_is_final_as_well) {
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
        EXPECT_THROW(std::rethrow_exception(r.thrown), denied_by_service);
        EXPECT_EQ(r.started, 2U);
    }
}

// The limit filled in a safety of `maybe`, and the strategy no longer looked at what the type of
// the failure states.
TEST(hedge, SM_10_a_failure_that_only_the_strategy_knows_is_final_also_at_a_limit) {
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
        call_options options{.repeat = repeatability::repeatable};
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
        "+52 ms  attempt 3 not made; not retried: canceled\n");
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

TEST(hedge, stands_inside_or_outside_of_a_predicate_and_a_fallback) {
    const auto is_error = [](const error_code& code) { return code.value() != 0; };
    const auto run = [](replica& r, auto operation) {
        async_retry<void(error_code, int)>(
            r.io, attempts(2), r.options, std::move(operation), [&](error_code code, int number) {
                r.ec = code;
                r.value = number;
            });
        r.time.run(r.io);
    };
    replica inside({{10s}, {20ms}});
    run(inside, fails_if(is_error, hedged(50ms, inside.initiate())));
    EXPECT_EQ(inside.value, 2);
    replica outside({{10s}, {20ms}});
    run(outside, hedged(50ms, fails_if(is_error, outside.initiate())));
    EXPECT_EQ(outside.value, 2);
    replica failing({{60ms, refused}, {60ms, refused}});
    run(failing, with_fallback(42, fails_if(is_error, hedged(50ms, failing.initiate()))));
    EXPECT_EQ(failing.ec, error_code());
    EXPECT_EQ(failing.value, 42);
    EXPECT_EQ(failing.started, 2U);
}

/// Writes each span when it ends.
struct written_tracer final : retry_tracer {
    std::string text;

    struct span final : retry_tracer::span {
        span(std::string& to, std::string_view name) : out(to), line(name) {}
        void set_attribute(std::string_view name, std::int64_t value) noexcept override {
            line += " " + std::string(name) + "=" + std::to_string(value);
        }
        void set_attribute(std::string_view name, std::string_view value) noexcept override {
            line += " " + std::string(name) + "=" + std::string(value);
        }
        void end(bool is_error) noexcept override { out += line + (is_error ? " error\n" : "\n"); }
        std::string& out;
        std::string line;
    };
    std::unique_ptr<retry_tracer::span> start_span(
        std::string_view name, retry_tracer::span* /*parent*/) noexcept override {
        return std::make_unique<span>(text, name);
    }
};

TEST(hedge, every_attempt_has_a_span_and_a_canceled_one_is_no_error) {
    const auto shared = std::make_shared<written_tracer>();
    written_tracer& tracer = *shared;
    replica r({{10s}, {20ms}});
    r.ask(attempts(3).tracer(shared));
    EXPECT_EQ(
        tracer.text,
        "attempt reprise.retry.attempt=2 reprise.retry.hedge=1\n"
        "attempt reprise.retry.attempt=1 reprise.retry.canceled=1\n"
        "retry reprise.retry.attempts=2\n");
    tracer.text.clear();
    replica failing({{60ms, refused}, {60ms, refused}});
    failing.ask(attempts(2).tracer(shared));
    const std::string type = "error.type=" + std::string(refused.category().name()) + ":" +
                             std::to_string(refused.value()) + " error\n";
    EXPECT_EQ(
        tracer.text, "attempt reprise.retry.attempt=1 " + type +
                         "attempt reprise.retry.attempt=2 reprise.retry.hedge=1 " + type +
                         "retry reprise.retry.attempts=2 "
                         "reprise.retry.refusal=attempts exhausted " +
                         type);
}

TEST(hedge, cancellation_reaches_all_attempts_and_allows_no_more) {
    replica r({{10s}, {10s}});
    asio::cancellation_signal signal;
    r.time.after(70ms, [&] { signal.emit(asio::cancellation_type::all); });
    async_retry<void(error_code, int)>(
        r.io, attempts(9), r.options,
        hedged(hedge_options{.delay = 50ms, .attempts_max = 3}, r.initiate()),
        asio::bind_cancellation_slot(signal.slot(), [&](error_code code, int) { r.ec = code; }));
    r.time.run(r.io);
    EXPECT_EQ(r.ec, asio::error::operation_aborted);
    EXPECT_EQ(r.started, 2U);
    EXPECT_EQ(r.canceled, 2U);
    EXPECT_EQ(r.elapsed(), 70ms);
}

TEST(hedge, a_slow_coroutine_is_hedged) {
    replica r({{10s}, {20ms}});
    const auto play = [&]() -> asio::awaitable<void> {
        const auto fetch = hedged(50ms, throws_on_failure([&] { return r.read_in_coroutine(); }));
        r.value = co_await async_retry(attempts(3), r.options, fetch);
    };
    r.thrown = testing::play(r.io, r.time, play);
    EXPECT_EQ(r.thrown, nullptr);
    EXPECT_EQ(r.value, 2);
    EXPECT_EQ(r.canceled, 1U);
    EXPECT_EQ(r.elapsed(), 70ms);
}

TEST(hedge, a_hedged_coroutine_under_a_limit_throws_its_last_failure) {
    replica r({{10s}, {10s}});
    r.options.attempt_timeout = 100ms;
    const auto play = [&]() -> asio::awaitable<void> {
        const auto fetch = hedged(50ms, throws_on_failure([&] { return r.read_in_coroutine(); }));
        r.value = co_await async_retry(attempts(2), r.options, fetch);
    };
    r.thrown = testing::play(r.io, r.time, play);
    EXPECT_NE(r.thrown, nullptr);
    EXPECT_EQ(r.elapsed(), 150ms);
    EXPECT_TRUE(r.trace.entries.back().is_timeout());
}

TEST(hedge, never_runs_more_attempts_than_its_maximum) {
    replica r({{10s}, {9s}, {1ms}});
    r.ask(attempts(5), {.delay = 50ms, .attempts_max = 2});
    EXPECT_EQ(r.started, 2U);
    EXPECT_EQ(r.value, 2);
    EXPECT_EQ(r.elapsed(), 9050ms);
}

TEST(hedge, the_last_failure_is_reported) {
    replica r({{60ms, refused}, {30ms, asio::error::host_unreachable}});
    r.ask(attempts(2));
    EXPECT_EQ(r.ec, asio::error::host_unreachable);
    EXPECT_EQ(r.elapsed(), 80ms);
}

}  // namespace reprise::hedge_test
