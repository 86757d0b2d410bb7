#pragma once

/// The requests in progress. Their addresses never change, because a session cannot move.

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include <reprise/retry/driver/retry_session.hpp>

#include "server_model.hpp"

namespace reprise::lab {

template <class Strategy>
struct request_slot {
    std::optional<driver::retry_session<Strategy>> session;
    std::uint32_t client = 0;
    std::uint32_t generation = 0;
    std::uint32_t running = 0;  ///< One bit for each part of the attempt.
    duration started{};
};

template <class Strategy>
class request_pool {
public:
    /// Returns an index whose slot has no session.
    [[nodiscard]] std::uint32_t acquire() {
        if (free_.empty()) {
            grow();
        }
        const std::uint32_t index = free_.back();
        free_.pop_back();
        return index;
    }

    /// Ends the session and invalidates every `attempt_id` of it.
    void release(std::uint32_t index) {
        request_slot<Strategy>& slot = (*this)[index];
        slot.session.reset();
        slot.running = 0;
        ++slot.generation;
        free_.push_back(index);
    }

    [[nodiscard]] request_slot<Strategy>& operator[](std::uint32_t index) noexcept {
        return blocks_[index / block_count][index % block_count];
    }

    [[nodiscard]] bool is_current(attempt_id attempt) noexcept {
        const request_slot<Strategy>& slot = (*this)[attempt.request];
        return slot.generation == attempt.generation && (slot.running >> attempt.part & 1U) != 0;
    }

private:
    static constexpr std::uint32_t block_count = 1024;

    void grow() {
        const auto first = static_cast<std::uint32_t>(blocks_.size()) * block_count;
        blocks_.push_back(std::make_unique<request_slot<Strategy>[]>(block_count));
        free_.reserve(first + block_count);
        for (std::uint32_t i = block_count; i > 0; --i) {
            free_.push_back(first + i - 1);  // The lowest index is used first.
        }
    }

    std::vector<std::unique_ptr<request_slot<Strategy>[]>> blocks_;
    std::vector<std::uint32_t> free_;
};

}  // namespace reprise::lab
