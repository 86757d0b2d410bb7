#pragma once

/// The decision trace: what failed on every attempt, how long the loop waited, who refused the last
/// retry and why. Fixed size, no allocation; text is made only when somebody reads it.

#include <cstdint>
#include <iosfwd>
#include <string>

#include <reprise/retry/bounded_history.hpp>
#include <reprise/retry/decision.hpp>

namespace reprise {

/// One failed attempt and what was decided about it.
struct trace_entry {
    std::uint32_t attempt;      ///< Which attempt failed; the first is 1.
    std::uint32_t code;         ///< `failure_facts::code`.
    duration offset;            ///< Time of the failure since the first failure of this request.
    duration delay;             ///< Wait before the next attempt; zero when refused.
    std::int64_t budget_level;  ///< Milli-units after the charge; negative: no budget asked.
    refusal_reason refusal;     ///< `none`: retried.
    bool timeout;
    bool throttling;
    /// False for the one entry that tells of no attempt: the wait before it was canceled.
    bool attempted = true;
};

/// Filled by the loops; pass one in `call_options::trace` to read it afterwards. Reused objects are
/// cleared at the start of each call.
class decision_trace {
public:
    void clear() noexcept {
        entries_.clear();
        failed_attempts_ = 0;
    }
    void record(const trace_entry& entry) noexcept {
        entries_.push(entry);
        failed_attempts_ += entry.attempted ? 1 : 0;
    }

    /// Why there was no further retry; `none` while the request succeeded or is still going.
    [[nodiscard]] refusal_reason refusal() const noexcept {
        return entries_.empty() ? refusal_reason::none : entries_.back().refusal;
    }
    [[nodiscard]] const bounded_history<trace_entry>& entries() const noexcept { return entries_; }
    /// Attempts that failed, all of them.
    [[nodiscard]] std::size_t failed_attempts() const noexcept { return failed_attempts_; }

private:
    bounded_history<trace_entry> entries_;
    std::size_t failed_attempts_ = 0;
};

/// The whole story, one line per attempt.
[[nodiscard]] std::string to_string(const decision_trace& trace);
std::ostream& operator<<(std::ostream& out, const decision_trace& trace);

/// Hears every decision as it is made, e.g. to log it. Called from the thread that runs the loop,
/// between an attempt and the wait after it; must not throw.
class decision_observer {
public:
    virtual ~decision_observer();
    virtual void on_decision(const trace_entry& entry) noexcept = 0;
};

}  // namespace reprise
