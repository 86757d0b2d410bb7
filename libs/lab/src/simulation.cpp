#include "simulation.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace reprise::lab::detail {

namespace {

/// A monitor is asked at least once in so many events, also if many happen within one slot.
constexpr std::uint64_t events_per_question = 1U << 18U;

constexpr ticks ticks_per_second = 1'000'000'000;

}  // namespace

simulation::service_state::service_state(const model& of, std::uint16_t index, event_queue& events)
    : options(of.services[index]),
      queue(options, of.seed, 100 + 2 * std::uint64_t{index}),
      failure_share(options.failure_share),
      slow_share(options.slow_share),
      slow_delay(options.slow_delay.count()) {
    const bool is_constant = options.network_jitter == duration::zero();
    reach_line = is_constant ? events.add_line() : event_queue::heap;
    answer_line = is_constant ? events.add_line() : event_queue::heap;
    for (const call_target& call : options.calls) {
        const auto found = std::ranges::find(of.services, call.service, &service_options::name);
        targets.insert(
            targets.end(), call.count, static_cast<std::uint16_t>(found - of.services.begin()));
    }
    slots.reserve(static_cast<std::size_t>(of.length / slot_length));
}

simulation::layer_state::layer_state(
    const retry_options& options, std::uint32_t clients, bool is_warm, event_queue& events)
    : callers(options, clients, is_warm),
      timeout_line(
          options.attempt_timeout && !options.deadline ? events.add_line() : event_queue::heap),
      hedge_line(callers.has_constant_hedge_delay() ? events.add_line() : event_queue::heap),
      client_count(clients),
      bucket_units(callers.level_sum()),
      bucket_capacity(callers.capacity_sum()) {}

simulation::simulation(const model& checked)
    : model_(checked),
      arrivals_(checked.seed, 1),
      jitter_(checked.seed, 3),
      faults_(checked.seed, 4),
      network_(checked.seed, 5),
      schedule_(checked.troubles) {
    const client_options& clients = model_.clients;
    layers_.emplace_back(clients.retries, clients.count, clients.is_warm, events_);
    for (std::size_t i = 0; i < model_.services.size(); ++i) {
        services_.emplace_back(model_, static_cast<std::uint16_t>(i), events_);
        const service_options& service = model_.services[i];
        layers_.emplace_back(service.retries, service.nodes, false, events_);
    }
    for (std::size_t i = 0; i < services_.size(); ++i) {
        for (const std::uint16_t target : services_[i].targets) {
            services_[target].layer = static_cast<std::uint16_t>(i + 1);
        }
        // A propagated deadline cuts timeouts, which are then no longer in order.
        layers_[i + 1U].timeout_line = event_queue::heap;
    }
    start_clients();
}

run_result simulation::run(const run_monitor& monitor) {
    std::uint64_t events = 0;
    bool is_stopped = false;
    const auto share = [&] {
        return static_cast<double>(now_) / static_cast<double>(model_.length.count());
    };
    while (!is_stopped) {
        const ticks next = events_.next_time();
        const ticks trouble = schedule_.next();
        const ticks control = std::min({slot_end_, next_arrival_, trouble});
        if (next < control) {
            now_ = next;
            dispatch(events_.pop());
            if (++events % events_per_question == 0 && monitor) {
                is_stopped = monitor(share());
            }
            continue;
        }
        now_ = control;
        if (control == slot_end_) {
            close_slot();
            if (now_ >= model_.length.count()) {
                break;
            }
            is_stopped = monitor && monitor(share());
        } else if (control == trouble) {
            on_edge();
        } else {
            on_arrival();
        }
    }
    return take_result(!is_stopped);
}

void simulation::start_clients() {
    const client_options& clients = model_.clients;
    if (clients.arrivals == arrivals::open) {
        gap_ns_ = 1e9 / clients.requests_per_second;
        next_arrival_ = arrivals_.exponential(gap_ns_).count();
    } else {
        if (clients.requests_each) {
            requests_left_.assign(clients.count, *clients.requests_each);
        }
        for (std::uint32_t client = 0; client < clients.count; ++client) {
            const ticks start =
                reprise::detail::scale_random(clients.think_time, arrivals_.bits()).count();
            events_.push(
                event_queue::heap,
                {.at = start, .attempt = {.call = client}, .kind = event_kind::client_sends});
        }
    }
    if (clients.restart_interval) {
        const auto mean = static_cast<double>(clients.restart_interval->count());
        for (std::uint32_t client = 0; client < clients.count; ++client) {
            events_.push(
                event_queue::heap, {.at = arrivals_.exponential(mean).count(),
                                    .attempt = {.call = client},
                                    .kind = event_kind::restarts});
        }
    }
}

