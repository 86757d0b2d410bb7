/// Retries in one statement: how often, how far apart, and after which failures.

#include <cstdlib>
#include <iostream>
#include <reprise/retry.hpp>
#include <stdexcept>
#include <string>

using namespace std::chrono_literals;

/// An exception of this program, unknown to the library.
struct my_error : std::runtime_error {
    using std::runtime_error::runtime_error;
    [[nodiscard]] bool is_busy() const { return std::string(what()) == "busy"; }
};

/// Busy on every first and second call of three.
unsigned fetch() {
    static unsigned calls = 0;
    if (++calls % 3 != 0) {
        throw my_error("busy");
    }
    return calls;
}

int main() {
    const unsigned first = reprise::retry(reprise::attempts(3), fetch);

    // [when]
    const unsigned second = reprise::retry(
        reprise::attempts(3).every(100ms).when([](const my_error& e) { return e.is_busy(); }),
        fetch);
    // [/when]

    // [rule]
    // A rule is a value: name it, keep it, pass it to any number of calls.
    const auto rule = reprise::attempts(4).exponential(10ms, 1s).on<my_error>();
    const unsigned third = reprise::retry(rule, {.timeout = 5s}, fetch);
    // [/rule]

    std::cout << first << ' ' << second << ' ' << third << '\n';
    return third == 9 ? EXIT_SUCCESS : EXIT_FAILURE;
}
