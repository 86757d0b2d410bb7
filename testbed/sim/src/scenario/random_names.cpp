#include "scenario/random_choice.hpp"

// Name servers that lie. They have a stream of their own, so that they do not change the rest of
// any scenario.

namespace reprise::sim {

void random_names(scenario& plan, const profile& from) {
    if (from.hostile_fault_count_max == 0) {
        return;
    }
    random_stream random(plan.seed, name_stream);
    const bool is_lying = random.percent(30);
    for (planned_client& client : plan.clients) {
        const auto answer = static_cast<srv_answer>(random.below(srv_answer_count));
        if (is_lying) {
            client.uses_srv = true;
            client.srv = answer;
        }
    }
}

}  // namespace reprise::sim
