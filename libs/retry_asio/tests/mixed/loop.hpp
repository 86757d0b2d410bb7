#pragma once

/// One loop, on the Asio of the source that includes this.

#include <reprise/asio/async_retry.hpp>
#include <reprise/testing/virtual_clock.hpp>

#include "mixed.hpp"

namespace mixed {

template <class Context>
[[nodiscard]] int count_attempts(const std::exception_ptr& error) {
    int count = 0;
    Context context;
    reprise::testing::virtual_clock time;
    reprise::standard_strategy strategy({.attempts_max = 3});
    reprise::async_retry<void(std::exception_ptr)>(
        context, strategy, reprise::async_call_options{.clock = reprise::borrowed(&time)},
        failing_operation{error, &count}, [](const std::exception_ptr&) {});
    time.run(context);
    return count;
}

}  // namespace mixed
