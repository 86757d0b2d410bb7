/// Operations whose results do not show failures by themselves, and a strategy that inspects them.

#include <iostream>
#include <optional>
#include <string>

#include <reprise/retry.hpp>

using namespace std::chrono_literals;

namespace shop {

struct stock_error {
    std::string warehouse;
};
reprise::failure_facts retry_facts(const stock_error&) {
    return {.safety = reprise::retry_safety::yes};
}

}  // namespace shop

// Finds the row when it is asked for the third time.
std::optional<std::string> find_row(int& asked) {
    return ++asked < 3 ? std::nullopt : std::optional<std::string>("row 7");
}

/// One warehouse is closed for good: its failures are not worth a retry.
struct open_warehouses : reprise::driver::stated_safety {
    reprise::refusal_reason check(const reprise::driver::retry_question& question) const noexcept {
        const auto* error = question.failure.get_if<shop::stock_error>();
        if (error != nullptr && error->warehouse == "closed") {
            return reprise::refusal_reason::unsafe;
        }
        return stated_safety::check(question.facts, question.repeat);
    }
};

int main() {
    reprise::driver::composed_strategy strategy(
        {.attempts_max = 4}, open_warehouses{}, reprise::driver::exponential_backoff({.base = 1ms}),
        reprise::driver::token_bucket_budget(std::make_shared<reprise::token_bucket>()));
    int asked = 0;
    // [predicate]
    const std::optional<std::string> row = reprise::retry(
        strategy, reprise::fails_if(std::logical_not<>{}, [&] { return find_row(asked); }));
    // [/predicate]
    int reserved = 0;
    try {
        reprise::retry(strategy, {}, reprise::catching<shop::stock_error>, [&] {
            ++reserved;
            throw shop::stock_error{"closed"};
        });
    } catch (const shop::stock_error& error) {
        std::cout << error.warehouse << " after " << reserved << " attempt\n";
    }
    std::cout << row.value_or("nothing") << " after " << asked << " attempts\n";
    return row && asked == 3 && reserved == 1 ? 0 : 1;
}
