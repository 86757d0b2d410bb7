// Decisions about the client's own requests.

#include <utility>

#include "engine_core.hpp"

namespace reprise::engine {

// Our own requests fail fast, by the same rules as all others.
std::optional<duration> engine_core::decide(
    const own_failure& what, const retry_case& failed, time_point now) {
    retry_subject subject;
    subject.operation = what.operation;
    subject.is_idempotent = true;
    retry_progress progress(what.retries);
    subject.progress = &progress;
    subject.deadline = add_saturated(now, options_.internal_timeout);
    subject.strategy = &own_requests_;
    const auto decided = decider_.decide(failed, subject, 0, {now, random_.next()});
    REPRISE_ASSERT(decided.has_value());
    decided_attempt reported{subject.operation, failed, *decided, what.retries};
    reported.endpoint = static_cast<std::int32_t>(what.asked.number);
    tell(reported, now);
    return decided->is_retry ? std::optional(decided->delay) : std::nullopt;
}

}  // namespace reprise::engine
