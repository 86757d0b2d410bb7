#pragma once

/// The tests run on both Asios: with the names below they do not depend on which one.

#include <exception>
#include <utility>

#include <reprise/asio/detail/library.hpp>
#include <reprise/testing/virtual_clock.hpp>

#if defined(REPRISE_STANDALONE_ASIO)

#include <asio/bind_allocator.hpp>
#include <asio/bind_cancellation_slot.hpp>
#include <asio/bind_executor.hpp>
#include <asio/cancellation_signal.hpp>
#include <asio/co_spawn.hpp>
#include <asio/error.hpp>
#include <asio/io_context.hpp>
#include <asio/post.hpp>
#include <asio/steady_timer.hpp>
#include <asio/strand.hpp>
#include <asio/system_error.hpp>
#include <asio/use_awaitable.hpp>
#include <asio/use_future.hpp>
#if ASIO_VERSION < 102400
#include <asio/experimental/deferred.hpp>
#endif

#else

#include <boost/asio/bind_allocator.hpp>
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/strand.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/use_future.hpp>
#include <boost/system/system_error.hpp>

#endif

namespace reprise::testing {

namespace asio = detail::asio;
using error_code = detail::asio_error_code;
#if defined(REPRISE_STANDALONE_ASIO)
using system_error = std::system_error;
#else
using system_error = boost::system::system_error;
#endif

/// Asio before 1.24 has deferred results elsewhere, as an experiment.
#if defined(REPRISE_STANDALONE_ASIO) && ASIO_VERSION < 102400
inline constexpr asio::experimental::deferred_t deferred{};
#else
inline constexpr asio::deferred_t deferred{};
#endif

/// A clock that cannot call back, which asynchronous loops refuse.
class blocking_clock final : public retry_clock {
    [[nodiscard]] time_point now() noexcept override { return {}; }
    [[nodiscard]] bool wait_until(time_point, const std::stop_token&) noexcept override {
        return true;
    }
};

/// Runs a coroutine in virtual time; returns what it threw.
template <class Coroutine>
[[nodiscard]] std::exception_ptr play(
    asio::io_context& io, virtual_clock& time, Coroutine&& coroutine) {
    std::exception_ptr thrown;
    asio::co_spawn(io, std::forward<Coroutine>(coroutine), [&](std::exception_ptr error) {
        thrown = std::move(error);
    });
    time.run(io);
    return thrown;
}

}  // namespace reprise::testing
