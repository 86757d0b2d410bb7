/// Retries inside retries multiply: two loops of five attempts are 25 calls. The inner loop takes
/// from the outer one's allowance instead, and the whole nest makes five.

#include <iostream>
#include <reprise/retry.hpp>
#include <reprise/testing/virtual_clock.hpp>

int main() {
    reprise::testing::virtual_clock clock;  // So that the example need not really wait.
    reprise::standard_strategy strategy;
    int calls = 0;
    const auto query = [&]() -> std::error_code {
        ++calls;
        return make_error_code(std::errc::connection_refused);
    };

    // [nested]
    const auto load_page = [&](const reprise::attempt& outer) {
        return reprise::retry(
            strategy, {.outer_allowance = outer.allowance, .clock = &clock}, query);
    };
    const std::error_code result = reprise::retry(strategy, {.clock = &clock}, load_page);
    // [/nested]

    std::cout << result.message() << " after " << calls << " calls, not 25\n";
    return calls == 5 ? 0 : 1;
}
