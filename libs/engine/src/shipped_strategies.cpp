#include <algorithm>
#include <array>
#include <utility>

#include <reprise/engine/errc.hpp>
#include <reprise/engine/shipped_strategies.hpp>

namespace reprise::engine {

backoff_calculator exponential_calculator() {
    return [](std::uint32_t attempts, std::uint64_t) -> duration {
        // 2^9 is the first power above the cap.
        return attempts >= 9 ? std::chrono::milliseconds{500}
                             : std::chrono::milliseconds{std::int64_t{1} << attempts};
    };
}

backoff_calculator jittered_calculator(const backoff_options& options) {
    return [backoff = exponential_backoff(options)](std::uint32_t attempts, std::uint64_t random) {
        return backoff.delay(attempts, duration::zero(), random);
    };
}

duration controlled_backoff(std::uint32_t attempts) noexcept {
    constexpr std::array ladder{std::chrono::milliseconds{1},   std::chrono::milliseconds{10},
                                std::chrono::milliseconds{50},  std::chrono::milliseconds{100},
                                std::chrono::milliseconds{500}, std::chrono::milliseconds{1000}};
    return ladder[attempts < ladder.size() ? attempts : ladder.size() - 1];
}

best_effort_strategy::best_effort_strategy(backoff_calculator calculator)
    : calculator_(std::move(calculator)) {}

void best_effort_strategy::retry_after(
    const request_snapshot& request, retry_reason reason, retry_sink& sink) {
    const bool is_allowed = reason != retry_reason::unknown &&
                            (request.is_idempotent || info(reason).allows_non_idempotent_retry);
    if (!is_allowed) {
        return sink.answer(retry_action::no());
    }
    const duration planned = calculator_(request.retry_attempts, request.random);
    sink.answer(retry_action::after(std::max(planned, request.delay_floor)));
}

void terminal_error_strategy::retry_after(
    const request_snapshot& request, retry_reason reason, retry_sink& sink) {
    switch (reason) {
        case retry_reason::authentication_error:
            return sink.answer(retry_action::no(errc::authentication_failure));
        case retry_reason::tls_error:
            return sink.answer(retry_action::no(errc::tls_failure));
        case retry_reason::bucket_access_error:
            return sink.answer(retry_action::no(errc::bucket_access_failure));
        case retry_reason::scope_not_found:
            return sink.answer(retry_action::no(errc::scope_not_found));
        case retry_reason::collection_not_found:
            return sink.answer(retry_action::no(errc::collection_not_found));
        default:
            return best_effort_strategy::retry_after(request, reason, sink);
    }
}

void server_directed_strategy::retry_after(
    const request_snapshot& request, retry_reason reason, retry_sink& sink) {
    if (reason != retry_reason::kv_error_map_retry_indicated) {
        return terminal_error_strategy::retry_after(request, reason, sink);
    }
    if (request.is_server_rule_unusable) {
        return sink.answer(retry_action::no());
    }
    if (!request.server_rule) {
        return terminal_error_strategy::retry_after(request, reason, sink);
    }
    const server_retry_rule& rule = *request.server_rule;
    const bool is_over = rule.is_over(request.deadline);
    sink.answer(is_over ? retry_action::no() : retry_action::after(rule.due - request.now));
}

}  // namespace reprise::engine
