/// SM-18: the three loops produce the same trace. Each row of the table runs in the blocking loop,
/// the completion-token loop and the coroutine loop, with equal strategies, equal randomness and
/// virtual time. The recorded traces and the final results must be equal.

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <optional>
#include <random>
#include <reprise/asio/async_retry.hpp>
#include <reprise/asio/hedge.hpp>
#include <reprise/retry/blocking.hpp>
#include <reprise/retry/presets.hpp>
#include <reprise/testing/scripted.hpp>
#include <reprise/testing/virtual_clock.hpp>
#include <set>
#include <string>
#include <vector>

#include "chosen_asio.hpp"
#include "fast_strategy.hpp"

template <>
struct reprise::driver::unattempted_outcome<std::optional<reprise::testing::scripted_error>> {
    static std::optional<testing::scripted_error> make(refusal_reason) {
        return testing::scripted_error{};
    }
};

/// An error, or nothing on success.
template <>
struct reprise::outcome_traits<std::optional<reprise::testing::scripted_error>> {
    using result = std::optional<testing::scripted_error>;
    static bool is_failure(const result& r) noexcept { return r.has_value(); }
    static failure_facts facts(const result& r) noexcept { return r->facts; }
};

namespace reprise::same_decisions_test {

using namespace std::chrono_literals;
namespace asio = testing::asio;
using testing::scripted_error;
using result = std::optional<scripted_error>;

/// How one attempt proceeds: it takes `time`, then fails with `facts`, or succeeds if there are
/// none.
struct attempt_script {
    duration time{};
    std::optional<failure_facts> facts{};
};

struct scenario {
    std::string name;
    std::vector<attempt_script> attempts;  ///< The last one repeats.
    call_options options{};                ///< Clock, trace and randomness are filled in.
    std::optional<duration> stop_at{};     ///< When the caller asks to stop.
    standard_strategy::options strategy{};
    bool is_late = false;                   ///< The strategy answers later.
    std::optional<duration> hedge_delay{};  ///< Not for the blocking loop, which cannot hedge.
};

/// Decides as the standard strategy does, but answers later.
class late_strategy final : public driver::retry_strategy {
public:
    explicit late_strategy(standard_strategy& inner)
        : retry_strategy(driver::traits_of(inner)), inner_(inner) {}

    void retry_after(const driver::retry_question& question, driver::retry_sink& sink) override {
        driver::token_state token = question.token;
        const driver::retry_action action = inner_.retry_after(token, question);
        driver::deferred_answer later = sink.defer();
        later.answer(action.remembering(token.memory));
    }
    driver::decision on_start(
        driver::token_state& token, const driver::decision_context& at) override {
        return inner_.on_start(token, at);
    }
    void on_success(const driver::token_state& token, const driver::decision_context& at) override {
        inner_.on_success(token, at);
    }
    [[nodiscard]] driver::retry_budget* paying_budget() noexcept override {
        return inner_.paying_budget();
    }

private:
    standard_strategy& inner_;
};

/// The actions of a loop.
struct story {
    std::vector<retry_history::entry> entries;
    std::size_t calls = 0;
    std::size_t number_count = 0;
    std::int64_t bucket_level = 0;
    duration elapsed{};
    std::optional<std::size_t> failed_step{};  ///< Of the final error, if it failed.
    bool threw = false;
};

/// The operation of all three loops. If the limit cuts an attempt, its facts are those that the
/// asynchronous loops give to an attempt they cancel.
[[nodiscard]] result outcome_of(
    const attempt_script& script, const attempt& current, std::size_t step) {
    if (script.time >= current.timeout) {
        return scripted_error{step, {.safety = retry_safety::maybe, .timeout = true}};
    }
    return script.facts ? result(scripted_error{step, *script.facts}) : std::nullopt;
}

/// Everything one run needs, set up in the same way for all loops.
struct run {
    explicit run(const scenario& plan)
        : plan_(plan), strategy(plan.strategy), options(plan.options) {
        options.clock = &clock;
        options.history = &trace;
        options.random = &random;
        options.stop = stop.get_token();
        if (plan.stop_at) {
            clock.at(time_point{} + *plan.stop_at, [this] { stop.request_stop(); });
        }
    }
    /// Calls `use` with the strategy of the scenario.
    template <class Use>
    decltype(auto) with_strategy(Use&& use) {
        return plan_.is_late ? use(late) : use(strategy);
    }
    [[nodiscard]] const attempt_script& next() {
        const std::size_t index = std::min(calls, plan_.attempts.size() - 1);
        ++calls;
        return plan_.attempts[index];
    }
    [[nodiscard]] story summarize(const result& last, bool threw) {
        story out;
        for (std::size_t i = 0; i < trace.entries.size(); ++i) {
            out.entries.push_back(trace.entries[i]);
        }
        out.calls = calls;
        out.number_count = random.number_count();
        out.bucket_level = strategy.budget().bucket()->milli_level();
        out.elapsed = finished.value_or(clock.elapsed());
        out.failed_step = last ? std::optional(last->step) : std::nullopt;
        out.threw = threw;
        return out;
    }

