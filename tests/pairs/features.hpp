#pragma once

/// The features of the retry library, and the pairs of them that cannot be combined.

#include <algorithm>
#include <array>
#include <bitset>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace reprise::feature_pairs {

enum class feature : std::uint8_t {
    filter,             ///< `attempts(n).when(predicate)`
    named,              ///< Exceptions whose facts only the filter has.
    adapter,            ///< Facts of HTTP answers, by method.
    breaker,            ///< A circuit breaker, which other calls may open.
    hedge,              ///< `hedged(delay, operation)`
    fallback,           ///< `with_fallback(value, operation)`
    budget,             ///< A budget that runs dry.
    deadline,           ///< A deadline for the call, and sometimes one for each attempt.
    stop,               ///< The caller asks to stop.
    nested,             ///< The operation contains a loop that shares the allowance.
    observer,           ///< Of the strategy.
    virtual_interface,  ///< The strategy is a `retry_strategy`.
    first_delay,        ///< The strategy delays the first attempt.
    late_answer,        ///< Attempts that answer after their time limit.
    ignored_signals,    ///< Attempts that cannot be canceled.
    at_once,            ///< Attempts that complete while they are being started.
    cancellation,       ///< The caller emits signals of all types.
    threads,            ///< Several threads run the executor, with or without a strand.
    own_context,        ///< The handler has an executor of its own, which timers do not share.
    failed_start,       ///< Operations that throw while they are being started.
    awaited_fallback,   ///< A fallback that is a coroutine.
    minimum_wait,       ///< Failures that ask to wait, for less or more than the backoff.
    tracer,             ///< Of the strategy; some of its spans are null.
    late_decision,      ///< A strategy of the user, which answers later.
    dropped_decision,   ///< A strategy of the user, which sometimes does not answer.
    throwing_strategy,  ///< A strategy of the user, which throws in one of its calls.
    eager_strategy,     ///< A strategy of the user, which proposes every retry.
    stopping_observer,  ///< An observer that asks the call to stop.
    throwing_observer,  ///< Functions that observe, and throw.
    no_exceptions,      ///< The loop is compiled with -fno-exceptions.
    blocking,           ///< `retry`
    completion_token,   ///< `async_retry<Signature>`
    coroutine,          ///< `async_retry` of a coroutine.
};

inline constexpr std::size_t feature_count = 33;

inline constexpr std::array<std::string_view, feature_count> feature_names{
    "filter",
    "named",
    "adapter",
    "breaker",
    "hedge",
    "fallback",
    "budget",
    "deadline",
    "stop",
    "nested",
    "observer",
    "virtual",
    "first delay",
    "late answer",
    "ignored signals",
    "completion at once",
    "cancellation",
    "threads",
    "own context",
    "failed start",
    "awaited fallback",
    "minimum wait",
    "tracer",
    "late decision",
    "dropped decision",
    "throwing strategy",
    "eager strategy",
    "stopping observer",
    "throwing observer",
    "no exceptions",
    "blocking",
    "completion token",
    "coroutine",
};

[[nodiscard]] constexpr std::size_t index_of(feature one) {
    return static_cast<std::size_t>(one);
}

/// A set of features.
class feature_set {
public:
    [[nodiscard]] bool has(feature one) const { return bits_.test(index_of(one)); }
    void add(feature one) { bits_.set(index_of(one)); }
    [[nodiscard]] bool has_loop() const {
        return has(feature::blocking) || has(feature::completion_token) || has(feature::coroutine);
    }

private:
    std::bitset<feature_count> bits_;
};

/// A pair that cannot be combined.
struct impossible_pair {
    feature first;
    feature second;
    std::string_view reason;
};

inline constexpr std::array<impossible_pair, 29> impossible_pairs{{
    {feature::hedge, feature::blocking,
     "a blocking loop runs one attempt at a time: a hedged operation does not compile there"},
    {feature::named, feature::completion_token,
     "the operation passes its failure to a handler and throws nothing"},
    {feature::named, feature::own_context, "only a handler has a context of its own"},
    {feature::named, feature::no_exceptions, "there are no exceptions to name"},
    {feature::hedge, feature::no_exceptions,
     "without exceptions there is only the blocking loop, which does not hedge"},
    {feature::ignored_signals, feature::blocking, "a blocking loop cancels no attempt"},
    {feature::ignored_signals, feature::no_exceptions, "a blocking loop cancels no attempt"},
    {feature::at_once, feature::blocking, "a blocking operation always does"},
    {feature::at_once, feature::no_exceptions, "a blocking operation always does"},
    {feature::cancellation, feature::blocking, "a blocking loop has a stop token only"},
    {feature::cancellation, feature::no_exceptions, "a blocking loop has a stop token only"},
    {feature::threads, feature::blocking, "a blocking loop runs on the thread of its caller"},
    {feature::threads, feature::no_exceptions, "a blocking loop runs on the thread of its caller"},
    {feature::own_context, feature::blocking, "a blocking loop has no handler"},
    {feature::own_context, feature::no_exceptions, "a blocking loop has no handler"},
    {feature::own_context, feature::coroutine, "a coroutine awaits on its own executor"},
    {feature::failed_start, feature::blocking, "a blocking operation is not started apart"},
    {feature::failed_start, feature::no_exceptions, "a blocking operation is not started apart"},
    {feature::failed_start, feature::at_once, "an attempt that cannot start does not complete"},
    {feature::awaited_fallback, feature::blocking, "only a coroutine can await it"},
    {feature::awaited_fallback, feature::no_exceptions, "only a coroutine can await it"},
    {feature::awaited_fallback, feature::completion_token, "only a coroutine can await it"},
    {feature::awaited_fallback, feature::own_context, "only a coroutine can await it"},
    {feature::awaited_fallback, feature::fallback, "a call has one fallback"},
    {feature::no_exceptions, feature::completion_token, "Asio throws its own errors"},
    {feature::no_exceptions, feature::coroutine, "coroutines of Asio report errors by throwing"},
    {feature::blocking, feature::completion_token, "a call runs in one loop"},
    {feature::blocking, feature::coroutine, "a call runs in one loop"},
    {feature::completion_token, feature::coroutine, "a call runs in one loop"},
}};

/// Null if the pair can be combined.
[[nodiscard]] inline const impossible_pair* find_impossible(feature a, feature b) {
    const auto* const found =
        std::ranges::find_if(impossible_pairs, [&](const impossible_pair& row) {
            return (row.first == a && row.second == b) || (row.first == b && row.second == a);
        });
    return found == impossible_pairs.end() ? nullptr : &*found;
}

}  // namespace reprise::feature_pairs
