#pragma once

#include <memory>
#include <system_error>

namespace bench {

/// An interface with two functions that do nothing. The class that implements it is in another
/// translation unit; otherwise the compiler would remove the calls to be measured.
class two_calls {
public:
    virtual ~two_calls() = default;
    virtual void begin() noexcept = 0;
    virtual void finish() noexcept = 0;
};

[[nodiscard]] std::unique_ptr<two_calls> make_empty_calls();

/// An operation that may fail, as far as its callers can see: it throws nothing and returns no
/// error.
[[nodiscard]] std::error_code fallible_operation();

}  // namespace bench
