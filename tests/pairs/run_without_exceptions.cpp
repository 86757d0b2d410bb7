#include "blocking_call.hpp"

#if defined(__cpp_exceptions)
#error "this source is built without exceptions"
#endif

namespace reprise::feature_pairs {

void run_without_exceptions(const call_plan& plan, const std::function<void(world&)>& done) {
    play_blocking(plan, done);
}

}  // namespace reprise::feature_pairs
