#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <optional>
#include <ostream>
#include <string>
#include <vector>

#include <reprise/asio/async_retry.hpp>
#include <reprise/asio/hedge.hpp>
#include <reprise/retry/simple_strategy.hpp>

#include "chosen_asio.hpp"
#include "hedged_replica.hpp"

// The forms that do not block do the same whatever the clock shows at the start, and however far it
// jumps. The starts are those of libs/retry/tests/clocks_test.cpp: calls that begin before, at and
// after zero and each wrap of a field that holds time in fewer bits than the clock has.
namespace reprise::async_clocks_test {

using namespace std::chrono_literals;
using hedge_test::planned;
using hedge_test::refused;
using hedge_test::replica;
namespace asio = testing::asio;
using testing::error_code;

constexpr duration year = std::chrono::hours{24 * 365};
/// Histories keep 40 bits of microseconds.
constexpr duration offset_max = std::chrono::microseconds{(1LL << 40) - 1};

[[nodiscard]] std::vector<time_point> starts() {
    std::vector<time_point> all{time_point{year}, time_point{100 * year}, time_point{-year}};
    for (const duration edge : std::initializer_list<duration>{
             0s, std::chrono::milliseconds{1LL << 31}, std::chrono::milliseconds{1LL << 32},
             std::chrono::microseconds{1LL << 40}}) {
        for (const std::int64_t times : {-2, -1, 1, 2}) {
            for (const duration distance :
                 std::initializer_list<duration>{-5s, -1ms, -1ns, 0s, 1ms, 1s}) {
                all.emplace_back(times * edge + distance);
            }
        }
    }
    return all;
}

/// What a call did, seen from outside.
struct story {
    std::size_t started = 0;
    std::size_t canceled = 0;
    duration elapsed{};
    bool is_success = false;
    refusal_reason refusal{};
    std::vector<duration> offsets{};  ///< Of the decisions.

