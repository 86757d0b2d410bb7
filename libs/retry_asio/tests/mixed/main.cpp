/// A program of which one source uses Boost.Asio and another the standalone Asio. Each behaves as
/// it does alone: the errors of Boost have facts in the first, and are unknown in the second.

#include <cstdio>
#include <system_error>

#include "mixed.hpp"

int main() {
    int failures = 0;
    const auto check = [&](bool holds, const char* what) {
        if (!holds) {
            std::fprintf(stderr, "FAILED: %s\n", what);
            ++failures;
        }
    };
    const auto boost_error = mixed::boost_error();
    const auto standard_error =
        std::make_exception_ptr(std::system_error(make_error_code(std::errc::connection_refused)));
    check(mixed::is_safe_with_boost_asio(boost_error), "Boost's error has facts on Boost.Asio");
    check(mixed::is_safe_with_boost_asio(standard_error), "a standard error has facts there, too");
    check(!mixed::is_safe_with_standalone_asio(boost_error), "the standalone Asio has no Boost");
    check(mixed::is_safe_with_standalone_asio(standard_error), "a standard error has facts there");
    check(mixed::attempts_with_boost_asio(boost_error) == 3, "Boost.Asio retries Boost's error");
    check(mixed::attempts_with_boost_asio(standard_error) == 3, "and a standard one");
    check(
        mixed::attempts_with_standalone_asio(boost_error) == 1,
        "the standalone Asio does not retry what it does not know");
    check(mixed::attempts_with_standalone_asio(standard_error) == 3, "but a standard error");
    return failures;
}
