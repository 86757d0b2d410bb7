#include <algorithm>
#include <array>
#include <chrono>
#include <vector>

#include "scenario/random_choice.hpp"

// Faults that were seen on real clusters or used in attacks. They have a stream of their own, so
// that a new one does not change the rest of any scenario.

namespace reprise::sim {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

planned_fault random_field_fault(random_stream& random, fault_kind kind, const scenario& plan) {
    planned_fault made;
    made.kind = kind;
    made.at = random.between(duration::zero(), plan.span * 8 / 10);
    duration longest = plan.span / 2;
    if (kind == fault_kind::slow_seeds) {
        made.at = duration::zero();
    } else if (kind == fault_kind::flood_configurations) {
        longest = std::min<duration>(longest, milliseconds{60});
    }
    made.length =
        random_scaled(random, milliseconds{5}, std::max<duration>(longest, milliseconds{10}));
    made.length = std::min(made.length, plan.span - made.at);
    made.node = static_cast<std::uint32_t>(random.below(plan.node_count));
    made.client = static_cast<std::uint32_t>(random.below(plan.clients.size()));
    made.detail = random.next();
    return made;
}

}  // namespace

void random_field_faults(scenario& plan, const profile& from) {
    random_stream random(plan.seed, field_stream);
    constexpr std::uint64_t kind_count = fault_kind_count - field_fault_kind_first;
    for (std::size_t left = random.below(from.field_fault_count_max + 1); left > 0; --left) {
        const auto kind =
            static_cast<fault_kind>(field_fault_kind_first + random.below(kind_count));
        const planned_fault made = random_field_fault(random, kind, plan);
        if (makes_sense(kind, plan)) {
            plan.faults.push_back(made);
        }
    }
    sort_by_time(plan.faults);
}

}  // namespace reprise::sim
