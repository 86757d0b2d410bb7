#include "topology/terminal_state.hpp"

#include <algorithm>
#include <utility>

#include "connections/kv_connection.hpp"

namespace reprise::engine {
namespace {

// A node that takes longer to connect does not delay the conclusion that a bucket is missing.
constexpr duration slow_connect = std::chrono::milliseconds{500};

// Whether a seed has neither answered nor failed, and has not been silent for too long. One that
// failed before and answers again counts like one that has not failed.
bool may_answer(const node_link& link) noexcept {
    const node_terminal_state& node = *link.endpoint->terminal;
    const bool has_answered = link.is_bucket_missing || node.is_auth_refused || node.is_tls_failed;
    const bool is_speaking = link.connection != nullptr && link.connection->has_answered;
    return !link.is_retired && (!link.has_failed || is_speaking) && !link.is_silent &&
           !has_answered;
}

// When the seed was last asked or last sent something.
time_point last_sign_of(const node_link& link) noexcept {
    return link.connection == nullptr ? link.begun
                                      : std::max(link.begun, link.connection->received_last);
}

}  // namespace

std::optional<retry_reason> terminal_reason(const bucket_state& bucket) noexcept {
    if (bucket.is_auth_refused) {
        return retry_reason::authentication_error;
    }
    if (bucket.is_tls_failed) {
        return retry_reason::tls_error;
    }
    if (bucket.terminal->is_access_denied || is_missing(bucket)) {
        return retry_reason::bucket_access_error;
    }
    return std::nullopt;
}

bool is_missing(const bucket_state& bucket) noexcept {
    return bucket.is_missing_everywhere ||
           (bucket.terminal->missing_loop_count != 0 && !bucket.terminal->was_open);
}

void set_missing(bucket_state& bucket, bool is_so) noexcept {
    if (std::exchange(bucket.is_missing_everywhere, is_so) != is_so) {
        is_so ? ++bucket.terminal->missing_loop_count : --bucket.terminal->missing_loop_count;
    }
}

bool is_in_topology(const node_link& link) noexcept {
    const bucket_state& bucket = *link.bucket;
    return !link.is_retired && (!bucket.configuration || link.sync_number == bucket.sync_number);
}

void refresh_terminal_state(bucket_state& bucket) noexcept {
    std::size_t silent = 0;   // nodes that cannot be asked
    std::size_t unclear = 0;  // nodes that may still answer
    std::uint32_t answers = 0;
    bool is_proven = false;
    bucket.is_auth_refused = false;
    bucket.is_tls_failed = false;
    for (const auto& link : bucket.links) {
        if (!is_in_topology(*link)) {
            continue;
        }
        const node_terminal_state& node = *link->endpoint->terminal;
        const bool is_silent = link->has_failed || link->is_slow;
        answers += link->is_bucket_missing ? link->missing_answers : 0;
        silent += !link->is_bucket_missing && is_silent ? 1U : 0U;
        unclear += !link->is_bucket_missing && !is_silent ? 1U : 0U;
        bucket.is_auth_refused = bucket.is_auth_refused || node.is_auth_refused;
        bucket.is_tls_failed = bucket.is_tls_failed || node.is_tls_failed;
        is_proven = is_proven || (node.is_auth_refused && node.is_refusal_proven);
    }
    // If some nodes cannot be asked, one answer is not enough, because that node may be outdated.
    // A bucket that was open exists: a node that restarts does not have it yet.
    bucket.is_missing_agreed =
        !bucket.terminal->was_open && unclear == 0 && answers >= (silent == 0 ? 1U : 2U);
    if (!bucket.is_missing_agreed) {
        bucket.missing_since.reset();
        set_missing(bucket, false);
    }
    if (may_other_seeds_answer(bucket)) {
        bucket.is_auth_refused = is_proven;
        bucket.is_tls_failed = false;
    }
}

bool may_other_seeds_answer(const bucket_state& bucket) noexcept {
    return !bucket.configuration && !bucket.is_seed_refusal_final &&
           std::ranges::any_of(bucket.links, [](const auto& link) { return may_answer(*link); });
}

bool has_refusal(const bucket_state& bucket) noexcept {
    return std::ranges::any_of(bucket.links, [](const auto& link) {
        const node_terminal_state& node = *link->endpoint->terminal;
        return !link->is_retired && (node.is_auth_refused || node.is_tls_failed);
    });
}

std::optional<time_point> mark_silent_seeds(
    bucket_state& bucket, duration silence_max, time_point now) noexcept {
    std::optional<time_point> next;
    for (const auto& link : bucket.links) {
        const time_point end = driver::add_saturated(last_sign_of(*link), silence_max);
        link->is_silent = link->is_silent || end <= now;
        if (may_answer(*link)) {
            next = std::min(next.value_or(end), end);
        }
    }
    return next;
}

bool has_given_up(const bucket_state& bucket) noexcept {
    return !bucket.links.empty() &&
           std::ranges::all_of(bucket.links, [](const auto& link) { return link->has_failed; });
}

void on_bucket_missing(node_link& link, time_point now) noexcept {
    link.is_bucket_missing = true;
    ++link.missing_answers;
    for (const auto& other : link.bucket->links) {
        const bool is_opening = other->connection != nullptr && other->connection->is_opening;
        other->is_slow = is_opening && now - other->begun >= slow_connect;
    }
    refresh_terminal_state(*link.bucket);
}

void on_bucket_not_missing(node_link& link) noexcept {
    link.is_bucket_missing = false;
    link.missing_answers = 0;
    link.bucket->missing_since.reset();
    refresh_terminal_state(*link.bucket);
}

std::optional<time_point> missing_due(
    bucket_state& bucket, duration patience, time_point now) noexcept {
    if (!bucket.is_missing_agreed) {
        return std::nullopt;
    }
    bucket.missing_since = bucket.missing_since.value_or(now);
    return driver::add_saturated(*bucket.missing_since, patience);
}

void clear_bucket_refusals(bucket_state& bucket) noexcept {
    bucket.terminal->was_open = true;
    bucket.terminal->is_access_denied = false;
    bucket.is_missing_agreed = false;
    set_missing(bucket, false);
    bucket.missing_since.reset();
    for (const auto& link : bucket.links) {
        link->is_bucket_missing = false;
        link->missing_answers = 0;
    }
}

}  // namespace reprise::engine
