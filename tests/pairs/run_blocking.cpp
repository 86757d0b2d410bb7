#include "blocking_call.hpp"

namespace reprise::feature_pairs {

void run_blocking(const call_plan& plan, const std::function<void(world&)>& done) {
    play_blocking(plan, done);
}

}  // namespace reprise::feature_pairs
