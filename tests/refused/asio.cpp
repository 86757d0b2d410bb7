// Programs with the asynchronous loops. See check_refused.py.

#include <boost/asio/awaitable.hpp>
#include <boost/asio/deferred.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <cstddef>
#include <memory>
#include <reprise/asio/async_retry.hpp>
#include <reprise/retry.hpp>
#include <string>
#include <string_view>
#include <tuple>

namespace asio = boost::asio;

enum curl_code { curl_ok, curl_could_not_connect };

template <class Result>
asio::awaitable<Result> fetch();

template <class Signature, class Operation>
void start(asio::io_context& io, Operation operation) {
    reprise::async_retry<Signature>(
        io, reprise::attempts(3), reprise::async_call_options{}, operation, [](auto&&...) {});
}

template <class Operation>
auto await(Operation operation) {
    const reprise::async_call_options options;
    return reprise::async_retry(reprise::attempts(3), options, operation);
}

// refused: SM_08_a_coroutine_with_a_signed_integer
// message: signed integers, enumerations and raw pointers usually mean failure
// errors: 1
void run() {
    static_cast<void>(await([] { return fetch<int>(); }));
}

// refused: SM_08_a_coroutine_with_the_tuple_of_as_tuple
// message: a part of this result reports failures, such as the error code of a pair, a tuple or a
// errors: 1
void run() {
    static_cast<void>(
        await([] { return fetch<std::tuple<boost::system::error_code, std::size_t>>(); }));
}

// refused: SM_08_a_reference_that_hides_that_a_call_is_hedged
// message: std::ref hides what fails_if, throws_on_failure, with_fallback and hedged add to an
void run(asio::io_context& io) {
    auto read =
        reprise::hedged(std::chrono::milliseconds{50}, [](const reprise::attempt&, auto handler) {
            std::move(handler)(boost::system::error_code());
        });
    start<void(boost::system::error_code)>(io, std::ref(read));
}

// refused: SM_08_a_coroutine_with_a_plain_enumeration
// message: signed integers, enumerations and raw pointers usually mean failure
void run() {
    static_cast<void>(await([] { return fetch<curl_code>(); }));
}

// refused: SM_08_a_coroutine_with_a_raw_pointer
// message: signed integers, enumerations and raw pointers usually mean failure
void run() {
    static_cast<void>(await([] { return fetch<char*>(); }));
}

// refused: SM_08_a_completion_with_a_signed_integer_first
// message: signed integers, enumerations and raw pointers usually mean failure
template <>
struct reprise::driver::unattempted_outcome<int> {
    static int make(refusal_reason) { return -1; }
};
void run(asio::io_context& io) {
    start<void(int)>(io, [](const reprise::attempt&, auto handler) { std::move(handler)(1); });
}

// refused: SM_08_a_completion_with_a_plain_enumeration_first
// message: signed integers, enumerations and raw pointers usually mean failure
template <>
struct reprise::driver::unattempted_outcome<curl_code> {
    static curl_code make(refusal_reason) { return curl_could_not_connect; }
};
void run(asio::io_context& io) {
    start<void(curl_code)>(
        io, [](const reprise::attempt&, auto handler) { std::move(handler)(curl_ok); });
}

// refused: SM_08_a_completion_which_cannot_carry_what_is_thrown
// message: this result cannot report a failure
template <>
struct reprise::driver::unattempted_outcome<int> {
    static int make(refusal_reason) { return -1; }
};
void run(asio::io_context& io) {
    start<void(int)>(io, reprise::throws_on_failure([](const reprise::attempt&, auto handler) {
                         std::move(handler)(1);
                     }));
}

// accepted: SM_08_asynchronous_results_if_the_program_defines_what_they_mean
// flags: -Wall -Wextra -Werror
template <>
struct reprise::driver::unattempted_outcome<int> {
    static int make(refusal_reason) { return -1; }
};
void run(asio::io_context& io) {
    const auto is_negative = [](int number) { return number < 0; };
    start<void(int)>(io, reprise::fails_if(is_negative, [](const reprise::attempt&, auto handler) {
                         std::move(handler)(1);
                     }));
    static_cast<void>(await(reprise::fails_if(is_negative, [] { return fetch<int>(); })));
    static_cast<void>(await(reprise::throws_on_failure([] { return fetch<char*>(); })));
    static_cast<void>(await([] { return fetch<std::size_t>(); }));
    static_cast<void>(await([] { return fetch<double>(); }));
}

// refused: a_hedge_of_a_hedge
// message: this operation is hedged already, with options that a second hedged would replace
const auto operation = reprise::hedged(
    std::chrono::seconds(1), reprise::hedged(std::chrono::seconds(2), [] { return 1U; }));

// refused: SM_08_a_coroutine_that_the_blocking_loop_would_not_await
// message: this result is work that has not ended, such as a future or a coroutine
const auto result = reprise::retry(reprise::attempts(3), [] { return fetch<unsigned>(); });

// refused: a_history_that_an_asynchronous_call_may_outlive
// message: shared_ptr<reprise::retry_history>
void run(reprise::retry_history& history) {
    const reprise::async_call_options options{.history = &history};
}

// refused: a_clock_that_an_asynchronous_call_may_outlive
// message: shared_ptr<reprise::retry_clock>
void run(reprise::retry_clock& clock) {
    reprise::async_call_options options;
    options.clock = &clock;
}

// refused: options_of_a_blocking_call_for_an_asynchronous_one
// message: call_options are for calls that block
void run(asio::io_context& io, reprise::standard_strategy& strategy) {
    const reprise::call_options options;
    reprise::async_retry<void(boost::system::error_code)>(
        io, strategy, options, [](const reprise::attempt&, auto) {}, [](auto&&...) {});
}

// refused: options_of_a_blocking_call_for_a_coroutine
// message: call_options are for calls that block
void run(reprise::standard_strategy& strategy) {
    const reprise::call_options options;
    static_cast<void>(
        reprise::async_retry(strategy, options, [] { return fetch<boost::system::error_code>(); }));
}

// accepted: what_an_asynchronous_call_owns_or_borrows
// flags: -Wall -Wextra
void run(reprise::standard_strategy& strategy, reprise::retry_clock& clock, std::string_view url) {
    const reprise::async_call_options options{
        .history = std::make_shared<reprise::retry_history>(),
        .name = std::string(url),
        .clock = reprise::borrowed(&clock)};
    static_cast<void>(
        reprise::async_retry(strategy, options, [] { return fetch<boost::system::error_code>(); }));
}

// refused: a_deferred_operation_in_the_blocking_loop
// message: this result is work that has not ended
void run(asio::io_context& io) {
    boost::asio::steady_timer timer(io);
    static_cast<void>(
        reprise::retry(reprise::attempts(3), [&] { return timer.async_wait(asio::deferred); }));
}
