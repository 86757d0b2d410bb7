#pragma once

#include <reprise/couchbase_types/retry_strategies.hpp>

namespace reprise::sim {

// The question of the engine to a strategy about `request`, which must outlive it.
inline driver::retry_question question_about(
    const couchbase::request_snapshot& request, couchbase::retry_reason reason) {
    driver::retry_question question;
    question.failure = failure_view::of(request);
    question.reason = reason;
    return question;
}

}  // namespace reprise::sim
