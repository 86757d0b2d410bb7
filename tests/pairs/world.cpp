#include "world.hpp"

#include <algorithm>
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
        at(time_point{} + *plan_.stop_at, [this] { stop_.request_stop(); });
    }
    if (plan_.breaker_opens_at) {
        at(time_point{} + *plan_.breaker_opens_at, [this] {
            for (std::uint32_t i = 0; i < 4 * breaker_volume; ++i) {
                breaker_->on_failure(driver::breaker_permit::regular(), {}, clock_.now());
            }
        });
    }
    if (plan_.timeout) {
        deadline_ = clock_.now() + *plan_.timeout;
    }
}

strategy_type world::strategy(std::size_t index) {
    loop_level& own = level(index);
    const std::size_t innermost = plan_.has(feature::nested) ? 1 : 0;
    return attempts(plan_.attempts_max)
        .every(plan_.delay)
        .unmarked_calls(plan_.unmarked_calls)
        .when(code_selection{plan_.selected_codes})
        .when(base_selection{})
        .when(named_selection{plan_.selected_codes})
        .budget(ledger_budget(&own.charges))
        .breaker(index == innermost ? breaker_ : nullptr)
        .observer(plan_.has(feature::observer) ? own.observer : nullptr);
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
    return options;
}

void world::start(std::size_t index, const attempt& current) {
    loop_level& own = level(index);
    ++own.attempts;
    own.retries += current.number > 1 ? 1U : 0U;
    if (index == 0) {
        outer_allowance_ = current.allowance;
    }
}

void world::finish(std::size_t index, const reply& ended) {
    loop_level& own = level(index);
    own.successes += ended.has_value() ? 1U : 0U;
    own.failures += ended.has_value() ? 0U : 1U;
    if (!ended.has_value()) {
        last_failure_ = ended.failure.facts;
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
    if (breaker_ && breaker_->state() == circuit_state::open) {
        report("an attempt starts while the breaker is open");
    }
    if (service_calls_ > 1) {
        check_retry(current);
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

reply world::recover() {
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
    if (is_recovered != plan_.has(feature::fallback) && !stop_.stop_requested()) {
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
