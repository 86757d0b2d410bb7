/// No option is silently ignored: each field of `call_options` has an effect that is visible in
/// each form of the loop, or is refused there with a message. The calls fail transiently, each
/// attempt takes 20 ms, and retries follow 100 ms after a failure. Each field of `hedge_options`
/// has an effect, too; `standard_strategy_options_test.cpp` has those of the standard strategy.

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include <reprise/asio/async_retry.hpp>
#include <reprise/asio/hedge.hpp>
#include <reprise/retry/blocking.hpp>
#include <reprise/retry/simple_strategy.hpp>
#include <reprise/testing/scripted.hpp>
#include <reprise/testing/virtual_clock.hpp>

#include "chosen_asio.hpp"
#include "hedged_replica.hpp"

namespace reprise::options_test {

using namespace std::chrono_literals;
namespace asio = testing::asio;

/// Counts what observers and tracers get.
class listener final : public retry_observer, public retry_tracer {
public:
    void on_decision(const decision_event& event) noexcept override {
        names.emplace_back(event.call);
    }
    std::unique_ptr<retry_tracer::span> start_span(
        std::string_view, retry_tracer::span*) noexcept override {
        ++spans;
        return nullptr;
    }
    std::vector<std::string> names;
    int spans = 0;
};

/// What a call with some options did.
struct effect {
    std::uint32_t attempts = 0;
    duration first_attempt{};  ///< How long it ran, or was allowed to run.
    duration elapsed{};
    std::string refused;  ///< What the loop threw instead of starting.
    std::string name;     ///< As observers see it.
};

/// The service and the clock of one call.
struct scene {
    testing::virtual_clock clock;
    asio::io_context io;
    effect seen;
    std::shared_ptr<listener> observer = std::make_shared<listener>();
    std::error_code last;

    static std::error_code failure() { return make_error_code(std::errc::connection_reset); }
    void record(duration ran) {
        if (++seen.attempts == 1) {
            seen.first_attempt = ran;
        }
    }
};

[[nodiscard]] auto strategy(const scene& s) {
    return attempts(3)
        .exponential(100ms, 100ms)
        .with_jitter(jitter::equal)
        .observer(s.observer)
        .tracer(s.observer);
}

constexpr duration attempt_time = 20ms;

void run_blocking(scene& s, const call_options& options) {
    s.last = retry(strategy(s), options, [&](const attempt& current) {
        const duration ran = std::min(attempt_time, current.timeout);
        s.clock.advance(ran);
        s.record(ran);
        return scene::failure();
    });
}

void run_blocking_without_attempt(scene& s, const call_options& options) {
    s.last = retry(strategy(s), options, [&] {
        s.clock.advance(attempt_time);
        s.record(attempt_time);
        return scene::failure();
    });
}

/// An attempt of the asynchronous forms, which can be canceled.
template <class Handler>
void start_attempt(scene& s, Handler handler) {
    struct pending {
        scene& owner;
        time_point started;
        std::optional<Handler> handler;
        void end() {
            if (handler) {
                owner.record(owner.clock.now() - started);
                asio::post(owner.io, [done = std::move(*handler)]() mutable {
                    std::move(done)(scene::failure());
                });
                handler.reset();
            }
        }
    };
    auto slot = asio::get_associated_cancellation_slot(handler);
    auto state = std::make_shared<pending>(pending{s, s.clock.now(), std::move(handler)});
    if (slot.is_connected()) {
        slot.assign([weak = std::weak_ptr(state)](asio::cancellation_type_t) {
            if (auto running = weak.lock()) {
                running->end();
            }
        });
    }
    s.clock.after(attempt_time, [state] { state->end(); });
}

[[nodiscard]] auto initiation(scene& s) {
    return [&](const attempt&, auto handler) { start_attempt(s, std::move(handler)); };
}

void run_with_token(scene& s, const call_options& options) {
    async_retry<void(std::error_code)>(
        s.io, strategy(s), borrowed(options), initiation(s),
        [&](std::error_code code) { s.last = code; });
    s.clock.run(s.io);
}

// No attempt takes long enough for a hedge, so that the effects are those of the other forms.
constexpr duration hedge_delay = 2 * attempt_time;

void run_hedged(scene& s, const call_options& options) {
    async_retry<void(std::error_code)>(
        s.io, strategy(s), borrowed(options), hedged(hedge_delay, initiation(s)),
        [&](std::error_code code) { s.last = code; });
    s.clock.run(s.io);
}

// What an attempt ends with. Awaited, an error code would become an exception in the standalone
// Asio.
struct finished {
    finished(std::error_code given = {}) : code(given) {}

