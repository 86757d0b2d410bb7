#include "world/sim_loops.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "world/world.hpp"

namespace reprise::sim {

void sim_loops::add(
    std::unique_ptr<engine::client_engine> made, const std::function<void()>& on_wake) {
    auto& added = loops_.emplace_back(std::make_unique<loop_state>());
    added->engine = std::move(made);
    added->engine->set_wake_hook([at = added.get(), on_wake] {
        at->is_woken = true;
        on_wake();
    });
}

// Loops that connect at the same time may each have received a revision themselves.
const wire::cluster_configuration_ptr& sim_loops::configuration(
    std::string_view bucket, const wire::cluster_configuration_ptr& known) const {
    const wire::cluster_configuration_ptr* newest = &loops_.front()->engine->configuration(bucket);
    for (std::size_t loop = 1; loop < loops_.size(); ++loop) {
        const wire::cluster_configuration_ptr& own = loops_[loop]->engine->configuration(bucket);
        const bool is_newer = own && (!*newest || own->revision() > (*newest)->revision());
        if (is_newer || (own && own == known && own->revision() == (*newest)->revision())) {
            newest = &own;
        }
    }
    return *newest;
}

engine::engine_statistics sim_loops::statistics() const {
    engine::engine_statistics sum;
    for (const auto& each : loops_) {
        sum.add_loop(each->engine->statistics());
    }
    return sum;
}

std::optional<time_point> sim_loops::next_due() const {
    std::optional<time_point> earliest;
    for (const auto& each : loops_) {
        if (const auto due = each->engine->next_due(); due && (!earliest || *due < *earliest)) {
            earliest = due;
        }
    }
    return earliest;
}

engine::keyspace_id sim_loops::keyspace(std::size_t loop, std::uint8_t collection) {
    loop_state& at = *loops_[loop];
    if (at.keyspaces.empty()) {
        at.keyspaces.push_back(at.engine->keyspace(bucket_name));
        for (std::size_t named = 1; named <= named_collection_count; ++named) {
            at.keyspaces.push_back(
                at.engine->keyspace(bucket_name, scope_name, "c" + std::to_string(named)));
        }
    }
    return at.keyspaces[collection];
}

void sim_loops::on_time(time_point now) {
    for (const auto& each : loops_) {
        each->engine->on_time(now);
        // The next loop decides with what this one found out, as if it had run a little later.
        while (loops_.size() != 1 && take_wakes(now)) {
        }
    }
}

bool sim_loops::take_wakes(time_point now) {
    bool was_woken = false;
    for (const auto& each : loops_) {
        if (std::exchange(each->is_woken, false)) {
            was_woken = true;
            each->engine->on_wake(now);
        }
    }
    return was_woken;
}

void sim_loops::close(time_point now) {
    for (const auto& each : loops_) {
        each->engine->close(now);
    }
}

void sim_loops::destroy() noexcept {
    for (const auto& each : loops_) {
        each->engine.reset();
    }
}

}  // namespace reprise::sim
