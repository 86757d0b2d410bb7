#include <reprise/lab/run.hpp>

#include <algorithm>

#include "simulation.hpp"

namespace reprise::lab {

namespace {

[[nodiscard]] double ratio(std::uint64_t part, std::uint64_t whole, double if_none) noexcept {
    return whole == 0 ? if_none : static_cast<double>(part) / static_cast<double>(whole);
}

}  // namespace

run_result run(const model& asked, const run_monitor& monitor) {
    return detail::simulation(reprise::detail::checked(asked)).run(monitor);
}

double run_result::amplification() const noexcept {
    return ratio(totals().sent, totals().calls, 1.0);
}

double run_result::amplification_at(std::size_t service) const noexcept {
    return ratio(services[service].totals.sent, totals().calls, 1.0);
}

double run_result::worst_amplification_at(std::size_t service) const noexcept {
    constexpr std::size_t per_second = std::chrono::seconds{1} / slot_length;
    const std::vector<slot> offered = join_slots(services.front().slots, per_second);
    const std::vector<slot> arriving = join_slots(services[service].slots, per_second);
    double worst = 0.0;
    for (std::size_t i = 0; i < offered.size(); ++i) {
        worst = std::max(worst, ratio(arriving[i].attempts, offered[i].offered, 0.0));
    }
    return worst;
}

double run_result::success_share() const noexcept {
    return ratio(totals().succeeded, totals().succeeded + totals().failed, 1.0);
}

double run_result::wasted_share(std::size_t service) const noexcept {
    return ratio(services[service].totals.wasted, services[service].totals.done, 0.0);
}

double run_result::attempts_per_success() const noexcept {
    return ratio(totals().sent, totals().succeeded, 0.0);
}

double run_result::final_useful_rate(duration span) const noexcept {
    const std::vector<slot>& slots = services.front().slots;
    const auto wanted = static_cast<std::size_t>(std::max<std::int64_t>(span / slot_length, 1));
    const std::size_t count = std::min(wanted, slots.size());
    std::uint64_t useful = 0;
    for (std::size_t i = slots.size() - count; i < slots.size(); ++i) {
        useful += slots[i].useful;
    }
    const std::chrono::duration<double> length =
        slot_length * static_cast<std::int64_t>(std::max<std::size_t>(count, 1));
    return static_cast<double>(useful) / length.count();
}

}  // namespace reprise::lab
