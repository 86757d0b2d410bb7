#pragma once

/// The service, the budget, the observers and the rules of one call. Loops of all forms call it; it
/// counts, and it reports what must never happen:
///
/// ```
/// executed twice       by a call that may not be, or after a failure that forbids it
/// completed            twice, never, while an attempt still runs, or long after a stop or a signal
/// started              too early, after a stop or a signal, inside the start of another attempt
/// canceled             with another type, after its end, or not although the caller asked to
/// charged              for a retry that is not made, or without a refund after a success
/// observer not called  for a failed attempt or for the end of a call
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

#include "plan.hpp"

namespace reprise::feature_pairs {

struct reply_error {
    failure_facts facts{};
    bool is_unattempted = false;
    std::uint32_t attempt = 0;  ///< Counts all attempts at the service.
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

class world;

/// A loop's charges.
class ledger {
public:
    ledger(world& owner, std::uint32_t units) : owner_(owner), units_(units) {}

    [[nodiscard]] driver::payment try_pay();
    void give_back(std::uint32_t cost);
    void on_success(std::uint32_t cost, std::uint32_t attempt);

    [[nodiscard]] std::uint32_t paid_count() const { return paid_count_; }
    [[nodiscard]] std::uint32_t success_count() const { return success_count_; }

private:
    world& owner_;
    std::uint32_t units_;
    std::uint32_t paid_count_ = 0;  ///< What was returned is subtracted.
    std::uint32_t last_cost_ = 0;
    std::uint32_t success_count_ = 0;
};

/// The budget of a strategy; copies share the ledger.
class ledger_budget final : public driver::retry_budget {
public:
    explicit ledger_budget(ledger* shared) : shared_(shared) {}
    [[nodiscard]] driver::payment try_pay(const failure_facts&, time_point) noexcept override;
    void give_back(std::uint32_t cost, time_point) noexcept override;
    void on_success(std::uint32_t cost, std::uint32_t attempt, time_point) noexcept override;

private:
    ledger* shared_;
};

/// Counts what an observer sees.
class watcher final : public retry_observer {
public:
    void on_decision(const decision_event& event) noexcept override;
    void on_completion(const call_summary& summary) noexcept override;

    std::uint32_t failed_attempts = 0;
    std::uint32_t completions = 0;
    std::uint32_t timeouts = 0;  ///< Of the failed attempts.
    std::uint32_t successes = 0;
    std::uint32_t attempts = 0;  ///< As summaries report them.
    refusal_reason last_refusal = refusal_reason::none;
};

/// One of two loops: 0 is the outer one, 1 the one inside its operation.
struct loop_level {
    loop_level(world& owner, std::uint32_t units) : charges(owner, units) {}

    ledger charges;
    std::shared_ptr<watcher> observer = std::make_shared<watcher>();
    retry_history history;
    std::uint32_t calls = 0;
    std::uint32_t attempts = 0;
    std::uint32_t retries = 0;
    std::uint32_t failures = 0;
    std::uint32_t late_failures = 0;  ///< After the limit of their attempt.
    std::uint32_t successes = 0;
    time_point first_at{};                   ///< When the first attempt of the call must start.
    time_point limit = driver::no_deadline;  ///< Of the attempt that started last.
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
                                     .observer(std::shared_ptr<retry_observer>()));

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

    /// An attempt of the loop at `level` starts, and ends.
    void start(std::size_t level, const attempt& current);
    void finish(std::size_t level, const reply& ended);

    /// The service is called. Returns the script of this attempt.
    [[nodiscard]] const attempt_script& call_service(const attempt& current);
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

private:
    [[nodiscard]] loop_level& level(std::size_t index) { return *levels_[index]; }
    [[nodiscard]] const loop_level& level(std::size_t index) const { return *levels_[index]; }
    [[nodiscard]] bool allows_retry(const failure_facts& facts) const;
    void check_retry(const attempt& current);
    /// The caller has asked to stop: a call without a running attempt ends at once.
    void on_stop();
    [[nodiscard]] bool has_asked_to_stop() const;
    [[nodiscard]] bool may_be_canceled_by_the_loop() const;
    void verify_level(std::size_t index);
    void verify_result();

    call_plan plan_;
    retry_clock& clock_;
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
