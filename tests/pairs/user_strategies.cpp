#include "user_strategies.hpp"

#include <algorithm>
#include <memory>
#include <stdexcept>
#include <type_traits>

namespace reprise::feature_pairs {

namespace {

void throw_if(bool throws) {
    if (throws) {
        throw std::runtime_error("the strategy has failed");
    }
}

/// Makes one call of a strategy: throws before it or after it, if the plan has it so.
template <class Call>
auto call_or_throw(world& w, std::size_t level, strategy_call which, const Call& call) {
    const auto when = w.level(level).enter_strategy(which, w.now());
    throw_if(when == loop_level::thrown_when::before);
    if constexpr (std::is_void_v<decltype(call())>) {
        call();
        throw_if(when == loop_level::thrown_when::after);
    } else {
        const auto result = call();
        throw_if(when == loop_level::thrown_when::after);
        return result;
    }
}

/// Looks at the number of attempts, but not at the failure.
[[nodiscard]] driver::retry_action propose_all(
    const world& w, strategy_type& own, const driver::retry_question& question) {
    if (question.token.attempt >= w.plan().attempts_max) {
        return driver::retry_action::no(refusal_reason::attempts_exhausted);
    }
    const duration asked = own.minimum_wait(question).value_or(duration::zero());
    return driver::retry_action::after(std::max(w.plan().delay, asked));
}

}  // namespace

driver::decision user_strategy::on_start(
    driver::token_state& token, const driver::decision_context& at) {
    return call_or_throw(
        *world_, level_, strategy_call::start, [&] { return strategy_type::on_start(token, at); });
}

driver::retry_action user_strategy::retry_after(
    driver::token_state& token, const driver::retry_question& question) {
    return call_or_throw(*world_, level_, strategy_call::question, [&] {
        return world_->plan().has(feature::eager_strategy)
                   ? propose_all(*world_, *this, question)
                   : strategy_type::retry_after(token, question);
    });
}

bool user_strategy::note_failure(const driver::retry_question& question) {
    return call_or_throw(*world_, level_, strategy_call::note, [&] {
        return strategy_type::note_failure(question);
    });
}

void user_strategy::on_success(
    const driver::token_state& token, const driver::decision_context& at) {
    call_or_throw(
        *world_, level_, strategy_call::success, [&] { strategy_type::on_success(token, at); });
}

deferring_strategy::deferring_strategy(world& w, std::size_t level)
    : world_(w), level_(level), inner_(w.strategy(level)) {
    set_traits(inner_.traits());
}

void deferring_strategy::retry_after(
    const driver::retry_question& question, driver::retry_sink& sink) {
    call_or_throw(world_, level_, strategy_call::question, [&] {
        driver::token_state token = question.token;
        const driver::retry_action action = world_.plan().has(feature::eager_strategy)
                                                ? propose_all(world_, inner_, question)
                                                : inner_.retry_after(token, question);
        answer(world_.level(level_).next_answer(), action.remembering(token.memory), sink);
    });
}

void deferring_strategy::answer(
    const answer_script& script, const driver::retry_action& action, driver::retry_sink& sink) {
    if (script.kind == answer_kind::prompt) {
        sink.answer(action);
        return;
    }
    if (script.kind == answer_kind::silent) {
        return;
    }
    auto later = std::make_shared<driver::deferred_answer>(sink.defer());
    switch (script.kind) {
        case answer_kind::prompt:
        case answer_kind::silent:
        case answer_kind::dropped:
            break;
        case answer_kind::at_once:
            later->answer(action);
            break;
        case answer_kind::late:
            world_.after(script.after, [later, action] { later->answer(action); });
            break;
        case answer_kind::dropped_later:
            world_.after(script.after, [later]() mutable { *later = {}; });
            break;
        case answer_kind::failed_later:
            world_.after(script.after, [later] { later->fail("the strategy has failed"); });
            break;
        case answer_kind::kept:
            world_.keep(later);
            break;
    }
}

driver::decision deferring_strategy::on_start(
    driver::token_state& token, const driver::decision_context& at) {
    return call_or_throw(
        world_, level_, strategy_call::start, [&] { return inner_.on_start(token, at); });
}

void deferring_strategy::on_success(
    const driver::token_state& token, const driver::decision_context& at) {
    call_or_throw(world_, level_, strategy_call::success, [&] { inner_.on_success(token, at); });
}

bool deferring_strategy::note_failure(const driver::retry_question& question) {
    return call_or_throw(
        world_, level_, strategy_call::note, [&] { return inner_.note_failure(question); });
}

std::optional<duration> deferring_strategy::minimum_wait(const driver::retry_question& question) {
    return inner_.minimum_wait(question);
}

driver::retry_budget* deferring_strategy::paying_budget() noexcept {
    return inner_.paying_budget();
}

}  // namespace reprise::feature_pairs
