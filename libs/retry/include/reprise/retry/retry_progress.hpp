#pragma once

/// One request's way through its retries, for every driver: the loops, the Couchbase engine, the
/// simulator and the lab. It counts, admits and keeps the strategy's token; it asks no strategy,
/// reads no clock and allocates nothing, so it can be embedded in an operation.
///
///     failure -> strategy proposes -> on_proposal(action) -+- admitted: wait admission.delay, send
///             -> the protocol always retries it            |   (capped and woken: on_woken first)
///                          -> on_unpaid_retry(delay) ------+- refused: admission.refusal

#include <cstdint>

#include <reprise/retry/admission.hpp>
#include <reprise/retry/detail/export.hpp>

namespace reprise {

/// How far one request has come: its retries and its token.
class REPRISE_EXPORT retry_progress {
public:
    retry_progress() noexcept = default;
    /// For requests that count their retries elsewhere.
    explicit retry_progress(std::uint32_t retries) noexcept : retries_(retries) {}

    /// Continues with a token that was granted before.
    void resume(const token_state& token) noexcept {
        token_ = token;
        retries_ = token.attempt - 1;
        start_ = start::granted;
    }
    /// What the strategy said at its start.
    void on_start(const decision& granted) noexcept {
        start_ = granted.allowed() ? start::granted : start::refused;
    }
    [[nodiscard]] bool is_started() const noexcept { return start_ != start::open; }
    /// False: there will be no retry.
    [[nodiscard]] bool is_granted() const noexcept { return start_ == start::granted; }

    /// Retries admitted so far, all of them.
    [[nodiscard]] std::uint32_t retries() const noexcept { return retries_; }
    /// The strategy's view: it counts only the retries that the strategy granted.
    [[nodiscard]] const token_state& token() const noexcept { return token_; }
    [[nodiscard]] token_state& token() noexcept { return token_; }

    /// A strategy has answered; its delay is written into `retry`. An admitted retry counts in
    /// `retries` and in the token.
    [[nodiscard]] admission on_proposal(
        const retry_action& action, proposed_retry&& retry, const retry_limits& limits) noexcept;
    /// A capped retry of a strategy was admitted; it is charged when it is woken.
    [[nodiscard]] bool is_charge_pending() const noexcept { return is_charge_pending_; }
    /// The cause of a capped retry ended before the deadline: it is sent now and charged now. A
    /// retry that is refused here is not made and does not count.
    [[nodiscard]] admission on_woken(
        const proposed_retry& retry, const retry_limits& limits) noexcept;
    /// The protocol retries this failure in any case; no strategy was asked.
    [[nodiscard]] admission on_unpaid_retry(
        const proposed_retry& retry, const retry_limits& limits) noexcept;

private:
    /// Counts an admitted retry of a strategy.
    void count(const admission& admitted, const retry_action& action) noexcept;

    enum class start : std::uint8_t { open, granted, refused };

    token_state token_{};
    std::uint32_t retries_ = 0;
    start start_ = start::open;
    bool is_charge_pending_ = false;
};

static_assert(sizeof(retry_progress) <= 96);

}  // namespace reprise
