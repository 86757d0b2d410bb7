#pragma once

/// Where a strategy puts its answer: now, or later from any thread.

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include <reprise/retry/detail/compiler.hpp>
#include <reprise/retry/driver/retry_action.hpp>

namespace reprise::driver {

/// Names one decision of one operation, so that an answer that comes too late has no effect.
struct decision_ticket {
    std::uint64_t operation = 0;
    std::uint32_t decision = 0;
};

/// Carries late answers to the driver of the request. Drivers implement it.
class REPRISE_EXPORT answer_channel {
public:
    virtual ~answer_channel();
    /// Any thread. `action` absent: the strategy failed, and `cause` is the reason.
    virtual void post(
        decision_ticket ticket, std::optional<retry_action> action, std::string cause) noexcept = 0;
};

/// The right to answer one question later, from any thread. Move-only; the first answer counts.
/// Destroyed without an answer: the strategy failed, and the request is not retried. Answers after
/// the request ended (deadline, cancellation, closed client) are ignored.
class REPRISE_EXPORT deferred_answer {
public:
    deferred_answer() noexcept = default;
    deferred_answer(std::shared_ptr<answer_channel> channel, decision_ticket ticket) noexcept;
    deferred_answer(deferred_answer&&) noexcept = default;
    deferred_answer& operator=(deferred_answer&& other) noexcept;
    ~deferred_answer();

    void answer(retry_action action) noexcept;
    /// The strategy could not decide. A client fails the request with this cause.
    void fail(std::string cause) noexcept;

private:
    std::shared_ptr<answer_channel> channel_;
    decision_ticket ticket_;
};

/// Lives during one call of `retry_strategy::retry_after`. Exactly one of `answer`, `fail` and
/// `defer` must be called before it returns; none of them means that the strategy failed; of
/// several the first counts.
class REPRISE_EXPORT retry_sink {
public:
    /// Makes the channel of a late answer. Called at most once, when the strategy defers.
    using channel_maker = std::shared_ptr<answer_channel> (*)(void* driver);

    /// A null `make_channel` cannot wait: a strategy that defers has failed.
    retry_sink(channel_maker make_channel, void* driver, decision_ticket ticket = {}) noexcept
        : make_channel_(make_channel), driver_(driver), ticket_(ticket) {}
    retry_sink(const retry_sink&) = delete;
    retry_sink& operator=(const retry_sink&) = delete;

    /// Answers at once; allocates nothing.
    void answer(const retry_action& action) noexcept;
    void fail(std::string cause) noexcept;
    /// The strategy threw: what it has answered does not count, and a late answer has no effect.
    void on_exception(std::string cause) noexcept;
    /// Answers later. The request waits, at most until its deadline; nothing else waits with it.
    [[nodiscard]] deferred_answer defer();

    enum class state : std::uint8_t { open, answered, failed, deferred };
    [[nodiscard]] state current() const noexcept { return state_; }
    [[nodiscard]] const std::optional<retry_action>& action() const noexcept { return action_; }
    [[nodiscard]] const std::string& cause() const noexcept { return cause_; }

private:
    channel_maker make_channel_;
    void* driver_;
    decision_ticket ticket_;
    std::optional<retry_action> action_;
    std::string cause_;
    state state_ = state::open;
};

}  // namespace reprise::driver
