#pragma once

/// The answer of a strategy that thinks for a while, as loops wait for it: any clock that can be
/// stopped can wait, and the answer stops it.

#include <mutex>
#include <optional>
#include <stop_token>
#include <string>

#include <reprise/retry/detail/export.hpp>
#include <reprise/retry/retry_sink.hpp>

namespace reprise {

/// Shared by one loop and one `deferred_answer`.
class REPRISE_EXPORT late_answer final : public answer_channel {
public:
    /// What has come by now.
    struct result {
        bool is_there = false;
        std::optional<retry_action> action{};  ///< Absent although there: the strategy failed.
    };

    /// A stop of `caller` ends the wait as well.
    explicit late_answer(const std::stop_token& caller);

    /// Stops when an answer is there, or when the caller asked to stop.
    [[nodiscard]] std::stop_token stop() const noexcept { return ended_.get_token(); }
    /// What has come so far. A later answer has no effect.
    [[nodiscard]] result take() noexcept;

    void post(
        decision_ticket ticket, std::optional<retry_action> action,
        std::string cause) noexcept override;

private:
    struct stopper {
        std::stop_source* ended;
        void operator()() const noexcept { ended->request_stop(); }
    };

    std::mutex mutex_;
    result result_;
    bool is_taken_ = false;
    std::stop_source ended_;
    std::stop_callback<stopper> on_stop_;
};

}  // namespace reprise
