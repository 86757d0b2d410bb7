// Any text gives a strategy that can be used, or errors that name what is wrong.

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include <reprise/retry_json/strategy_from_json.hpp>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    const auto loaded = reprise::strategy_from_json(text);
    if (!loaded) {
        if (loaded.error().empty() || to_string(loaded.error()).empty()) {
            std::abort();
        }
        return 0;
    }
    // Settings that were accepted hold together, so a strategy can be made of them again.
    if (check(loaded->options) || reprise::make_strategy(loaded->options) == nullptr) {
        std::abort();
    }
    reprise::driver::token_state token;
    const reprise::driver::decision_context at{};
    if (loaded->strategy->on_start(token, at).allowed()) {
        reprise::failure_facts facts;
        facts.safety = reprise::retry_safety::yes;
        const auto action = loaded->strategy->retry_after(token, {facts, at});
        if (action.delay_or_zero() < reprise::duration::zero()) {
            std::abort();
        }
    }
    return 0;
}
