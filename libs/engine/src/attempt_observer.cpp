#include <reprise/engine/attempt_observer.hpp>

namespace reprise::engine {

attempt_observer::~attempt_observer() = default;

}  // namespace reprise::engine
