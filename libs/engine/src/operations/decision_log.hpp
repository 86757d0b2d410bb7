#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>

#include <reprise/engine/vocabulary.hpp>
#include <reprise/retry/time.hpp>

namespace reprise::engine {

// Reports every decision to the sink. A limit protects the sink from a storm: for each reason it
// passes on the first `per_second_max` decisions of a second, counts the others, and summarizes
// them in one line when the second is over. The second of a reason starts with its first decision.
// Reads no clock. The loops of a client share it: any thread may call it, and the sink is called
// outside its lock.
//
//     on_decision ... until next_due() has come: on_time ... at the very end: flush
//
class decision_log {
public:
    // If `sink` is null, nothing is reported. A `per_second_max` of 0 means no limit.
    decision_log(std::shared_ptr<log_sink> sink, std::size_t per_second_max) noexcept;

    [[nodiscard]] bool is_on() const noexcept { return sink_ != nullptr; }
    void on_decision(const decision_record& record, time_point now);
    // When `on_time` must be called. Empty while nothing is suppressed.
    [[nodiscard]] std::optional<time_point> next_due() const noexcept {
        const std::lock_guard lock(mutex_);
        return due_;
    }
    // Summarizes every second that is over.
    void on_time(time_point now);
    // Summarizes what is still suppressed.
    void flush();

private:
    struct window {
        time_point start{};
        std::uint64_t seen = 0;
        std::uint64_t held_back = 0;
        std::uint64_t refused = 0;  // of the suppressed ones
    };
    struct summary {
        retry_reason reason{};
        window of{};
    };
    void report(const summary& ended);

    mutable std::mutex mutex_;  // guards the last two
    std::shared_ptr<log_sink> sink_;
    std::size_t per_second_max_;
    std::array<window, retry_reason_count> windows_{};
    std::optional<time_point> due_;
};

}  // namespace reprise::engine
