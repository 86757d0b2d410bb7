#include <array>
#include <cstddef>
#include <utility>

#include <reprise/base/enum_table.hpp>

#include "explain/table.hpp"

namespace reprise::app {

namespace {

using cause = refusal_reason;

constexpr auto refusals = std::to_array<refusal_facts>({
    {cause::none, "It was retried.", "Nothing."},
    {cause::unsafe, "The failure states that a retry is wrong or pointless.",
     "Nothing, unless the facts of this failure are wrong: then correct them."},
    {cause::not_repeatable, "The service may have acted, and the call is marked as not repeatable.",
     "Make the call repeatable, for example with an idempotency key, and mark it so."},
    {cause::client_fault, "The request itself is at fault, as with HTTP 400.", "Fix the request."},
    {cause::unclassified, "Nothing is known about the failure.",
     "Give its type facts, or set failures_without_facts to retry."},
    {cause::attempts_exhausted, "All attempts were made.",
     "Raise attempts_max only if single faults are frequent."},
    {cause::budget_exhausted, "Too many calls to this service failed lately.",
     "Let the service recover. Enlarge the budget only if it drains in healthy times."},
    {cause::deadline, "The delay would end after the deadline.",
     "Set a longer timeout or shorter delays."},
    {cause::outer_allowance, "A loop around this one has used up its retries.",
     "Nothing: nested loops must not multiply their attempts."},
    {cause::canceled, "The stop token or the cancellation slot ended the call.", "Nothing."},
    {cause::no_initial_token, "The strategy grants one attempt and no retries.",
     "Use another strategy."},
    {cause::invalid_token, "The token belongs to another strategy, or was used before.",
     "Fix the code that drives the strategy."},
    {cause::strategy_refused, "The strategy refused and named no reason.",
     "Return driver::retry_action::no(reason) from your strategy."},
    {cause::strategy_failed, "The strategy threw, or dropped the question.", "Fix the strategy."},
    {cause::may_have_acted,
     "The connection closed after a write was sent and before its answer came: the server may "
     "have executed it.",
     "Read the document, then decide; or write with a CAS so that writing twice does no harm."},
    {cause::queue_full, "The client's limit on waiting operations is reached.",
     "Send less at once, or raise parked_count_max if memory allows."},
    {cause::partly_delivered, "The program has rows of this answer; a retry would repeat them.",
     "Run the statement again if duplicates do no harm."},
    {cause::not_allowed, "The options forbid this request, such as plain HTTP.",
     "Use TLS, or set the option that the error names."},
    {cause::predicate_refused, "The strategy's `when` or `on` does not select this failure.",
     "Add the failure to the selection."},
    {cause::circuit_open, "The circuit breaker keeps calls away from the service.",
     "Return a fallback until the service recovers."},
    {cause::programming_error, "The failure is a bug, such as std::logic_error.",
     "Fix it, or select it: on<std::logic_error>()."},
    {cause::unmarked_call, "The service may have acted, and the strategy requires a mark.",
     "Set call_options::repeat."},
});
static_assert(base::has_row_per_enumerator(refusals, &refusal_facts::reason));

}  // namespace

std::span<const refusal_facts> all_refusals() noexcept {
    return std::span(refusals).subspan(1);  // without `none`
}

std::string_view refusal_name(refusal_reason reason) noexcept {
    return base::name_of(reason);
}

}  // namespace reprise::app
