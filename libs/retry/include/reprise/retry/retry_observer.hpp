#pragma once

/// Observing retries: each decision as it is made, and each call when it ends. Per call
/// (`call_options::observer`) and per strategy (`shared_parts::observer`, `attempts(3).on_...`).
/// `log_to` is a ready logger.

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
#include <reprise/retry/failure_view.hpp>
#include <reprise/retry/retry_history.hpp>

namespace reprise {

/// A failure and the decision about it. Valid during the call of the observer.
struct REPRISE_EXPORT decision_event {
    /// `call_options::name`; in a client, the name of the operation.
    std::string_view call{};
    /// Attempt, offset, delay, refusal and budget level, as a history keeps them.
    history_entry entry{};
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
    /// (`history_entry::is_hedge`), and this was decided. Does nothing unless overridden.
    virtual void on_decision(const decision_event& event) noexcept;
    /// A call has ended: exactly once for each, unless its executor is destroyed. Does nothing
    /// unless overridden.
    virtual void on_completion(const call_summary& summary) noexcept;
};

/// An observer made from functions:
/// ```
///     reprise::observing_functions log;
///     log.completion = [](const reprise::call_summary& call) { ... };
///     return reprise::retry(strategy, {.observer = &log}, fetch);
/// ```
/// An empty function observes nothing; what a function throws is ignored.
class REPRISE_EXPORT observing_functions final : public retry_observer {
public:
    std::function<void(const decision_event&)> decision{};
    std::function<void(const call_summary&)> completion{};

    void on_decision(const decision_event& event) noexcept override;
    void on_completion(const call_summary& summary) noexcept override;
};

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
