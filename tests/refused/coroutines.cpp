// Temporaries that GCC 12 destroys twice in a co_await expression. See check_refused.py. The forms
// that compile run under AddressSanitizer in tests/coroutines.

#include <boost/asio/use_awaitable.hpp>
#include <reprise/asio/async_retry.hpp>
#include <reprise/couchbase.hpp>
#include <reprise/couchbase/asio.hpp>
#include <reprise/retry.hpp>
#include <string>
#include <vector>

namespace asio = boost::asio;
namespace couchbase = reprise::couchbase;
using namespace std::chrono_literals;

asio::awaitable<std::string> fetch(std::string url);

struct airline {
    std::string name;
};
template <>
struct reprise::couchbase::codec<airline> {
    static encoded_value encode(const airline& value) {
        return encoded_value::own(value.name, document_format::string);
    }
};

// refused: a_lambda_that_captures_a_string
// only: gcc12
// message: GCC 12 miscompiles this: name it first
asio::awaitable<std::string> run(reprise::standard_strategy& strategy, std::string url) {
    const reprise::async_call_options options;
    co_return co_await reprise::async_retry(strategy, options, [url] { return fetch(url); });
}

// refused: options_of_a_loop_made_in_place
// only: gcc12
// message: GCC 12 miscompiles this: name it first
asio::awaitable<std::string> run(reprise::standard_strategy& strategy, const std::string& url) {
    co_return co_await reprise::async_retry(
        strategy, {.timeout = 1s}, [&url] { return fetch(url); });
}

// refused: options_of_a_call_made_in_place
// only: gcc12
// message: GCC 12 miscompiles this: name it first
asio::awaitable<void> run(const couchbase::collection& at) {
    co_await at.async_get("k", {.timeout = 1s}, asio::use_awaitable);
}

// refused: options_of_a_deferred_call_made_in_place
// only: gcc12
// message: GCC 12 miscompiles this: name it first
asio::awaitable<void> run(const couchbase::collection& at) {
    co_await at.async_get("k", {.timeout = 1s}, asio::deferred);
}

// refused: options_of_a_call_without_a_token_made_in_place
// only: gcc12
// message: GCC 12 miscompiles this: name it first
asio::awaitable<void> run(const couchbase::collection& at) {
    co_await at.async_get("k", {.timeout = 1s});
}

// refused: a_document_of_the_users_own_made_in_place
// only: gcc12
// message: GCC 12 miscompiles this: name it first
asio::awaitable<void> run(const couchbase::collection& at) {
    co_await at.async_upsert("k", airline{"Reprise Air"}, {}, asio::use_awaitable);
}

// refused: a_management_request_made_in_place
// only: gcc12
// message: GCC 12 miscompiles this: name it first
asio::awaitable<void> run(const couchbase::cluster& at) {
    co_await at.async_management_request({.target = "/pools"}, {}, asio::use_awaitable);
}

// refused: an_allowance_that_an_operation_may_outlive
// message: borrowed_pointer<reprise::driver::retry_allowance>
void run(const couchbase::collection& at, const reprise::attempt& outer) {
    at.async_get(
        "k", couchbase::get_options{.outer_allowance = outer.allowance}, [](const auto&) {});
}

// accepted: an_allowance_that_is_borrowed
// flags: -Wall -Wextra
void run(const couchbase::collection& at, const reprise::attempt& outer) {
    at.async_get("k", {.outer_allowance = reprise::borrowed(outer.allowance)}, [](const auto&) {});
}

// accepted: temporaries_outside_of_coroutines
// flags: -Wall -Wextra
void run(const couchbase::collection& at) {
    at.async_get("k", {.timeout = 1s}, [](const auto&) {});
    at.async_upsert("k", airline{"Reprise Air"}, {.timeout = 1s}, [](const auto&) {});
}
