#pragma once

#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include <reprise/retry/retry_sink.hpp>

namespace reprise::engine {

// Answers of strategies that came later, from whatever thread, until the engine looks. Shared with
// every deferred_answer, so it may outlive the engine.
class answer_mailbox final : public answer_channel {
public:
    struct letter {
        decision_ticket ticket;
        std::optional<retry_action> action;
        std::string cause;
    };

    void post(
        decision_ticket ticket, std::optional<retry_action> action,
        std::string cause) noexcept override;
    // Everything that has come since the last call.
    [[nodiscard]] std::vector<letter> take();
    void set_hook(std::function<void()> hook);
    // Nobody looks any more: letters are thrown away and the hook is forgotten.
    void close() noexcept;

private:
    std::mutex mutex_;
    std::vector<letter> letters_;
    std::function<void()> hook_;
    bool is_closed_ = false;
};

}  // namespace reprise::engine
