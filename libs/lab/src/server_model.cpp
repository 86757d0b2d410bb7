#include "server_model.hpp"

#include <algorithm>

namespace reprise::lab {

admission server_model::arrive(attempt_id attempt, duration now) {
    if (out_ && outage_ == outage_kind::refusing) {
        return admission::refused;
    }
    if (queue_.size() > limit_) {  // The first one is in service and does not count as waiting.
        return admission::full;
    }
    queue_.push_back(attempt);
    if (queue_.size() == 1 && !out_) {
        start_work(now);
    }
    return admission::queued;
}

attempt_id server_model::complete() {
    const attempt_id done = queue_.front();
    queue_.pop_front();
    const duration now = completion_;
    completion_ = never;
    if (!queue_.empty()) {
        start_work(now);
    }
    return done;
}

void server_model::start_outage(duration now, std::vector<attempt_id>& dropped) {
    out_ = true;
    work_left_ = completion_ == never ? duration::zero() : completion_ - now;
    completion_ = never;
    if (outage_ == outage_kind::refusing) {
        dropped.insert(dropped.end(), queue_.begin(), queue_.end());
        queue_.clear();
    }
}

void server_model::end_outage(duration now) {
    out_ = false;
    if (queue_.empty()) {
        return;
    }
    if (work_left_ > duration::zero()) {
        completion_ = now + work_left_;
    } else {
        start_work(now);
    }
}

void server_model::start_work(duration now) {
    const auto mean = duration{std::max<std::int64_t>(1, static_cast<std::int64_t>(mean_ns_))};
    completion_ = now + (fixed_ ? mean : random_.exponential(mean_ns_));
}

}  // namespace reprise::lab
