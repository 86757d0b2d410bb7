#include <utility>

#include <reprise/base/assert.hpp>
#include <reprise/engine/library_strategy.hpp>

namespace reprise::engine {
namespace {

// A token in the words kept with the request. Attempts begin with 1: 0 means that there is none.
strategy_memory memory_of(const token_state& token) noexcept {
    return {
        {(std::uint64_t{token.cost} << 32U) | token.attempt, token.extra,
         static_cast<std::uint64_t>(token.delay.count())}};
}

std::optional<token_state> token_of(const strategy_memory& memory) noexcept {
    token_state token;
    token.attempt = static_cast<std::uint32_t>(memory.words[0]);
    token.cost = static_cast<std::uint32_t>(memory.words[0] >> 32U);
    token.extra = memory.words[1];
    token.delay = duration{static_cast<std::int64_t>(memory.words[2])};
    return token.attempt == 0 ? std::nullopt : std::optional(token);
}

failure_facts facts_for(const request_snapshot& request, retry_reason reason) noexcept {
    const retry_reason_facts& known = info(reason);
    failure_facts facts;
    facts.safety = known.is_terminal                   ? retry_safety::no
                   : known.allows_non_idempotent_retry ? retry_safety::yes
                                                       : retry_safety::maybe;
    facts.throttling = reason == retry_reason::search_too_many_requests;
    facts.fault = failure_fault::server;
    if (request.delay_floor > duration::zero()) {
        facts.minimum_wait = request.delay_floor;
    }
    facts.code = request.status;
    return facts;
}

}  // namespace

library_strategy::library_strategy(std::shared_ptr<strategy_interface> inner)
    : inner_(std::move(inner)) {
    REPRISE_ASSERT(inner_ != nullptr);
}

void library_strategy::retry_after(
    const request_snapshot& request, retry_reason reason, retry_sink& sink) {
    const moment at{request.now, request.random};
    std::optional<token_state> token = token_of(request.memory);
    if (!token) {
        token.emplace();
        if (!inner_->begin(*token, at).allowed()) {
            return sink.answer(retry_action::no());
        }
    }
    retry_question question;
    question.facts = facts_for(request, reason);
    question.at = at;
    question.deadline = request.deadline;
    question.repeat =
        request.is_idempotent ? repeatability::repeatable : repeatability::not_repeatable;
    question.failure = failure_view::of(request);
    const decision decided = inner_->refresh(*token, question);
    if (decided.refusal == refusal_reason::strategy_failed) {
        return sink.fail("the inner strategy threw");
    }
    sink.answer(
        decided.allowed() ? retry_action::after(token->delay).remembering(memory_of(*token))
                          : retry_action::no());
}

void library_strategy::on_success(const request_snapshot& request) noexcept {
    const moment at{request.now, request.random};
    std::optional<token_state> token = token_of(request.memory);
    if (!token) {
        token.emplace();
        if (!inner_->begin(*token, at).allowed()) {
            return;
        }
    }
    inner_->succeed(*token, at);
}

}  // namespace reprise::engine
