#pragma once

/// The discrete-event loop. One object is one run of one model.

#include <memory>
#include <optional>
#include <vector>

#include <reprise/lab/run.hpp>

#include "event_queue.hpp"
#include "latency_record.hpp"
#include "layer.hpp"
#include "random_stream.hpp"
#include "service_queue.hpp"
#include "stable_vector.hpp"
#include "trouble_schedule.hpp"

namespace reprise::lab::detail {

/// "No job": the call was made by a client.
inline constexpr std::uint32_t no_job = 0xffff'ffffU;

/// One call in progress: a retry loop of a client or of a service.
struct call_record {
    std::optional<layer_session> session;
    /// Only for calls that take retries from an outer loop's allowance.
    std::unique_ptr<call_options> own_options;
    ticks started = 0;
    ticks deadline = never;
    ticks sent[2] = {};        ///< By part.
    ticks expires[2] = {};     ///< When the caller gives up the attempt; by part.
    std::uint32_t client = 0;  ///< Index in its layer.
    std::uint32_t generation = 0;
    std::uint32_t job = no_job;  ///< Of the service that makes the call.
    std::uint32_t jobs = 0;      ///< That services do for its attempts. They use its allowance.
    std::uint16_t layer = 0;
    std::uint16_t service = 0;
    std::uint8_t running = 0;  ///< One bit for each part of the attempt.
    bool is_waiting = false;   ///< For a retry.
    bool has_ended = false;
};

/// The calls in progress. Their addresses never change, because a session cannot move.
class call_pool {
public:
    [[nodiscard]] std::uint32_t acquire();
    void release(std::uint32_t index);
    [[nodiscard]] call_record& operator[](std::uint32_t index) noexcept {
        return blocks_[index / block_count][index % block_count];
    }
    [[nodiscard]] bool is_current(attempt_id attempt) noexcept {
        const call_record& call = (*this)[attempt.call];
        return (call.generation & 0x7fff'ffffU) == attempt.generation &&
               (call.running >> attempt.part & 1U) != 0;
    }
    [[nodiscard]] std::uint32_t size() const noexcept {
        return static_cast<std::uint32_t>(blocks_.size()) * block_count;
    }

private:
    static constexpr std::uint32_t block_count = 1024;
    std::vector<std::unique_ptr<call_record[]>> blocks_;
    std::vector<std::uint32_t> free_;
};

/// Calls that a service makes for one attempt it works on.
struct job_record {
    attempt_id attempt;         ///< To be answered.
    std::uint32_t pending = 0;  ///< Calls that have not ended.
    std::uint16_t service = 0;
    bool has_caller = false;  ///< The record of the caller's call is still that call's.
    bool is_answered = false;
};

class simulation {
public:
    /// The model has been checked.
    explicit simulation(const model& checked);
    [[nodiscard]] run_result run(const run_monitor& monitor);

private:
    /// A service, its place in the queue of events, and what is counted about it.
    struct service_state {
        service_state(const model& of, std::uint16_t index, event_queue& events);
        /// Of one message to or from the service.
        [[nodiscard]] ticks travel_time(random_stream& network) const noexcept;
        service_options options;
        service_queue queue;
        event_queue::source reach_line;
        event_queue::source answer_line;
        std::vector<std::uint16_t> targets;  ///< One entry for each call.
        double failure_share;
        double slow_share;
        ticks slow_delay;
        std::uint32_t version = 0;  ///< Of a contended record.
        service_totals totals;
        slot current;
        std::vector<slot> slots;
        std::uint16_t layer = 0;  ///< Of the callers of this service.
    };
    struct layer_state {
        layer_state(
            const retry_options& options, std::uint32_t clients, bool is_warm, event_queue& events);
        layer callers;
        event_queue::source timeout_line;
        event_queue::source hedge_line;
        std::uint32_t client_count;
        std::int64_t bucket_units;
        std::int64_t bucket_capacity;
    };
    void start_clients();
    void dispatch(const event& next);
    void on_arrival();
    void on_edge();
    void on_retry(const event& next);
    void on_reach(const event& next);
    void on_write(const event& next);
    void on_completion(const event& next);
    void on_answer(const event& next);
    void on_timeout(const event& next);
    void on_hedge(const event& next);
    void on_client_sends(const event& next);
    void on_restart(const event& next);

    void start_call(
        std::uint16_t layer, std::uint16_t service, std::uint32_t client, std::uint32_t job);
    void send(std::uint32_t index);
    void transmit(std::uint32_t index, std::uint32_t part);
    void schedule_hedge(std::uint32_t index);
    void reach(std::uint16_t service, const work_item& item);
    void reject(std::uint16_t service, attempt_id attempt, answer outcome);
    void schedule_work(std::uint16_t service, attempt_id attempt, const started_work& started);
    void end_work(std::uint16_t service, attempt_id attempt);
    void reply(std::uint16_t service, attempt_id attempt, answer outcome);
    void start_job(std::uint16_t service, attempt_id attempt);
    void end_child(std::uint32_t job, bool has_succeeded);
    void end_attempt(attempt_id attempt, const failure_facts& facts);
    void succeed(attempt_id attempt);
    /// `is_noted`: the session has recorded the failure, as one of several attempts.
    void fail(std::uint32_t index, const failure_facts& facts, bool is_noted);
    void end_call(std::uint32_t index, bool has_succeeded, refusal_reason why);
    void continue_client(std::uint32_t client);
    void release_if_unused(std::uint32_t index);

    void apply_troubles(std::uint16_t service);
    void apply_stalls(std::uint16_t service, bool is_stalled, bool is_down);
    void wake_waiting_calls();
    void close_slot();
    [[nodiscard]] run_result take_result(bool is_complete);
    void count_leftovers();

    [[nodiscard]] driver::decision_context context() noexcept {
        return {time_point{duration{now_}}, jitter_.bits(), nullptr};
    }
    /// Runs `decide` with the budget of the call's client, and tracks the level of the buckets.
    template <class Decide>
    auto decide_for(const call_record& call, Decide decide) {
        layer_state& layer = layers_[call.layer];
        layer.callers.select(call.client);
        if (!layer.callers.has_buckets()) {
            return decide();
        }
        const std::int64_t before = layer.callers.selected_level();
        const auto decided = decide();
        layer.bucket_units += layer.callers.selected_level() - before;
        return decided;
    }

    model model_;
    event_queue events_;
    stable_vector<service_state> services_;
    stable_vector<layer_state> layers_;  ///< The clients, then one for each service.
    call_pool calls_;
    std::vector<job_record> jobs_;
    std::vector<std::uint32_t> free_jobs_;
    const call_options plain_options_{};

    random_stream arrivals_;
    random_stream jitter_;
    random_stream faults_;
    random_stream network_;
    ticks now_ = 0;
    ticks next_arrival_ = never;
    ticks slot_end_ = slot_length.count();
    double gap_ns_ = 0.0;
    trouble_schedule schedule_;

    std::vector<std::uint32_t> requests_left_;  ///< By client, if limited.
    std::uint64_t clients_done_ = 0;
    ticks finished_at_ = 0;
    latency_record all_latencies_;
    latency_record latencies_before_;
    latency_record second_latencies_;
    std::vector<latency_second> latency_seconds_;
};

}  // namespace reprise::lab::detail
