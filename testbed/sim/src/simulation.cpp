#include <reprise/sim/simulation.hpp>

#include "world/world.hpp"

namespace reprise::sim {
namespace {

template <class Visit>
void for_each_cell(Visit&& visit) {
    for (std::size_t reason = 0; reason < couchbase::retry_reason_count; ++reason) {
        for (std::size_t stage = 0; stage < stage_count; ++stage) {
            for (std::size_t of = 0; of < engine::operation_class_count; ++of) {
                visit(reason, stage, of);
            }
        }
    }
}

}  // namespace

void reason_cells::add(const reason_cells& other) noexcept {
    for_each_cell([&](std::size_t reason, std::size_t stage, std::size_t of) {
        counts[reason][stage][of] += other.counts[reason][stage][of];
    });
}

std::size_t reason_cells::filled() const noexcept {
    std::size_t count = 0;
    for_each_cell([&](std::size_t reason, std::size_t stage, std::size_t of) {
        count += counts[reason][stage][of] != 0 ? 1U : 0U;
    });
    return count;
}

std::size_t reason_cells::applicable_count() noexcept {
    std::size_t count = 0;
    for_each_cell([&](std::size_t reason, std::size_t stage, std::size_t of) {
        const auto cell = engine::cell_of(
            static_cast<couchbase::retry_reason>(reason), static_cast<attempt_stage>(stage),
            static_cast<engine::operation_class>(of));
        count += cell.applicable == engine::reason_applicability::yes ? 1U : 0U;
    });
    return count;
}

run_report run_scenario(const scenario& plan, const run_options& options) {
    return world(plan, options).run();
}

}  // namespace reprise::sim
