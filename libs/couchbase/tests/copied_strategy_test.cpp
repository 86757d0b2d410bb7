// First, so that nothing else can have helped: all a copy needs is this header.
#include <reprise/couchbase/retry_strategy.hpp>

#include <gtest/gtest.h>

#include <memory>

namespace reprise::couchbase::copied_strategy_test {

// The standard strategy as it is today, frozen: what a program does that must never see it change.
class frozen_strategy final : public request_strategy {
public:
    void retry_after(
        const request_snapshot& request, retry_reason reason, retry_sink& sink) override {
        switch (reason) {
            case retry_reason::authentication_error:
                return sink.answer(retry_action::no(errc::authentication_failure));
            case retry_reason::tls_error:
                return sink.answer(retry_action::no(errc::tls_failure));
            case retry_reason::bucket_access_error:
                return sink.answer(retry_action::no(errc::bucket_access_failure));
            case retry_reason::scope_not_found:
                return sink.answer(retry_action::no(errc::scope_not_found));
            case retry_reason::collection_not_found:
                return sink.answer(retry_action::no(errc::collection_not_found));
            default:
                break;
        }
        const bool is_allowed = request.is_idempotent || info(reason).allows_non_idempotent_retry;
        if (!is_allowed || reason == retry_reason::unknown) {
            return sink.answer(retry_action::no());
        }
        sink.answer(retry_action::after(calculator_(request.retry_attempts, request.random)));
    }

private:
    backoff_calculator calculator_ = exponential_calculator();
};

retry_action answer_of(
    request_strategy& strategy, const request_snapshot& request, retry_reason reason) {
    retry_sink sink(nullptr, {});
    strategy.retry_after(request, reason, sink);
    return sink.action().value_or(retry_action::after(duration::max()));
}

TEST(copied_strategy, RH_37_a_copy_of_the_standard_compiles_and_answers_the_same) {
    frozen_strategy copy;
    terminal_error_strategy standard;
    for (const retry_reason_facts& facts : all_retry_reasons()) {
        for (std::uint32_t attempts = 0; attempts < 12; ++attempts) {
            for (const bool is_idempotent : {true, false}) {
                request_snapshot request;
                request.is_idempotent = is_idempotent;
                request.retry_attempts = attempts;
                const auto ours = answer_of(copy, request, facts.reason);
                const auto theirs = answer_of(standard, request, facts.reason);
                EXPECT_EQ(ours.delay(), theirs.delay()) << facts.name;
                EXPECT_EQ(ours.error(), theirs.error()) << facts.name;
            }
        }
    }
}

}  // namespace reprise::couchbase::copied_strategy_test
