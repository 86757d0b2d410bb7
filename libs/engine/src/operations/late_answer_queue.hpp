#pragma once

#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include <reprise/retry/driver/retry_question.hpp>

namespace reprise::engine {

// Collects late answers of strategies, from any thread, until the engine takes them. Every
// deferred_answer shares the queue, so it may outlive the engine.
class late_answer_queue final : public driver::answer_channel {
public:
    struct entry {
        driver::decision_ticket ticket;
        std::optional<driver::retry_action> action;
        std::string cause;
    };

    void post(
        driver::decision_ticket ticket, std::optional<driver::retry_action> action,
        std::string cause) noexcept override;
    // Returns the answers that arrived since the last call.
    [[nodiscard]] std::vector<entry> take();
    void set_hook(std::function<void()> hook);
    // Drops all further answers and the hook. Waits for a hook that another thread is running.
    void close() noexcept;

private:
    std::mutex mutex_;
    std::vector<entry> entries_;
    std::function<void()> hook_;
    bool is_closed_ = false;
};

}  // namespace reprise::engine