void simulation::dispatch(const event& next) {
    switch (next.kind) {
        case event_kind::client_sends:
            return on_client_sends(next);
        case event_kind::restarts:
            return on_restart(next);
        case event_kind::retries:
            return on_retry(next);
        case event_kind::reaches:
            return on_reach(next);
        case event_kind::writes:
            return on_write(next);
        case event_kind::completes:
            return on_completion(next);
        case event_kind::answers:
            return on_answer(next);
        case event_kind::times_out:
            return on_timeout(next);
        case event_kind::hedges:
            return on_hedge(next);
    }
}

void simulation::on_arrival() {
    next_arrival_ = now_ + arrivals_.exponential(gap_ns_).count();
    const std::uint32_t count = model_.clients.count;
    start_call(0, 0, count == 1 ? 0 : arrivals_.below(count), no_job);
}

void simulation::on_client_sends(const event& next) {
    const std::uint32_t client = next.attempt.call;
    if (!requests_left_.empty()) {
        --requests_left_[client];
    }
    start_call(0, 0, client, no_job);
}

void simulation::on_restart(const event& next) {
    layer_state& clients = layers_[0];
    const std::uint32_t client = next.attempt.call;
    clients.callers.select(client);
    const std::int64_t before = clients.callers.selected_level();
    clients.callers.restart(client);
    clients.callers.select(client);
    clients.bucket_units += clients.callers.selected_level() - before;
    for (std::uint32_t i = 0; i < next.extra; ++i) {
        start_call(0, 0, client, no_job);
    }
    if (model_.clients.restart_interval && next.outcome == answer::done) {
        const auto mean = static_cast<double>(model_.clients.restart_interval->count());
        event again = next;
        again.at = now_ + arrivals_.exponential(mean).count();
        events_.push(event_queue::heap, again);
    }
}

void simulation::on_reach(const event& next) {
    service_state& service = services_[next.service];
    ++service.totals.arrived;
    ++service.current.attempts;
    if (service.options.is_contended_record) {
        const ticks back = now_ + service.travel_time(network_) + service.travel_time(network_);
        event write = next;
        write.at = back;
        write.kind = event_kind::writes;
        write.extra = service.version;
        events_.push(event_queue::heap, write);
        return;
    }
    const call_record& call = calls_[next.attempt.call];
    const bool is_expired = !calls_.is_current(next.attempt);
    reach(next.service, {next.attempt, is_expired ? now_ : call.expires[next.attempt.part]});
}

void simulation::reach(std::uint16_t index, const work_item& item) {
    service_state& service = services_[index];
    started_work started;
    switch (service.queue.arrive(item, now_, started)) {
        case entry::started:
            schedule_work(index, item.attempt, started);
            break;
        case entry::queued:
            break;
        case entry::rejected:
            reject(index, item.attempt, answer::too_busy);
            break;
        case entry::refused:
            reject(index, item.attempt, answer::error);
            break;
    }
    service.totals.waiting_max = std::max(service.totals.waiting_max, service.queue.waiting());
}

void simulation::reject(std::uint16_t service, attempt_id attempt, answer outcome) {
    ++services_[service].totals.rejected;
    ++services_[service].current.errors;
    reply(service, attempt, outcome);
}

void simulation::on_write(const event& next) {
    service_state& service = services_[next.service];
    const bool is_first = service.version == next.extra;
    service.version += is_first ? 1U : 0U;
    ++service.totals.done;
    reply(next.service, next.attempt, is_first ? answer::done : answer::conflict);
}

