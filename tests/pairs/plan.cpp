#include "plan.hpp"

#include <array>
#include <chrono>
#include <random>

namespace reprise::feature_pairs {

namespace {

using namespace std::chrono_literals;

class dice {
public:
    explicit dice(std::uint64_t seed) : engine_(seed) {}
    [[nodiscard]] std::uint64_t below(std::uint64_t count) { return engine_() % count; }
    [[nodiscard]] bool one_in(std::uint64_t count) { return below(count) == 0; }
    template <class T, std::size_t Count>
    [[nodiscard]] T one_of(const std::array<T, Count>& values) {
        return values[below(Count)];
    }

private:
    std::mt19937_64 engine_;
};

/// Failures without an adapter. Their codes are their numbers in this list, for the filter.
[[nodiscard]] failure_facts draw_facts(dice& random) {
    const auto code = static_cast<std::uint32_t>(random.below(8));
    failure_facts facts;
    switch (code) {
        case 0:
        case 1:
            facts = {.safety = retry_safety::yes, .fault = failure_fault::server};
            break;
        case 2:
            facts = {.safety = retry_safety::maybe, .timeout = true};
            break;
        case 3:
            facts = {.safety = retry_safety::maybe};
            break;
        case 4:
            facts = {.fault = failure_fault::server};
            break;
        case 5:
            facts = {.safety = retry_safety::no, .fault = failure_fault::server};
            break;
        case 6:
            facts = {.fault = failure_fault::client};
            break;
        default:  // Nothing is stated.
            break;
    }
    facts.code = code;
    return facts;
}

[[nodiscard]] attempt_script draw_attempt(dice& random, const feature_set& features) {
    constexpr std::array<duration, 5> times{0ms, 0ms, 5ms, 30ms, 200ms};
    constexpr std::array statuses{429, 408, 503, 500, 504, 404, 0};
    attempt_script script;
    script.time = random.one_of(times);
    script.is_success = random.one_in(4);
    const bool can_throw =
        !features.has(feature::completion_token) && !features.has(feature::no_exceptions);
    script.is_thrown = can_throw && random.one_in(3);
    script.ignores_cancellation = random.one_in(3);
    script.status = random.one_of(statuses);
    script.facts = draw_facts(random);
    const bool is_refused = features.has(feature::adapter)
                                ? script.status == 429 || script.status == 408
                                : script.facts.safety == retry_safety::yes;
    script.is_executed = script.is_success || (!is_refused && random.one_in(2));
    return script;
}

/// Draws what the features of asynchronous loops add; `some(n)` is less than n milliseconds.
template <class Some>
void draw_asynchrony(call_plan& plan, dice& random, const Some& some) {
    if (plan.has(feature::first_delay)) {
        plan.first_delay = 1ms + some(60);
    }
    if (plan.has(feature::late_answer) && !plan.attempt_timeout) {
        plan.attempt_timeout = 1ms + some(40);
    }
    if (plan.has(feature::cancellation)) {
        plan.signal_at = some(100);
        plan.signal_type = random.one_of(std::array<std::uint32_t, 3>{1, 2, 4});
    }
    plan.has_strand = plan.has(feature::cancellation) || random.one_in(2);
    for (attempt_script& script : plan.attempts) {
        if (plan.has(feature::late_answer) && random.one_in(2)) {
            script.is_late = true;
            script.time = *plan.attempt_timeout + some(50);
            script.late_by = 1ms + some(30);
        }
        if (plan.has(feature::cancellation)) {
            script.heeds = random.one_of(std::array<std::uint32_t, 3>{1, 3, 7});
        }
        if (plan.has(feature::ignored_signals)) {
            script.ignores_cancellation = true;
        }
        if (plan.has(feature::at_once) && random.one_in(2)) {
            script.is_at_once = true;
        }
        if (plan.has(feature::failed_start) && random.one_in(3)) {
            script.is_failed_start = true;
            script.is_success = false;
            script.is_executed = false;
        }
    }
}

void draw_answers(call_plan& plan, dice& random) {
    constexpr std::array kinds{
        answer_kind::late, answer_kind::late, answer_kind::at_once, answer_kind::prompt};
    constexpr std::array drops{
        answer_kind::dropped, answer_kind::dropped_later, answer_kind::failed_later,
        answer_kind::silent, answer_kind::kept};
    const bool has_end = plan.timeout || plan.stop_at;
    plan.answers.resize(1 + random.below(4));
    for (answer_script& answer : plan.answers) {
        if (plan.has(feature::late_decision)) {
            answer.kind = random.one_of(kinds);
        }
        if (plan.has(feature::dropped_decision) && random.one_in(3)) {
            answer.kind = random.one_of(drops);
        }
        if (answer.kind == answer_kind::kept && !has_end) {
            answer.kind = answer_kind::dropped;  // Such a call would never end.
        }
        answer.after = std::chrono::milliseconds{1 + static_cast<std::int64_t>(random.below(50))};
    }
}

/// Draws what strategies and observers of the user do.
void draw_users_code(call_plan& plan, dice& random) {
    constexpr std::array calls{
        strategy_call::question, strategy_call::question, strategy_call::success,
        strategy_call::note, strategy_call::start};
    if (plan.has(feature::late_decision) || plan.has(feature::dropped_decision)) {
        draw_answers(plan, random);
    }
    if (plan.has(feature::throwing_strategy)) {
        throw_script thrown{.in = random.one_of(calls)};
        thrown.level = plan.has(feature::nested) ? random.below(2) : 0;
        thrown.number = 1 + static_cast<std::uint32_t>(random.below(3));
        thrown.is_after_all = random.one_in(2);
        plan.thrown = thrown;
    }
    if (plan.has(feature::stopping_observer)) {
        plan.stops_at_event = 1 + static_cast<std::uint32_t>(random.below(4));
        plan.stops_by_signal = plan.has_signals() && random.one_in(2);
        // Signals must be emitted where the handler runs.
        plan.has_strand = plan.has_strand || plan.stops_by_signal;
    }
    if (plan.has(feature::tracer) && random.one_in(3)) {
        plan.untraced = 2 + static_cast<std::uint32_t>(random.below(3));
    }
    if (random.one_in(3)) {
        plan.hedged_attempts_max = 3;
    }
}

/// Draws how long failures ask to wait: some for less than the delays of the plan, some for more.
void draw_minimum_waits(call_plan& plan, dice& random) {
    constexpr std::array<duration, 6> waits{-5ms, 0ms, 5ms, 25ms, 60ms, 120ms};
    for (attempt_script& script : plan.attempts) {
        if (random.one_in(2)) {
            script.minimum_wait =
                plan.has(feature::adapter) ? 1s * random.below(2) : random.one_of(waits);
            script.facts.minimum_wait = script.minimum_wait;
        }
    }
}

}  // namespace

bool call_plan::has_signals() const {
    return has(feature::completion_token) || has(feature::coroutine);
}

bool call_plan::may_be_executed_twice() const {
    const bool is_marked = repeat == repeatability::repeatable;
    if (has(feature::eager_strategy) && repeat == repeatability::unspecified) {
        // Of exceptions that only a filter names, this strategy sees nothing.
        return !has(feature::adapter) || method == "GET" || has(feature::named);
    }
    if (repeat == repeatability::not_repeatable ||
        (!is_marked && unmarked_calls == when_unstated::refuse)) {
        return false;
    }
    return !has(feature::adapter) || is_marked || method == "GET";
}

call_plan draw_plan(const feature_set& features, std::uint64_t seed) {
    dice random(seed);
    call_plan plan;
    plan.features = features;
    plan.seed = seed;
    plan.attempts.resize(1 + random.below(6));
    for (attempt_script& script : plan.attempts) {
        script = draw_attempt(random, features);
    }
    plan.attempts_max = 1 + static_cast<std::uint32_t>(random.below(5));
    plan.delay = random.one_of(std::array<duration, 3>{0ms, 10ms, 40ms});
    plan.repeat = features.has(feature::hedge) ? repeatability::repeatable
                                               : static_cast<repeatability>(random.below(3));
    plan.unmarked_calls = random.one_in(4) ? when_unstated::refuse : when_unstated::retry;
    plan.method = random.one_in(2) ? "POST" : "GET";
    const auto some = [&](std::uint64_t count) {
        return std::chrono::milliseconds{static_cast<std::int64_t>(random.below(count))};
    };
    if (features.has(feature::filter)) {
        plan.selected_codes = static_cast<std::uint32_t>(random.below(256)) | 1U;
    }
    if (features.has(feature::budget)) {
        plan.budget_units = static_cast<std::uint32_t>(random.below(4));
    }
    if (features.has(feature::deadline)) {
        plan.timeout = some(301) - 1ms;
        if (random.one_in(2)) {
            plan.attempt_timeout = some(102) - 1ms;
        }
    }
    if (features.has(feature::stop)) {
        plan.stop_at = some(100);
    }
    if (features.has(feature::breaker) && random.one_in(2)) {
        plan.breaker_opens_at = some(60);
    }
    plan.hedge_delay = some(42);
    draw_asynchrony(plan, random, some);
    draw_users_code(plan, random);
    plan.start = random.one_of(
        std::array<time_point, 3>{time_point{}, time_point{} - 1h, time_point{} + 24h * 365 * 100});
    if (features.has(feature::minimum_wait)) {
        draw_minimum_waits(plan, random);
    }
    return plan;
}

std::string to_string(const call_plan& plan) {
    std::string text = "seed " + std::to_string(plan.seed) + ":";
    for (std::size_t i = 0; i < feature_count; ++i) {
        if (plan.has(static_cast<feature>(i))) {
            text += ' ';
            text += feature_names[i];
        }
    }
    return text + ", at most " + std::to_string(plan.attempts_max) + " attempts, " + plan.method +
           ", repeatability " + std::to_string(static_cast<int>(plan.repeat));
}

}  // namespace reprise::feature_pairs
