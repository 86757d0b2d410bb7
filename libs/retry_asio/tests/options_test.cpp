/// No option is silently ignored: each field of `call_options` has an effect that is visible in
/// each form of the loop, or is refused there with a message. The calls fail transiently, each
/// attempt takes 20 ms, and retries follow 100 ms after a failure.

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include <reprise/asio/async_retry.hpp>
#include <reprise/retry/blocking.hpp>
#include <reprise/retry/simple_strategy.hpp>
#include <reprise/testing/scripted.hpp>
#include <reprise/testing/virtual_clock.hpp>

#include "chosen_asio.hpp"

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

void run_with_token(scene& s, const call_options& options) {
    async_retry<void(std::error_code)>(
        s.io, strategy(s), borrowed(options),
        [&](const attempt&, auto handler) { start_attempt(s, std::move(handler)); },
        [&](std::error_code code) { s.last = code; });
    s.clock.run(s.io);
}

// What an attempt ends with. Awaited, an error code would become an exception in the standalone
// Asio.
struct finished {
    finished(std::error_code given = {}) : code(given) {}

    std::error_code code;
};

void run_in_coroutine(scene& s, const call_options& options) {
    const auto operation = [&]() -> asio::awaitable<std::error_code> {
        auto initiate = [&s](auto handler) { start_attempt(s, std::move(handler)); };
        auto pending = asio::async_initiate<const asio::use_awaitable_t<>, void(finished)>(
            initiate, asio::use_awaitable);
        const finished end = co_await std::move(pending);
        co_return end.code;
    };
    static_cast<void>(testing::play(s.io, s.clock, [&]() -> asio::awaitable<void> {
        const auto rule = strategy(s);
        const async_call_options kept = borrowed(options);
        auto pending = async_retry(rule, kept, operation);
        s.last = co_await std::move(pending);
    }));
}

struct form {
    std::string_view name;
    void (*run)(scene&, const call_options&);
};

constexpr form forms[] = {
    {"blocking", run_blocking},
    {"blocking, without an attempt", run_blocking_without_attempt},
    {"completion token", run_with_token},
    {"coroutine", run_in_coroutine},
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
        {"repeat", [](call_options& o) { o.repeat = repeatability::not_repeatable; }, once},
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

}  // namespace reprise::options_test
