// SM-18, RH-11: the same failures lead to the same decisions in every driver. Random scripts run
// through the blocking loop, the completion-token loop, the coroutine loop, and the key-value and
// HTTP operations of the Couchbase engine, each with an equal strategy, budget and allowance. For
// each attempt, the delay and the reason against a further retry must agree.

#include <gtest/gtest.h>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <expected>
#include <map>
#include <memory>
#include <ostream>
#include <string>
#include <vector>

#include <reprise/asio/async_retry.hpp>
#include <reprise/engine/vocabulary.hpp>
#include <reprise/retry.hpp>
#include <reprise/retry/random_generator.hpp>
#include <reprise/testing/scripted.hpp>
#include <reprise/testing/virtual_clock.hpp>

#include "engine_driver.hpp"

namespace reprise {
namespace same_decisions {

using namespace std::chrono_literals;
namespace asio = boost::asio;
using couchbase::retry_reason;
using wire::status;

// How an attempt fails.
enum class failure_kind : std::uint8_t {
    refused,    // the server did nothing
    throttled,  // the same, and it asks for fewer requests
    executed,   // an error after which the server may have acted
    lost,       // the connection closes without an answer
};
struct failure {
    failure_kind kind = failure_kind::refused;
    status code = status::etmpfail;  // of key-value operations
    duration minimum_wait{};         // Retry-After, of HTTP operations
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

// Replaces the driver's random numbers by those of the script, so that delays with jitter agree.
class scripted_jitter final : public driver::retry_strategy {
public:
    scripted_jitter(std::unique_ptr<driver::retry_strategy> inner, std::uint64_t seed)
        : retry_strategy(inner->traits()), inner_(std::move(inner)), seed_(seed) {}
    void retry_after(const driver::retry_question& question, driver::retry_sink& sink) override {
        driver::retry_question asked = question;
        asked.at.random = random_generator::mix(seed_ + question.token.attempt);
        inner_->retry_after(asked, sink);
    }
    driver::decision on_start(
        driver::token_state& token, const driver::decision_context& at) override {
        return inner_->on_start(token, at);
    }
    void on_success(const driver::token_state& token, const driver::decision_context& at) override {
        inner_->on_success(token, at);
    }
    [[nodiscard]] driver::retry_budget* paying_budget() noexcept override {
        return inner_->paying_budget();
    }

private:
    std::unique_ptr<driver::retry_strategy> inner_;
    std::uint64_t seed_;
};

struct script {
    std::vector<failure> failures;  // then the request succeeds
    bool is_read = false;           // may be repeated
    std::uint64_t jitter_seed = 0;
    strategy_kind strategy{};
    standard_strategy::options options{};
    std::optional<std::uint32_t> allowance{};
    std::optional<duration> timeout{};
};

// A driver's decision about a failure.
struct decided {
    duration delay{};
    refusal_reason refusal{};
    friend bool operator==(const decided&, const decided&) = default;
    friend std::ostream& operator<<(std::ostream& out, const decided& one) {
        return out << one.delay.count() / 1000 << " us " << to_string(one.refusal);
    }
};

std::unique_ptr<driver::retry_strategy> make_inner_strategy(const script& plan) {
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

std::unique_ptr<driver::retry_strategy> make_strategy(const script& plan) {
    return std::make_unique<scripted_jitter>(make_inner_strategy(plan), plan.jitter_seed);
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
    const failure& failed = plan.failures[index];
    failure_facts facts;
    facts.fault = failure_fault::server;
    switch (failed.kind) {
        case failure_kind::throttled:
            facts.throttling = true;
            [[fallthrough]];
        case failure_kind::refused:
            facts.safety = retry_safety::yes;
            break;
        case failure_kind::executed:
        case failure_kind::lost:
            facts.safety = retry_safety::maybe;
            break;
    }
    if (failed.minimum_wait > duration::zero()) {
        facts.minimum_wait = failed.minimum_wait;
    }
    return std::unexpected(attempt_error{facts});
}

// Everything that one loop needs, set up in the same way for all of them.
struct loop_run {
    explicit loop_run(const script& plan) : strategy(make_strategy(plan)) {
        options.clock = &clock;
        options.history = &trace;
        options.repeat = plan.is_read ? repeatability::repeatable : repeatability::not_repeatable;
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

// The delays and refusals that the engine recorded. RFC 0049 has its own refusal of a request that
// may have been applied before its connection was lost; for loops it is one not to be repeated.
std::vector<decided> story_of(const engine::testing::engine_driver::outcome& ended) {
    EXPECT_EQ(ended.calls, 1);
    std::vector<decided> story;
    if (const auto& history = ended.result.history) {
        for (const retry_history::entry entry : history->entries) {
            const bool is_lost_write = entry.refusal() == refusal_reason::may_have_acted;
            story.push_back(
                {entry.delay(), is_lost_write ? refusal_reason::not_repeatable : entry.refusal()});
        }
    }
    return story;
}

using engine::testing::connected_driver;
using engine::testing::scripted_cluster;

std::vector<decided> play_to_the_end(
    connected_driver& driver, const engine::testing::engine_driver::outcome_ptr& done) {
    for (int step = 0; step < 20'000 && done->calls == 0; ++step) {
        driver.advance(20ms);
    }
    return story_of(*done);
}

engine::engine_options engine_options_of(const script& plan) {
    engine::engine_options options;
    options.strategy = make_strategy(plan);
    return options;
}

// A lost connection is not part of these scripts: it would be established again in between, which
// is another reason for a retry.
std::vector<decided> play_in_engine(const script& plan) {
    scripted_cluster cluster(1);
    cluster.documents["k"].value = "v";
    connected_driver driver(cluster, engine_options_of(plan));
    driver.takes_wakes = true;  // late answers
    const auto kind = plan.is_read ? engine::operation_kind::get : engine::operation_kind::upsert;
    const auto op = plan.is_read ? wire::opcode::get : wire::opcode::set;
    std::size_t calls = 0;
    using answer = scripted_cluster::scripted_answer;
    cluster.on_request = [&](const engine::testing::seen_request& seen) -> std::optional<answer> {
        if (seen.op != op || calls >= plan.failures.size()) {
            return std::nullopt;
        }
        return answer{.status = plan.failures[calls++].code};
    };
    std::optional<driver::retry_allowance> outer;
    auto request = driver.request(kind, "k", plan.is_read ? "" : "v");
    request.timeout = plan.timeout.value_or(24h);
    if (plan.allowance) {
        outer.emplace(*plan.allowance);
        request.outer_allowance = &*outer;
    }
    return play_to_the_end(driver, driver.start(std::move(request)));
}

engine::testing::scripted_http_answer http_answer_to(const script& plan, std::size_t index) {
    if (index >= plan.failures.size()) {
        return {.body = R"({"results":[1]})"};
    }
    return plan.failures[index].kind == failure_kind::lost
               ? engine::testing::closing()
               : engine::testing::scripted_http_answer{.status = 503, .body = "{}"};
}

services::exchange_result judgement_of(const failure& failed) {
    services::exchange_result judged;
    judged.what = services::exchange_result::step::retry;
    judged.error = couchbase::errc::temporary_failure;
    judged.reason = failed.kind == failure_kind::throttled
                        ? retry_reason::search_too_many_requests
                        : retry_reason::service_response_code_indicated;
    judged.may_have_acted = failed.kind == failure_kind::executed;
    judged.delay_floor = failed.minimum_wait;
    return judged;
}

std::vector<decided> play_in_http_operation(const script& plan) {
    scripted_cluster cluster(1);
    cluster.nodes[0].services.set(wire::service::query, wire::transport::plain, 8093);
    std::size_t calls = 0;
    cluster.on_http = [&](const engine::testing::seen_http_request&) {
        return http_answer_to(plan, calls++);
    };
    connected_driver driver(cluster, engine_options_of(plan));
    driver.takes_wakes = true;
    auto request = engine::testing::query_request("{}", [&](const services::http_answer& answer) {
        return answer.status == 200 ? services::exchange_result{}
                                    : judgement_of(plan.failures.at(calls - 1));
    });
    request.is_idempotent = plan.is_read;
    request.timeout = plan.timeout.value_or(24h);
    if (plan.allowance) {
        request.outer_allowance = std::make_shared<driver::retry_allowance>(*plan.allowance);
    }
    return play_to_the_end(driver, driver.start_http(std::move(request)));
}

// Draws scripts. The same seed draws the same ones.
class script_source {
public:
    explicit script_source(std::uint64_t seed) : random_(seed) {}

    script next(bool is_http) {
        script plan;
        plan.strategy = all_strategies[below(all_strategies.size())];
        plan.is_read = below(2) == 0;
        plan.jitter_seed = random_.next();
        for (std::uint64_t left = below(9); left > 0; --left) {
            plan.failures.push_back(is_http ? http_failure() : key_value_failure());
        }
        plan.options.attempts_max = 1 + static_cast<std::uint32_t>(below(8));
        plan.options.backoff.base = std::chrono::milliseconds{1 + below(4)};
        plan.options.backoff.cap = std::chrono::milliseconds{8 << below(4)};
        constexpr std::array jitters{jitter::none, jitter::full, jitter::equal};
        plan.options.backoff.jitter = jitters[below(jitters.size())];
        plan.options.bucket.capacity = static_cast<double>(14 + below(30));
        plan.options.prices.throttling = static_cast<double>(1 + below(12));
        if (below(3) == 0) {
            plan.allowance = static_cast<std::uint32_t>(below(6));
        }
        if (below(3) == 0) {
            plan.timeout = std::chrono::milliseconds{1 + below(200)};
            plan.options.backoff.jitter = jitter::none;  // the engine's timers count milliseconds
        }
        return plan;
    }

private:
    std::uint64_t below(std::uint64_t count) { return random_.next() % count; }
    failure key_value_failure() {
        constexpr std::array codes{
            status::etmpfail, status::locked, status::sync_write_in_progress};
        return {.code = codes[below(codes.size())]};
    }
    failure http_failure() {
        constexpr std::array kinds{
            failure_kind::refused, failure_kind::refused, failure_kind::throttled,
            failure_kind::executed, failure_kind::lost};
        failure failed{.kind = kinds[below(kinds.size())]};
        if (failed.kind != failure_kind::lost && below(4) == 0) {
            failed.minimum_wait = std::chrono::milliseconds{1 + below(60)};
        }
        return failed;
    }

    random_generator random_;
};

// The engine's decisions are the loops', except at the deadline: Smithy's guide refuses a retry
// that would start after it, and RFC 0049 waits until it (`deadline_policy`).
void expect_same_decisions(
    const std::vector<decided>& engine, const std::vector<decided>& loop, const script& plan) {
    if (loop.empty() || loop.back().refusal != refusal_reason::deadline) {
        EXPECT_EQ(engine, loop);
        return;
    }
    ASSERT_EQ(engine.size(), loop.size());
    duration waited{};
    for (std::size_t index = 0; index + 1 < engine.size(); ++index) {
        EXPECT_EQ(engine[index], loop[index]);
        waited += engine[index].delay;
    }
    EXPECT_EQ(engine.back().refusal, refusal_reason::none);
    EXPECT_EQ(engine.back().delay, *plan.timeout - waited) << "the rest of its time";
}

void compare_random_scripts(bool is_http) {
    script_source source(20261115);
    std::map<refusal_reason, std::size_t> endings;
    for (int number = 0; number < 400; ++number) {
        SCOPED_TRACE("script " + std::to_string(number));
        const script plan = source.next(is_http);
        const std::vector<decided> blocking = play_blocking(plan);
        ASSERT_EQ(play_with_token(plan), blocking);
        ASSERT_EQ(play_in_coroutine(plan), blocking);
        expect_same_decisions(
            is_http ? play_in_http_operation(plan) : play_in_engine(plan), blocking, plan);
        ASSERT_FALSE(::testing::Test::HasFailure());
        ++endings[blocking.empty() ? refusal_reason::none : blocking.back().refusal];
    }
    // The scripts end in each of these ways often enough to compare them.
    std::vector<refusal_reason> expected{
        refusal_reason::none, refusal_reason::attempts_exhausted, refusal_reason::budget_exhausted,
        refusal_reason::outer_allowance, refusal_reason::deadline};
    if (is_http) {
        expected.push_back(refusal_reason::not_repeatable);
    }
    for (const refusal_reason ending : expected) {
        EXPECT_GT(endings[ending], 8U) << to_string(ending);
    }
}

}  // namespace same_decisions

using namespace same_decisions;

TEST(same_decisions, SM_18_every_driver_decides_random_scripts_alike) {
    compare_random_scripts(false);
}

// With lost connections, answers after which the server may have acted, throttling and Retry-After.
TEST(same_decisions, SM_18_HTTP_operations_decide_random_scripts_as_loops_do) {
    compare_random_scripts(true);
}

// The one difference between Smithy's guide and RFC 0049 is `deadline_policy`.
TEST(same_decisions, RH_13_SM_19_at_the_deadline_loops_refuse_and_the_engine_waits) {
    script plan;
    plan.strategy = strategy_kind::best_effort;
    plan.failures.assign(20, failure{});
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
