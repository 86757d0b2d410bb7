#pragma once

/// Shared by both sources of this program: one is built with exceptions, the other without.

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

/// Runs the part that is built without exceptions. Returns true if all is well.
[[nodiscard]] bool run_without_exceptions();

}  // namespace mixed
