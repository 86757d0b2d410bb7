/// Calls and their attempts: the part of the simulation that drives the retry library.

#include <algorithm>

#include "simulation.hpp"

namespace reprise::lab::detail {

namespace {

[[nodiscard]] constexpr failure_facts facts_of_timeout() noexcept {
    failure_facts facts;
    facts.safety = retry_safety::yes;
    facts.timeout = true;
    return facts;
}

[[nodiscard]] constexpr failure_facts facts_of_answer(answer outcome) noexcept {
    failure_facts facts;
    facts.safety = retry_safety::yes;
    facts.throttling = outcome == answer::too_busy;
    return facts;
}

}  // namespace

std::uint32_t call_pool::acquire() {
    if (free_.empty()) {
        const std::uint32_t first = size();
        blocks_.push_back(std::make_unique<call_record[]>(block_count));
        for (std::uint32_t i = block_count; i > 0; --i) {
            free_.push_back(first + i - 1);  // The lowest index is used first.
        }
    }
    const std::uint32_t index = free_.back();
    free_.pop_back();
    return index;
}

void call_pool::release(std::uint32_t index) {
    (*this)[index].session.reset();
    free_.push_back(index);
}

void simulation::start_call(
    std::uint16_t layer, std::uint16_t service, std::uint32_t client, std::uint32_t job) {
    const std::uint32_t index = calls_.acquire();
    call_record& call = calls_[index];
    call.started = now_;
    call.client = client;
    call.job = job;
    call.jobs = 0;
    call.layer = layer;
    call.service = service;
    call.running = 0;
    call.is_waiting = call.has_ended = false;
    const retry_options& options = layers_[layer].callers.options();
    call.deadline = options.deadline ? now_ + options.deadline->count() : never;
    const call_options* used = &plain_options_;
    if (job != no_job && jobs_[job].has_caller) {
        const attempt_id outer = jobs_[job].attempt;
        call_record& parent = calls_[outer.call];
        const retry_options& outer_options = layers_[parent.layer].callers.options();
        if (outer_options.propagates_deadline) {
            call.deadline = std::min(call.deadline, parent.expires[outer.part]);
        }
        if (outer_options.passes_allowance) {
            call.own_options = std::make_unique<call_options>();
            call.own_options->outer_allowance = &parent.session->allowance();
            used = call.own_options.get();
        }
    }
    layer_state& callers = layers_[layer];
    call.session.emplace(callers.callers.strategy_of(client), *used);
    if (call.deadline != never) {
        call.session->set_deadline(time_point{duration{call.deadline}});
    }
    ++services_[service].totals.calls;
    ++services_[service].current.offered;
    // A composed strategy has no delay before the first attempt.
    static_cast<void>(decide_for(call, [&] { return call.session->on_start(context()); }));
    send(index);
}

void simulation::send(std::uint32_t index) {
    call_record& call = calls_[index];
    call.is_waiting = false;
    if (!call.session->try_start_attempt(context())) {
        end_call(index, false, refusal_reason::circuit_open);
        return;
    }
    call.running = 1;
    transmit(index, 0);
    if (layers_[call.layer].callers.options().hedge) {
        schedule_hedge(index);
    }
}

void simulation::transmit(std::uint32_t index, std::uint32_t part) {
    call_record& call = calls_[index];
    layer_state& callers = layers_[call.layer];
    service_state& service = services_[call.service];
    const attempt_id attempt{index, call.generation & 0x7fff'ffffU, part & 1U};
    const std::optional<duration>& timeout = callers.callers.options().attempt_timeout;
    call.sent[part] = now_;
    call.expires[part] = std::min(timeout ? now_ + timeout->count() : never, call.deadline);
    if (call.expires[part] != never) {
        events_.push(
            callers.timeout_line, {.at = std::max(now_, call.expires[part]),
                                   .attempt = attempt,
                                   .kind = event_kind::times_out});
    }
    ++service.totals.sent;
    events_.push(
        service.reach_line, {.at = now_ + service.travel_time(network_),
                             .attempt = attempt,
                             .service = call.service,
                             .kind = event_kind::reaches});
}

void simulation::schedule_hedge(std::uint32_t index) {
    const call_record& call = calls_[index];
    const layer_state& callers = layers_[call.layer];
    events_.push(
        callers.hedge_line, {.at = now_ + callers.callers.hedge_delay().count(),
                             .attempt = {index, call.generation & 0x7fff'ffffU, 0},
                             .kind = event_kind::hedges});
}

void simulation::on_retry(const event& next) {
    const call_record& call = calls_[next.attempt.call];
    if (call.is_waiting && (call.generation & 0x7fff'ffffU) == next.attempt.generation) {
        send(next.attempt.call);
    }
}

void simulation::on_hedge(const event& next) {
    call_record& call = calls_[next.attempt.call];
    if (!calls_.is_current(next.attempt) || call.running != 1) {
        return;
    }
    const auto is_canceled = [] { return false; };
    if (decide_for(call, [&] { return call.session->admit_hedge(context(), is_canceled); })) {
        call.running |= 2U;
        ++services_[call.service].totals.hedges;
        transmit(next.attempt.call, 1);
    }
}

void simulation::on_answer(const event& next) {
    service_state& service = services_[next.service];
    if (!calls_.is_current(next.attempt)) {
        const bool is_worked_off = next.outcome == answer::done || next.outcome == answer::fault;
        service.totals.wasted += is_worked_off ? 1U : 0U;
        service.current.wasted += is_worked_off ? 1U : 0U;
    } else if (next.outcome == answer::done) {
        succeed(next.attempt);
    } else {
        end_attempt(next.attempt, facts_of_answer(next.outcome));
    }
}

void simulation::on_timeout(const event& next) {
    if (calls_.is_current(next.attempt)) {
        end_attempt(next.attempt, facts_of_timeout());
    }
}

void simulation::end_attempt(attempt_id attempt, const failure_facts& facts) {
    call_record& call = calls_[attempt.call];
    call.running = static_cast<std::uint8_t>(call.running & ~(1U << attempt.part));
    const bool is_noted = layers_[call.layer].callers.options().hedge.has_value();
    if (is_noted) {
        // No failure here forbids a retry, so the last one is decided about.
        static_cast<void>(decide_for(
            call, [&] { return call.session->on_one_failed({.facts = facts}, false, context()); }));
    }
    if (call.running == 0) {
        fail(attempt.call, facts, is_noted);
    }
}

void simulation::succeed(attempt_id attempt) {
    call_record& call = calls_[attempt.call];
    layer& callers = layers_[call.layer].callers;
    if (callers.options().hedge) {
        callers.record_latency(duration{now_ - call.sent[attempt.part]});
        if (call.running == 3U) {
            callers.record_latency(duration{now_ - call.sent[1U - attempt.part]});
        }
    }
    static_cast<void>(decide_for(call, [&] {
        call.session->on_success(context());
        return true;
    }));
    end_call(attempt.call, true, refusal_reason::none);
}

void simulation::fail(std::uint32_t index, const failure_facts& facts, bool is_noted) {
    call_record& call = calls_[index];
    const driver::retry_step next = decide_for(call, [&] {
        return call.session->on_failed_attempt({.facts = facts, .is_noted = is_noted}, context());
    });
    if (!next.is_retry) {
        end_call(index, false, next.refusal);
        return;
    }
    ++call.generation;  // Later events for the old attempt are ignored.
    call.is_waiting = true;
    events_.push(
        event_queue::heap, {.at = now_ + next.wait.count(),
                            .attempt = {index, call.generation & 0x7fff'ffffU, 0},
                            .kind = event_kind::retries});
}

void simulation::end_call(std::uint32_t index, bool has_succeeded, refusal_reason why) {
    call_record& call = calls_[index];
    service_state& service = services_[call.service];
    call.has_ended = true;
    call.running = 0;
    ++call.generation;
    if (has_succeeded) {
        ++service.totals.succeeded;
        ++service.current.useful;
    } else {
        ++service.totals.failed;
        ++service.current.failed;
        ++service.totals.refusals[static_cast<std::size_t>(why)];
    }
    const std::uint32_t job = call.job;
    const std::uint32_t client = call.client;
    const duration latency{now_ - call.started};
    release_if_unused(index);
    if (job != no_job) {
        end_child(job, has_succeeded);
        return;
    }
    for (latency_record* const record :
         {&all_latencies_, &second_latencies_,
          now_ < schedule_.first_start() ? &latencies_before_ : nullptr}) {
        if (record != nullptr) {
            has_succeeded ? record->add(latency) : record->add_failure();
        }
    }
    if (model_.clients.arrivals == arrivals::closed) {
        continue_client(client);
    }
}

void simulation::continue_client(std::uint32_t client) {
    if (!requests_left_.empty() && requests_left_[client] == 0) {
        if (++clients_done_ == model_.clients.count) {
            finished_at_ = now_;
        }
        return;
    }
    const auto pause_ns = static_cast<double>(model_.clients.think_time.count());
    const ticks pause = pause_ns > 0.0 ? arrivals_.exponential(pause_ns).count() : 0;
    events_.push(
        event_queue::heap,
        {.at = now_ + pause, .attempt = {.call = client}, .kind = event_kind::client_sends});
}

void simulation::release_if_unused(std::uint32_t index) {
    const call_record& call = calls_[index];
    if (call.has_ended && call.jobs == 0) {
        calls_.release(index);
    }
}

void simulation::start_job(std::uint16_t service, attempt_id attempt) {
    // A service does not notice that its caller has given up, unless it got the deadline.
    const bool is_current = calls_.is_current(attempt);
    const layer& callers_of_service = layers_[services_[service].layer].callers;
    if (!is_current && callers_of_service.options().propagates_deadline) {
        reply(service, attempt, answer::done);
        return;
    }
    std::uint32_t index = 0;
    if (free_jobs_.empty()) {
        index = static_cast<std::uint32_t>(jobs_.size());
        jobs_.emplace_back();
    } else {
        index = free_jobs_.back();
        free_jobs_.pop_back();
    }
    const std::vector<std::uint16_t>& targets = services_[service].targets;
    jobs_[index] = {
        attempt, static_cast<std::uint32_t>(targets.size()), service, is_current, false};
    calls_[attempt.call].jobs += is_current ? 1U : 0U;
    const auto layer = static_cast<std::uint16_t>(service + 1);
    const std::uint32_t callers = layers_[layer].client_count;
    for (const std::uint16_t target : targets) {
        start_call(layer, target, callers == 1 ? 0 : arrivals_.below(callers), index);
    }
}

void simulation::end_child(std::uint32_t job, bool has_succeeded) {
    job_record& record = jobs_[job];
    --record.pending;
    if (!record.is_answered && (!has_succeeded || record.pending == 0)) {
        record.is_answered = true;
        reply(record.service, record.attempt, has_succeeded ? answer::done : answer::fault);
    }
    if (record.pending == 0) {
        const std::uint32_t call = record.attempt.call;
        free_jobs_.push_back(job);
        if (record.has_caller) {
            --calls_[call].jobs;
            release_if_unused(call);
        }
    }
}

}  // namespace reprise::lab::detail
