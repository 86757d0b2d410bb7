#pragma once

#include <any>
#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>

#include <reprise/engine/retry_reason.hpp>
#include <reprise/retry/time.hpp>

// The retry strategy of RFC 0049: asked after each failure whose reason is not retried in any case.
// Needs the standard library and reprise::retry only; part of the vocabulary that users see.
//
//     class robots_wait_not final : public request_strategy {
//         void retry_after(const request_snapshot& request, retry_reason reason,
//                          retry_sink& sink) override {
//             sink.answer(retry_action::no());
//         }
//     };

namespace reprise::engine {

class request_strategy;

// A few words that a strategy may have kept with each request, since it must not keep them itself.
// What they mean is its own business; all zero until it has given some.
struct strategy_memory {
    std::array<std::uint64_t, 3> words{};
    friend bool operator==(const strategy_memory&, const strategy_memory&) noexcept = default;
};

enum class server_backoff : std::uint8_t { constant, linear, exponential };

// The waiting rule that the server's error map has for the status of this failure, and where the
// request stands in it. Another status begins anew.
struct server_retry_rule {
    server_backoff kind = server_backoff::constant;
    duration interval{};                     // at least 1 ms
    duration after{};                        // before the first retry
    std::optional<duration> ceil{};          // of linear and exponential delays
    std::optional<duration> max_duration{};  // from the first failure; absent: no limit of its own
    std::uint32_t retries = 0;               // made for this status so far
    time_point first_failure{};              // with this status
    // When the next retry is planned: a delay after the time planned for the last one, however late
    // that was. May have passed.
    time_point due{};

    // The plan is over when the next retry is due, and not because of the request's own deadline.
    // A retry at the very end is none: retries happen before it.
    [[nodiscard]] bool is_over(time_point deadline) const noexcept {
        if (!max_duration) {
            return false;
        }
        const time_point end = add_saturated(first_failure, *max_duration);
        return due >= end && end <= deadline;
    }
};

// The request as a strategy sees it. Valid during the call; copy it to keep it (cheap, no deep
// copies).
struct request_snapshot {
    std::string_view operation{};  // "get", "upsert", ...; static text
    bool is_idempotent = false;
    // Retries made so far: 0 when the first attempt has failed.
    std::uint32_t retry_attempts = 0;
    // Reasons of the earlier retries, the present one not included.
    retry_reason_set retry_reasons{};
    // The failure: what the user sees if it is not retried. Empty with a success.
    std::error_code error{};
    // The server's status when it answered, otherwise 0.
    std::uint16_t status = 0;
    // Of a status that this client does not know; absent if the server gave none that can be used.
    std::optional<server_retry_rule> server_rule{};
    // The server promised such a rule (auto-retry, or fields of one), and it cannot be used.
    bool is_server_rule_unusable = false;
    time_point now{};
    time_point deadline = no_deadline;
    // The server asked for at least this wait; zero: it did not. The shipped strategies keep it.
    duration delay_floor{};
    // 64 fresh random bits, for strategies that spread their delays.
    std::uint64_t random = 0;
    // What the caller attached to the call; null if nothing.
    std::shared_ptr<const std::any> user_data{};
    const request_strategy* strategy = nullptr;
    // What the last retry_action of this request carried.
    strategy_memory memory{};

    // The attached data if it is a T, otherwise null.
    template <class T>
    [[nodiscard]] const T* user_data_as() const noexcept {
        return user_data ? std::any_cast<T>(user_data.get()) : nullptr;
    }
};

// A strategy's answer: retry after a time (zero: now), or do not retry.
class retry_action {
public:
    // Negative durations count as zero.
    [[nodiscard]] static retry_action after(duration delay) noexcept {
        retry_action action;
        action.delay_ = at_least_zero(delay);
        return action;
    }
    // The user sees the operation's own error.
    [[nodiscard]] static retry_action no() noexcept { return {}; }
    // The user sees `error`, with the operation's own failure beside it.
    [[nodiscard]] static retry_action no(std::error_code error) noexcept {
        retry_action action;
        action.error_ = error;
        return action;
    }

