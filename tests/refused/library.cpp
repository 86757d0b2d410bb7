// A standard library without `std::stop_token`: libc++ before version 20, unless a flag asks for it
// (`-fexperimental-library`). And a system that is not POSIX. See check_refused.py.

// refused: libcxx_19_without_the_flag_for_stop_token
// compiler: clang++-19
// flags: -stdlib=libc++
// message: libc++ before version 20 needs the flag -fexperimental-library
// errors: 1
#include <reprise/retry.hpp>

int main() {
    reprise::standard_strategy strategy;
    reprise::retry(strategy, [] {});
}

// accepted: libcxx_19_with_the_flag_for_stop_token
// compiler: clang++-19
// flags: -stdlib=libc++ -fexperimental-library
#include <reprise/retry.hpp>

int main() {
    reprise::standard_strategy strategy;
    reprise::retry(strategy, [] {});
}

// refused: asio_loops_on_libcxx_19_without_the_flag
// compiler: clang++-19
// flags: -stdlib=libc++ -DREPRISE_STANDALONE_ASIO -DASIO_STANDALONE -DASIO_HAS_CO_AWAIT=1
// message: libc++ before version 20 needs the flag -fexperimental-library
// errors: 1
#include <reprise/asio/async_retry.hpp>
#include <reprise/testing/virtual_clock.hpp>

// refused: libpq_adapter_on_windows
// flags: -D_WIN32
// message: this adapter waits with POSIX calls and does not support Windows
#include <reprise/retry/adapters/libpq.hpp>

// refused: hiredis_adapter_on_windows
// flags: -D_WIN32
// message: this adapter waits with POSIX calls and does not support Windows
#include <reprise/retry/adapters/hiredis.hpp>
