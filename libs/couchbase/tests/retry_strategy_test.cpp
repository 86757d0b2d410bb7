// Included first, to show that a copy needs only this header.
#include <reprise/couchbase/retry_strategy.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

namespace copied_strategy_test {

namespace couchbase = reprise::couchbase;
using couchbase::retry_reason;
using couchbase::retry_sink;
using namespace std::chrono_literals;

// [frozen]
// The standard strategy as it is today. A new version of the library does not change it.
class frozen_strategy final : public couchbase::retry_strategy {
public:
    void retry_after(
        const couchbase::retry_question& question, couchbase::retry_sink& sink) override {
        using couchbase::errc;
        using couchbase::retry_action;
        using couchbase::retry_reason;
        const retry_reason reason = couchbase::reason_of(question);
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
        const bool is_safe = question.repeat == reprise::repeatability::repeatable ||
                             info(reason).allows_non_idempotent_retry;
        if (!is_safe || reason == retry_reason::unknown) {
            return sink.answer(retry_action::no());
        }
        // 1, 2, 4, ... 256, 500 ms; never sooner than the server asks for.
        const std::uint32_t step = std::min(question.retry_attempts, 9U);
        const reprise::duration planned = std::chrono::milliseconds{std::min(1 << step, 500)};
        const reprise::duration least = question.facts.minimum_wait.value_or(planned);
        sink.answer(retry_action::after(std::max(planned, least)));
    }
};
// [/frozen]

// The facts about a request that a strategy sees in addition to the question.
const couchbase::request_snapshot& request_with_rule() {
    static const couchbase::request_snapshot made = [] {
        couchbase::request_snapshot request;
        request.operation = "upsert";
        request.status = 0x7ff0;
        request.server_rule.emplace();
        request.server_rule->interval = 25ms;
        request.server_rule->max_duration = 1s;
        request.is_server_rule_unusable = true;
        request.retry_reasons.insert(retry_reason::kv_locked);
        return request;
    }();
    return made;
}

// Every question that a strategy can get: each reason with all the facts it can read.
std::vector<couchbase::retry_question> all_questions() {
    std::vector<couchbase::retry_question> questions;
    const reprise::time_point now{1h};
    constexpr std::array<reprise::duration, 5> times_left{
        0ns, 1ns, 3ms, 2500ms, reprise::duration::max()};
    constexpr std::array<reprise::duration, 5> floors{0ns, 1ns, 5ms, 700ms, 48h};
    for (const std::uint32_t attempts : {0U, 1U, 2U, 3U, 7U, 8U, 9U, 10U, 31U, 32U, 64U, ~0U}) {
        for (const bool is_idempotent : {true, false}) {
            for (const reprise::duration left : times_left) {
                for (const reprise::duration floor : floors) {
                    couchbase::retry_question question;
                    question.repeat = is_idempotent ? reprise::repeatability::repeatable
                                                    : reprise::repeatability::not_repeatable;
                    question.retry_attempts = attempts;
                    question.at.now = now;
                    question.at.random = attempts * 0x9e3779b97f4a7c15U;
                    question.deadline = left == reprise::duration::max()
                                            ? reprise::driver::no_deadline
                                            : now + left;
                    if (floor > 0ns) {
                        question.facts.minimum_wait = floor;
                    }
                    questions.push_back(question);
                    question.failure = reprise::failure_view::of(request_with_rule());
                    question.facts.code = 0x7ff0;
                    question.token.memory = 1;
                    questions.push_back(question);
                }
            }
        }
    }
    return questions;
}

void expect_same_answer(
    couchbase::retry_strategy& copy, couchbase::retry_strategy& standard,
    const couchbase::retry_question& question) {
    reprise::driver::retry_sink ours(nullptr, nullptr);
    reprise::driver::retry_sink theirs(nullptr, nullptr);
    copy.retry_after(question, ours);
    standard.retry_after(question, theirs);
    ASSERT_EQ(theirs.current(), reprise::driver::retry_sink::state::answered);
    ASSERT_EQ(ours.current(), reprise::driver::retry_sink::state::answered);
    const auto name = question.reason.name();
    EXPECT_EQ(ours.action()->delay(), theirs.action()->delay())
        << name << ", attempt " << question.retry_attempts;
    EXPECT_EQ(ours.action()->refusal(), theirs.action()->refusal()) << name;
    EXPECT_EQ(ours.action()->error(), theirs.action()->error()) << name;
    EXPECT_EQ(ours.action()->memory().has_value(), theirs.action()->memory().has_value()) << name;
}

std::string text_of(const char* path) {
    std::ifstream file(path);
    std::ostringstream text;
    text << file.rdbuf();
    return text.str();
}

// Only the words, because line breaks do not matter.
std::string words_of(const std::string& text) {
    std::istringstream source(text);
    std::string result;
    for (std::string word; source >> word;) {
        result += word + ' ';
    }
    return result;
}

TEST(copied_strategy, RH_37_a_copy_of_the_standard_answers_the_same_in_every_respect) {
    frozen_strategy copy;
    couchbase::fail_fast_on_terminal_error_strategy standard;
    const auto questions = all_questions();
    for (const couchbase::retry_reason_facts& facts : couchbase::all_retry_reasons()) {
        for (couchbase::retry_question question : questions) {
            question.reason = facts.reason;
            ASSERT_NO_FATAL_FAILURE(expect_same_answer(copy, standard, question));
        }
    }
}

TEST(copied_strategy, RH_37_the_guide_presents_the_standard_and_shows_the_copy) {
    const std::string guide = words_of(text_of(REPRISE_CLIENT_GUIDE));
    for (const std::string_view sentence :
         {"The standard is `fail_fast_on_terminal_error_strategy`",
          "It may change in a new version", "If you need fixed behaviour, copy it"}) {
        EXPECT_NE(guide.find(sentence), std::string::npos) << sentence;
    }
    const std::string own = text_of(REPRISE_COPIED_STRATEGY);
    const std::size_t begin = own.find("// [frozen]\n");
    const std::size_t end = own.find("// [/frozen]");
    ASSERT_NE(begin, std::string::npos);
    ASSERT_LT(begin, end);
    const std::size_t first = own.find('\n', begin) + 1;
    EXPECT_NE(guide.find(words_of(own.substr(first, end - first))), std::string::npos)
        << "the guide shows a different class from the one compiled here";
}

}  // namespace copied_strategy_test
