#pragma once

#include <cstddef>
#include <functional>
#include <utility>
#include <vector>

#include <reprise/engine/completion.hpp>
#include <reprise/engine/operation_result.hpp>

namespace reprise::engine {

// Holds operations that have ended until the driver lets user code run. This is the only way to a
// user's completion handler. An operation has released its slot before it is pushed, so it
// completes once.
class completions {
public:
    struct ended_operation {
        // Written out, because emplace_back() would otherwise clear all bytes first, unused ones
        // included.
        ended_operation() noexcept {}  // NOLINT(modernize-use-equals-default)
        ended_operation(completion&& callback, operation_result&& value) noexcept
            : done(std::move(callback)), result(std::move(value)) {}

        completion done;
        operation_result result;
    };

    void push(completion&& done, operation_result&& result) {
        finished_.emplace_back(std::move(done), std::move(result));
    }
    // Adds an entry without a callback, for the caller to fill. It must have its callback, or be
    // removed, before the next call.
    ended_operation& add() { return finished_.emplace_back(); }
    [[nodiscard]] std::size_t last_place() const noexcept { return finished_.size() - 1; }
    [[nodiscard]] ended_operation& at(std::size_t place) noexcept { return finished_[place]; }
    void remove_last() noexcept { finished_.pop_back(); }
    // Calls `hook` before the next completions, because rows are available.
    void notify(const std::function<void()>& hook) { notices_.push_back(hook); }
    [[nodiscard]] bool empty() const noexcept { return finished_.empty() && notices_.empty(); }

    // Runs everything that was queued before this call and returns how much that was. A call from
    // inside a completion does nothing, because the outer call continues.
    std::size_t drain() {
        if (!draining_.empty() || empty()) {
            return 0;
        }
        std::size_t count = notices_.empty() ? 0 : call_notices();
        draining_.swap(finished_);
        for (ended_operation& each : draining_) {
            each.done(std::move(each.result));
        }
        count += draining_.size();
        draining_.clear();
        return count;
    }

private:
    // Rare, and kept out of the path of every turn.
    [[gnu::noinline]] std::size_t call_notices() {
        const auto due = std::exchange(notices_, {});
        for (const auto& notice : due) {
            notice();
        }
        return due.size();
    }

    std::vector<ended_operation> finished_;
    std::vector<ended_operation> draining_;
    std::vector<std::function<void()>> notices_;
};

}  // namespace reprise::engine
