#include <reprise/retry/strategy.hpp>

namespace reprise {

strategy_interface::~strategy_interface() = default;

std::uint64_t detail::next_issuer_id() noexcept {
    static std::atomic<std::uint64_t> last{0};  // 0 is kept for "no issuer".
    return last.fetch_add(1, std::memory_order_relaxed) + 1;
}

std::string_view to_string(refusal_reason reason) noexcept {
    switch (reason) {
        case refusal_reason::none:
            return "retried";
        case refusal_reason::unsafe:
            return "unsafe to retry";
        case refusal_reason::not_repeatable:
            return "call is not repeatable";
        case refusal_reason::client_fault:
            return "client's fault";
        case refusal_reason::unclassified:
            return "failure has no retry facts";
        case refusal_reason::attempts_exhausted:
            return "attempts exhausted";
        case refusal_reason::budget_exhausted:
            return "budget exhausted";
        case refusal_reason::deadline:
            return "deadline would pass first";
        case refusal_reason::outer_allowance:
            return "enclosing loop has no retries left";
        case refusal_reason::canceled:
            return "canceled";
        case refusal_reason::no_initial_token:
            return "no initial token";
        case refusal_reason::invalid_token:
            return "invalid token";
        case refusal_reason::strategy_failed:
            return "strategy failed";
    }
    return "unknown refusal";
}

}  // namespace reprise
