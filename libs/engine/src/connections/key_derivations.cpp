#include "connections/key_derivations.hpp"

#include <algorithm>
#include <utility>

namespace reprise::engine {

bool key_derivations::want(const wire::key_derivation& wanted, connection_id by) {
    const auto same = std::ranges::find(jobs_, wanted, &job::wanted);
    if (same != jobs_.end()) {
        same->waiting.push_back(by);
        return true;
    }
    if (jobs_.size() >= wanted_count_max) {
        return false;
    }
    jobs_.push_back({derivation_id{++id_last_}, wanted, {by}, false});
    return true;
}

void key_derivations::forget(connection_id by) {
    for (job& each : jobs_) {
        std::erase(each.waiting, by);
    }
    std::erase_if(jobs_, [](job& each) {
        const bool is_idle = !each.is_running && each.waiting.empty();
        if (is_idle) {
            wire::wipe_secret(each.wanted.password);
        }
        return is_idle;
    });
}

void key_derivations::begin(action_list& out) {
    while (true) {
        // The first of several smallest ones.
        const auto next = std::ranges::min_element(jobs_, {}, [](const job& each) {
            return std::pair(each.is_running, each.wanted.iterations);
        });
        if (next == jobs_.end() || next->is_running || !places_.try_enter()) {
            return;
        }
        next->is_running = true;
        out.emplace_back(derive_key_action{next->id, next->wanted});
    }
}

std::vector<connection_id> key_derivations::on_derived(
    derivation_id derivation, const std::string& key) {
    const auto done = std::ranges::find(jobs_, derivation, &job::id);
    if (done == jobs_.end() || !done->is_running) {
        return {};
    }
    if (!key.empty()) {
        known_.insert(done->wanted, key);
    }
    wire::wipe_secret(done->wanted.password);
    std::vector<connection_id> waited = std::move(done->waiting);
    jobs_.erase(done);
    places_.release();
    return waited;
}

}  // namespace reprise::engine
