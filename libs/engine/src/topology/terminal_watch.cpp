#include "topology/terminal_watch.hpp"

#include <algorithm>

#include "topology/terminal_state.hpp"

namespace reprise::engine {

void terminal_watch::refresh() noexcept {
    for (const auto& bucket : buckets_) {
        refresh_terminal_state(*bucket);
    }
}

void terminal_watch::notify(bucket_state* affected, time_point now) {
    buckets_.for_each([&](bucket_state& bucket) {
        const bool is_affected = affected == nullptr || affected == &bucket;
        if (is_affected) {
            wait_for_silent_seeds(bucket, now);
        }
        if (is_affected && terminal_reason(bucket)) {
            listener_.on_terminal_state(bucket, now);
        }
    });
    listener_.on_terminal_state_of_services(now);
}

// Arms the bucket's timer for the moment when the next seed will have been silent for too long.
void terminal_watch::wait_for_silent_seeds(bucket_state& bucket, time_point now) {
    if (!may_other_seeds_answer(bucket) || !has_refusal(bucket)) {
        return;
    }
    const auto next = mark_silent_seeds(bucket, context_.options.seed_silence_max, now);
    const time_point due = next.value_or(now);
    context_.wheel.arm(bucket, bucket.is_armed() ? std::min(bucket.due(), due) : due);
}

void terminal_watch::judge_silent_seeds(bucket_state& bucket, time_point now) {
    if (bucket.configuration || bucket.is_seed_refusal_final || !has_refusal(bucket)) {
        return;
    }
    if (mark_silent_seeds(bucket, context_.options.seed_silence_max, now)) {
        return wait_for_silent_seeds(bucket, now);
    }
    bucket.is_seed_refusal_final = true;
    refresh_terminal_state(bucket);
    notify(&bucket, now);
}

void terminal_watch::watch_missing(bucket_state& bucket, time_point now) {
    const auto due = missing_due(bucket, context_.options.missing_bucket_patience, now);
    if (due && !bucket.is_missing_everywhere && !bucket.missing_timer.is_armed()) {
        context_.wheel.arm(bucket.missing_timer, *due);
    }
}

void terminal_watch::on_missing_due(bucket_state& bucket, time_point now) {
    const auto due = missing_due(bucket, context_.options.missing_bucket_patience, now);
    if (due && *due > now) {
        return context_.wheel.arm(bucket.missing_timer, *due);  // some node had it meanwhile
    }
    if (due) {
        set_missing(bucket, true);
        announce();
        notify(&bucket, now);
    }
}

std::optional<retry_reason> terminal_watch::reason_of_services() const noexcept {
    std::optional<retry_reason> found;
    for (const auto& bucket : buckets_) {
        if (bucket->is_auth_refused) {
            return retry_reason::authentication_error;
        }
        if (bucket->is_tls_failed) {
            found = retry_reason::tls_error;
        }
    }
    return found;
}

}  // namespace reprise::engine
