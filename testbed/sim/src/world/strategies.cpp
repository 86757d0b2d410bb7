#include "world/strategies.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include <reprise/couchbase_types/retry_strategies.hpp>
#include <reprise/retry/standard_strategy.hpp>

#include "world/world.hpp"

namespace reprise::sim {
namespace {

// Retries whatever may be repeated, without delay.
class at_once_strategy final : public driver::retry_strategy {
public:
    void retry_after(const driver::retry_question& asked, driver::retry_sink& sink) override {
        const bool is_safe =
            couchbase::request_of(asked).is_idempotent ||
            couchbase::info(couchbase::reason_of(asked)).allows_non_idempotent_retry;
        const bool is_enough = asked.retry_attempts >= 50;
        sink.answer(
            is_safe && !is_enough ? driver::retry_action::after(duration::zero())
                                  : driver::retry_action::no());
    }
};

class never_strategy final : public driver::retry_strategy {
public:
    void retry_after(const driver::retry_question&, driver::retry_sink& sink) override {
        sink.answer(driver::retry_action::no());
    }
};

std::unique_ptr<driver::retry_strategy> make_library_strategy() {
    standard_strategy::options options;
    options.attempts_max = 6;
    options.backoff.base = std::chrono::milliseconds{2};
    options.backoff.cap = std::chrono::milliseconds{100};
    options.bucket.capacity = 200;
    return std::make_unique<driver::virtual_strategy<standard_strategy>>(options);
}

std::unique_ptr<driver::retry_strategy> make_inner(strategy_choice choice) {
    switch (choice) {
        case strategy_choice::terminal_error:
            return std::make_unique<couchbase::fail_fast_on_terminal_error_strategy>();
        case strategy_choice::jittered:
            return std::make_unique<couchbase::best_effort_strategy>(
                couchbase::jittered_calculator());
        case strategy_choice::server_directed:
            return std::make_unique<couchbase::server_directed_strategy>();
        case strategy_choice::library:
            return make_library_strategy();
        case strategy_choice::never:
            return std::make_unique<never_strategy>();
        case strategy_choice::at_once:
            return std::make_unique<at_once_strategy>();
        case strategy_choice::best_effort:
        case strategy_choice::deferred:
        case strategy_choice::broken:
            break;
    }
    return std::make_unique<couchbase::best_effort_strategy>();
}

// Captures an answer that will be given later.
driver::retry_action answer_of(driver::retry_strategy& inner, const driver::retry_question& asked) {
    driver::retry_sink caught(nullptr, nullptr);
    inner.retry_after(asked, caught);
    return caught.action().value_or(driver::retry_action::no());
}

}  // namespace

observed_strategy::observed_strategy(world& owner, std::uint32_t client, strategy_choice choice)
    : world_(owner), client_(client), choice_(choice), inner_(make_inner(choice)) {}

void observed_strategy::retry_after(const driver::retry_question& asked, driver::retry_sink& sink) {
    const auto* number = asked.at.user_data_as<std::uint32_t>();
    if (number == nullptr) {
        return inner_->retry_after(asked, sink);
    }
    world_.checks.decisions.on_asked(*number, asked);
    switch (choice_) {
        case strategy_choice::deferred:
            defer(asked, sink, *number);
            break;
        case strategy_choice::broken:
            play_broken(asked, sink);
            if (sink.current() == driver::retry_sink::state::deferred) {
                return;  // already reported
            }
            break;
        case strategy_choice::terminal_error:
        case strategy_choice::best_effort:
        case strategy_choice::jittered:
        case strategy_choice::server_directed:
        case strategy_choice::library:
        case strategy_choice::never:
        case strategy_choice::at_once:
            inner_->retry_after(asked, sink);
            break;
    }
    world_.checks.decisions.on_strategy_answer(*number, sink);
}

// Makes one of the mistakes that a user's strategy can make, or none.
void observed_strategy::play_broken(const driver::retry_question& asked, driver::retry_sink& sink) {
    const std::uint32_t number = *asked.at.user_data_as<std::uint32_t>();
    switch (asked.at.random % 8) {
        case 0:
            // The exception reports it to the engine; the checker needs it earlier.
            world_.checks.decisions.on_strategy_answer(number, sink);
            throw std::runtime_error("the simulated strategy threw");
        case 1:
            return;  // forgets to answer
        case 2:
            sink.fail("the simulated strategy could not decide");
            return;
        case 3:
            static_cast<void>(sink.defer());  // drops the question at once
            world_.checks.decisions.on_strategy_answer(number, sink);
            world_.checks.decisions.on_late_answer(number, std::nullopt);
            return;
        case 4:
            // Several answers: the first one counts.
            inner_->retry_after(asked, sink);
            sink.answer(driver::retry_action::no());
            return;
        case 5:
            defer(asked, sink, number);
            questions_.back().is_dropped = true;
            world_.checks.decisions.on_strategy_answer(number, sink);
            return;
        default:
            inner_->retry_after(asked, sink);
            return;
    }
}

void observed_strategy::defer(
    const driver::retry_question& asked, driver::retry_sink& sink, std::uint32_t operation) {
    const driver::retry_action action = answer_of(*inner_, asked);
    question put;
    // The numbers of a client's strategies must all differ.
    put.number = asked_count_++ * strategy_choice_count + static_cast<std::uint64_t>(choice_);
    put.operation = operation;
    put.decision = world_.records.at(operation).decisions.size();
    put.later = sink.defer();
    put.action = action;
    const duration wait{static_cast<std::int64_t>(asked.at.random % 8'000'000)};
    world_.queue.push(world_.now + wait, event_kind::strategy_answer, client_, put.number);
    questions_.push_back(std::move(put));
}

driver::decision observed_strategy::on_start(
    driver::token_state& token, const driver::decision_context& at) {
    return inner_->on_start(token, at);
}

void observed_strategy::on_success(
    const driver::token_state& token, const driver::decision_context& at) {
    if (const auto* number = at.user_data_as<std::uint32_t>()) {
        world_.checks.decisions.on_success_reported(*number);
    }
    inner_->on_success(token, at);
}

driver::retry_budget* observed_strategy::paying_budget() noexcept {
    return inner_->paying_budget();
}

void observed_strategy::answer(std::uint64_t question_number) {
    const auto found = std::ranges::find(questions_, question_number, &question::number);
    if (found == questions_.end()) {
        return;
    }
    question put = std::move(*found);
    if (&*found != &questions_.back()) {
        *found = std::move(questions_.back());  // their order means nothing
    }
    questions_.pop_back();
    const operation_record& record = world_.records.at(put.operation);
    // An answer that is too late is ignored.
    if (record.calls == 0 && record.decisions.size() == put.decision) {
        world_.checks.decisions.on_late_answer(
            put.operation, put.is_dropped ? std::nullopt : std::optional(put.action));
    }
    if (!put.is_dropped) {
        put.later.answer(put.action);
    }
}

}  // namespace reprise::sim
