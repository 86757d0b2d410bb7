#include <reprise/couchbase/retry_strategy.hpp>

#include <algorithm>
#include <string>

#include <reprise/retry/retry_errc.hpp>

namespace reprise::couchbase {
namespace {

void refuse_override(retry_reason reason, std::string_view why) {
    throw invalid_settings({"overrides", std::string(to_string(reason)).append(" ").append(why)});
}

// Refuses overrides that would never have an effect.
void check_overrides(const std::vector<reason_override>& overrides) {
    retry_reason_set seen;
    for (const reason_override& each : overrides) {
        if (each.reason == retry_reason::unknown) {
            refuse_override(each.reason, "is never retried");
        }
        if (info(each.reason).always_retry) {
            refuse_override(each.reason, "is always retried without asking a strategy");
        }
        if (seen.contains(each.reason)) {
            refuse_override(each.reason, "is given twice");
        }
        if (!each.answer) {
            refuse_override(each.reason, "has an empty function");
        }
        seen.insert(each.reason);
    }
}

}  // namespace

overriding_strategy::overriding_strategy(
    std::shared_ptr<driver::retry_strategy> otherwise, std::vector<reason_override> overrides)
    : otherwise_(std::move(otherwise)), overrides_(std::move(overrides)) {
    if (!otherwise_) {
        throw invalid_settings({"otherwise", "must not be null"});
    }
    set_traits(otherwise_->traits());
    check_overrides(overrides_);
}

void overriding_strategy::retry_after(
    const driver::retry_question& question, driver::retry_sink& sink) {
    if (const reason_override* const own = override_of(question)) {
        sink.answer(own->answer(question));
    } else {
        otherwise_->retry_after(question, sink);
    }
}

const reason_override* overriding_strategy::override_of(
    const driver::retry_question& question) const noexcept {
    const auto found = std::ranges::find(overrides_, reason_of(question), &reason_override::reason);
    return found == overrides_.end() ? nullptr : &*found;
}

bool overriding_strategy::note_failure(const driver::retry_question& question) {
    return override_of(question) == nullptr && otherwise_->note_failure(question);
}

std::optional<duration> overriding_strategy::minimum_wait(const driver::retry_question& question) {
    return override_of(question) == nullptr ? otherwise_->minimum_wait(question)
                                            : question.facts.minimum_wait;
}

driver::decision overriding_strategy::on_start(
    driver::token_state& token, const driver::decision_context& at) {
    return otherwise_->on_start(token, at);
}

void overriding_strategy::on_success(
    const driver::token_state& token, const driver::decision_context& at) {
    otherwise_->on_success(token, at);
}

driver::retry_budget* overriding_strategy::paying_budget() noexcept {
    return otherwise_->paying_budget();
}

std::shared_ptr<driver::retry_strategy> overriding(
    std::shared_ptr<driver::retry_strategy> otherwise, std::vector<reason_override> overrides) {
    return std::make_shared<overriding_strategy>(std::move(otherwise), std::move(overrides));
}

}  // namespace reprise::couchbase
