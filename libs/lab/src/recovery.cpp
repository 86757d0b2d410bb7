#include <reprise/lab/recovery.hpp>

#include <reprise/lab/slot.hpp>

namespace reprise::lab {

namespace {

constexpr double good_share = 0.95;
constexpr std::size_t good_seconds = 5;
constexpr std::size_t slots_per_second = std::chrono::seconds{1} / slot_length;

struct sums {
    double offered = 0.0;
    double useful = 0.0;
};

[[nodiscard]] sums add_up(std::span<const slot> slots) {
    sums total;
    for (const slot& one : slots) {
        total.offered += one.offered;
        total.useful += one.useful;
    }
    return total;
}

/// Whether the five seconds from `first` on are all good, compared with `level`.
[[nodiscard]] bool is_good_from(std::span<const slot> slots, std::size_t first, double level) {
    for (std::size_t second = 0; second < good_seconds; ++second) {
        const sums total =
            add_up(slots.subspan(first + second * slots_per_second, slots_per_second));
        if (total.useful < good_share * level * total.offered) {
            return false;
        }
    }
    return true;
}

}  // namespace

recovery find_recovery(std::span<const slot> slots, const outage_window& outage) {
    if (outage.length <= duration::zero()) {
        return {recovery_outcome::no_outage, {}};
    }
    const auto start = static_cast<std::size_t>(outage.start / slot_length);
    if (start <= slots_per_second || start > slots.size()) {
        return {recovery_outcome::not_healthy_before, {}};
    }
    const sums before = add_up(slots.subspan(slots_per_second, start - slots_per_second));
    const double level = before.offered > 0.0 ? before.useful / before.offered : 0.0;
    if (level < good_share) {
        return {recovery_outcome::not_healthy_before, {}};
    }
    // The slot in which the outage ends still belongs to it.
    const duration end = outage.start + outage.length;
    const auto after = static_cast<std::size_t>((end + slot_length - duration{1}) / slot_length);
    for (std::size_t first = after; first + good_seconds * slots_per_second <= slots.size();
         ++first) {
        if (is_good_from(slots, first, level)) {
            return {
                recovery_outcome::recovered, slot_length * static_cast<std::int64_t>(first) - end};
        }
    }
    return {recovery_outcome::never, {}};
}

}  // namespace reprise::lab