    std::error_code code;
};

[[nodiscard]] auto coroutine(scene& s) {
    return [&s]() -> asio::awaitable<std::error_code> {
        auto initiate = [&s](auto handler) { start_attempt(s, std::move(handler)); };
        auto pending = asio::async_initiate<const asio::use_awaitable_t<>, void(finished)>(
            initiate, asio::use_awaitable);
        const finished end = co_await std::move(pending);
        co_return end.code;
    };
}

template <class Operation>
void play_coroutine(scene& s, const call_options& options, const Operation& operation) {
    const std::exception_ptr thrown = testing::play(s.io, s.clock, [&]() -> asio::awaitable<void> {
        const auto rule = strategy(s);
        const async_call_options kept = borrowed(options);
        auto pending = async_retry(rule, kept, operation);
        s.last = co_await std::move(pending);
    });
    if (thrown) {
        std::rethrow_exception(thrown);
    }
}

void run_in_coroutine(scene& s, const call_options& options) {
    play_coroutine(s, options, coroutine(s));
}
void run_hedged_in_coroutine(scene& s, const call_options& options) {
    play_coroutine(s, options, hedged(hedge_delay, coroutine(s)));
}

struct form {
    std::string_view name;
    void (*run)(scene&, const call_options&);
    repeatability repeat = repeatability::unspecified;
};

constexpr form forms[] = {
    {"blocking", run_blocking},
    {"blocking, without an attempt", run_blocking_without_attempt},
    {"completion token", run_with_token},
    {"coroutine", run_in_coroutine},
    {"hedged, completion token", run_hedged, repeatability::repeatable},
    {"hedged, coroutine", run_hedged_in_coroutine, repeatability::repeatable},
};

/// One option: sets it, and checks what it did. Returns false if the call shows no effect.
struct option_row {
    std::string_view name;
    std::function<void(call_options&)> set;
    std::function<bool(const effect&)> is_visible;
};

/// What options point to.
struct option_targets {
    std::stop_source stop;
    driver::retry_allowance nothing_left{0};
    retry_history history;
    testing::scripted_random random{testing::scripted_random::highest};