void simulation::schedule_work(
    std::uint16_t index, attempt_id attempt, const started_work& started) {
    service_queue& queue = services_[index].queue;
    if (started.worker == no_worker) {
        if (started.at == now_) {
            queue.complete_unlimited();
            end_work(index, attempt);
            return;
        }
    } else {
        attempt.generation = queue.generation_of(started.worker) & 0x7fff'ffffU;
    }
    events_.push(
        event_queue::work_heap, {.at = started.at,
                                 .attempt = attempt,
                                 .extra = started.worker,
                                 .service = index,
                                 .kind = event_kind::completes});
}

void simulation::on_completion(const event& next) {
    service_queue& queue = services_[next.service].queue;
    if (next.extra == no_worker) {
        queue.complete_unlimited();
        end_work(next.service, next.attempt);
        return;
    }
    if (!queue.is_current(next.extra, next.attempt.generation)) {
        return;
    }
    started_work started;
    const work_item done = queue.complete(next.extra, now_, started);
    if (started.at != never) {
        schedule_work(next.service, done.attempt, started);
    }
    end_work(next.service, done.attempt);
}

void simulation::end_work(std::uint16_t index, attempt_id attempt) {
    service_state& service = services_[index];
    ++service.totals.done;
    if (service.failure_share > 0.0 && faults_.chance(service.failure_share)) {
        reply(index, attempt, answer::fault);
    } else if (service.targets.empty()) {
        reply(index, attempt, answer::done);
    } else {
        start_job(index, attempt);
    }
}

void simulation::reply(std::uint16_t index, attempt_id attempt, answer outcome) {
    service_state& service = services_[index];
    event back{
        .at = now_ + service.travel_time(network_),
        .attempt = attempt,
        .service = index,
        .kind = event_kind::answers,
        .outcome = outcome};
    const bool is_worked_off = outcome == answer::done || outcome == answer::fault;
    if (is_worked_off && service.slow_share > 0.0 && faults_.chance(service.slow_share)) {
        back.at += service.slow_delay;
        events_.push(event_queue::heap, back);
    } else {
        events_.push(service.answer_line, back);
    }
}

ticks simulation::service_state::travel_time(random_stream& network) const noexcept {
    const duration mean = options.network_delay;
    if (options.network_jitter == duration::zero()) {
        return mean.count();
    }
    // Box and Muller's method.
    const double radius =
        std::sqrt(-2.0 * std::log((static_cast<double>(network.bits() >> 11U) + 1.0) * 0x1.0p-53));
    const double angle =
        2.0 * std::numbers::pi * static_cast<double>(network.bits() >> 11U) * 0x1.0p-53;
    const double normal = radius * std::cos(angle);
    const double delay = static_cast<double>(mean.count()) +
                         normal * static_cast<double>(options.network_jitter.count());
    return static_cast<ticks>(std::abs(delay));
}

void simulation::close_slot() {
    for (service_state& service : services_.all()) {
        const layer_state& callers = layers_[service.layer];
        service.current.waiting = service.queue.waiting();
        if (callers.bucket_capacity > 0) {
            service.current.bucket_share = static_cast<double>(callers.bucket_units) /
                                           static_cast<double>(callers.bucket_capacity);
        }
        service.slots.push_back(service.current);
        service.current = slot{};
    }
    if (slot_end_ % ticks_per_second == 0) {
        latency_seconds_.push_back(
            {second_latencies_.percentile(0.5), second_latencies_.percentile(0.99)});
        second_latencies_.clear();
    }
    slot_end_ += slot_length.count();
}

void simulation::count_leftovers() {
    for (service_state& service : services_.all()) {
        service_totals& totals = service.totals;
        totals.unfinished = totals.calls - totals.succeeded - totals.failed;
        totals.on_the_way = totals.sent - totals.arrived;
        totals.dropped = service.queue.dropped();
    }
}

run_result simulation::take_result(bool is_complete) {
    count_leftovers();
    run_result result;
    result.is_complete = is_complete;
    for (service_state& service : services_.all()) {
        result.services.push_back({service.options.name, service.totals, std::move(service.slots)});
    }
    result.latency = all_latencies_.summary();
    result.latency_before = latencies_before_.summary();
    result.latency_seconds = std::move(latency_seconds_);
    result.finished_at = duration{finished_at_};
    if (is_complete) {
        const trouble_window window = window_of(model_);
        result.recovery =
            find_recovery(result.services.front().slots, {window.start, window.length});
    }
    return result;
}

}  // namespace reprise::lab::detail
