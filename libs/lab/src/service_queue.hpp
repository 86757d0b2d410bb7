#pragma once

/// The nodes of one service, with their queues and workers. It is independent of callers and
/// retries: callers pass the time, and it returns what to schedule.

#include <deque>
#include <vector>

#include <reprise/lab/model.hpp>

#include "event_queue.hpp"
#include "random_stream.hpp"

namespace reprise::lab::detail {

/// A service's work for one attempt.
struct work_item {
    attempt_id attempt;
    ticks expires = never;  ///< The caller gives up at this time.
};

/// The decision about an arrival.
enum class entry : std::uint8_t {
    started,  ///< A worker has started: schedule its completion.
    queued,
    rejected,  ///< The queue is full, or load is shed.
    refused,   ///< The service is down, or the node is bad.
};

/// Stands for the worker of an unlimited service.
inline constexpr std::uint32_t no_worker = 0xffff'ffffU;

/// Work that has started and completes at `at`.
struct started_work {
    std::uint32_t worker = 0;
    ticks at = 0;
};

class service_queue {
public:
    service_queue(const service_options& options, std::uint64_t seed, std::uint64_t lane);

    /// True if any number of requests is worked on at once. Such a service has no workers: its
    /// work starts with `no_worker` and ends with `complete_unlimited`.
    [[nodiscard]] bool is_unlimited() const noexcept { return !options_.capacity_per_second; }

    /// Decides about an arrival at a random node. `started` is set if work has started.
    [[nodiscard]] entry arrive(const work_item& item, ticks now, started_work& started);

    /// Whether a completion scheduled for this worker with this generation still counts.
    [[nodiscard]] bool is_current(std::uint32_t index, std::uint32_t generation) const noexcept {
        return (workers_[index].generation & 0x7fff'ffffU) == generation && workers_[index].is_busy;
    }
    [[nodiscard]] std::uint32_t generation_of(std::uint32_t index) const noexcept {
        return workers_[index].generation;
    }
    /// Ends the worker's current work and returns it. If more work waits, starts it; `next.at` is
    /// `never` otherwise.
    [[nodiscard]] work_item complete(std::uint32_t index, ticks now, started_work& next);

    void complete_unlimited() noexcept { --waiting_; }

    void stall(ticks now);
    /// Appends the completions to schedule. An unlimited service has none: it returns what has
    /// arrived meanwhile in `held`, to arrive again.
    void resume(ticks now, std::vector<started_work>& started, std::vector<work_item>& held);
    /// Appends what is waiting or being worked on to `lost`; answer these with an error.
    void crash(std::vector<work_item>& lost);
    void recover() noexcept { is_down_ = false; }

    /// Trouble: work takes `factor` times as long from now on.
    void set_work_factor(double factor) noexcept { factor_ = factor; }
    /// Trouble: the first node refuses this share of its requests.
    void set_bad_node_share(double share) noexcept { bad_share_ = share; }

    [[nodiscard]] bool is_stalled() const noexcept { return is_stalled_; }
    [[nodiscard]] bool is_down() const noexcept { return is_down_; }
    /// Includes requests being worked on.
    [[nodiscard]] std::uint32_t waiting() const noexcept { return waiting_; }
    /// Requests discarded because their callers had given up.
    [[nodiscard]] std::uint64_t dropped() const noexcept { return dropped_; }

private:
    struct node {
        std::deque<work_item> queue;
        std::vector<std::uint32_t> idle;  ///< Workers.
    };
    struct worker {
        work_item item;
        ticks ends = 0;
        std::uint32_t generation = 0;
        std::uint32_t node = 0;
        bool is_busy = false;
    };

    [[nodiscard]] ticks work_length() noexcept;
    void take_queued(std::vector<work_item>& taken);
    [[nodiscard]] bool take_next(node& from, ticks now, work_item& taken);
    [[nodiscard]] started_work start(std::uint32_t index, const work_item& item, ticks now);
    [[nodiscard]] bool sheds(const node& at) const noexcept;

    service_options options_;
    random_stream random_;
    random_stream choices_;
    double mean_ns_;
    double factor_ = 1.0;
    double bad_share_ = 0.0;
    std::vector<node> nodes_;
    std::vector<worker> workers_;
    bool is_stalled_ = false;
    bool is_down_ = false;
    std::uint32_t waiting_ = 0;
    std::uint64_t dropped_ = 0;
};

}  // namespace reprise::lab::detail