    const scenario& plan_;
    testing::virtual_clock clock;
    standard_strategy strategy;
    late_strategy late{strategy};
    testing::scripted_random random{7U << 20U, ~0ULL, 1ULL << 63U, 0, 3ULL << 61U, 5ULL << 60U};
    retry_history trace;
    std::stop_source stop;
    call_options options;
    std::size_t calls = 0;
    std::optional<duration> finished;  ///< Time continues after the end if a step was cut.
};

[[nodiscard]] story play_blocking(const scenario& plan) {
    run r(plan);
    const auto operation = [&](const attempt& current) {
        const attempt_script& script = r.next();
        const result out = outcome_of(script, current, r.calls);
        r.clock.advance(std::min(script.time, current.timeout));
        return out;
    };
    const result last =
        r.with_strategy([&](auto& strategy) { return retry(strategy, r.options, operation); });
    return r.summarize(last, false);
}

/// An asynchronous operation that takes virtual time and can be canceled.
template <class Handler>
class slow_step : public std::enable_shared_from_this<slow_step<Handler>> {
public:
    slow_step(asio::io_context& io, Handler handler, result out)
        : io_(io), handler_(std::move(handler)), out_(out) {}
    void start(testing::virtual_clock& clock, duration time) {
        auto self = this->shared_from_this();
        auto slot = asio::get_associated_cancellation_slot(*handler_);
        if (slot.is_connected()) {
            slot.assign([weak = std::weak_ptr(self)](asio::cancellation_type_t) {
                if (auto step = weak.lock()) {
                    step->end();
                }
            });
        }
        if (time > duration::zero()) {
            clock.after(time, [self] { self->end(); });
        } else {
            end();
        }
    }

private:
    void end() {
        if (handler_) {
            asio::post(io_, [handler = std::move(*handler_), out = out_]() mutable {
                std::move(handler)(out);
            });
            handler_.reset();
        }
    }
    asio::io_context& io_;
    std::optional<Handler> handler_;
    result out_;
};

/// Canceled attempts report an error without facts, so the loop itself must keep the cause.
template <class Run, class Handler>
void start_step(Run& r, asio::io_context& io, const attempt& current, Handler handler) {
    const attempt_script& script = r.next();
    result out = outcome_of(script, current, r.calls);
    if (out && script.time >= current.timeout) {
        out->facts = failure_facts{};
    }
    auto step = std::make_shared<slow_step<Handler>>(io, std::move(handler), out);
    step->start(r.clock, script.time);
}

/// Calls `use` with the operation, hedged if the scenario hedges.
template <class Operation, class Use>
auto with_hedges(const scenario& plan, const Operation& operation, Use use) {
    return plan.hedge_delay ? use(hedged(*plan.hedge_delay, operation)) : use(operation);
}

[[nodiscard]] story play_with_token(const scenario& plan) {
    run r(plan);
    asio::io_context io;
    result last;
    const auto initiate = [&](const attempt& current, auto handler) {
        start_step(r, io, current, std::move(handler));
    };
    r.with_strategy([&](auto& strategy) {
        with_hedges(plan, initiate, [&](const auto& operation) {
            async_retry<void(result)>(
                io, strategy, borrowed(r.options), operation, [&](const result& out) {
                    last = out;
                    r.finished = r.clock.elapsed();
                });
        });
    });
    r.clock.run(io);
    return r.summarize(last, false);
}

[[nodiscard]] story play_in_coroutine(const scenario& plan) {
    run r(plan);
    asio::io_context io;
    result last;
    std::exception_ptr thrown;
    const auto attempt_once = [&](attempt current) -> asio::awaitable<result> {
        auto initiate = [&r, &io, current](auto handler) {
            start_step(r, io, current, std::move(handler));
        };
        auto pending = asio::async_initiate<const asio::use_awaitable_t<>, void(result)>(
            initiate, asio::use_awaitable);
        const result out = co_await std::move(pending);
        co_return out;
    };
    asio::co_spawn(
        io,
        [&]() -> asio::awaitable<void> {
            const async_call_options options = borrowed(r.options);
            auto pending = r.with_strategy([&](auto& strategy) {
                return with_hedges(plan, attempt_once, [&](const auto& operation) {
                    return async_retry(strategy, options, operation);
                });
            });
            last = co_await std::move(pending);
        },
        [&](std::exception_ptr error) {
            thrown = error;
            r.finished = r.clock.elapsed();
        });
    r.clock.run(io);
    return r.summarize(last, thrown != nullptr);
}

void expect_same(const story& expected, const story& actual, const std::string& where) {
    SCOPED_TRACE(where);
    ASSERT_EQ(expected.entries.size(), actual.entries.size());
    for (std::size_t i = 0; i < expected.entries.size(); ++i) {
        SCOPED_TRACE("entry " + std::to_string(i));
        const retry_history::entry& a = expected.entries[i];
        const retry_history::entry& b = actual.entries[i];
        EXPECT_EQ(a.attempt(), b.attempt());
        EXPECT_EQ(a.code(), b.code());
        EXPECT_EQ(a.offset(), b.offset());
        EXPECT_EQ(a.delay(), b.delay());
        EXPECT_EQ(a.budget_level(), b.budget_level());
        EXPECT_EQ(a.refusal(), b.refusal());
        EXPECT_EQ(a.is_timeout(), b.is_timeout());
        EXPECT_EQ(a.is_throttling(), b.is_throttling());
        EXPECT_EQ(a.is_hedge(), b.is_hedge());
    }
    EXPECT_EQ(expected.calls, actual.calls);
    EXPECT_EQ(expected.number_count, actual.number_count);
    EXPECT_EQ(expected.bucket_level, actual.bucket_level);
    EXPECT_EQ(expected.elapsed, actual.elapsed);
    EXPECT_EQ(expected.failed_step, actual.failed_step);
    EXPECT_EQ(expected.threw, actual.threw);
}

[[nodiscard]] standard_strategy::options with_bucket(double capacity) {
    standard_strategy::options options;
    options.bucket.capacity = capacity;
    return options;
}

[[nodiscard]] standard_strategy::options with_attempts(std::uint32_t attempts, jitter kind) {
    standard_strategy::options options;
    options.attempts_max = attempts;
    options.backoff.jitter = kind;
    return options;
}

[[nodiscard]] std::vector<scenario> table() {
    using testing::permanent;
    using testing::throttled;
    using testing::timed_out;
    using testing::transient;
    const attempt_script success{};
    const attempt_script hangs{1h, std::nullopt};
    const failure_facts server{.fault = failure_fault::server, .code = 500};
    const failure_facts client{.fault = failure_fault::client, .code = 404};
    const failure_facts late{.safety = retry_safety::yes, .minimum_wait = duration{-5s}};
    return {
        {"success at once", {success}},
        {"two failures, then success", {{1s, transient()}, {2s, server}, success}},
        {"fails for ever", {{0s, transient()}}},
        {"fails for ever, slowly", {{700ms, server}}},
        {"unsafe", {{0s, permanent()}}},
        {"client's fault", {{0s, client}}},
        {"no facts", {{0s, failure_facts{}}}},
        {"hints", {{0s, throttled(3s)}, {0s, throttled(25s)}, {1s, throttled()}, success}},
        {"negative hint", {{0s, late}, success}},
        {"timeouts cost more", {{10s, timed_out()}}, {}, {}, with_bucket(25.0)},
        {"bucket runs dry", {{0s, transient()}}, {}, {}, with_bucket(12.0)},
        {"maybe, not repeatable", {{0s, timed_out()}}, {.repeat = repeatability::not_repeatable}},
        {"deadline refuses", {{1s, transient()}}, {.deadline = time_point{} + 4s}},
        {"deadline in the past", {{1s, transient()}}, {.deadline = time_point{} - 4s}},
        {"total timeout", {{200ms, transient()}}, {.timeout = 3s}},
        {"negative timeout", {{1s, transient()}}, {.timeout = -3s}},
        {"hint past the deadline", {{0s, throttled(30s)}}, {.timeout = 20s}},
        {"attempt timeout",
         {{5s, transient()}, {20s, transient()}, success},
         {.attempt_timeout = 10s}},
        {"every attempt times out", {hangs}, {.attempt_timeout = 10s}},
        {"attempt cut by the deadline", {hangs}, {.timeout = 15s, .attempt_timeout = 10s}},
        {"not repeatable and cut",
         {hangs},
         {.attempt_timeout = 1s, .repeat = repeatability::not_repeatable}},
        {"stop in the first wait", {{0s, throttled(9s)}}, {}, 4s},
        {"stop in a later wait", {{1s, throttled(9s)}}, {}, 25s},
        {"stop during an attempt", {{10s, transient()}}, {}, 4s},
        {"stop during a limited attempt", {{3s, transient()}}, {.attempt_timeout = 10s}, 2s},
        {"equal jitter", {{0s, server}}, {}, {}, with_attempts(9, jitter::equal)},
        {"decorrelated jitter", {{1s, server}}, {}, {}, with_attempts(12, jitter::decorrelated)},
        {"more attempts than the trace holds",
         {{0s, server}},
         {},
         {},
         with_attempts(60, jitter::none)},
        {"one attempt", {{0s, server}}, {}, {}, with_attempts(1, jitter::full)},
    };
}

/// Draws everything that a decision depends on.
[[nodiscard]] scenario random_scenario(std::mt19937_64& random) {
    const auto below = [&](std::uint64_t count) { return random() % count; };
    const auto some = [&](std::uint64_t count) {
        return std::chrono::milliseconds{static_cast<std::int64_t>(below(count))};
    };
    scenario plan;
    plan.attempts.resize(1 + below(6));
    for (attempt_script& script : plan.attempts) {
        script.time = some(4) * 500;
        if (below(6) == 0) {
            continue;  // it succeeds
        }
        failure_facts& facts = script.facts.emplace();
        if (below(4) != 0) {
            constexpr std::array safeties{
                retry_safety::yes, retry_safety::yes, retry_safety::maybe, retry_safety::no};
            facts.safety = safeties[below(safeties.size())];
        }
        facts.fault = below(3) == 0 ? failure_fault::client : failure_fault::server;
        facts.timeout = below(4) == 0;
        facts.throttling = below(4) == 0;
        facts.code = static_cast<std::uint32_t>(below(600));
        if (below(4) == 0) {
            facts.minimum_wait = some(3000);
        }
    }
    plan.options.repeat = static_cast<repeatability>(below(3));
    if (below(3) == 0) {
        plan.options.timeout = some(20'000);
    }
    if (below(3) == 0) {
        plan.options.attempt_timeout = 1ms + some(2000);
    }
    if (below(5) == 0) {
        plan.stop_at = some(10'000);
    }
    plan.strategy.attempts_max = 1 + static_cast<std::uint32_t>(below(8));
    plan.strategy.backoff.jitter = static_cast<jitter>(below(4));
    plan.strategy.bucket.capacity = static_cast<double>(10 + below(60));
    plan.is_late = below(3) == 0;
    return plan;
}

TEST(same_decisions, SM_18_three_loops_decide_random_scripts_alike) {
    std::mt19937_64 random(20261116);
    std::set<refusal_reason> ends;
    for (int number = 0; number < 500; ++number) {
        const scenario plan = random_scenario(random);
        SCOPED_TRACE("script " + std::to_string(number));
        const story blocking = play_blocking(plan);
        expect_same(blocking, play_with_token(plan), "completion token");
        expect_same(blocking, play_in_coroutine(plan), "coroutine");
        if (::testing::Test::HasFailure()) {
            return;
        }
        if (!blocking.entries.empty()) {
            ends.insert(blocking.entries.back().refusal());
        }
    }
    EXPECT_GE(ends.size(), 8U) << "the scripts end in many ways";
}

TEST(same_decisions, SM_18_both_asynchronous_forms_hedge_random_scripts_alike) {
    std::mt19937_64 random(20261119);
    std::size_t hedges = 0;
    for (int number = 0; number < 500; ++number) {
        scenario plan = random_scenario(random);
        plan.options.repeat = repeatability::repeatable;
        plan.hedge_delay = std::chrono::milliseconds{random() % 1500};
        SCOPED_TRACE("script " + std::to_string(number));
        const story with_token = play_with_token(plan);
        expect_same(with_token, play_in_coroutine(plan), "coroutine");
        if (::testing::Test::HasFailure()) {
            return;
        }
        hedges += static_cast<std::size_t>(
            std::ranges::count_if(with_token.entries, &retry_history::entry::is_hedge));
    }
    EXPECT_GE(hedges, 100U);
}

TEST(same_decisions, SM_18_SM_19_three_loops_produce_the_same_trace_of_every_script) {
    for (const scenario& plan : table()) {
        SCOPED_TRACE(plan.name);
        const story blocking = play_blocking(plan);
        expect_same(blocking, play_with_token(plan), "completion token");
        expect_same(blocking, play_in_coroutine(plan), "coroutine");
    }
}

TEST(same_decisions, SM_18_the_scripts_reach_every_possible_end_of_a_loop) {
    std::vector<refusal_reason> seen;
    for (const scenario& plan : table()) {
        const story outcome = play_blocking(plan);
        if (!outcome.entries.empty()) {
            seen.push_back(outcome.entries.back().refusal());
        }
    }
    for (const refusal_reason reason :
         {refusal_reason::none, refusal_reason::unsafe, refusal_reason::not_repeatable,
          refusal_reason::client_fault, refusal_reason::unclassified,
          refusal_reason::attempts_exhausted, refusal_reason::budget_exhausted,
          refusal_reason::deadline, refusal_reason::canceled}) {
        EXPECT_NE(std::find(seen.begin(), seen.end(), reason), seen.end())
            << to_string(reason) << " is never reached";
    }
}

}  // namespace reprise::same_decisions_test
