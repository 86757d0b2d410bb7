/// The cost of the retry library, next to the cheapest operations it can be compared with.
/// scripts/run_bench.py computes the ratios from one run.

#include <benchmark/benchmark.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <mutex>

#include <reprise/retry.hpp>

#include "allocation_count.hpp"
#include "virtual_reference.hpp"

namespace {

using namespace reprise;

/// The reference: two calls through an interface.
void two_virtual_calls(benchmark::State& state) {
    const std::unique_ptr<bench::two_calls> object = bench::make_empty_calls();
    bench::two_calls* pointer = object.get();
    for (auto _ : state) {
        benchmark::DoNotOptimize(pointer);
        pointer->begin();
        pointer->finish();
    }
}
BENCHMARK(two_virtual_calls)->Name("two_virtual_calls");

void compare_and_swap(benchmark::State& state) {
    std::atomic<std::int64_t> word{0};
    for (auto _ : state) {
        std::int64_t seen = word.load(std::memory_order_relaxed);
        benchmark::DoNotOptimize(word.compare_exchange_strong(seen, seen + 1));
    }
}
BENCHMARK(compare_and_swap)->Name("compare_and_swap");

/// The minimum for a call with an observer or a breaker: the times of its start and its end.
void two_clock_reads(benchmark::State& state) {
    for (auto _ : state) {
        benchmark::DoNotOptimize(std::chrono::steady_clock::now());
        benchmark::DoNotOptimize(std::chrono::steady_clock::now());
    }
}
BENCHMARK(two_clock_reads)->Name("two_clock_reads");

std::mutex shared_mutex;
std::int64_t shared_counter = 0;

void mutex_lock(benchmark::State& state) {
    for (auto _ : state) {
        const std::lock_guard lock(shared_mutex);
        benchmark::DoNotOptimize(++shared_counter);
    }
}
BENCHMARK(mutex_lock)->Name("mutex");
BENCHMARK(mutex_lock)->Name("mutex")->Threads(2);

void success_inlined(benchmark::State& state) {
    standard_strategy strategy;
    unsigned value = 0;
    for (auto _ : state) {
        benchmark::DoNotOptimize(retry(strategy, [&] { return ++value; }));
    }
}
BENCHMARK(success_inlined)->Name("success_inlined");

void success_virtual(benchmark::State& state) {
    const std::unique_ptr<driver::retry_strategy> strategy =
        std::make_unique<driver::virtual_strategy<standard_strategy>>();
    driver::retry_strategy* pointer = strategy.get();
    unsigned value = 0;
    for (auto _ : state) {
        benchmark::DoNotOptimize(pointer);
        benchmark::DoNotOptimize(retry(*pointer, [&] { return ++value; }));
    }
}
BENCHMARK(success_virtual)->Name("success_virtual");

/// An observer that does nothing: what remains is the cost of notifying it.
class silent_observer final : public retry_observer {};

void success_with(benchmark::State& state, const standard_strategy::options& chosen) {
    standard_strategy strategy(chosen);
    unsigned value = 0;
    const std::uint64_t before = bench::allocation_count();
    for (auto _ : state) {
        benchmark::DoNotOptimize(retry(strategy, [&] { return ++value; }));
    }
    state.counters["allocations"] = static_cast<double>(bench::allocation_count() - before) /
                                    static_cast<double>(state.iterations());
}

void success_observed(benchmark::State& state) {
    success_with(state, {.observer = std::make_shared<silent_observer>()});
}
BENCHMARK(success_observed)->Name("success_observed");

void success_with_breaker(benchmark::State& state) {
    success_with(state, {.breaker = std::make_shared<circuit_breaker>()});
}
BENCHMARK(success_with_breaker)->Name("success_with_breaker");

/// An operation that is opaque to the compiler, alone and in a loop: the compiler cannot see that
/// the attempt succeeds, so it leaves nothing out.
void fallible_operation_alone(benchmark::State& state) {
    for (auto _ : state) {
        benchmark::DoNotOptimize(bench::fallible_operation());
    }
}
BENCHMARK(fallible_operation_alone)->Name("fallible_operation");

void success_of_fallible_operation(benchmark::State& state) {
    standard_strategy strategy;
    for (auto _ : state) {
        benchmark::DoNotOptimize(retry(strategy, bench::fallible_operation));
    }
}
BENCHMARK(success_of_fallible_operation)->Name("success_fallible");

standard_strategy& shared_strategy() {
    static standard_strategy strategy;
    return strategy;
}

void success_shared_bucket(benchmark::State& state) {
    unsigned value = 0;
    for (auto _ : state) {
        benchmark::DoNotOptimize(retry(shared_strategy(), [&] { return ++value; }));
    }
}
BENCHMARK(success_shared_bucket)->Name("success_shared_bucket")->Threads(2);

/// Two threads that refund and charge one bucket that is never full, which is the worst contention.
void contended_bucket(benchmark::State& state) {
    static token_bucket bucket({.capacity = 1e9, .initial = 5e8});
    for (auto _ : state) {
        benchmark::DoNotOptimize(bucket.try_take(5000));
        bucket.give(5000);
    }
}
BENCHMARK(contended_bucket)->Name("contended_bucket")->Threads(2);

/// What a loop has of the call and its failure.
struct failed_call {
    reprise::driver::failed_attempt failed{
        .facts = {.safety = retry_safety::yes, .fault = failure_fault::server}};
    reprise::driver::request_terms terms;
};

/// As a loop fills it: each field is copied from what the compiler does not know. Of a question
/// with constants it clears all bytes first, which a loop never does.
[[nodiscard]] reprise::driver::retry_question question_about(
    const failed_call& call, const reprise::driver::retry_progress& progress,
    std::uint64_t random) {
    return {
        .facts = call.failed.facts,
        .at = {call.terms.started, random, call.terms.user_data},
        .deadline = call.terms.limits.deadline,
        .repeat = call.terms.repeat,
        .failure = call.failed.failure,
        .reason = call.failed.reason,
        .retry_attempts = progress.retries(),
        .is_noted = call.failed.is_noted,
        .is_assumed = call.failed.is_assumed,
        .token = progress.token()};
}

/// The work of a loop after a failure: asking the strategy and admitting the proposal.
[[nodiscard]] reprise::driver::admission decide(
    standard_strategy& strategy, reprise::driver::retry_progress& progress, std::uint64_t random) {
    static failed_call call;
    benchmark::DoNotOptimize(call);
    const reprise::driver::retry_question question = question_about(call, progress, random);
    reprise::driver::retry_limits limits;
    limits.budget = strategy.paying_budget();
    return progress.on_proposal(
        strategy.retry_after(progress.token(), question), {.facts = question.facts}, limits);
}

/// One allowed retry: classification, backoff, jitter and charge, plus the refund, so that the
/// bucket never becomes empty.
void decision_after_failure(benchmark::State& state) {
    standard_strategy::options options;
    options.prices.refund_last_cost = true;
    standard_strategy strategy(options);
    std::uint64_t random = 1;
    for (auto _ : state) {
        reprise::driver::retry_progress progress;
        random += 0x9e3779b97f4a7c15U;
        progress.token().attempt = 1 + static_cast<std::uint32_t>(random & 3U);
        benchmark::DoNotOptimize(decide(strategy, progress, random));
        strategy.on_success(progress.token(), {});
    }
}
BENCHMARK(decision_after_failure)->Name("decision");

void refusal_by_empty_bucket(benchmark::State& state) {
    standard_strategy::options options;
    options.bucket.initial = 0.0;
    standard_strategy strategy(options);
    std::uint64_t random = 1;
    for (auto _ : state) {
        reprise::driver::retry_progress progress;
        random += 0x9e3779b97f4a7c15U;
        progress.token().attempt = 1 + static_cast<std::uint32_t>(random & 3U);
        benchmark::DoNotOptimize(decide(strategy, progress, random));
    }
}
BENCHMARK(refusal_by_empty_bucket)->Name("refusal");

}  // namespace
