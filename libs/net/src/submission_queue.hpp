#pragma once

#include <cstddef>
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

// Many threads push, and the loop takes everything at once. The lock is held only for a push or a
// swap. In the steady state nothing is allocated.
class submission_queue {
public:
    explicit submission_queue(std::size_t count_max) noexcept : count_max_(count_max) {}

    enum class outcome : std::uint8_t {
        taken,
        taken_first,  // the caller must wake the loop
        full          // the submission is unchanged
    };
    // Tasks are always accepted.
    [[nodiscard]] outcome push(submission&& next) {
        const std::scoped_lock lock(mutex_);
        if (waiting_.size() >= count_max_ && !std::holds_alternative<task_submission>(next)) {
            return outcome::full;
        }
        waiting_.push_back(std::move(next));
        return std::exchange(is_woken_, true) ? outcome::taken : outcome::taken_first;
    }
    // Moves all submissions to `out`, in order of arrival. Clears `out` first.
    void take(std::vector<submission>& out) {
        out.clear();
        const std::scoped_lock lock(mutex_);
        out.swap(waiting_);
        is_woken_ = false;
    }

private:
    const std::size_t count_max_;
    std::mutex mutex_;
    std::vector<submission> waiting_;
    bool is_woken_ = false;
};

}  // namespace reprise::net
