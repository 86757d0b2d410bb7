#pragma once

/// Distributed tracing: one span for each call, one child span for each attempt. Implement two
/// small interfaces over your tracing library; `opentelemetry-cpp` maps to them one to one.
///
/// ```
/// span                     attributes (OpenTelemetry's names where it has them)
/// <call_options::name>     reprise.retry.attempts, reprise.retry.refusal, error.type
///   attempt                reprise.retry.attempt, error.type; of hedged attempts also
///                          reprise.retry.hedge, reprise.retry.canceled (1 if so)
/// ```
///
/// A span that ends with an error has `error.type` ("timeout", "503", "system:111") and its status
/// is `error`. An attempt that was canceled because another one answered first is no error.

#include <cstdint>
#include <memory>
#include <string_view>

#include <reprise/retry/detail/compiler.hpp>
#include <reprise/retry/time.hpp>

namespace reprise {

/// One span. Destroyed right after `end`, or without it if the loop is destroyed.
class REPRISE_EXPORT retry_span {
public:
    virtual ~retry_span();
    virtual void set_attribute(std::string_view name, std::int64_t value) noexcept = 0;
    virtual void set_attribute(std::string_view name, std::string_view value) noexcept = 0;
    /// The span is over. `is_error` is its status.
    virtual void end(bool is_error) noexcept = 0;
};

/// Called from the threads that run loops; must not throw.
class REPRISE_EXPORT retry_tracer {
public:
    virtual ~retry_tracer();
    /// Starts a span below `parent`; a null parent means the caller's current span. May return
    /// null: this call is not traced.
    [[nodiscard]] virtual std::unique_ptr<retry_span> start_span(
        std::string_view name, retry_span* parent) noexcept = 0;
};

namespace trace_names {

inline constexpr std::string_view attempt_span = "attempt";
inline constexpr std::string_view attempt_number = "reprise.retry.attempt";
inline constexpr std::string_view attempt_count = "reprise.retry.attempts";
inline constexpr std::string_view hedge = "reprise.retry.hedge";
inline constexpr std::string_view canceled = "reprise.retry.canceled";
inline constexpr std::string_view refusal = "reprise.retry.refusal";
inline constexpr std::string_view error_type = "error.type";

}  // namespace trace_names

}  // namespace reprise
