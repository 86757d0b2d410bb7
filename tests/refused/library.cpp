// A standard library without `std::stop_token`: libc++ before version 20, unless a flag asks for it
// (`-fexperimental-library`). See check_refused.py.

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
