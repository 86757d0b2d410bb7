#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <utility>
#include <vector>

#include <reprise/sim/random.hpp>
#include <reprise/sim/scenario.hpp>

// Shared by the files that generate scenarios.

namespace reprise::sim {

// The purposes of a seed's random streams.
enum stream : std::uint64_t {
    cluster_stream = 1,
    network_stream,
    client_stream,
    operation_stream,
    fault_stream,
    call_stream,
    service_fault_stream,
    hostile_stream,
    field_stream,
    name_stream,
    loop_stream,
};

// Every order of magnitude is equally likely.
inline duration random_scaled(random_stream& random, duration first, duration last) {
    std::uint64_t doublings = 0;
    while (first * (2LL << doublings) < last) {
        ++doublings;
    }
    const duration low = first * (1LL << random.between(std::uint64_t{0}, doublings));
    return random.between(low, std::max(low, std::min(last, low * 2)));
}

template <class Value, std::size_t Count>
Value pick(random_stream& random, const std::array<Value, Count>& from) {
    return from[random.below(Count)];
}

// Sorts by time; elements with equal times keep their order.
template <class Planned>
void sort_by_time(std::vector<Planned>& list) {
    std::vector<std::pair<duration, std::size_t>> order;
    order.reserve(list.size());
    for (std::size_t index = 0; index < list.size(); ++index) {
        order.emplace_back(list[index].at, index);
    }
    std::ranges::sort(order);
    std::vector<Planned> sorted;
    sorted.reserve(list.size());
    for (const auto& [at, index] : order) {
        sorted.push_back(std::move(list[index]));
    }
    list = std::move(sorted);
}

// Fills the list with results of `make_one`, in bursts of about `burst` at one time.
template <class Planned, class MakeOne>
void random_bursts(
    random_stream& random, std::vector<Planned>& list, std::size_t count, duration span,
    std::uint64_t burst, const MakeOne& make_one) {
    list.reserve(count);
    duration at{};
    std::uint64_t left_in_burst = 0;
    for (std::size_t index = 0; index < count; ++index) {
        if (left_in_burst == 0) {
            at = random.between(duration::zero(), span);
            left_in_burst = random.between(std::uint64_t{1}, burst * 2 - 1);
        }
        --left_in_burst;
        list.push_back(make_one());
        list.back().at = at;
    }
    sort_by_time(list);
}

// How often a server's rule acts.
template <class Rule>
void random_cadence(random_stream& random, Rule& rule) {
    rule.when.skip = random.percent(20) ? random.below(5) : 0;
    rule.when.every = random.percent(60) ? 1 : random.between(2, 5);
    rule.when.probability = random.percent(60) ? 1.0 : 0.4;
    if (random.percent(50)) {
        rule.when.limit = random.between(1, 10);
    }
}

// random_scenario.cpp: whether the fault has any effect on this scenario and leaves a cluster that
// can recover.
bool makes_sense(fault_kind kind, const scenario& plan);

// random_calls.cpp: adds the HTTP services to a scenario, from separate random streams. Adds
// nothing for most seeds of most profiles.
void random_calls(scenario& plan, const profile& from);

// random_names.cpp: lets the name server lie to some clients, from a separate random stream.
void random_names(scenario& plan, const profile& from);

// random_field_faults.cpp: adds faults that were seen elsewhere, from a separate random stream.
void random_field_faults(scenario& plan, const profile& from);

}  // namespace reprise::sim
