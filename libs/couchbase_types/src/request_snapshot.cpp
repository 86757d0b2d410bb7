#include <reprise/couchbase_types/retry_strategies.hpp>

namespace reprise::couchbase {

const request_snapshot& request_of(const driver::retry_question& question) noexcept {
    static const request_snapshot none;
    const auto* found = question.failure.get_if<request_snapshot>();
    return found != nullptr ? *found : none;
}

}  // namespace reprise::couchbase
