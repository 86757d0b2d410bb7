/// Uses what has a body in a header, in every form. `check_variants.py` compiles it with and
/// without exceptions; it is never run.

#include <memory>
#include <string>
#include <string_view>
#include <system_error>
#include <type_traits>

#include <reprise/retry.hpp>
#include <reprise/retry/budget.hpp>

namespace mixed {

using namespace std::chrono_literals;

struct shop_error {
    int code = 0;

    [[nodiscard]] std::string message() const { return std::to_string(code); }
};
reprise::failure_facts retry_facts(const shop_error& error);
[[nodiscard]] bool is_busy(const shop_error& error);

// Has the shape of std::expected, which C++20 does not have.
struct shop_result {
    shop_error failure;

    [[nodiscard]] bool has_value() const { return failure.code == 0; }
    [[nodiscard]] const shop_error& error() const { return failure; }
};

std::error_code fetch();
shop_result buy();

void use_every_form(const reprise::call_options& options) {
    reprise::standard_strategy standard;
    static_cast<void>(reprise::retry(standard, options, fetch));
    static_cast<void>(reprise::retry(standard, options, buy));

    const auto rule = reprise::attempts(3).every(10ms);
    static_cast<void>(reprise::retry(rule.when(is_busy), options, buy));
    static_cast<void>(reprise::retry(rule.on<shop_error>(), options, buy));
    static_cast<void>(reprise::retry(reprise::unlimited_attempts(), options, fetch));
    const auto is_empty = [](const std::string& text) { return text.empty(); };
    const auto read = [] { return std::string("text"); };
    static_cast<void>(reprise::retry(rule, options, reprise::fails_if(is_empty, read)));
    const auto nothing = [] { return std::error_code(); };
    static_cast<void>(reprise::retry(rule, options, reprise::with_fallback(nothing, fetch)));

    const auto log = reprise::log_to([](std::string_view) {});
    const auto observed = rule.budget(reprise::windowed_budget()).observer(log);
    reprise::driver::virtual_strategy<std::remove_cv_t<decltype(observed)>> plugin(observed);
    reprise::driver::retry_strategy& any = plugin;
    static_cast<void>(reprise::retry(any, options, buy));
    reprise::driver::composed_strategy composed(
        reprise::driver::attempt_limits{3}, reprise::driver::stated_safety{},
        reprise::driver::exponential_backoff{}, reprise::driver::no_budget{});
    static_cast<void>(reprise::retry(composed, options, fetch));

    reprise::driver::token_result token = standard.acquire_initial_token();
    static_cast<void>(standard.refresh_token(token.token, reprise::driver::retry_question{}));
    static_cast<void>(standard.record_success(token.token));
}

}  // namespace mixed
