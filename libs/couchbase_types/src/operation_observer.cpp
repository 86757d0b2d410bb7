#include <reprise/couchbase_types/operation_observer.hpp>

namespace reprise::couchbase {

operation_observer::~operation_observer() = default;
void operation_observer::on_start(const operation_start& /*record*/) noexcept {}
void operation_observer::on_attempt(const operation_attempt& /*record*/) noexcept {}
void operation_observer::on_decision(
    const operation_identity& /*which*/, const decision_record& /*record*/) noexcept {}
void operation_observer::on_end(const operation_end& /*record*/) noexcept {}
void operation_observer::on_orphan(const orphan_record& /*record*/) noexcept {}

}  // namespace reprise::couchbase
