/// A strategy is three policies: may it be retried, how long to wait, can it be paid for. To change
/// one answer, replace one policy and keep the rest.

#include <iostream>
#include <reprise/retry.hpp>

// Our storage answers 409 when two writers conflict. The library calls that the caller's fault;
// here it is worth another try.
struct also_conflicts : reprise::driver::stated_safety {
    reprise::refusal_reason check(
        const reprise::failure_facts& facts, reprise::repeatability repeat) const noexcept {
        return facts.code == 409 ? reprise::refusal_reason::none
                                 : stated_safety::check(facts, repeat);
    }
};

struct http_error {
    int status;
    [[nodiscard]] reprise::failure_facts retry_facts() const {
        return {
            .fault = reprise::failure_fault::client, .code = static_cast<std::uint32_t>(status)};
    }
};

int main() {
    using namespace std::chrono_literals;
    namespace driver = reprise::driver;
    // [compose]
    driver::composed_strategy strategy(
        {.attempts_max = 4}, also_conflicts{}, driver::exponential_backoff({.base = 10ms}),
        driver::token_bucket_budget(std::make_shared<reprise::token_bucket>()));
    // [/compose]
    int writes = 0;
    reprise::retry(strategy, {}, reprise::catching<http_error>, [&] {
        if (++writes < 3) {
            throw http_error{409};
        }
    });
    std::cout << "written at attempt " << writes << '\n';

    int reads = 0;
    try {
        reprise::retry(strategy, {}, reprise::catching<http_error>, [&] {
            ++reads;
            throw http_error{404};
        });
    } catch (const http_error& error) {
        std::cout << "still given up at once: " << error.status << '\n';
    }
    return writes == 3 && reads == 1 ? 0 : 1;
}
