#pragma once

/// The service, the budget, the observers and the rules of one call. Loops of all forms call it; it
/// counts, and it reports what must never happen:
///
/// ```
/// executed twice       by a call that may not be, or after a failure that forbids it
/// completed            twice, never, while an attempt still runs, or long after a stop or a signal
/// started              too early, too late, after a stop or a signal, inside the start of another
///                      attempt, without the strategy's answer
/// canceled             with another type, after its end, or not although the caller asked to
/// charged              for a retry that is not made, or without a refund after a success
/// observer not called  for a failed attempt or for the end of a call
/// span                 missing, not ended, ended twice or with another result
/// ```
///
/// All of it is compiled once, with exceptions: both variants of the library share it.

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include <reprise/retry/call_options.hpp>
#include <reprise/retry/failure_facts.hpp>
#include <reprise/retry/outcome.hpp>
#include <reprise/retry/simple_strategy.hpp>

#include "loop_level.hpp"
#include "plan.hpp"

namespace reprise::feature_pairs {

struct reply_error {
    failure_facts facts{};
    bool is_unattempted = false;
    std::uint32_t attempt = 0;  ///< Counts all attempts at the service.
    duration minimum_wait{};    ///< As the service asked; the facts have it from elsewhere.
};
[[nodiscard]] failure_facts retry_facts(const reply_error& error);

/// The result of an operation; shaped like `std::expected`.
struct reply {
    enum class source : std::uint8_t { failure, service, fallback };

    source from = source::failure;
    reply_error failure{};

    [[nodiscard]] bool has_value() const noexcept { return from != source::failure; }
    [[nodiscard]] const reply_error& error() const noexcept { return failure; }
};

/// A failed reply as an exception. It states nothing by itself.
class thrown_reply : public std::runtime_error {
public:
    explicit thrown_reply(const reply& failed);
    [[nodiscard]] failure_facts retry_facts() const noexcept { return {}; }
    [[nodiscard]] const reply& failed() const noexcept { return failed_; }

private:
    reply failed_;
};

/// One that every loop recognises.
class described_reply final : public thrown_reply, public failure_description {
public:
    using thrown_reply::thrown_reply;
    [[nodiscard]] failure_facts retry_facts() const noexcept override;
};

/// One that only a filter names.
class named_reply final : public thrown_reply {
public:
    using thrown_reply::thrown_reply;
    [[nodiscard]] failure_facts retry_facts() const noexcept;
};

/// The filter: selects codes. It leaves the failures of `named_selection` alone.
struct code_selection {
    std::uint32_t selected = 0xff;
    [[nodiscard]] bool operator()(const driver::retry_question& question) const;
};
/// The same for `named_reply`. Its base class is named, too, and selects nothing.
struct named_selection {
    std::uint32_t selected = 0xff;
    [[nodiscard]] bool operator()(const named_reply& failed) const;
};
struct base_selection {
    [[nodiscard]] bool operator()(const thrown_reply&) const { return false; }
};

using prompt_strategy = decltype(attempts(1)
                                     .when(code_selection{})
                                     .when(base_selection{})
                                     .when(named_selection{})
                                     .budget(ledger_budget(nullptr))
                                     .observer(std::shared_ptr<retry_observer>())
                                     .tracer(std::shared_ptr<retry_tracer>()));

/// The strategy of a loop: delays the first attempt, too.
class strategy_type : public prompt_strategy {
public:
    strategy_type(prompt_strategy prompt, duration first_delay)
        : prompt_strategy(std::move(prompt)), first_delay_(first_delay) {}

    [[nodiscard]] driver::decision on_start(
        driver::token_state& token, const driver::decision_context& at) noexcept {
        const driver::decision granted = prompt_strategy::on_start(token, at);
        token.delay = first_delay_;
        return granted;
    }

private:
    duration first_delay_;
};

/// Plays one call; use it once.
class world {
public:
    using scheduler = std::function<void(time_point, std::function<void()>)>;

    /// `at` schedules an action on `clock`. Both must outlive the world.
    world(const call_plan& plan, retry_clock& clock, const scheduler& at);

    [[nodiscard]] const call_plan& plan() const { return plan_; }
    [[nodiscard]] strategy_type strategy(std::size_t level);
    /// The options of the next call at this level; `current` is the outer attempt of a nested one.
    [[nodiscard]] call_options options(std::size_t level, const attempt* current = nullptr);

    /// Of two loops: 0 is the outer one, 1 the one inside its operation.
    [[nodiscard]] loop_level& level(std::size_t index) { return *levels_[index]; }
    [[nodiscard]] const loop_level& level(std::size_t index) const { return *levels_[index]; }
    [[nodiscard]] time_point now() const { return clock_.now(); }
    void after(duration time, std::function<void()> action);
    /// Runs an action that uses nothing of the world, on any thread.
    std::function<void(std::function<void()>)> run_anywhere = [](const auto& action) { action(); };
    /// Until everything has ended.
    void keep(std::shared_ptr<void> kept) { kept_.push_back(std::move(kept)); }
    /// Emits a terminal signal of the caller.
    std::function<void()> emit_signal = [] {};

