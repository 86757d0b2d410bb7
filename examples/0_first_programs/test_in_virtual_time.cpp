#include <reprise/retry.hpp>
#include <reprise/testing/scripted.hpp>

int main() {  // A minute of waiting, in no time.
    using namespace std::chrono_literals;
    reprise::testing::virtual_clock clock;
    reprise::testing::scripted_operation service{reprise::testing::throttled(60s)};
    const auto result = reprise::retry(reprise::attempts(2), {.clock = &clock}, service);
    return result.has_value() && clock.elapsed() == 60s ? 0 : 1;
}
