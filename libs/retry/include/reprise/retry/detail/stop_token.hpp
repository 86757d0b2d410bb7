#pragma once

/// `std::stop_token`, or one error that names the remedy.

#include <stop_token>
#include <version>

#if !defined(__cpp_lib_jthread)

#error "no std::stop_token here: libc++ before version 20 needs the flag -fexperimental-library"

// Only so that the error above remains the only one.
namespace std {

class stop_token {
public:
    bool stop_requested() const noexcept;
    bool stop_possible() const noexcept;
};

class stop_source {
public:
    stop_token get_token() const noexcept;
    bool request_stop() noexcept;
    bool stop_requested() const noexcept;
};

template <class Callback>
class stop_callback {
public:
    template <class Function>
    stop_callback(const stop_token&, Function&&);
};

}  // namespace std

#endif
