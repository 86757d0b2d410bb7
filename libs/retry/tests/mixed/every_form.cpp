/// Uses what has a body in a header, in every form. `check_variants.py` compiles it with and
/// without exceptions; it is never run.

#include <memory>
#include <string>
#include <string_view>
#include <system_error>
#include <type_traits>

#include <reprise/retry.hpp>
#include <reprise/retry/budget.hpp>
#include <reprise/retry/lint.hpp>
#include <reprise/retry/presets.hpp>

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
std::string read_page(const reprise::attempt& current);

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

    static_cast<void>(reprise::retry(rule, options, reprise::catching<shop_error>, fetch));
    // Without exceptions it cannot report a failure, so no loop takes it.
    static_cast<void>(reprise::throws_on_failure(read_page)(reprise::attempt{}));
    static_cast<void>(reprise::facts_of(shop_error{}));
    static_cast<void>(reprise::http_facts(503, "7", {}));

    reprise::driver::token_result token = standard.acquire_initial_token();
    static_cast<void>(standard.refresh_token(token.token, reprise::driver::retry_question{}));
    static_cast<void>(standard.record_success(token.token));
}

std::unique_ptr<reprise::retry_tracer> make_tracer();

/// What belongs to a service is set on its strategy.
void use_every_part_of_a_strategy(const reprise::call_options& options) {
    const auto breaker = std::make_shared<reprise::circuit_breaker>();
    const std::shared_ptr<reprise::retry_tracer> tracer = make_tracer();
    const auto metrics = std::make_shared<reprise::retry_metrics>();
    const auto rule = reprise::attempts(3)
                          .breaker(breaker)
                          .tracer(tracer)
                          .observer(metrics)
                          .on_decision([](const reprise::decision_event&) {})
                          .failures_without_facts(reprise::when_unstated::refuse);
    static_cast<void>(reprise::retry(rule, options, fetch));
    static_cast<void>(metrics->to_prometheus());

    reprise::standard_strategy full({.breaker = breaker, .observer = metrics, .tracer = tracer});
    static_cast<void>(reprise::retry(full, options, reprise::catching<shop_error>, fetch));
    static_cast<void>(reprise::lint(reprise::standard_strategy::options{}));

    reprise::standard_strategy aws = reprise::presets::aws_standard();
    static_cast<void>(reprise::retry(aws, options, fetch));
    reprise::presets::aws_2_1_strategy newer = reprise::presets::aws_2_1();
    static_cast<void>(reprise::retry(newer, options, fetch));
    reprise::presets::grpc_a6_strategy grpc = reprise::presets::grpc_a6();
    static_cast<void>(reprise::retry(grpc, options, buy));
    reprise::presets::finagle_strategy finagle = reprise::presets::finagle();
    static_cast<void>(reprise::retry(finagle, options, buy));
}

}  // namespace mixed
