// The price of retries: RH-13, RH-33.

#include "checks/budget_checks.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "world/world.hpp"

namespace reprise::sim {
namespace {

// The price of a retry, in milli-units; see sim_client::make_options.
constexpr std::int64_t price_of_retry = 5000;

}  // namespace

budget_checks::budget_checks(world& owner) : world_(owner), accounts_(owner.plan.clients.size()) {
    for (std::size_t client = 0; client < accounts_.size(); ++client) {
        accounts_[client].level = detail::milli_units(owner.plan.clients[client].budget_units);
    }
}

// A strategy with its own budget pays from that budget alone.
bool budget_checks::brings_budget(const operation_record& record) const {
    const planned_client& plan = world_.plan.clients[record.plan.client];
    return record.plan.strategy.value_or(plan.strategy) == strategy_choice::library;
}

bool budget_checks::is_paid_by_client(const operation_record& record) const {
    return world_.plan.clients[record.plan.client].budget_units > 0 && !brings_budget(record);
}

// It is not reported which of the capped retries have been woken since the last iteration.
bool budget_checks::can_be_poor(const operation_record& record) const {
    const account& mine = accounts_[record.plan.client];
    const auto pending = static_cast<std::int64_t>(mine.capped.size());
    return brings_budget(record) ||
           (is_paid_by_client(record) && mine.level - pending * price_of_retry < price_of_retry);
}

void budget_checks::take_charge(operation_record& record) {
    account& mine = accounts_[record.plan.client];
    const duration asked =
        record.answer ? record.answer->delay().value_or(duration::zero()) : duration::zero();
    record.is_capped =
        asked > duration::zero() && driver::add_saturated(world_.now, asked) >= record.deadline;
    if (!is_paid_by_client(record)) {
        return;
    }
    if (record.is_capped) {
        mine.capped.push_back(record.number);
        return;
    }
    mine.level -= price_of_retry;
    mine.charged += price_of_retry;
    record.cost = static_cast<std::uint32_t>(price_of_retry);
}

// The last retry of this operation was decided and never sent. A capped one has taken something
// only if it was woken.
void budget_checks::return_charge(const operation_record& record) {
    if (!is_paid_by_client(record)) {
        return;
    }
    account& mine = accounts_[record.plan.client];
    if (record.is_capped) {
        mine.perhaps_returned += price_of_retry;
    } else {
        mine.returned += record.cost;
    }
}

void budget_checks::on_success(operation_record& record) {
    const planned_client& plan = world_.plan.clients[record.plan.client];
    if (is_paid_by_client(record)) {
        if (record.is_capped) {
            record.cost = static_cast<std::uint32_t>(price_of_retry);  // woken, or not successful
        }
        const std::int64_t refund =
            plan.refunds_last_cost && record.retries != 0 ? record.cost : 1000;
        account& mine = accounts_[record.plan.client];
        mine.level = std::min(detail::milli_units(plan.budget_units), mine.level + refund);
    }
}

// Capped retries that were woken have paid since the last iteration; all others have paid nothing.
// A return to a full budget is lost, and what was charged afterwards is missing then.
void budget_checks::after_engine_run(std::uint32_t client) {
    const auto& bucket = world_.clients[client]->bucket;
    if (!bucket) {
        return;
    }
    account& mine = accounts_[client];
    const std::int64_t level = bucket->milli_level();
    const std::int64_t full = detail::milli_units(world_.plan.clients[client].budget_units);
    const std::int64_t expected = mine.level + std::exchange(mine.returned, 0);
    const auto pending = static_cast<std::int64_t>(mine.capped.size()) * price_of_retry;
    const std::int64_t least = std::min(expected, full - std::exchange(mine.charged, 0)) - pending;
    const std::int64_t most = std::min(expected + std::exchange(mine.perhaps_returned, 0), full);
    if (level < least || level > most) {
        world_.record.report(
            checker::budget, std::nullopt,
            "client " + std::to_string(client) + " has " + std::to_string(level) +
                " milli-units instead of " + std::to_string(expected));
    }
    mine.level = level;
    std::erase_if(mine.capped, [&](std::uint32_t number) {
        const operation_record& record = world_.records.at(number);
        return record.calls != 0 || !record.is_capped || !record.is_backing_off;
    });
}

}  // namespace reprise::sim
