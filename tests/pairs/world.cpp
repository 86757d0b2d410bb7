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

constexpr std::uint32_t breaker_volume = 3;

[[nodiscard]] failure_facts facts_of_answer(const attempt_script& script, retry_clock& clock) {
    if (!script.minimum_wait) {
        return http_facts(script.status);
    }
    const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(*script.minimum_wait);
    return http_facts(script.status, std::to_string(seconds.count()), clock.calendar_time());
}

/// What no strategy may overrule: a stated `no`, and the mark of the call. Of exceptions that only
/// a filter names, the loop sees nothing.
[[nodiscard]] bool allows_eager_retry(const call_plan& plan, const failure_facts& facts) {
    return plan.repeat == repeatability::not_repeatable
               ? facts.safety == retry_safety::yes
               : facts.safety != retry_safety::no || plan.has(feature::named);
}

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
      at_(at),
      levels_{make_level(0), make_level(1)},
      not_before_(clock.now()) {
    if (plan_.has(feature::breaker)) {
        breaker_ = std::make_shared<circuit_breaker>(driver::circuit_breaker_options{
            .volume_threshold = breaker_volume, .sleep_window = 50ms, .probe_timeout = 1s});
    }
    if (plan_.stop_at) {
        at(clock_.now() + *plan_.stop_at, [this] { request_stop(); });
    }
    if (plan_.breaker_opens_at) {
        at(clock_.now() + *plan_.breaker_opens_at, [this] {
            for (std::uint32_t i = 0; i < 4 * breaker_volume; ++i) {
                breaker_->on_failure(driver::breaker_permit::regular(), {}, clock_.now());
            }
            breaker_opened_at_ = clock_.now();
        });
    }
    if (plan_.timeout) {
        deadline_ = clock_.now() + *plan_.timeout;
    }
    if (plan_.has(feature::stopping_observer)) {
        for (const auto& each : levels_) {
            each->observer->after_event = [this] { on_event(); };
        }
    }
}

std::unique_ptr<loop_level> world::make_level(std::size_t index) {
    return std::make_unique<loop_level>(
        plan_, index, [this](const std::string& violation) { report(violation); });
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
                                 .observer(plan_.has_watcher() ? own.observer : nullptr);
    if (plan_.has(feature::tracer)) {
        prompt = prompt.tracer(own.spans);
    }
    if (plan_.has(feature::throwing_observer)) {
        throwing_functions& heard = own.functions;
        prompt = prompt.on_decision([&heard](const decision_event& e) { heard.on_decision(e); })
                     .on_completion([&heard](const call_summary&) { heard.on_completion(); });
    }
    return {std::move(prompt), plan_.first_delay};
}

