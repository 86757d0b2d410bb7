#pragma once

#include <cstddef>
#include <exception>
#include <reprise/asio/async_retry.hpp>
#include <reprise/asio/hedge.hpp>
#include <reprise/retry/retry_history.hpp>
#include <reprise/testing/virtual_clock.hpp>
#include <utility>
#include <vector>

#include "chosen_asio.hpp"

namespace reprise::hedge_test {

using namespace std::chrono_literals;
namespace asio = testing::asio;
using testing::error_code;

/// One attempt of the script: it ends after a time, with an error or well.
struct planned {
    duration takes{};
    error_code ends_with{};
};

/// A service whose attempts follow a script in virtual time and can be canceled.
struct replica {
    testing::virtual_clock time;
    asio::io_context io;
    retry_history trace;
    async_call_options options{
        .repeat = repeatability::repeatable, .history = borrowed(&trace), .clock = borrowed(&time)};
    std::vector<planned> script;
    std::size_t started = 0;
    std::size_t canceled = 0;
    error_code ec = asio::error::would_block;
    int value = -1;
    std::exception_ptr thrown;

    explicit replica(std::vector<planned> plan, time_point start = {})
        : time(start), script(std::move(plan)) {}

    template <class Handler>
    void read(Handler handler) {
        const std::size_t index = started++;
        const planned plan = script.at(index);
        const detail::pause_request request{time.now() + plan.takes, {}, &time};
        auto slot = asio::get_associated_cancellation_slot(handler);
        auto ended = [this, index, plan, handler = std::move(handler)](bool reached) mutable {
            canceled += reached ? 0U : 1U;
            const error_code code = reached ? plan.ends_with : asio::error::operation_aborted;
            std::move(handler)(code, static_cast<int>(index) + 1);
        };
        detail::async_pause(
            io.get_executor(), request, asio::bind_cancellation_slot(slot, std::move(ended)));
    }
    asio::awaitable<int> read_in_coroutine() {
        auto initiation = [this](auto handler) { read(std::move(handler)); };
        auto pending = asio::async_initiate<const asio::use_awaitable_t<>, void(error_code, int)>(
            initiation, asio::use_awaitable);
        co_return co_await std::move(pending);
    }
    [[nodiscard]] auto initiate() {
        return [this](const attempt&, auto handler) { read(std::move(handler)); };
    }
    template <class Strategy>
    void ask(Strategy strategy, hedge_options hedging = {.delay = 50ms}) {
        async_retry<void(error_code, int)>(
            io, strategy, options, hedged(std::move(hedging), initiate()),
            [this](error_code code, int number) {
                ec = code;
                value = number;
            });
        time.run(io);
    }
    [[nodiscard]] duration elapsed() { return time.elapsed(); }
};

inline const error_code refused = asio::error::connection_refused;

}  // namespace reprise::hedge_test
