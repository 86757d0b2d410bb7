#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <new>
#include <span>
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
        completion done;
        operation_result result;
    };

    void push(completion&& done, operation_result&& result) {
        ended_operation& ended = add();
        ended.done = std::move(done);
        ended.result = std::move(result);
    }
    // Adds an entry without a callback, for the caller to fill. It must have its callback, or be
    // removed, before the next call.
    [[gnu::always_inline]] ended_operation& add() {
        if (count_ == finished_.size()) [[unlikely]] {
            grow();
        }
        return *finished_[count_++];
    }
    // The entry that was added last. It stays where it is until it is completed.
    [[nodiscard]] ended_operation& last() noexcept { return *finished_[count_ - 1]; }
    void remove_last() noexcept { restore(finished_[--count_]->result); }
    // Calls `hook` before the next completions, because rows are available.
    void notify(const std::function<void()>& hook) { notices_.push_back(hook); }
    [[nodiscard]] bool empty() const noexcept { return count_ == 0 && notices_.empty(); }

    // Runs everything that was queued before this call and returns how much that was. A call from
    // inside a completion does nothing, because the outer call continues.
    std::size_t drain() { return is_draining_ || empty() ? 0 : drain_all(); }

private:
    [[gnu::noinline]] std::size_t drain_all() {
        is_draining_ = true;
        const std::size_t notice_count = notices_.empty() ? 0 : call_notices();
        draining_.swap(finished_);
        const std::size_t count = std::exchange(count_, 0);
        for (const auto& each : std::span(draining_).first(count)) {
            ended_operation& entry = *each;
            entry.done(std::move(entry.result));
            restore(entry.result);
        }
        is_draining_ = false;
        return notice_count + count;
    }
    [[gnu::noinline]] void grow() { finished_.push_back(std::make_unique<ended_operation>()); }
    // Rare, and kept out of the path of every turn.
    [[gnu::noinline]] std::size_t call_notices() {
        const auto due = std::exchange(notices_, {});
        for (const auto& notice : due) {
            notice();
        }
        return due.size();
    }
    // Empties a result in place. Not with construct_at, which would clear all its bytes first,
    // unused ones included.
    static void restore(operation_result& result) noexcept {
        std::destroy_at(&result);
        ::new (static_cast<void*>(&result)) operation_result;
    }

    // Entries are used again. Those from count_ on are empty.
    std::vector<std::unique_ptr<ended_operation>> finished_;
    std::size_t count_ = 0;
    std::vector<std::unique_ptr<ended_operation>>
        draining_;  // all empty, except while they are completed
    bool is_draining_ = false;
    std::vector<std::function<void()>> notices_;
};

}  // namespace reprise::engine
