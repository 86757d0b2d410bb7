// A strategy from text, with the installed component `retry_json` alone.

#include <cstdio>
#include <system_error>

#include <reprise/retry.hpp>
#include <reprise/retry_json/strategy_from_json.hpp>

int main() {
    const auto loaded = reprise::strategy_from_json(R"({"attempts_max": 3, "delays": ["1ms"]})");
    int attempts = 0;
    if (loaded) {
        static_cast<void>(reprise::retry(*loaded->strategy, loaded->call(), [&] {
            ++attempts;
            return make_error_code(std::errc::connection_refused);
        }));
    }
    std::printf("%d attempts\n", attempts);
}
