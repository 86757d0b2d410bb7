#include <reprise/retry/retry_errc.hpp>

namespace reprise {

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
            return "cannot be classified";
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
        case refusal_reason::strategy_refused:
            return "refused by the strategy";
        case refusal_reason::strategy_failed:
            return "strategy failed";
        case refusal_reason::may_have_acted:
            return "may have been executed";
        case refusal_reason::queue_full:
            return "too many operations wait";
        case refusal_reason::partly_delivered:
            return "a part of the answer was already read";
        case refusal_reason::not_allowed:
            return "not allowed by the options";
        case refusal_reason::predicate_refused:
            return "refused by the predicate";
        case refusal_reason::circuit_open:
            return "circuit breaker is open";
        case refusal_reason::programming_error:
            return "programming error";
        case refusal_reason::unmarked_call:
            return "call is not marked as repeatable";
    }
    return "unknown refusal";
}

std::string_view detail::remedy_for(refusal_reason reason) noexcept {
    switch (reason) {
        case refusal_reason::unclassified:
            return "give its type retry_facts(), or set failures_without_facts to retry";
        case refusal_reason::programming_error:
            return "to retry it, name it: on<std::logic_error>()";
        case refusal_reason::unmarked_call:
            return "mark the call: call_options::repeat";
        default:  // The others follow from what the failure, the call or the service has stated.
            return {};
    }
}

}  // namespace reprise