    // The same answer; `memory` comes back with the next question about this request and with its
    // success. Kept only if the retry is made.
    [[nodiscard]] retry_action remembering(const strategy_memory& memory) const noexcept {
        retry_action action = *this;
        action.memory_ = memory;
        return action;
    }

    [[nodiscard]] std::optional<duration> delay() const noexcept { return delay_; }
    [[nodiscard]] const std::optional<strategy_memory>& memory() const noexcept { return memory_; }
    [[nodiscard]] std::error_code error() const noexcept { return error_; }

private:
    retry_action() noexcept = default;
    std::optional<duration> delay_;
    std::error_code error_;
    std::optional<strategy_memory> memory_;
};

// Names one decision of one operation, so that an answer that comes too late finds nobody.
struct decision_ticket {
    std::uint64_t operation = 0;
    std::uint32_t decision = 0;
};

// Carries answers from any thread to the client. Implemented by the engine.
class answer_channel {
public:
    virtual ~answer_channel();
    // Any thread. `action` absent: the strategy failed, and `cause` says how.
    virtual void post(
        decision_ticket ticket, std::optional<retry_action> action, std::string cause) noexcept = 0;
};

// The right to answer one question later, from any thread. Move-only; the first answer counts.
// Destroyed without an answer: the strategy failed and so does the request. Answers after the
// request ended (deadline, cancellation, closed client) are ignored.
class deferred_answer {
public:
    deferred_answer() noexcept = default;
    deferred_answer(std::shared_ptr<answer_channel> channel, decision_ticket ticket) noexcept;
    deferred_answer(deferred_answer&&) noexcept = default;
    deferred_answer& operator=(deferred_answer&& other) noexcept;
    ~deferred_answer();

    void answer(retry_action action) noexcept;
    // The strategy could not decide; the request fails with strategy_failure and this cause.
    void fail(std::string cause) noexcept;

private:
    std::shared_ptr<answer_channel> channel_;
    decision_ticket ticket_;
};

// Where a strategy puts its answer. Lives during the call only. Exactly one of `answer`, `fail` and
// `defer` must be called before `retry_after` returns; none of them means that the strategy failed;
// of several the first counts.
class retry_sink {
public:
    retry_sink(std::shared_ptr<answer_channel> channel, decision_ticket ticket) noexcept
        : channel_(std::move(channel)), ticket_(ticket) {}
    retry_sink(const retry_sink&) = delete;
    retry_sink& operator=(const retry_sink&) = delete;

    // Answers at once; allocates nothing.
    void answer(retry_action action) noexcept;
    void fail(std::string cause) noexcept;
    // Answers later. The request waits, at most until its deadline; nothing else waits with it.
    [[nodiscard]] deferred_answer defer() noexcept;

    enum class state : std::uint8_t { open, answered, failed, deferred };
    [[nodiscard]] state current() const noexcept { return state_; }
    [[nodiscard]] const std::optional<retry_action>& action() const noexcept { return action_; }
    [[nodiscard]] const std::string& cause() const noexcept { return cause_; }

private:
    std::shared_ptr<answer_channel> channel_;
    decision_ticket ticket_;
    std::optional<retry_action> action_;
    std::string cause_;
    state state_ = state::open;
};

// One object serves all requests of all threads: it must not hold state of single requests, and
// must not block. Throwing fails the request with strategy_failure and the exception's text.
class request_strategy {
public:
    virtual ~request_strategy();
    // Never called for reasons that are always retried, for `unknown`, nor for a non-idempotent
    // request whose connection closed in flight: these are decided before.
    virtual void retry_after(
        const request_snapshot& request, retry_reason reason, retry_sink& sink) = 0;
    // A request of this strategy ended without an error, with or without retries: once for each,
    // on the client's thread, before its completion. `status` and `random` are 0. Does nothing
    // unless overridden.
    virtual void on_success(const request_snapshot& request) noexcept;
};

}  // namespace reprise::engine
