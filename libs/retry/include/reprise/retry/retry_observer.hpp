#pragma once

/// Observing retries: each decision as it is made, and each call when it ends. An observer is set
/// on a strategy: `attempts(3).observer(...)`, `standard_strategy::options::observer`. `log_to` is
/// a ready logger.

#include <cstdint>
#include <functional>
#include <iosfwd>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <reprise/retry/detail/compiler.hpp>
#include <reprise/retry/failure_facts.hpp>
#include <reprise/retry/retry_history.hpp>
#include <reprise/retry/time.hpp>

namespace reprise {

/// A failure and the decision about it. Valid during the call of the observer.
struct REPRISE_EXPORT decision_event {
    /// `call_options::name`; in a client, the name of the operation.
    std::string_view call{};
    /// Attempt, offset, delay, refusal and budget level, as a history keeps them.
    retry_history::entry entry{};
    failure_facts facts{};
    failure_view failure{};           ///< The failure itself.
    driver::failure_reason reason{};  ///< The protocol's name for it; empty in plain loops.

    [[nodiscard]] bool is_retried() const noexcept {
        return entry.refusal() == refusal_reason::none && !entry.is_hedge();
    }
    /// "connection refused", an exception's `what()`, the protocol's reason; empty if nothing is
    /// known. One line, shortened.
    [[nodiscard]] std::string failure_text() const;
};

/// One line without a line break:
///
///     fetch price: attempt 1 failed, connection refused (111); retried after 250 ms (budget 495)
[[nodiscard]] REPRISE_EXPORT std::string to_string(const decision_event& event);
/// Writes `to_string(event)`.
REPRISE_EXPORT std::ostream& operator<<(std::ostream& out, const decision_event& event);

/// A call that has ended.
struct call_summary {
    bool is_success = false;
    std::uint32_t attempts = 0;  ///< All attempts that were made.
    /// From the start of the call to its end, waits included.
    duration total_time{};
    /// Why there was no further retry; `none` after a success.
    refusal_reason refusal = refusal_reason::none;
    /// The facts of the last attempt that failed; also after a success.
    failure_facts last_failure{};
    /// The failure itself, valid during the call of the observer. Empty after a success.
    failure_view last_error{};
};

/// Called from the threads that run the loops, between an attempt and the wait after it. One object
/// may serve any number of calls at the same time. Must not throw. An observed call reads the clock
/// at its start and its end.
class REPRISE_EXPORT retry_observer {
public:
    virtual ~retry_observer();
    /// An attempt has failed, or takes so long that a hedge was considered
    /// (`retry_history::entry::is_hedge`), and this was decided. Does nothing unless overridden.
    virtual void on_decision(const decision_event& event) noexcept;
    /// A call has ended: exactly once for each, unless its executor is destroyed. Does nothing
    /// unless overridden.
    virtual void on_completion(const call_summary& summary) noexcept;
};

namespace detail {

/// An observer made from functions, as `attempts(3).on_decision(...)` makes it. An empty function
/// observes nothing; what a function throws is ignored.
class REPRISE_EXPORT observing_functions final : public retry_observer {
public:
    std::function<void(const decision_event&)> decision{};
    std::function<void(const call_summary&)> completion{};

    void on_decision(const decision_event& event) noexcept override;
    void on_completion(const call_summary& summary) noexcept override;
};

}  // namespace detail

/// A logger: one line for each decision, as `to_string(decision_event)` writes it.
/// ```
///     const auto rule = reprise::attempts(3).observer(reprise::log_to(std::clog));
/// ```
/// `out` must outlive all calls. Lines of several threads are not mixed.
[[nodiscard]] REPRISE_EXPORT std::shared_ptr<retry_observer> log_to(std::ostream& out);
/// The same with a function that takes each line, without a line break. It may be called from
/// several threads at the same time; what it throws is ignored.
[[nodiscard]] REPRISE_EXPORT std::shared_ptr<retry_observer> log_to(
    std::function<void(std::string_view line)> write);

namespace detail {

/// Two observers as one, in this order. Null is left out.
[[nodiscard]] REPRISE_EXPORT std::shared_ptr<retry_observer> both_observers(
    std::shared_ptr<retry_observer> first, std::shared_ptr<retry_observer> second);

}  // namespace detail

}  // namespace reprise

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

namespace reprise {

/// Called from the threads that run loops; must not throw.
class REPRISE_EXPORT retry_tracer {
public:
    /// One span. Destroyed right after `end`, or without it if the loop is destroyed.
    class REPRISE_EXPORT span {
    public:
        virtual ~span();
        virtual void set_attribute(std::string_view name, std::int64_t value) noexcept = 0;
        virtual void set_attribute(std::string_view name, std::string_view value) noexcept = 0;
        /// Ends the span. `is_error` is its status.
        virtual void end(bool is_error) noexcept = 0;
    };

    virtual ~retry_tracer();
    /// Starts a span below `parent`; a null parent means the caller's current span. May return
    /// null: this call is not traced.
    [[nodiscard]] virtual std::unique_ptr<span> start_span(
        std::string_view name, span* parent) noexcept = 0;
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
