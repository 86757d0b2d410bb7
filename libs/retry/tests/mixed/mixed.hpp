#pragma once

/// What both sources of this program use: one is built with exceptions, the other without.

#include <system_error>

#include <reprise/retry.hpp>

namespace mixed {

/// An error whose description may throw; defined where exceptions are.
struct odd_error {
    bool is_odd = false;
};
[[nodiscard]] reprise::failure_facts retry_facts(const odd_error& error);

/// An operation that throws twice if it is asked to; defined where exceptions are.
struct call {
    int* count = nullptr;
    bool throws = false;

    std::error_code operator()() const;
};

/// What the source without exceptions does. True if all is well.
[[nodiscard]] bool run_without_exceptions();

}  // namespace mixed
