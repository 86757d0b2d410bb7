// SM-18, RH-11: the same failures lead to the same decisions in every driver. Random scripts run
// through the blocking loop, the completion-token loop, the coroutine loop and the Couchbase
// engine, each with an equal strategy, budget and allowance. For each attempt, the delay and the
// reason against a further retry must agree.

#include <gtest/gtest.h>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <expected>
#include <memory>
#include <ostream>
#include <random>
#include <vector>

#include <reprise/asio/async_retry.hpp>
#include <reprise/engine/vocabulary.hpp>
#include <reprise/retry.hpp>
#include <reprise/testing/scripted.hpp>
#include <reprise/testing/virtual_clock.hpp>

#include "engine_driver.hpp"

namespace reprise {
namespace same_decisions {

using namespace std::chrono_literals;
namespace asio = boost::asio;
using couchbase::retry_reason;
using wire::status;

// One failed attempt: what the server answers.
struct failure {
    status code = status::etmpfail;
};

enum class strategy_kind : std::uint8_t { standard, late, best_effort, fail_fast, no_retries };
constexpr std::array all_strategies{
    strategy_kind::standard, strategy_kind::late, strategy_kind::best_effort,
    strategy_kind::fail_fast, strategy_kind::no_retries};

// Decides as the standard strategy does, but answers later.
class late_strategy final : public driver::retry_strategy {
public:
    explicit late_strategy(const standard_strategy::options& options) : inner_(options) {}
    void retry_after(const driver::retry_question& question, driver::retry_sink& sink) override {
        driver::token_state token = question.token;
        const driver::retry_action action = inner_.retry_after(token, question);
        driver::deferred_answer later = sink.defer();
        later.answer(action.remembering(token.memory));
    }
    [[nodiscard]] driver::retry_budget* paying_budget() noexcept override {
        return inner_.paying_budget();
    }

private:
    standard_strategy inner_;
};

struct script {
    std::vector<failure> failures;  // then the request succeeds
    strategy_kind strategy{};
    standard_strategy::options options{};
    std::optional<std::uint32_t> allowance{};
    std::optional<duration> timeout{};
};

// What a driver decided about a failure.
struct decided {
    duration delay{};
    refusal_reason refusal{};
    friend bool operator==(const decided&, const decided&) = default;
    friend std::ostream& operator<<(std::ostream& out, const decided& one) {
        return out << one.delay.count() / 1000 << " us " << to_string(one.refusal);
    }
};

std::unique_ptr<driver::retry_strategy> make_strategy(const script& plan) {
    switch (plan.strategy) {
        case strategy_kind::standard:
            return std::make_unique<driver::virtual_strategy<standard_strategy>>(plan.options);
        case strategy_kind::late:
            return std::make_unique<late_strategy>(plan.options);
        case strategy_kind::best_effort:
            return std::make_unique<couchbase::best_effort_strategy>();
        case strategy_kind::fail_fast:
            return std::make_unique<couchbase::fail_fast_on_terminal_error_strategy>();
        case strategy_kind::no_retries:
            return std::make_unique<driver::virtual_strategy<standard_strategy>>(
                standard_strategy::options{.attempts_max = 1});
    }
    return nullptr;
}

// Describes the answer in the same way as the engine.
struct attempt_error {
    failure_facts facts;
};
failure_facts retry_facts(const attempt_error& error) {
    return error.facts;
}
using attempt_result = std::expected<int, attempt_error>;

}  // namespace same_decisions

template <>
struct driver::unattempted_outcome<same_decisions::attempt_result> {
    static same_decisions::attempt_result make(refusal_reason) { return 0; }
};

namespace same_decisions {

attempt_result outcome_of(const script& plan, std::size_t index) {
    if (index >= plan.failures.size()) {
        return 1;
    }
    failure_facts facts;
    facts.safety = retry_safety::yes;
    facts.fault = failure_fault::server;
    facts.code = static_cast<std::uint32_t>(plan.failures[index].code);
    return std::unexpected(attempt_error{facts});
}

// Everything that one loop needs, set up in the same way for all of them.
struct loop_run {
    explicit loop_run(const script& plan) : strategy(make_strategy(plan)) {
        options.clock = &clock;
        options.history = &trace;
        options.repeat = repeatability::not_repeatable;
        options.timeout = plan.timeout;
        if (plan.allowance) {
            outer.emplace(*plan.allowance);
            options.outer_allowance = &*outer;
        }
    }
    std::vector<decided> story() const {
        std::vector<decided> result;
        for (std::size_t index = 0; index < trace.entries.size(); ++index) {
            result.push_back({trace.entries[index].delay(), trace.entries[index].refusal()});
        }
        return result;
    }

