#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>

#include <reprise/engine/vocabulary.hpp>
#include <reprise/retry/time.hpp>

namespace reprise::engine {

// Tells the sink about every decision. With a limit it keeps a storm from drowning the sink: for
// each reason the first `per_second_max` decisions of a second are passed on, the others are
// counted and summed up in one line when the second is over. A reason's second begins with its
// first decision. Reads no clock.
//
//     on_decision ... until next_due() has come: on_time ... at the very end: flush
//
class decision_log {
public:
    // `sink` may be null: then nothing happens. 0: no limit.
    decision_log(std::shared_ptr<log_sink> sink, std::size_t per_second_max) noexcept;

    [[nodiscard]] bool is_on() const noexcept { return sink_ != nullptr; }
    void on_decision(const decision_record& record, time_point now);
    // When `on_time` must be called; nothing while nothing is held back.
    [[nodiscard]] std::optional<time_point> next_due() const noexcept { return due_; }
    // Sums up every second that is over.
    void on_time(time_point now);
    // Sums up what is still held back.
    void flush();

private:
    struct window {
        time_point start{};
        std::uint64_t seen = 0;
        std::uint64_t held_back = 0;
        std::uint64_t refused = 0;  // of those held back
    };
    void sum_up(retry_reason reason, window& of);

    std::shared_ptr<log_sink> sink_;
    std::size_t per_second_max_;
    std::array<window, retry_reason_count> windows_{};
    std::optional<time_point> due_;
};

}  // namespace reprise::engine