    option_targets() { stop.request_stop(); }
};

[[nodiscard]] std::vector<option_row> rows(option_targets& targets) {
    const auto once = [](const effect& seen) { return seen.attempts == 1; };
    return {
        {"deadline", [](call_options& o) { o.deadline = time_point{} + 50ms; }, once},
        {"timeout", [](call_options& o) { o.timeout = 50ms; }, once},
        {"attempt_timeout", [](call_options& o) { o.attempt_timeout = 10ms; },
         [](const effect& seen) {
             return seen.first_attempt == 10ms ||
                    seen.refused.find("attempt_timeout") != std::string::npos;
         }},
        {"repeat", [](call_options& o) { o.repeat = repeatability::not_repeatable; },
         [=](const effect& seen) {
             return once(seen) || seen.refused.find("repeat") != std::string::npos;
         }},
        {"stop", [&](call_options& o) { o.stop = targets.stop.get_token(); }, once},
        {"outer_allowance", [&](call_options& o) { o.outer_allowance = &targets.nothing_left; },
         once},
        {"history", [&](call_options& o) { o.history = &targets.history; },
         [&](const effect&) { return targets.history.entries.size() == 3; }},
        {"name", [](call_options& o) { o.name = "fetch price"; },
         [](const effect& seen) { return seen.name == "fetch price"; }},
        {"clock", [](call_options&) {},  // All calls have one.
         [](const effect& seen) { return seen.elapsed >= 3 * attempt_time + 2 * 50ms; }},
        {"random", [&](call_options& o) { o.random = &targets.random; },
         [&](const effect&) { return targets.random.number_count() > 0; }},
    };
}

[[nodiscard]] effect play_with(const form& played, const option_row& row) {
    scene s;
    call_options options;
    options.clock = &s.clock;
    options.repeat = played.repeat;
    row.set(options);
    try {
        played.run(s, options);
    } catch (const invalid_settings& refused) {
        s.seen.refused = refused.what();
    }
    s.seen.elapsed = s.clock.elapsed();
    s.seen.name = s.observer->names.empty() ? "" : s.observer->names.front();
    return s.seen;
}

TEST(options, every_option_has_an_effect_in_every_form_or_is_refused) {
    // Ten fields; a new one does not compile here. Give it a row.
    const auto& [a, b, c, d, e, f, g, h, i, j] = call_options{};
    static_cast<void>(std::tie(a, b, c, d, e, f, g, h, i, j));
    for (const form& played : forms) {
        for (std::size_t index = 0; index < 10; ++index) {
            option_targets targets;
            const option_row row = rows(targets).at(index);
            SCOPED_TRACE(std::string(row.name) + " in " + std::string(played.name));
            EXPECT_TRUE(row.is_visible(play_with(played, row)));
        }
    }
    option_targets targets;
    EXPECT_EQ(rows(targets).size(), 10U);
}

TEST(options, the_observer_and_the_tracer_of_a_strategy_see_the_calls_of_every_form) {
    for (const form& played : forms) {
        scene s;
        call_options options;
        options.clock = &s.clock;
        options.repeat = played.repeat;
        played.run(s, options);
        EXPECT_EQ(s.observer->names.size(), 3U) << played.name;
        EXPECT_EQ(s.observer->spans, 1) << "a call that is not traced has no further spans";
    }
}

// Once, the limit was accepted and nothing kept it: the operation ran without a limit.
TEST(options, an_attempt_timeout_is_refused_if_a_blocking_operation_cannot_see_it) {
    int calls = 0;
    const call_options options{.attempt_timeout = 10ms};
    try {
        static_cast<void>(retry(attempts(3), options, [&] { return ++calls, std::error_code(); }));
        FAIL() << "the option is ignored";
    } catch (const invalid_settings& refused) {
        EXPECT_EQ(refused.field(), "attempt_timeout");
        EXPECT_NE(refused.message().find("attempt::timeout"), std::string::npos);
    }
    EXPECT_EQ(calls, 0);
}

/// What a hedged call did whose attempts take 200 ms.
struct hedge_effect {
    std::size_t attempts = 0;
    duration first_hedge{};   ///< When it started; zero if none did.
    std::uint64_t count = 0;  ///< Records afterwards.
};

/// One field of `hedge_options`: sets it, and says by what it shows. The options to compare with
/// have `seen` with some records of first attempts if `finished` or `unfinished` is not zero: half
/// of them took 10 ms, half took 90 ms.
struct hedge_row {
    std::string_view name;
    std::function<void(hedge_options&)> set;
    std::function<bool(const hedge_effect&)> is_visible;
    int finished = 0;
    int unfinished = 0;
};

[[nodiscard]] hedge_effect play_hedged(const hedge_row& row, bool is_set) {
    hedge_options options;
    if (row.finished + row.unfinished != 0) {
        options.seen = std::make_shared<first_attempt_latencies>();
    }
    for (int index = 0; index < row.finished; ++index) {
        options.seen->record(index % 2 == 0 ? 10ms : 90ms);
    }
    for (int index = 0; index < row.unfinished; ++index) {
        options.seen->record_unfinished();
    }
    if (is_set) {
        row.set(options);
    }
    hedge_test::replica service(std::vector<hedge_test::planned>(5, {200ms}));
    service.ask(attempts(5), options);
    hedge_effect seen{.attempts = service.started};
    for (const retry_history::entry& entry : service.trace) {
        seen.first_hedge = seen.first_hedge == 0s ? entry.offset() : seen.first_hedge;
    }
    seen.count = options.seen ? options.seen->count() : 0;
    return seen;
}

[[nodiscard]] std::vector<hedge_row> hedge_rows() {
    using o = hedge_options;
    const auto hedges_at = [](duration from, duration to) {
        return [=](const hedge_effect& seen) {
            return seen.first_hedge >= from && seen.first_hedge <= to;
        };
    };
    return {
        {"delay", [](o& s) { s.delay = 20ms; }, hedges_at(20ms, 20ms)},
        {"attempts_max", [](o& s) { s.attempts_max = 3; },
         [](const hedge_effect& seen) { return seen.attempts == 3; }},
        {"seen", [](o& s) { s.seen = std::make_shared<first_attempt_latencies>(); },
         [](const hedge_effect& seen) { return seen.count == 1; }},
        {"percentile", [](o& s) { s.percentile = 0.5; }, hedges_at(10ms, 12ms), 30},
        {"seen_min", [](o& s) { s.seen_min = 40; }, hedges_at(50ms, 50ms), 30},
        {"seen_max", [](o& s) { s.seen_max = 40; },
         [](const hedge_effect& seen) { return seen.count < 31; }, 39},
        {"delay_max", [](o& s) { s.delay_max = 150ms; }, hedges_at(150ms, 150ms), 10, 10},
    };
}

TEST(options, every_field_of_the_hedge_options_has_an_effect) {
    // Seven fields; a new one does not compile here. Give it a row.
    const auto& [a, b, c, d, e, f, g] = hedge_options{};
    static_cast<void>(std::tie(a, b, c, d, e, f, g));
    EXPECT_EQ(hedge_rows().size(), 7U);
    for (const hedge_row& row : hedge_rows()) {
        EXPECT_FALSE(row.is_visible(play_hedged(row, false))) << row.name;
        EXPECT_TRUE(row.is_visible(play_hedged(row, true))) << row.name;
    }
}

}  // namespace reprise::options_test
