#include "world.hpp"

#include <algorithm>
#include <bit>
#include <chrono>
#include <utility>

#include <reprise/retry/adapters/http_method.hpp>
#include <reprise/retry/http_facts.hpp>

namespace reprise::feature_pairs {

namespace {

using namespace std::chrono_literals;

constexpr std::uint32_t price = 5000;  // milli-units
constexpr std::uint32_t breaker_volume = 3;

}  // namespace

failure_facts retry_facts(const reply_error& error) {
    return error.facts;
}

thrown_reply::thrown_reply(const reply& failed)
    : std::runtime_error("the service failed"), failed_(failed) {}

failure_facts described_reply::retry_facts() const noexcept {
    return failed().failure.facts;
}

failure_facts named_reply::retry_facts() const noexcept {
    return failed().failure.facts;
}

driver::payment ledger::try_pay() {
    if (units_ == 0) {
        return {false, price, 0};
    }
    --units_;
    ++paid_count_;
    last_cost_ = price;
    return {true, price, std::int64_t{units_} * price};
}

void ledger::give_back(std::uint32_t cost) {
    if (cost != price || paid_count_ == 0) {
        owner_.report("something is returned that was not paid");
        return;
    }
    ++units_;
    --paid_count_;
}

void ledger::on_success(std::uint32_t cost, std::uint32_t attempt) {
    ++success_count_;
    if (cost != (attempt > 1 ? last_cost_ : 0)) {
        owner_.report("a success does not return what its last retry cost");
    }
}

driver::payment ledger_budget::try_pay(const failure_facts&, time_point) noexcept {
    return shared_->try_pay();
}
void ledger_budget::give_back(std::uint32_t cost, time_point) noexcept {
    shared_->give_back(cost);
}
void ledger_budget::on_success(std::uint32_t cost, std::uint32_t attempt, time_point) noexcept {
    shared_->on_success(cost, attempt);
}

void watcher::on_decision(const decision_event& event) noexcept {
    if (event.entry.is_attempt() && !event.entry.is_hedge()) {
        ++failed_attempts;
        timeouts += event.entry.is_timeout() ? 1U : 0U;
    }
}

void watcher::on_completion(const call_summary& summary) noexcept {
    ++completions;
    successes += summary.is_success ? 1U : 0U;
    attempts += summary.attempts;
    last_refusal = summary.refusal;
}

bool code_selection::operator()(const driver::retry_question& question) const {
    return question.failure.get_if<named_reply>() == nullptr &&
           ((selected >> (question.facts.code % 8U)) & 1U) != 0;
}

bool named_selection::operator()(const named_reply& failed) const {
    return ((selected >> (failed.retry_facts().code % 8U)) & 1U) != 0;
}

world::world(const call_plan& plan, retry_clock& clock, const scheduler& at)
    : plan_(plan),
      clock_(clock),
      levels_{
          std::make_unique<loop_level>(*this, plan.budget_units),
          std::make_unique<loop_level>(*this, plan.budget_units)} {
    if (plan_.has(feature::breaker)) {
        breaker_ = std::make_shared<circuit_breaker>(driver::circuit_breaker_options{
            .volume_threshold = breaker_volume, .sleep_window = 50ms, .probe_timeout = 1s});
    }
    if (plan_.stop_at) {
        at(time_point{} + *plan_.stop_at, [this] {
            stop_.request_stop();
            on_stop();
        });
    }
    if (plan_.breaker_opens_at) {
        at(time_point{} + *plan_.breaker_opens_at, [this] {
            for (std::uint32_t i = 0; i < 4 * breaker_volume; ++i) {
                breaker_->on_failure(driver::breaker_permit::regular(), {}, clock_.now());
            }
            breaker_opened_at_ = clock_.now();
        });
    }
    if (plan_.timeout) {
        deadline_ = clock_.now() + *plan_.timeout;
    }
}

strategy_type world::strategy(std::size_t index) {
    loop_level& own = level(index);
    const std::size_t innermost = plan_.has(feature::nested) ? 1 : 0;
    prompt_strategy prompt = attempts(plan_.attempts_max)
                                 .every(plan_.delay)
                                 .unmarked_calls(plan_.unmarked_calls)
                                 .when(code_selection{plan_.selected_codes})
                                 .when(base_selection{})
                                 .when(named_selection{plan_.selected_codes})
                                 .budget(ledger_budget(&own.charges))
                                 .breaker(index == innermost ? breaker_ : nullptr)
                                 .observer(plan_.has(feature::observer) ? own.observer : nullptr);
    return {std::move(prompt), plan_.first_delay};
}

call_options world::options(std::size_t index, const attempt* current) {
    loop_level& own = level(index);
    ++own.calls;
    call_options options;
    options.repeat = plan_.repeat;
    options.clock = &clock_;
    if (plan_.has(feature::stop)) {
        options.stop = stop_.get_token();
    }
    if (plan_.has(feature::observer)) {
        options.history = &own.history;
    }
    if (current == nullptr) {
        options.timeout = plan_.timeout;
        options.attempt_timeout = plan_.attempt_timeout;
    } else {
        options.outer_allowance = current->allowance;
        if (current->deadline != driver::no_deadline) {
            options.deadline = current->deadline;
        }
    }
    const time_point now = clock_.now();
    own.first_at =
        now + std::min(
                  {plan_.first_delay, options.timeout.value_or(duration::max()),
                   driver::time_left(now, options.deadline.value_or(driver::no_deadline))});
    return options;
}

void world::start(std::size_t index, const attempt& current) {
    loop_level& own = level(index);
    ++own.attempts;
    own.retries += current.number > 1 ? 1U : 0U;
    if (index == 0) {
        outer_allowance_ = current.allowance;
    }
    const bool is_alone = index == 0 || !plan_.has(feature::hedge);
    const time_point now = clock_.now();
    if (is_alone && current.number == 1 && now != own.first_at) {
        report("the first attempt starts before or after its delay");
    }
    own.limit = current.deadline;
    // The blocking loop inside an operation with a completion token sees no signals.
    if (signaled_at_ && (index == 0 || !plan_.has(feature::completion_token))) {
        report("an attempt starts after a signal");
    }
}

void world::finish(std::size_t index, const reply& ended) {
    loop_level& own = level(index);
    own.successes += ended.has_value() ? 1U : 0U;
    own.failures += ended.has_value() ? 0U : 1U;
    if (!ended.has_value()) {
        last_failure_ = ended.failure.facts;
        own.late_failures += clock_.now() > own.limit ? 1U : 0U;
    }
}

bool world::allows_retry(const failure_facts& facts) const {
    driver::retry_question question;
    question.facts = facts;
    if (!code_selection{plan_.selected_codes}(question)) {
        return false;
    }
    if (facts.safety) {
        return *facts.safety == retry_safety::yes ||
               (*facts.safety == retry_safety::maybe && plan_.may_be_executed_twice());
    }
    return facts.fault != failure_fault::client && plan_.may_be_executed_twice();
}

void world::check_retry(const attempt& current) {
    const bool is_hedged = plan_.has(feature::hedge);
    if (running_ != 0 && !(is_hedged && plan_.repeat == repeatability::repeatable)) {
        report("two attempts run at the same time");
    }
    if (!is_hedged && last_failure_ && !allows_retry(*last_failure_)) {
        report("a failure that forbids a retry is retried");
    }
    if (stop_.stop_requested() && current.number > 1) {
        report("an attempt starts after the caller has asked to stop");
    }
    if (deadline_ && clock_.now() >= *deadline_ && current.number > 1) {
        report("a retry starts after the deadline");
    }
    if (service_calls_ > plan_.attempts_max) {
        report("more attempts than the outer loop may make");
    }
    const std::uint32_t taken = level(0).retries + level(1).retries;
    if (!is_hedged && outer_allowance_ != nullptr &&
        outer_allowance_->left().value_or(0) + taken != plan_.attempts_max - 1) {
        report("the allowance does not correspond to the retries that were made");
    }
}

const attempt_script& world::call_service(const attempt& current) {
    ++service_calls_;
    if (completions_ != 0) {
        report("an attempt starts after the call has completed");
    }
    // On several threads, one that has been admitted may still be on its way.
    const bool has_just_opened = plan_.has(feature::threads) && breaker_opened_at_ == clock_.now();
    if (breaker_ && breaker_->state() == circuit_state::open && !has_just_opened) {
        report("an attempt starts while the breaker is open");
    }
    if (starting_ > 1) {
        report("an attempt starts inside the initiating function of another");
    }
    if (service_calls_ > 1) {
        check_retry(current);
        if (!is_in_place()) {
            report("an attempt starts on another executor than that of the handler");
        }
    }
    ++running_;
    const std::size_t last = plan_.attempts.size() - 1;
    return plan_.attempts[std::min<std::size_t>(service_calls_ - 1, last)];
}

reply world::answer(const attempt_script& script, bool is_cut) {
    --running_;
    executions_ += script.is_executed ? 1U : 0U;
    reply out;
    if (script.is_success && !is_cut) {
        out.from = reply::source::service;
        return out;
    }
    out.failure.attempt = service_calls_;
    failure_facts& facts = out.failure.facts;
    const failure_facts cut{.safety = retry_safety::maybe, .timeout = true, .code = 2};
    facts = is_cut ? cut : script.facts;
    if (plan_.has(feature::adapter)) {
        if (!is_cut) {
            facts = script.status == 0 ? failure_facts{.safety = retry_safety::maybe}
                                       : http_facts(script.status);
        }
        facts = adapters::facts_after_sending(facts, plan_.method, plan_.repeat);
    }
    return out;
}

void world::throw_failure(const reply& failed) const {
    if (plan_.has(feature::named)) {
        throw named_reply(failed);
    }
    throw described_reply(failed);
}

reply world::canceled_reply() {
    if (!has_asked_to_stop() && !may_be_canceled_by_the_loop()) {
        report("the call ends with an exception that the operation did not throw");
    }
    reply out;
    out.failure.is_unattempted = true;
    out.failure.facts.safety = retry_safety::yes;
    return out;
}

bool world::has_asked_to_stop() const {
    return stop_.stop_requested() || signaled_at_;
}

bool world::may_be_canceled_by_the_loop() const {
    return plan_.timeout || plan_.attempt_timeout || plan_.has(feature::hedge);
}

void world::on_stop() {
    const loop_level& outer = level(0);
    // A blocking loop inside an attempt sees no signals.
    const bool is_deaf = plan_.has(feature::nested) && plan_.has(feature::completion_token) &&
                         outer.attempts != outer.successes + outer.failures;
    const bool is_waiting = outer.calls != 0 && running_ == 0 && completions_ == 0;
    if (is_waiting && !is_deaf && !ends_at_) {
        ends_at_ = clock_.now();
    }
}

void world::on_signal(std::uint32_t type) {
    signals_ |= type;
    if (completions_ == 0 && !signaled_at_) {
        signaled_at_ = clock_.now();
        on_stop();
    }
}

void world::on_attempt_signal(std::uint32_t type, bool has_ended) {
    if (has_ended) {
        report("a signal reaches an attempt that has ended");
    }
    const bool is_callers = std::has_single_bit(type) && (type & signals_) != 0;
    if (!is_callers && !may_be_canceled_by_the_loop()) {
        report("a signal reaches an attempt with another type");
    }
}

void world::on_end_without_signal(time_point started) {
    if (signaled_at_ && *signaled_at_ < clock_.now() && started <= *signaled_at_) {
        report("a signal does not reach the attempt that runs");
    }
}

reply world::recover() {
    if (has_asked_to_stop()) {
        report("a caller that has asked to stop gets the fallback");
    }
    reply out;
    out.from = reply::source::fallback;
    return out;
}

void world::complete(const reply& result) {
    ++completions_;
    result_ = result;
    if (running_ != 0) {
        report("the call completes while an attempt runs");
    }
    if (starting_ != 0) {
        report("the call completes inside an initiating function");
    }
    if (ends_at_ && clock_.now() != *ends_at_) {
        report("the call goes on waiting after the caller has asked to stop");
    }
    if (!is_in_place()) {
        report("the call completes on another executor than that of the handler");
    }
}

void world::verify() {
    if (completions_ != 1) {
        report("the call completes " + std::to_string(completions_) + " times");
    }
    if (executions_ > 1 && !plan_.may_be_executed_twice()) {
        report("the service executes the call " + std::to_string(executions_) + " times");
    }
    verify_level(0);
    if (plan_.has(feature::nested)) {
        verify_level(1);
    }
    verify_result();
    if (breaker_ && breaker_->try_acquire(clock_.now() + 1h).is_refused()) {
        report("the breaker waits for a probe that is lost");
    }
}

void world::verify_level(std::size_t index) {
    const loop_level& own = level(index);
    const std::string where = index == 0 ? "" : " (inner loop)";
    if (own.charges.paid_count() != own.retries) {
        report(
            std::to_string(own.charges.paid_count()) + " retries are paid for, " +
            std::to_string(own.retries) + " are made" + where);
    }
    if (own.charges.success_count() > own.successes ||
        (own.successes != 0 && own.charges.success_count() == 0)) {
        report("the budget does not see each success once" + where);
    }
    if (!plan_.has(feature::observer)) {
        return;
    }
    const watcher& seen = *own.observer;
    if (seen.completions != own.calls) {
        report("an observer does not see each call end once" + where);
    }
    if (seen.successes != own.charges.success_count()) {
        report("an observer does not see each success" + where);
    }
    if (seen.attempts != own.attempts) {
        report("an observer does not see each attempt" + where);
    }
    if (!plan_.has(feature::hedge) && seen.failed_attempts != own.failures) {
        report("an observer does not see each decision" + where);
    }
    const bool has_blocking_loop = plan_.has(feature::blocking) ||
                                   plan_.has(feature::no_exceptions) ||
                                   (plan_.has(feature::nested) && !plan_.has(feature::coroutine));
    if (!plan_.has(feature::hedge) && !has_blocking_loop && seen.timeouts < own.late_failures) {
        report("an observer does not see that an attempt reached its limit" + where);
    }
    if (!plan_.has(feature::hedge) && own.history.refusal() != seen.last_refusal) {
        report("history and observer name different ends" + where);
    }
}

void world::verify_result() {
    const loop_level& outer = level(0);
    if (outer.successes != 0) {
        if (result_.from != reply::source::service) {
            report("a success is lost");
        }
        return;
    }
    const bool is_recovered = result_.from == reply::source::fallback;
    if (is_recovered != plan_.has(feature::fallback) && !has_asked_to_stop()) {
        report("the fallback is not used as it should be");
    }
    if (result_.from == reply::source::failure && !plan_.has(feature::hedge) &&
        !result_.failure.is_unattempted && result_.failure.attempt != service_calls_) {
        report("the result is not that of the last attempt");
    }
}

void world::report(const std::string& violation) {
    violations_.push_back(violation);
}

}  // namespace reprise::feature_pairs
