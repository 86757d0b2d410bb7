#pragma once

/// The discrete-event loop. One object is one run of one policy.

#include <algorithm>
#include <deque>
#include <utility>
#include <vector>

#include <reprise/lab/storm.hpp>
#include <reprise/retry/latency_histogram.hpp>

#include "event_lines.hpp"
#include "random_stream.hpp"
#include "request_pool.hpp"
#include "server_model.hpp"

namespace reprise::lab {

/// A strategy whose bucket can be observed.
template <class Strategy>
concept has_bucket =
    requires(const Strategy& strategy) { strategy.budget().bucket()->milli_level(); };

/// What a client knows about an attempt that failed.
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

[[nodiscard]] constexpr bool was_worked_off(answer outcome) noexcept {
    return outcome == answer::done || outcome == answer::fault;
}

template <class Strategy>
class storm_simulation {
public:
    /// `make_client` appends one strategy to a deque. It is called once per client.
    template <class MakeClient>
    storm_simulation(const storm_options& options, MakeClient make_client)
        : options_(options),
          arrivals_(options.seed, 1),
          jitter_(options.seed, 3),
          faults_(options.seed, 4),
          slowness_(options.seed, 5),
          gap_ns_(1e9 / options.requests_per_second),
          server_(options),
          next_arrival_(arrivals_.exponential(gap_ns_)),
          next_edge_(options.outage_length > duration::zero() ? options.outage_start : never) {
        for (std::uint32_t i = 0; i < options.clients; ++i) {
            make_client(clients_);
        }
        slots_.reserve(static_cast<std::size_t>(options.length / slot_length));
        bucket_units_ = bucket_capacity_ = bucket_level(0) * options.clients;
    }

    /// Call it once.
    [[nodiscard]] storm_result run(const stop_question& should_stop) {
        bool is_stopped = false;
        for (std::size_t asked = 0; !is_stopped && step();) {
            if (slots_.size() != asked) {
                asked = slots_.size();
                is_stopped = should_stop && should_stop();
            }
        }
        while (!is_stopped && now_slot_end_ <= options_.length) {
            close_slot();
        }
        totals_.unfinished = totals_.requests - totals_.succeeded - totals_.failed;
        totals_.on_the_way = sends_.events().size();
        for (const event_line* line : {&answers_, &slow_answers_}) {
            for (const timed_attempt& event : line->events()) {
                totals_.answers_on_the_way += was_worked_off(event.outcome) ? 1U : 0U;
            }
        }
        totals_.latency_p99 = healthy_latencies_.percentile(0.99);
        storm_result result;
        result.totals = totals_;
        result.slots = std::move(slots_);
        result.is_complete = !is_stopped;
        return result;
    }

private:
    /// Handles the earliest event. Returns false at the end of the run. If events have the same
    /// time, the earlier one in this list goes first: the order is arbitrary but fixed.
    [[nodiscard]] bool step() {
        const duration next = std::min(
            {next_edge_, server_.next_completion(), sends_.next(), answers_.next(),
             slow_answers_.next(), timeouts_.next(), hedges_.next(), retries_.next(),
             next_arrival_});
        if (next >= options_.length) {
            return false;
        }
        while (now_slot_end_ <= next) {
            close_slot();
        }
        now_ = next;
        if (next == next_edge_) {
            pass_outage_edge();
        } else if (next == server_.next_completion()) {
            ++totals_.work_done;
            reply(
                server_.complete(),
                faults_.chance(options_.fault_share) ? answer::fault : answer::done);
        } else if (next == sends_.next()) {
            on_arrival_at_server(sends_.pop().attempt);
        } else if (next == answers_.next()) {
            on_answer(answers_.pop());
        } else if (next == slow_answers_.next()) {
            on_answer(slow_answers_.pop());
        } else if (next == timeouts_.next()) {
            on_timeout(timeouts_.pop().attempt);
        } else if (next == hedges_.next()) {
            hedge(hedges_.pop().attempt);
        } else if (next == retries_.next()) {
            send(retries_.pop().request);
        } else {
            start_request();
        }
        return true;
    }

    void pass_outage_edge() {
        if (now_ == options_.outage_start) {
            std::vector<attempt_id> dropped;
            server_.start_outage(now_, dropped);
            for (const attempt_id attempt : dropped) {
                refuse(attempt, answer::error);
            }
            next_edge_ = options_.outage_start + options_.outage_length;
        } else {
            server_.end_outage(now_);
            next_edge_ = never;
        }
    }

    /// One Poisson process distributed evenly is equivalent to one process per client.
    void start_request() {
        next_arrival_ = now_ + arrivals_.exponential(gap_ns_);
        const std::uint32_t client = arrivals_.below(options_.clients);
        const std::uint32_t index = pool_.acquire();
        request_slot<Strategy>& request = pool_[index];
        request.client = client;
        request.started = now_;
        request.session.emplace(clients_[client], call_);
        ++totals_.requests;
        ++current_.offered;
        const duration delay = request.session->begin(context_if_needed(request));
        send_after(delay, index);
    }

    void send_after(duration delay, std::uint32_t index) {
        if (delay > duration::zero()) {
            retries_.push(now_ + delay, {index, pool_[index].generation});
        } else {
            send(index);
        }
    }

    void send(std::uint32_t index) {
        const attempt_id attempt{index, pool_[index].generation};
        transmit(attempt);
        if (options_.hedge_delay) {
            hedges_.push({now_ + *options_.hedge_delay, attempt, {}});
        }
    }