    testing::virtual_clock clock;
    std::unique_ptr<driver::retry_strategy> strategy;
    retry_history trace;
    std::optional<driver::retry_allowance> outer;
    call_options options;
    std::size_t calls = 0;
};

std::vector<decided> play_blocking(const script& plan) {
    loop_run run(plan);
    static_cast<void>(
        retry(*run.strategy, run.options, [&] { return outcome_of(plan, run.calls++); }));
    return run.story();
}

std::vector<decided> play_with_token(const script& plan) {
    loop_run run(plan);
    asio::io_context io;
    async_retry<void(attempt_result)>(
        io, *run.strategy, borrowed(run.options),
        [&](const attempt&, auto handler) {
            asio::post(io, [&, handler = std::move(handler)]() mutable {
                std::move(handler)(outcome_of(plan, run.calls++));
            });
        },
        [](const attempt_result&) {});
    run.clock.run(io);
    return run.story();
}

std::vector<decided> play_in_coroutine(const script& plan) {
    loop_run run(plan);
    asio::io_context io;
    const auto operation = [&]() -> asio::awaitable<attempt_result> {
        co_return outcome_of(plan, run.calls++);
    };
    asio::co_spawn(
        io,
        [&]() -> asio::awaitable<void> {
            const async_call_options options = borrowed(run.options);
            auto pending = async_retry(*run.strategy, options, operation);
            static_cast<void>(co_await std::move(pending));
        },
        [](const std::exception_ptr&) {});
    run.clock.run(io);
    return run.story();
}

std::vector<decided> play_in_engine(const script& plan) {
    engine::testing::scripted_cluster cluster(1);
    engine::engine_options options;
    options.strategy = make_strategy(plan);
    engine::testing::connected_driver driver(cluster, options);
    std::size_t calls = 0;
    using answer = engine::testing::scripted_cluster::scripted_answer;
    cluster.on_request = [&](const engine::testing::seen_request& seen) -> std::optional<answer> {
        if (seen.op != wire::opcode::set || calls >= plan.failures.size()) {
            return std::nullopt;
        }
        return answer{.status = plan.failures[calls++].code};
    };
    std::optional<driver::retry_allowance> outer;
    auto request = driver.request(engine::operation_kind::upsert, "k", "v");
    request.timeout = plan.timeout.value_or(24h);
    if (plan.allowance) {
        outer.emplace(*plan.allowance);
        request.outer_allowance = &*outer;
    }
    const auto done = driver.start(std::move(request));
    for (int step = 0; step < 10'000 && done->calls == 0; ++step) {
        driver.engine().on_wake(driver.now);  // late answers
        driver.advance(20ms);
    }
    EXPECT_EQ(done->calls, 1);
    std::vector<decided> story;
    if (const auto& history = done->result.history) {
        for (std::size_t index = 0; index < history->entries.size(); ++index) {
            story.push_back({history->entries[index].delay(), history->entries[index].refusal()});
        }
    }
    return story;
}

script random_script(std::mt19937_64& random) {
    const auto below = [&](std::uint64_t count) { return random() % count; };
    script plan;
    plan.strategy = all_strategies[below(all_strategies.size())];
    for (std::uint64_t left = below(9); left > 0; --left) {
        constexpr std::array codes{
            status::etmpfail, status::locked, status::sync_write_in_progress};
        plan.failures.push_back({codes[below(codes.size())]});
    }
    plan.options.attempts_max = 1 + static_cast<std::uint32_t>(below(8));
    plan.options.backoff.base = std::chrono::milliseconds{1 + below(4)};
    plan.options.backoff.cap = std::chrono::milliseconds{8 << below(4)};
    plan.options.backoff.jitter = jitter::none;
    plan.options.bucket.capacity = static_cast<double>(10 + below(40));
    if (below(3) == 0) {
        plan.allowance = static_cast<std::uint32_t>(below(6));
    }
    return plan;
}

}  // namespace same_decisions

using namespace same_decisions;

TEST(same_decisions, SM_18_every_driver_decides_random_scripts_alike) {
    std::mt19937_64 random(20261115);
    std::size_t refusals = 0;
    for (int number = 0; number < 400; ++number) {
        const script plan = random_script(random);
        const std::vector<decided> blocking = play_blocking(plan);
        ASSERT_EQ(play_with_token(plan), blocking) << "script " << number;
        ASSERT_EQ(play_in_coroutine(plan), blocking) << "script " << number;
        ASSERT_EQ(play_in_engine(plan), blocking) << "script " << number;
        refusals += !blocking.empty() && blocking.back().refusal != refusal_reason::none ? 1U : 0U;
    }
    EXPECT_GT(refusals, 50U) << "the scripts end in refusals often enough to compare them";
}

// The one difference between Smithy's guide and RFC 0049 is `deadline_policy`.
TEST(same_decisions, RH_13_SM_19_at_the_deadline_loops_refuse_and_the_engine_waits) {
    script plan;
    plan.strategy = strategy_kind::best_effort;
    plan.failures.assign(20, failure{status::etmpfail});
    plan.timeout = 100ms;
    const std::vector<decided> blocking = play_blocking(plan);
    const std::vector<decided> engine = play_in_engine(plan);
    ASSERT_EQ(engine.size(), blocking.size());
    for (std::size_t index = 0; index + 1 < engine.size(); ++index) {
        EXPECT_EQ(engine[index], blocking[index]);
    }
    EXPECT_EQ(blocking.back().refusal, refusal_reason::deadline);
    EXPECT_EQ(engine.back().refusal, refusal_reason::none);
    EXPECT_EQ(engine.back().delay, 37ms) << "1 + 2 + 4 + ... + 32 ms are over; this is the rest";
}

}  // namespace reprise
