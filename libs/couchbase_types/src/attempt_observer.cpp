#include <reprise/couchbase_types/attempt_observer.hpp>

namespace reprise::couchbase {

attempt_observer::~attempt_observer() = default;

}  // namespace reprise::couchbase
