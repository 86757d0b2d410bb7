#include <algorithm>
#include <array>
#include <chrono>
#include <vector>

#include "scenario/random_choice.hpp"

// Operations of the HTTP services, and the faults that affect only them.

namespace reprise::sim {

namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;
using std::chrono::seconds;

// Shared by the calls of one scenario.
struct call_workload {
    std::vector<call_kind> kinds;        // each repeated according to its weight
    std::vector<row_taking> takings;     // the same
    std::vector<prepared_choice> plans;  // the same
    std::uint64_t key_count = 1;
    std::uint64_t strategy_percent = 0;
    std::uint64_t timeout_percent = 0;
    std::uint64_t cancel_per_mille = 0;
    std::uint64_t burst = 1;
};

template <class Choice>
std::vector<Choice> random_choices(random_stream& random, std::size_t count, Choice usual) {
    std::vector<Choice> made;
    for (std::size_t index = 0; index < count; ++index) {
        if (random.percent(60)) {
            made.insert(made.end(), random.between(1, 4), static_cast<Choice>(index));
        }
    }
    if (made.empty()) {
        made.push_back(usual);
    }
    return made;
}

call_workload random_call_workload(random_stream& random) {
    using shares = std::array<std::uint64_t, 4>;
    call_workload made;
    made.kinds = random_choices(random, call_kind_count, call_kind::select_range);
    made.takings = random_choices(random, row_taking_count, row_taking::at_end);
    made.plans = random_choices(random, prepared_choice_count, prepared_choice::plain);
    made.key_count = pick(random, shares{1, 4, 16, 64});
    made.strategy_percent = pick(random, shares{0, 0, 10, 50});
    made.timeout_percent = pick(random, shares{0, 0, 10, 40});
    made.cancel_per_mille = pick(random, shares{0, 0, 20, 80});
    made.burst = pick(random, std::array<std::uint64_t, 5>{1, 1, 2, 10, 30});
    return made;
}

planned_call random_call(random_stream& random, const call_workload& from, std::size_t clients) {
    constexpr std::array<std::uint32_t, 6> row_counts = {0, 1, 3, 40, 400, 2500};
    constexpr std::array<std::uint32_t, 4> rooms = {64, 512, 4096, 0};
    planned_call made;
    made.kind = from.kinds[random.below(from.kinds.size())];
    made.client = static_cast<std::uint8_t>(random.below(clients));
    made.key = static_cast<std::uint16_t>(random.below(from.key_count));
    made.row_count = pick(random, row_counts);
    made.taking = from.takings[random.below(from.takings.size())];
    if (is_statement(made.kind)) {
        made.prepared = from.plans[random.below(from.plans.size())];
    }
    if (made.taking != row_taking::at_end) {
        made.rows_room = pick(random, rooms);
        made.take_after = random_scaled(random, microseconds{10}, milliseconds{20});
    }
    if (random.percent(from.strategy_percent)) {
        made.strategy = static_cast<strategy_choice>(random.below(strategy_choice_count));
    }
    if (random.percent(from.timeout_percent)) {
        made.timeout = random_scaled(random, microseconds{200}, seconds{3});
    }
    if (random.per_mille(from.cancel_per_mille)) {
        made.cancel_after = random_scaled(random, microseconds{1}, milliseconds{200});
    }
    return made;
}

void random_call_limits(random_stream& random, scenario& plan) {
    const planned_network& network = plan.network;
    // As for key-value: the final round must be able to succeed.
    const duration trip =
        (network.latency + network.jitter) * (network.tail != 0 ? 120 : 40) + milliseconds{20};
    for (planned_client& client : plan.clients) {
        client.http_timeout = std::max(trip, random_scaled(random, milliseconds{50}, seconds{5}));
        client.http_connections_max = pick(random, std::array<std::size_t, 4>{1, 2, 4, 12});
        if (client.breaker) {
            // A canary over HTTP must connect first.
            client.breaker->canary = std::max(client.breaker->canary, trip);
        }
    }
}

void add_service_faults(scenario& plan, const profile& from) {
    random_stream random(plan.seed, service_fault_stream);
    if (from.service_fault_count_max == 0) {
        return;
    }
    std::vector<fault_kind> kinds;
    for (std::size_t index = service_fault_kind_first; index < hostile_fault_kind_first; ++index) {
        const auto kind = static_cast<fault_kind>(index);
        const bool is_frequent = kind == fault_kind::service_rule ||
                                 kind == fault_kind::service_busy ||
                                 kind == fault_kind::fail_after_effect;
        if (random.percent(60)) {
            kinds.insert(kinds.end(), is_frequent ? 3U : 1U, kind);
        }
    }
    for (std::size_t left = random.below(from.service_fault_count_max + 1);
         left > 0 && !kinds.empty(); --left) {
        planned_fault made;
        made.kind = kinds[random.below(kinds.size())];
        made.at = random.between(duration::zero(), plan.span * 9 / 10);
        if (made.kind != fault_kind::forget_prepared) {
            const duration length =
                random_scaled(random, milliseconds{1}, plan.span / 2 + milliseconds{2});
            made.length = std::min(plan.span - made.at, length);
        }
        made.node = static_cast<std::uint32_t>(random.below(plan.node_count));
        made.detail = random.next();
        plan.faults.push_back(made);
    }
    sort_by_time(plan.faults);
}

}  // namespace

void random_calls(scenario& plan, const profile& from) {
    random_stream random(plan.seed, call_stream);
    if (!random.percent(from.call_percent)) {
        return;
    }
    random_call_limits(random, plan);
    const call_workload work = random_call_workload(random);
    const std::size_t count = random.between(1, from.call_count_max);
    random_bursts(random, plan.calls, count, plan.span, work.burst, [&] {
        return random_call(random, work, plan.clients.size());
    });
    add_service_faults(plan, from);
}

}  // namespace reprise::sim