    /// An attempt of the loop at `level` starts, and ends.
    void start(std::size_t level, const attempt& current);
    void finish(std::size_t level, const reply& ended);

    /// The service is called. Returns the script of this attempt.
    [[nodiscard]] const attempt_script& call_service(const attempt& current);
    /// What was thrown there is no result: the call ends without one.
    void abandon(reply& ended);
    /// Its answer; `is_cut`: it was canceled or has reached its limit.
    [[nodiscard]] reply answer(const attempt_script& script, bool is_cut);
    [[noreturn]] void throw_failure(const reply& failed) const;

    /// The reply of a canceled loop that throws.
    [[nodiscard]] reply canceled_reply();
    /// The caller emits this signal now.
    void on_signal(std::uint32_t type);
    /// It reaches an attempt that runs, or has ended.
    void on_attempt_signal(std::uint32_t type, bool has_ended);
    /// An attempt that can be canceled, and started then, ends without a signal of the caller.
    void on_end_without_signal(time_point started);
    /// Around an initiating function, inside which nothing else may start or end.
    void enter_start() { ++starting_; }
    void leave_start() { --starting_; }
    /// Where attempts and handlers must run.
    std::function<bool()> is_in_place = [] { return true; };

    [[nodiscard]] reply recover();
    /// The call has ended, with this result.
    void complete(const reply& result);
    /// After everything has ended.
    void verify();

    void report(const std::string& violation);
    [[nodiscard]] const std::vector<std::string>& violations() const { return violations_; }
    [[nodiscard]] std::uint32_t service_calls() const { return service_calls_; }
    [[nodiscard]] std::uint32_t retries() const { return level(0).retries + level(1).retries; }
    [[nodiscard]] bool has_succeeded() const { return level(0).successes != 0; }
    /// True if a feature that may stay without effect has had one.
    [[nodiscard]] bool has_acted(feature one) const;

private:
    [[nodiscard]] std::unique_ptr<loop_level> make_level(std::size_t index);
    [[nodiscard]] bool allows_retry(const failure_facts& facts) const;
    void check_retry(const attempt& current);
    void check_start_after_signal(std::size_t index);
    /// An observer has been called.
    void on_event();
    void request_stop();
    /// The caller has asked to stop: a call without a running attempt ends at once.
    void on_stop();
    [[nodiscard]] bool has_asked_to_stop() const;
    /// The calls of this loop that have ended with a success of the service.
    [[nodiscard]] std::uint32_t succeeded_calls(std::size_t index) const;
    void verify_result();

    call_plan plan_;
    retry_clock& clock_;
    scheduler at_;
    std::shared_ptr<circuit_breaker> breaker_;
    std::stop_source stop_;
    std::array<std::unique_ptr<loop_level>, 2> levels_;
    driver::retry_allowance* outer_allowance_ = nullptr;
    std::optional<time_point> deadline_;
    std::uint32_t service_calls_ = 0;
    std::uint32_t running_ = 0;
    std::uint32_t executions_ = 0;
    std::uint32_t completions_ = 0;
    std::optional<failure_facts> last_failure_;
    std::uint32_t signals_ = 0;  ///< The types that were emitted.
    std::optional<time_point> breaker_opened_at_;
    std::optional<time_point> signaled_at_;
    std::optional<time_point> ends_at_;
    std::optional<time_point> stopped_at_;
    std::optional<time_point> asked_at_;  ///< When the service asked to wait, last,
    time_point not_before_;               ///< until then.
    std::uint32_t events_ = 0;
    bool is_abandoned_ = false;
    feature_set acted_;
    std::vector<std::shared_ptr<void>> kept_;
    std::atomic<std::uint32_t> starting_ = 0;
    reply result_;
    std::vector<std::string> violations_;
};

/// The loops. Each plays the call to its end.
void run_blocking(const call_plan& plan, const std::function<void(world&)>& done);
void run_without_exceptions(const call_plan& plan, const std::function<void(world&)>& done);
void run_with_token(const call_plan& plan, const std::function<void(world&)>& done);
void run_in_coroutine(const call_plan& plan, const std::function<void(world&)>& done);

}  // namespace reprise::feature_pairs

template <>
struct reprise::driver::unattempted_outcome<reprise::feature_pairs::reply> {
    [[nodiscard]] static feature_pairs::reply make(refusal_reason) {
        feature_pairs::reply refused;
        refused.failure.is_unattempted = true;
        refused.failure.facts.safety = retry_safety::yes;
        return refused;
    }
};
