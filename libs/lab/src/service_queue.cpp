#include "service_queue.hpp"

namespace reprise::lab::detail {

service_queue::service_queue(const service_options& options, std::uint64_t seed, std::uint64_t lane)
    : options_(options),
      random_(seed, lane),
      choices_(seed, lane + 1),
      mean_ns_(static_cast<double>(options.work_mean.count())) {
    if (is_unlimited()) {
        nodes_.resize(options.nodes);
        return;
    }
    const std::uint32_t count = options.nodes * options.concurrency;
    mean_ns_ = 1e9 * count / *options.capacity_per_second;
    nodes_.resize(options.nodes);
    workers_.resize(count);
    for (std::uint32_t index = 0; index < count; ++index) {
        workers_[index].node = index / options.concurrency;
        nodes_[workers_[index].node].idle.push_back(index);
    }
}

ticks service_queue::work_length() noexcept {
    const double mean = mean_ns_ * factor_;
    return options_.work == work_time::fixed ? static_cast<ticks>(mean)
                                             : random_.exponential(mean).count();
}

entry service_queue::arrive(const work_item& item, ticks now, started_work& started) {
    if (is_down_) {
        return entry::refused;
    }
    const std::uint32_t chosen = nodes_.size() == 1 ? 0 : choices_.below(options_.nodes);
    if (bad_share_ > 0.0 && chosen == 0 && choices_.chance(bad_share_)) {
        return entry::refused;
    }
    node& at = nodes_[chosen];
    if (is_unlimited() && !is_stalled_) {
        ++waiting_;
        started = {no_worker, mean_ns_ > 0.0 ? now + work_length() : now};
        return entry::started;
    }
    if (!is_stalled_ && !at.idle.empty()) {
        const std::uint32_t index = at.idle.back();
        at.idle.pop_back();
        ++waiting_;
        started = start(index, item, now);
        return entry::started;
    }
    if ((options_.queue_limit && at.queue.size() >= *options_.queue_limit) || sheds(at)) {
        return entry::rejected;
    }
    ++waiting_;
    at.queue.push_back(item);
    return entry::queued;
}

work_item service_queue::complete(std::uint32_t index, ticks now, started_work& next) {
    worker& done = workers_[index];
    const work_item item = done.item;
    --waiting_;
    done.is_busy = false;
    ++done.generation;
    work_item taken;
    if (take_next(nodes_[done.node], now, taken)) {
        next = start(index, taken, now);
    } else {
        nodes_[done.node].idle.push_back(index);
        next.at = never;
    }
    return item;
}

void service_queue::stall(ticks now) {
    is_stalled_ = true;
    for (worker& each : workers_) {
        each.ends = each.is_busy ? each.ends - now : 0;  // What is left of the work.
        ++each.generation;
    }
}

void service_queue::resume(
    ticks now, std::vector<started_work>& started, std::vector<work_item>& held) {
    is_stalled_ = false;
    if (is_unlimited()) {
        take_queued(held);
        return;
    }
    for (std::uint32_t index = 0; index < workers_.size(); ++index) {
        worker& each = workers_[index];
        if (each.is_busy) {
            each.ends += now;
            started.push_back({index, each.ends});
        }
    }
    for (node& each : nodes_) {
        work_item taken;
        while (!each.idle.empty() && take_next(each, now, taken)) {
            const std::uint32_t index = each.idle.back();
            each.idle.pop_back();
            started.push_back(start(index, taken, now));
        }
    }
}

void service_queue::crash(std::vector<work_item>& lost) {
    is_down_ = true;
    for (std::uint32_t index = 0; index < workers_.size(); ++index) {
        worker& each = workers_[index];
        if (each.is_busy) {
            lost.push_back(each.item);
            each.is_busy = false;
            ++each.generation;
            nodes_[each.node].idle.push_back(index);
        }
    }
    waiting_ -= static_cast<std::uint32_t>(lost.size());
    take_queued(lost);
}

void service_queue::take_queued(std::vector<work_item>& taken) {
    for (node& each : nodes_) {
        taken.insert(taken.end(), each.queue.begin(), each.queue.end());
        waiting_ -= static_cast<std::uint32_t>(each.queue.size());
        each.queue.clear();
    }
}

bool service_queue::take_next(node& from, ticks now, work_item& taken) {
    while (!from.queue.empty()) {
        const bool is_first = options_.order == queue_order::first_in;
        taken = is_first ? from.queue.front() : from.queue.back();
        is_first ? from.queue.pop_front() : from.queue.pop_back();
        if (!options_.drops_expired || taken.expires > now) {
            return true;
        }
        --waiting_;
        ++dropped_;
    }
    return false;
}

started_work service_queue::start(std::uint32_t index, const work_item& item, ticks now) {
    worker& used = workers_[index];
    used.item = item;
    used.is_busy = true;
    used.ends = now + work_length();
    return {index, used.ends};
}

bool service_queue::sheds(const node& at) const noexcept {
    if (!options_.shed_after || is_unlimited()) {
        return false;
    }
    const double wait_ns =
        static_cast<double>(at.queue.size()) * mean_ns_ * factor_ / options_.concurrency;
    return wait_ns > static_cast<double>(options_.shed_after->count());
}

}  // namespace reprise::lab::detail
