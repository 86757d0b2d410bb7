#pragma once

/// Correct retries for any operation. Include this header and start with
/// `retry(attempts(3), operation)`, or with one `standard_strategy` for each service. Only the
/// standard library is needed (C++20).
///
/// Twenty names to know. The right column lists the types and functions that come with them; few
/// programs name these:
///
///     retry              calls an operation until it succeeds or must not be repeated
///     attempts           a strategy in one line               unlimited_attempts
///     standard_strategy  the strategy for a service           jitter, when_unstated
///     call_options       what belongs to one call             repeatability, borrowed
///     attempt            what an operation can see of its attempt
///     failure_facts      what is known about a failure        retry_safety, failure_fault,
///                                                             failure_traits, facts_of
///     failure_view       the failure itself
///     fails_if           which results are failures           throws_on_failure, outcome_traits
///     catching           which exceptions have facts          failure_description
///     http_facts         the facts of an HTTP answer
///     with_fallback      a value instead of the failure
///     circuit_breaker    stops calls to a failing service     circuit_state
///     token_bucket       limits the retries of all calls
///     retry_history      what happened on each attempt        to_string, to_json
///     retry_observer     sees each decision, for logs         decision_event, call_summary,
///                                                             log_to
///     retry_metrics      counts, for Prometheus
///     retry_tracer       spans of calls and attempts
///     retry_clock        the clock of a call                  time_point, duration
///     retry_error        why a call made no attempt           retry_errc, refusal_reason,
///                                                             invalid_settings, check,
///                                                             make_error_condition
///     version            of these headers

#include <reprise/retry/blocking.hpp>
#include <reprise/retry/circuit_breaker.hpp>
#include <reprise/retry/fallback.hpp>
#include <reprise/retry/http_facts.hpp>
#include <reprise/retry/outcome.hpp>
#include <reprise/retry/retry_metrics.hpp>
#include <reprise/retry/simple_strategy.hpp>
#include <reprise/retry/standard_strategy.hpp>
#include <reprise/retry/version.hpp>
