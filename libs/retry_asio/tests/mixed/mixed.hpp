#pragma once

/// What the sources of this program share: one uses Boost.Asio, the other the standalone Asio.

#include <exception>

#include <reprise/retry.hpp>

namespace mixed {

/// An operation that always fails. Both sources run the same type, so the linker sees the same
/// names in both unless the library gives its own different ones.
struct failing_operation {
    std::exception_ptr error;
    int* count = nullptr;

    template <class Handler>
    void operator()(const reprise::attempt&, Handler handler) const {
        ++*count;
        std::move(handler)(error);
    }
};

/// A refused connection as `boost::system::system_error`.
[[nodiscard]] std::exception_ptr boost_error();

/// How often a loop on one of the two Asios runs an operation that fails with `error`.
[[nodiscard]] int attempts_with_boost_asio(const std::exception_ptr& error);
[[nodiscard]] int attempts_with_standalone_asio(const std::exception_ptr& error);

/// Whether the facts of a result that is `error` allow another attempt.
[[nodiscard]] bool is_safe_with_boost_asio(const std::exception_ptr& error);
[[nodiscard]] bool is_safe_with_standalone_asio(const std::exception_ptr& error);

}  // namespace mixed
