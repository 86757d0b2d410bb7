/// A strategy behind one small virtual interface, for programs that choose it at run time.

#include <iostream>
#include <memory>
#include <reprise/retry.hpp>
#include <reprise/testing/virtual_clock.hpp>
#include <string_view>

using namespace std::chrono_literals;
namespace driver = reprise::driver;  // for authors of strategies

/// Every second, until the operation's deadline. State of a request would go into its token.
class steady_beat final : public reprise::driver::retry_strategy {
    void retry_after(const driver::retry_question& question, driver::retry_sink& sink) override {
        const auto refusal = reprise::driver::stated_safety{}.check(question);
        sink.answer(
            refusal == reprise::refusal_reason::none ? driver::retry_action::after(1s)
                                                     : driver::retry_action::no(refusal));
    }
};

std::unique_ptr<reprise::driver::retry_strategy> make_strategy(std::string_view name) {
    if (name == "beat") {
        return std::make_unique<steady_beat>();
    }
    return std::make_unique<reprise::driver::virtual_strategy<reprise::standard_strategy>>();
}

int main() {
    int status = 0;
    for (const std::string_view name : {"beat", "standard"}) {
        reprise::testing::virtual_clock clock;
        reprise::retry_history history;
        const auto strategy = make_strategy(name);
        const auto broken = [] { return make_error_code(std::errc::connection_refused); };
        static_cast<void>(reprise::retry(
            *strategy, {.timeout = 5s, .history = &history, .clock = &clock}, broken));
        std::cout << name << ":\n" << history;
        status |= history.failed_attempts() > 1 ? 0 : 1;
    }
    return status;
}