    /// The attempt takes long: asks for a second one beside it.
    void hedge(attempt_id slow) {
        if (!pool_.is_current(slow)) {
            return;
        }
        request_slot<Strategy>& request = pool_[slow.request];
        const std::int64_t before = bucket_level(request.client);
        const bool is_admitted =
            request.session->admit_hedge(decision_context{time_point{now_}, jitter_.bits()});
        bucket_units_ += bucket_level(request.client) - before;
        if (is_admitted) {
            ++totals_.hedges;
            transmit({slow.request, slow.generation, slow.part + 1});
        }
    }

    void transmit(attempt_id attempt) {
        pool_[attempt.request].running |= 1U << attempt.part;
        ++totals_.attempts_sent;
        sends_.push({now_ + options_.network_delay, attempt, {}});
        timeouts_.push({now_ + options_.attempt_timeout, attempt, {}});
    }

    void on_arrival_at_server(attempt_id attempt) {
        ++totals_.attempts_arrived;
        ++current_.attempts;
        switch (server_.arrive(attempt, now_)) {
            case admission::queued:
                totals_.waiting_max = std::max(totals_.waiting_max, server_.waiting());
                return;
            case admission::full:
                return refuse(attempt, answer::too_busy);
            case admission::refused:
                return refuse(attempt, answer::error);
        }
    }

    void refuse(attempt_id attempt, answer outcome) {
        ++totals_.errors;
        ++current_.errors;
        reply(attempt, outcome);
    }

    void reply(attempt_id attempt, answer outcome) {
        if (options_.slow_share > 0.0 && slowness_.chance(options_.slow_share)) {
            slow_answers_.push(
                {now_ + options_.network_delay + options_.slow_delay, attempt, outcome});
        } else {
            answers_.push({now_ + options_.network_delay, attempt, outcome});
        }
    }

    void on_answer(const timed_attempt& event) {
        const bool expected = pool_.is_current(event.attempt);
        if (!expected) {
            const std::uint32_t lost = was_worked_off(event.outcome) ? 1U : 0U;
            totals_.wasted += lost;
            current_.wasted += lost;
        } else if (event.outcome == answer::done) {
            succeed(event.attempt.request);
        } else {
            totals_.faults += event.outcome == answer::fault ? 1U : 0U;
            end_attempt(event.attempt, facts_of_answer(event.outcome));
        }
    }

    void on_timeout(attempt_id attempt) {
        if (pool_.is_current(attempt)) {
            end_attempt(attempt, facts_of_timeout());
        }
    }

    /// A failure counts when nothing runs beside the failed attempt any more.
    void end_attempt(attempt_id attempt, const failure_facts& facts) {
        request_slot<Strategy>& request = pool_[attempt.request];
        request.running &= ~(1U << attempt.part);
        if (request.running == 0) {
            fail(attempt.request, facts);
        }
    }

    void succeed(std::uint32_t index) {
        request_slot<Strategy>& request = pool_[index];
        const std::int64_t before = bucket_level(request.client);
        request.session->on_success(context_if_needed(request));
        bucket_units_ += bucket_level(request.client) - before;
        totals_.latency_sum += now_ - request.started;
        if (now_ < options_.outage_start || options_.outage_length == duration::zero()) {
            healthy_latencies_.record(now_ - request.started);
        }
        ++totals_.succeeded;
        ++current_.useful;
        pool_.release(index);
    }

    void fail(std::uint32_t index, const failure_facts& facts) {
        request_slot<Strategy>& request = pool_[index];
        const std::int64_t before = bucket_level(request.client);
        const driver::retry_step next =
            request.session->on_failure(facts, decision_context{time_point{now_}, jitter_.bits()});
        bucket_units_ += bucket_level(request.client) - before;
        if (next.is_retry) {
            ++request.generation;  // Later events for the old attempt are ignored.
            send_after(next.wait, index);
            return;
        }
        ++totals_.failed;
        ++current_.failed;
        pool_.release(index);
    }

    [[nodiscard]] decision_context context_if_needed(const request_slot<Strategy>& request) {
        return request.session->needs_time() ? decision_context{time_point{now_}, jitter_.bits()}
                                             : decision_context{};
    }

    [[nodiscard]] std::int64_t bucket_level(std::uint32_t client) const noexcept {
        if constexpr (has_bucket<Strategy>) {
            return clients_[client].budget().bucket()->milli_level();
        } else {
            static_cast<void>(client);
            return 0;
        }
    }

    void close_slot() {
        current_.waiting = server_.waiting();
        if (bucket_capacity_ > 0) {
            current_.bucket_share =
                static_cast<double>(bucket_units_) / static_cast<double>(bucket_capacity_);
        }
        slots_.push_back(current_);
        current_ = slot{};
        now_slot_end_ += slot_length;
    }

    const storm_options options_;
    const call_options call_{};
    random_stream arrivals_;
    random_stream jitter_;
    random_stream faults_;
    random_stream slowness_;
    double gap_ns_;
    server_model server_;
    std::deque<Strategy> clients_;
    request_pool<Strategy> pool_;

    duration now_{};
    duration next_arrival_;
    duration next_edge_;  ///< Start or end of the outage, whichever is next.
    event_line sends_;
    event_line answers_;
    event_line slow_answers_;
    event_line timeouts_;
    event_line hedges_;
    event_heap retries_;

    storm_totals totals_;
    latency_histogram healthy_latencies_;  ///< Before the outage.
    std::vector<slot> slots_;
    slot current_;
    duration now_slot_end_ = slot_length;
    std::int64_t bucket_units_ = 0;
    std::int64_t bucket_capacity_ = 0;
};

}  // namespace reprise::lab
