/// Trouble: what changes at its start and its end.

#include <algorithm>

#include "simulation.hpp"

namespace reprise::lab::detail {

void simulation::on_edge() {
    const trouble_edge reached = schedule_.advance();
    const trouble& what = model_.troubles[reached.trouble];
    if (what.kind == trouble_kind::spike) {
        double factor = 1.0;
        for (std::size_t i = 0; i < model_.troubles.size(); ++i) {
            const bool is_spike =
                schedule_.is_active(i) && model_.troubles[i].kind == trouble_kind::spike;
            factor *= is_spike ? model_.troubles[i].factor : 1.0;
        }
        if (next_arrival_ != never) {
            // Exponential gaps have no memory, so the next arrival is simply drawn again.
            gap_ns_ = 1e9 / (model_.clients.requests_per_second * factor);
            next_arrival_ = now_ + arrivals_.exponential(gap_ns_).count();
        }
    } else if (what.kind == trouble_kind::deploy) {
        const std::uint32_t count = reached.is_start ? model_.clients.count : 0;
        for (std::uint32_t client = 0; client < count; ++client) {
            // `outcome` keeps this restart from scheduling another one.
            events_.push(
                event_queue::heap, {.at = now_ + what.length.count() / count * client,
                                    .attempt = {.call = client},
                                    .extra = what.burst,
                                    .kind = event_kind::restarts,
                                    .outcome = answer::fault});
        }
    } else {
        const auto found = std::ranges::find(model_.services, what.service, &service_options::name);
        const bool is_named = found != model_.services.end();
        apply_troubles(static_cast<std::uint16_t>(is_named ? found - model_.services.begin() : 0));
    }
    if (!reached.is_start) {
        wake_waiting_calls();
    }
}

void simulation::apply_troubles(std::uint16_t index) {
    service_state& service = services_[index];
    double work_factor = 1.0;
    double bad_share = 0.0;
    double good_share = 1.0 - service.options.failure_share;
    bool is_stalled = false;
    bool is_down = false;
    service.slow_share = service.options.slow_share;
    service.slow_delay = service.options.slow_delay.count();
    for (std::size_t i = 0; i < model_.troubles.size(); ++i) {
        const trouble& each = model_.troubles[i];
        const bool is_here =
            each.service == service.options.name || (each.service.empty() && index == 0);
        if (!schedule_.is_active(i) || !is_here) {
            continue;
        }
        switch (each.kind) {
            case trouble_kind::stall:
                is_stalled = true;
                break;
            case trouble_kind::crash:
                is_down = true;
                break;
            case trouble_kind::slow_down:
                work_factor *= each.factor;
                break;
            case trouble_kind::capacity_loss:
                work_factor /= 1.0 - each.share;
                break;
            case trouble_kind::errors:
                good_share *= 1.0 - each.share;
                break;
            case trouble_kind::slow_answers:
                service.slow_share = each.share;
                service.slow_delay = each.delay.count();
                break;
            case trouble_kind::bad_node:
                bad_share = each.share;
                break;
            case trouble_kind::spike:
            case trouble_kind::deploy:
                break;
        }
    }
    service.failure_share = 1.0 - good_share;
    service.queue.set_work_factor(work_factor);
    service.queue.set_bad_node_share(bad_share);
    apply_stalls(index, is_stalled, is_down);
}

void simulation::apply_stalls(std::uint16_t index, bool is_stalled, bool is_down) {
    service_queue& queue = services_[index].queue;
    std::vector<work_item> items;
    if (is_down && !queue.is_down()) {
        queue.crash(items);
        for (const work_item& lost : items) {
            reject(index, lost.attempt, answer::error);
        }
    } else if (!is_down && queue.is_down()) {
        queue.recover();
    }
    if (is_stalled && !queue.is_stalled()) {
        queue.stall(now_);
    } else if (!is_stalled && queue.is_stalled()) {
        items.clear();
        std::vector<started_work> started;
        queue.resume(now_, started, items);
        for (const started_work& each : started) {
            schedule_work(index, attempt_id{}, each);
        }
        for (const work_item& held : items) {
            reach(index, held);
        }
    }
}

void simulation::wake_waiting_calls() {
    std::vector<std::uint64_t> woken(layers_.size(), 0);
    for (std::uint32_t index = 0; index < calls_.size(); ++index) {
        call_record& call = calls_[index];
        const std::optional<wake_options>& wake = layers_[call.layer].callers.options().wake;
        if (!call.is_waiting || call.has_ended || !wake) {
            continue;
        }
        ++call.generation;  // The pause that it is in no longer counts.
        const double gap_ns = wake->per_second ? 1e9 / *wake->per_second : 0.0;
        const double after = gap_ns * static_cast<double>(woken[call.layer]++);
        events_.push(
            event_queue::heap, {.at = now_ + static_cast<ticks>(after),
                                .attempt = {index, call.generation & 0x7fff'ffffU, 0},
                                .kind = event_kind::retries});
    }
}

}  // namespace reprise::lab::detail