call_options world::options(std::size_t index, const attempt* current) {
    loop_level& own = level(index);
    ++own.calls;
    call_options options;
    options.repeat = plan_.repeat;
    options.clock = &clock_;
    if (plan_.has(feature::stop) || plan_.has(feature::stopping_observer)) {
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
        now +
        std::min(
            {plan_.first_delay, driver::at_least_zero(options.timeout.value_or(duration::max())),
             driver::time_left(now, options.deadline.value_or(driver::no_deadline))});
    own.deadline =
        options.deadline.value_or(options.timeout ? now + *options.timeout : driver::no_deadline);
    own.failed_at = own.answered_at = own.next_at = own.first_at;
    own.is_given_up = false;
    return options;
}

bool world::has_acted(feature one) const {
    if (one == feature::tracer) {
        return level(0).spans->count() != 0;
    }
    if (one == feature::throwing_observer) {
        return level(0).functions.completions != 0;
    }
    if (one == feature::minimum_wait || one == feature::failed_start ||
        one == feature::stopping_observer) {
        return acted_.has(one);
    }
    return level(0).acted.has(one) || level(1).acted.has(one);
}

void world::after(duration time, std::function<void()> action) {
    at_(clock_.now() + time,
        [this, action = std::move(action)]() mutable { run_anywhere(std::move(action)); });
}

void world::on_event() {
    if (++events_ != plan_.stops_at_event) {
        return;
    }
    acted_.add(feature::stopping_observer);
    if (plan_.stops_by_signal) {
        emit_signal();
    } else {
        request_stop();
    }
}

void world::request_stop() {
    stopped_at_ = stopped_at_.value_or(clock_.now());
    stop_.request_stop();
    on_stop();
}

void world::start(std::size_t index, const attempt& current) {
    loop_level& own = level(index);
    ++own.attempts;
    own.retries += current.number > 1 ? 1U : 0U;
    if (index == 0) {
        outer_allowance_ = current.allowance;
    }
    own.limit = current.deadline;
    if (index == 0 || !plan_.has(feature::hedge)) {
        own.check_start(current, clock_.now());
    }
    // The blocking loop inside an operation with a completion token sees no signals.
    if (signaled_at_ && (index == 0 || !plan_.has(feature::completion_token))) {
        check_start_after_signal(index);
    }
    // On several threads, one that has been admitted may still be on its way.
    const bool has_just_stopped = plan_.has(feature::threads) && stopped_at_ == clock_.now();
    if (stopped_at_ && current.number > 1 && !has_just_stopped) {
        report("an attempt starts after the caller has asked to stop");
    }
}

/// On several threads, a signal may still be on its way through the outer loop's strand to an inner
/// loop, which then starts one more attempt (docs/design/loop_rules.md).
void world::check_start_after_signal(std::size_t index) {
    const bool crosses_strand =
        index == 1 && plan_.has(feature::threads) && plan_.may_cancel_attempts();
    if (!crosses_strand || signaled_at_ != clock_.now()) {
        report("an attempt starts after a signal");
    }
    ends_at_.reset();
}

void world::finish(std::size_t index, const reply& ended) {
    loop_level& own = level(index);
    own.successes += ended.has_value() ? 1U : 0U;
    own.failures += ended.has_value() ? 0U : 1U;
    if (!ended.has_value()) {
        last_failure_ = ended.failure.facts;
        own.late_failures += clock_.now() > own.limit ? 1U : 0U;
        own.failed_at = clock_.now();
        own.answered_at = own.failed_at;
        own.next_at = own.failed_at + std::max(plan_.delay, ended.failure.minimum_wait);
    }
    if (index == 0 && plan_.has(feature::nested) && !ended.has_value()) {
        level(1).check_end(clock_.now());
    }
}

bool world::allows_retry(const failure_facts& facts) const {
    if (plan_.has(feature::eager_strategy)) {
        return allows_eager_retry(plan_, facts);
    }
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

void world::abandon(reply& ended) {
    ended.failure.facts = {.safety = retry_safety::no};
    is_abandoned_ = true;
}

const attempt_script& world::call_service(const attempt& current) {
    ++service_calls_;
    if (completions_ != 0 || is_abandoned_) {
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
    if (clock_.now() < not_before_ && !(plan_.has_hedged_nest() || asked_at_ == clock_.now())) {
        report("an attempt starts before the pause is over that the service asked for");
    }
    if (service_calls_ > 1) {
        check_retry(current);
        if (!is_in_place()) {
            report("an attempt starts on another executor than that of the handler");
        }
    }
    ++running_;
    return plan_.script_of(service_calls_ - 1);
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
                                       : facts_of_answer(script, clock_);
        }
        facts = adapters::facts_after_sending(facts, plan_.method, plan_.repeat);
    }
    if (script.is_failed_start) {
        acted_.add(feature::failed_start);
    }
    const bool is_answer = !plan_.has(feature::adapter) || script.status != 0;
    if (script.minimum_wait && is_answer && !is_cut) {
        acted_.add(feature::minimum_wait);
        out.failure.minimum_wait = *script.minimum_wait;
        asked_at_ = clock_.now();
        not_before_ = std::max(not_before_, clock_.now() + *script.minimum_wait);
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
    if (!has_asked_to_stop() && !plan_.may_cancel_attempts()) {
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
    if (!is_callers && !plan_.may_cancel_attempts()) {
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
    if (!has_succeeded()) {
        level(0).check_end(clock_.now());
    }
    if (!is_in_place()) {
        report("the call completes on another executor than that of the handler");
    }
}

void world::verify() {
    if (completions_ != (is_abandoned_ ? 0 : 1)) {
        report("the call completes " + std::to_string(completions_) + " times");
    }
    if (executions_ > 1 && !plan_.may_be_executed_twice()) {
        report("the service executes the call " + std::to_string(executions_) + " times");
    }
    level(0).is_abandoned = is_abandoned_;
    level(0).verify(succeeded_calls(0));
    if (plan_.has(feature::nested)) {
        level(1).verify(succeeded_calls(1));
    }
    verify_result();
    if (breaker_ && breaker_->try_acquire(clock_.now() + 1h).is_refused()) {
        report("the breaker waits for a probe that is lost");
    }
}

std::uint32_t world::succeeded_calls(std::size_t index) const {
    // An attempt of the outer loop is a call of the inner one.
    return index == 1 ? level(0).successes : result_.from == reply::source::service ? 1U : 0U;
}

void world::verify_result() {
    const loop_level& outer = level(0);
    if (is_abandoned_) {
        return;
    }
    if (outer.successes != 0) {
        if (result_.from != reply::source::service) {
            report("a success is lost");
        }
        return;
    }
    const bool is_recovered = result_.from == reply::source::fallback;
    if (is_recovered != plan_.has_fallback() && !has_asked_to_stop()) {
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