    bool operator==(const story&) const = default;
    friend std::ostream& operator<<(std::ostream& out, const story& of) {
        out << of.started << " attempts, " << of.canceled << " canceled, " << of.elapsed / 1us
            << " us, " << (of.is_success ? "success" : to_string(of.refusal));
        for (const duration offset : of.offsets) {
            out << ", +" << offset / 1us << " us";
        }
        return out;
    }
};

[[nodiscard]] story told_by(replica& r, duration elapsed, bool is_success) {
    story told{r.started, r.canceled, elapsed, is_success, r.trace.refusal(), {}};
    for (const retry_history::entry& entry : r.trace) {
        told.offsets.push_back(entry.offset());
    }
    return told;
}

// Few types, so that the forms are compiled once.
using rule = decltype(attempts(1));
using preparation = std::function<void(replica&)>;
using hedging = std::optional<hedge_options>;

/// Calls `use` with the operation, hedged if that is wanted.
template <class Operation, class Use>
auto with_hedges(const hedging& hedges, const Operation& operation, const Use& use) {
    return hedges ? use(hedged(*hedges, operation)) : use(operation);
}

[[nodiscard]] story play_with_token(replica& r, const rule& strategy, const hedging& hedges) {
    duration elapsed{-1};
    with_hedges(hedges, r.initiate(), [&](const auto& operation) {
        async_retry<void(error_code, int)>(
            r.io, strategy, r.options, operation, [&](error_code code, int) {
                r.ec = code;
                elapsed = r.elapsed();
            });
    });
    r.time.run(r.io);
    return told_by(r, elapsed, !r.ec);
}

[[nodiscard]] story play_in_coroutine(replica& r, const rule& strategy, const hedging& hedges) {
    duration elapsed{-1};
    const auto operation = throws_on_failure([&] { return r.read_in_coroutine(); });
    r.thrown = testing::play(r.io, r.time, [&]() -> asio::awaitable<void> {
        try {
            auto pending = with_hedges(hedges, operation, [&](const auto& wrapped) {
                return async_retry(strategy, r.options, wrapped);
            });
            r.value = co_await std::move(pending);
        } catch (const testing::system_error&) {
            r.value = -1;
        }
        elapsed = r.elapsed();
    });
    EXPECT_EQ(r.thrown, nullptr);
    return told_by(r, elapsed, r.value > 0);
}

/// A call that is played at each start, in both forms; `prepare` changes its options, and schedules
/// what else happens.
struct scene {
    std::vector<planned> script;
    rule strategy;
    preparation prepare = [](replica&) {};
    hedging hedges{};
};

void expect_everywhere(const story& expected, const scene& played) {
    for (const time_point start : starts()) {
        SCOPED_TRACE("at " + std::to_string(start.time_since_epoch() / 1ns) + " ns");
        replica with_token(played.script, start);
        played.prepare(with_token);
        EXPECT_EQ(play_with_token(with_token, played.strategy, played.hedges), expected);
        replica awaited(played.script, start);
        played.prepare(awaited);
        EXPECT_EQ(play_in_coroutine(awaited, played.strategy, played.hedges), expected)
            << "in a coroutine";
    }
}

[[nodiscard]] rule every_2_s(std::uint32_t attempts_max) {
    return attempts(attempts_max).every(2s).with_jitter(jitter::none);
}

TEST(async_clocks, attempts_are_limited_and_delayed_the_same_at_any_start) {
    const planned fails{1s, refused};
    expect_everywhere(
        {.started = 3,
         .elapsed = 7s,
         .refusal = refusal_reason::attempts_exhausted,
         .offsets = {1s, 4s, 7s}},
        {.script = {fails, fails, fails}, .strategy = every_2_s(3)});
}

TEST(async_clocks, deadlines_end_a_running_attempt_at_any_start) {
    const planned fails{1s, refused};
    const story expected{
        .started = 4,
        .canceled = 1,
        .elapsed = 9500ms,
        .refusal = refusal_reason::deadline,
        .offsets = {1s, 4s, 7s, 9500ms}};
    scene played{.script = {fails, fails, fails, fails}, .strategy = every_2_s(9)};
    played.prepare = [](replica& r) { r.options.timeout = 9500ms; };
    expect_everywhere(expected, played);
    played.prepare = [](replica& r) { r.options.deadline = r.time.now() + 9500ms; };
    expect_everywhere(expected, played);
}

TEST(async_clocks, attempts_are_cut_at_their_limit_at_any_start) {
    const planned hangs{1h};
    expect_everywhere(
        {.started = 2,
         .canceled = 2,
         .elapsed = 2040ms,
         .refusal = refusal_reason::attempts_exhausted,
         .offsets = {20ms, 2040ms}},
        {.script = {hangs, hangs}, .strategy = every_2_s(2), .prepare = [](replica& r) {
             r.options.attempt_timeout = 20ms;
         }});
}

TEST(async_clocks, a_jump_of_a_year_during_a_wait_starts_no_attempt_after_the_deadline) {
    const planned fails{1s, refused};
    scene played{.script = {fails, fails, fails}, .strategy = every_2_s(3)};
    const auto jump = [](replica& r) { r.time.after(1500ms, [&r] { r.time.advance(year); }); };
    played.prepare = jump;
    expect_everywhere(
        {.started = 3,
         .elapsed = 1500ms + year + 1s + 2s + 1s,
         .refusal = refusal_reason::attempts_exhausted,
         .offsets = {1s, offset_max, offset_max}},
        played);
    played.prepare = [&](replica& r) {
        jump(r);
        r.options.timeout = 10s;
    };
    expect_everywhere(
        {.started = 1,
         .elapsed = 1500ms + year,
         .refusal = refusal_reason::deadline,
         .offsets = {1s, offset_max}},
        played);
}

TEST(async_clocks, slow_attempts_are_hedged_at_any_start) {
    expect_everywhere(
        {.started = 2, .canceled = 1, .elapsed = 70ms, .is_success = true, .offsets = {50ms}},
        {.script = {{10s}, {20ms}},
         .strategy = attempts(3),
         .hedges = hedge_options{.delay = 50ms}});
}

TEST(async_clocks, hedges_keep_to_the_attempts_and_the_deadline_at_any_start) {
    const planned hangs{1h};
    expect_everywhere(
        {.started = 2,
         .canceled = 2,
         .elapsed = 10s,
         .refusal = refusal_reason::attempts_exhausted,
         .offsets = {50ms, 100ms, 10s}},
        {.script = {hangs, hangs},
         .strategy = attempts(2),
         .prepare = [](replica& r) { r.options.timeout = 10s; },
         .hedges = hedge_options{.delay = 50ms, .attempts_max = 3}});
    expect_everywhere(
        {.started = 1,
         .canceled = 1,
         .elapsed = 30ms,
         .refusal = refusal_reason::deadline,
         .offsets = {30ms}},
        {.script = {hangs},
         .strategy = attempts(2),
         .prepare = [](replica& r) { r.options.timeout = 30ms; },
         .hedges = hedge_options{.delay = 50ms}});
}

TEST(async_clocks, the_percentile_of_a_hedge_is_the_same_at_any_start) {
    std::vector<story> told;
    for (const time_point start : starts()) {
        const hedge_options options{
            .delay = 1s, .seen = std::make_shared<first_attempt_latencies>()};
        for (int call = 0; call < 20; ++call) {
            replica r({{10ms}}, start);
            EXPECT_TRUE(play_with_token(r, attempts(2), options).is_success);
        }
        replica with_token({{500ms}, {1ms}}, start);
        told.push_back(play_with_token(with_token, attempts(2), options));
        replica awaited({{500ms}, {1ms}}, start);
        told.push_back(play_in_coroutine(awaited, attempts(2), options));
        EXPECT_EQ(options.seen->count(), 22U) << "the canceled ones count, too";
    }
    EXPECT_EQ(told[0].started, 2U);
    EXPECT_EQ(told[0].canceled, 1U);
    EXPECT_GE(told[0].elapsed, 11ms);
    EXPECT_LE(told[0].elapsed, 13ms);
    for (const story& each : told) {
        EXPECT_EQ(each, told[0]);
    }
}

TEST(async_clocks, a_jump_of_a_year_ends_an_attempt_with_its_limit) {
    const planned hangs{100 * year};
    scene played{.script = {hangs, hangs}, .strategy = attempts(1)};
    played.prepare = [](replica& r) {
        r.time.after(10ms, [&r] { r.time.advance(year); });
        r.options.attempt_timeout = 20ms;
    };
    const story expected{
        .started = 1,
        .canceled = 1,
        .elapsed = year + 10ms,
        .refusal = refusal_reason::attempts_exhausted,
        .offsets = {offset_max}};
    expect_everywhere(expected, played);
    played.hedges = hedge_options{.delay = 50ms};
    expect_everywhere(expected, played);
}

}  // namespace reprise::async_clocks_test
