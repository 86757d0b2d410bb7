#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <utility>
#include <vector>

#include <reprise/sim/random.hpp>
#include <reprise/sim/scenario.hpp>

// What the files that draw scenarios have in common.

namespace reprise::sim {

// What the numbers of a seed are for.
enum stream : std::uint64_t {
    cluster_stream = 1,
    network_stream,
    client_stream,
    operation_stream,
    fault_stream,
    call_stream,
    service_fault_stream,
};

// Every order of magnitude is as likely as another.
inline duration draw_scaled(random_stream& random, duration first, duration last) {
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

// What comes at one time stays in the order in which it was drawn.
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

// draw_calls.cpp: what the HTTP services add to a scenario that is drawn otherwise, from streams of
// their own. Nothing for most seeds of most profiles.
void draw_calls(scenario& plan, const profile& from);

}  // namespace reprise::sim
