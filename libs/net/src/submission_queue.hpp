#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <utility>
#include <variant>
#include <vector>

#include <reprise/engine/completion.hpp>
#include <reprise/engine/http_operation.hpp>
#include <reprise/engine/operation_request.hpp>
#include <reprise/net/client.hpp>

namespace reprise::net {

// An operation on its way from a user's thread to the loop.
struct operation_submission {
    keyspace_number where = 0;
    ticket cancel_with = 0;
    engine::operation_request request;
    engine::completion done;
};
// The same for an HTTP service. It is stored behind a pointer because it is large and less
// frequent.
struct http_submission {
    ticket name = 0;
    engine::http_request request;
    engine::completion done;
};
// Anything else, which is rare.
using task_submission = std::move_only_function<void()>;
using submission =
    std::variant<operation_submission, std::unique_ptr<http_submission>, task_submission>;

// How many operations wait for the loops of one client to take them, and how many may.
class submission_places {
public:
    explicit submission_places(std::size_t count_max) noexcept : count_max_(count_max) {}

    [[nodiscard]] bool try_enter() noexcept {
        if (count_.fetch_add(1, std::memory_order_relaxed) < count_max_) {
            return true;
        }
        release(1);
        return false;
    }
    void release(std::size_t count) noexcept { count_.fetch_sub(count, std::memory_order_relaxed); }

private:
    const std::size_t count_max_;
    std::atomic<std::size_t> count_{0};
};

// Many threads push, and the loop takes everything at once. The lock is held only for a push or a
// swap. In the steady state nothing is allocated.
class submission_queue {
public:
    explicit submission_queue(std::shared_ptr<submission_places> places) noexcept
        : places_(std::move(places)) {}

    enum class outcome : std::uint8_t {
        taken,
        taken_first,  // the caller must wake the loop
        full          // the submission is unchanged
    };
    // Tasks are always accepted.
    [[nodiscard]] outcome push(submission&& next) {
        const std::scoped_lock lock(mutex_);
        if (!std::holds_alternative<task_submission>(next)) {
            if (!places_->try_enter()) {
                return outcome::full;
            }
            ++taken_count_;
        }
        waiting_.push_back(std::move(next));
        return is_woken_.exchange(true, std::memory_order_relaxed) ? outcome::taken
                                                                   : outcome::taken_first;
    }
    // False if the loop has something to take. A later push wakes the loop.
    [[nodiscard]] bool empty() const noexcept { return !is_woken_.load(std::memory_order_relaxed); }
    // Moves all submissions to `out`, in order of arrival. Clears `out` first.
    void take(std::vector<submission>& out) {
        out.clear();
        const std::scoped_lock lock(mutex_);
        out.swap(waiting_);
        is_woken_.store(false, std::memory_order_relaxed);
        if (taken_count_ != 0) {
            places_->release(std::exchange(taken_count_, 0));
        }
    }

private:
    const std::shared_ptr<submission_places> places_;  // of all loops of the client
    std::mutex mutex_;
    std::vector<submission> waiting_;
    std::size_t taken_count_ = 0;        // places of those that wait here
    std::atomic<bool> is_woken_{false};  // true while something waits; changed under the lock
};

}  // namespace reprise::net
