#pragma once

/// Retries that are right, for any operation: include this and start with
/// `retry(attempts(3), operation)`, or with a `standard_strategy` per service. Only the standard
/// library is needed (C++20).

#include <reprise/retry/blocking.hpp>
#include <reprise/retry/circuit_breaker.hpp>
#include <reprise/retry/fallback.hpp>
#include <reprise/retry/http_facts.hpp>
#include <reprise/retry/outcome.hpp>
#include <reprise/retry/retry_metrics.hpp>
#include <reprise/retry/simple_strategy.hpp>
#include <reprise/retry/standard_strategy.hpp>
#include <reprise/retry/version.hpp>
