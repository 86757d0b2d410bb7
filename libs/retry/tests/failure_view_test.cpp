#include <gtest/gtest.h>

#include <optional>
#include <stdexcept>
#include <string>
#include <system_error>
#include <vector>

#include <reprise/retry.hpp>
#include <reprise/testing/scripted.hpp>

namespace reprise {

namespace failure_view_test {

using namespace std::chrono_literals;

struct quota_error {
    std::string tenant;
};
[[nodiscard]] failure_facts retry_facts(const quota_error&) {
    return testing::transient();
}

struct service_error : std::runtime_error {
    service_error(const std::string& text, int given) : std::runtime_error(text), code(given) {}
    int code;
};
struct busy_error final : service_error {
    using service_error::service_error;
};
[[nodiscard]] failure_facts retry_facts(const service_error&) {
    return testing::transient();
}

/// Has the shape of std::expected. Its error is returned by value or by reference.
template <class Error>
struct result {
    quota_error held;
    [[nodiscard]] bool has_value() const { return false; }
    [[nodiscard]] Error error() const { return held; }
};

/// Records what it sees of each failure, and retries once.
struct diary {
    std::vector<std::string> seen;

    driver::retry_action retry_after(
        driver::token_state& token, const driver::retry_question& question) {
        const failure_view& failure = question.failure;
        if (const auto* quota = failure.get_if<quota_error>()) {
            seen.push_back("quota of " + quota->tenant);
        } else if (const auto* service = failure.get_if<service_error>()) {
            seen.push_back(std::string(service->what()) + " " + std::to_string(service->code));
        } else if (const auto* code = failure.get_if<std::error_code>()) {
            seen.push_back("code " + std::to_string(code->value()));
        } else if (const auto* nothing = failure.get_if<std::optional<int>>()) {
            seen.push_back(nothing->has_value() ? "a number" : "no number");
        } else {
            seen.push_back(failure ? "something" : "nothing");
        }
        // The second condition ends a loop that forgets its token: such a bug must fail, not hang.
        return token.attempt > 1 || seen.size() > 4
                   ? driver::retry_action::no(refusal_reason::attempts_exhausted)
                   : driver::retry_action::after({});
    }
};

struct inlined_diary : diary {
    driver::decision on_start(
        driver::token_state& token, const driver::decision_context&) noexcept {
        token = {};
        return {};
    }
    void on_success(const driver::token_state&, const driver::decision_context&) noexcept {}
};

/// The same strategy behind the virtual interface.
class plugged_diary final : public driver::retry_strategy, public diary {
    void retry_after(const driver::retry_question& question, driver::retry_sink& sink) override {
        driver::token_state token = question.token;
        sink.answer(diary::retry_after(token, question));
    }
};

/// Returns what strategies of both forms see of the operation's failures. Both must see the same.
template <class... List, class Operation>
[[nodiscard]] std::vector<std::string> seen_of(
    Operation operation, detail::catching_t<List...> list = {}) {
    testing::virtual_clock clock;
    inlined_diary inlined;
    plugged_diary plugged;
    const auto play = [&](auto& strategy) {
        try {
            static_cast<void>(retry(strategy, {.clock = &clock}, list, operation));
        } catch (const std::exception&) {  // The last exception of the operation.
        }
    };
    play(inlined);
    play(static_cast<driver::retry_strategy&>(plugged));
    EXPECT_EQ(inlined.seen, plugged.seen);
    return inlined.seen;
}

}  // namespace failure_view_test

using namespace failure_view_test;  // NOLINT: one name per test file keeps unity builds apart

TEST(failure_view, matches_the_exact_type_and_nothing_else) {
    const quota_error error{"blue"};
    const failure_view view = failure_view::of(error);
    EXPECT_EQ(view.get_if<quota_error>(), &error);
    EXPECT_EQ(view.get_if<int>(), nullptr);
    EXPECT_EQ(view.get_if<std::exception_ptr>(), nullptr);
    EXPECT_TRUE(view);
    EXPECT_FALSE(failure_view{});
    EXPECT_EQ(failure_view{}.get_if<quota_error>(), nullptr);
    EXPECT_LE(sizeof(view), 3 * sizeof(void*));
}

TEST(failure_view, finds_an_exception_by_its_type_and_by_its_bases) {
    const std::exception_ptr thrown = std::make_exception_ptr(busy_error("busy", 7));
    const failure_view view = failure_view::of(thrown);
    ASSERT_NE(view.get_if<busy_error>(), nullptr);
    EXPECT_EQ(view.get_if<busy_error>()->code, 7);
    EXPECT_EQ(view.get_if<service_error>(), view.get_if<busy_error>()) << "the same object";
    EXPECT_STREQ(view.get_if<std::exception>()->what(), "busy");
    EXPECT_EQ(view.get_if<std::logic_error>(), nullptr);
    EXPECT_EQ(*view.get_if<std::exception_ptr>(), thrown);
    const std::exception_ptr none;
    EXPECT_EQ(failure_view::of(none).get_if<busy_error>(), nullptr);
}

TEST(failure_view, visits_what_it_finds) {
    const std::exception_ptr thrown = std::make_exception_ptr(busy_error("busy", 7));
    int code = 0;
    const auto keep_code = [&code](const busy_error& error) { code = error.code; };
    EXPECT_TRUE(failure_view::of(thrown).visit<busy_error>(keep_code));
    EXPECT_EQ(code, 7);
    code = 0;
    EXPECT_TRUE(failure_view::of(busy_error("busy", 8)).visit<busy_error>(keep_code));
    EXPECT_EQ(code, 8);
    const std::exception_ptr none;
    const std::exception_ptr other = std::make_exception_ptr(std::logic_error("other"));
    const auto never = [](const busy_error&) { FAIL() << "it is none"; };
    EXPECT_FALSE(failure_view{}.visit<busy_error>(never));
    EXPECT_FALSE(failure_view::of(none).visit<busy_error>(never));
    EXPECT_FALSE(failure_view::of(other).visit<busy_error>(never));
    EXPECT_FALSE(failure_view::of(7).visit<busy_error>(never));
}

TEST(failure_view, SM_02_a_refresh_sees_the_error_of_a_result) {
    const std::vector<std::string> twice{"quota of blue", "quota of blue"};
    EXPECT_EQ(seen_of([] { return result<const quota_error&>{{"blue"}}; }), twice);
}

TEST(failure_view, SM_02_a_refresh_sees_the_whole_result_if_its_error_is_made_on_demand) {
    const auto seen = seen_of([] { return result<quota_error>{{"blue"}}; });
    EXPECT_EQ(seen, (std::vector<std::string>{"something", "something"}));
}

TEST(failure_view, SM_02_a_refresh_sees_the_exception_also_by_a_base) {
    const auto seen =
        seen_of([]() -> std::string { throw busy_error("busy", 7); }, catching<service_error>);
    EXPECT_EQ(seen, (std::vector<std::string>{"busy 7", "busy 7"}));
}

TEST(failure_view, SM_02_a_refresh_sees_an_exception_that_has_no_facts) {
    EXPECT_EQ(seen_of([]() -> std::string { throw busy_error("busy", 7); }).front(), "busy 7");
}

TEST(failure_view, SM_02_a_refresh_sees_an_error_code) {
    const auto seen = seen_of([] { return std::error_code(111, std::system_category()); });
    EXPECT_EQ(seen, (std::vector<std::string>{"code 111", "code 111"}));
}

/// A system's category on a system that has no text for some of its codes.
class wordless_category final : public std::error_category {
public:
    explicit wordless_category(std::string text) : text_(std::move(text)) {}
    [[nodiscard]] const char* name() const noexcept override { return "asio.system"; }
    [[nodiscard]] std::string message(int) const override { return text_; }

private:
    std::string text_;
};

TEST(failure_view, a_code_for_which_the_system_has_no_text_is_shown_by_its_name) {
#if defined(_WIN32)
    constexpr int refused = 10061;
    const std::string name = "WSAECONNREFUSED";
#else
    const int refused = static_cast<int>(std::errc::connection_refused);
    const std::string name = "connection refused";
#endif
    for (const char* const text :
         {"Unknown error", "unknown error", "Unknown error code", "Unknown error 111",
          "asio.system error", ""}) {
        const wordless_category category(text);
        const std::error_code code(refused, category);
        EXPECT_EQ(failure_view::of(code).text(), name) << text;
        const std::error_code unlisted(987654, category);
        EXPECT_EQ(failure_view::of(unlisted).text(), text);
        const auto thrown = std::make_exception_ptr(std::system_error(code, "connect"));
        EXPECT_EQ(failure_view::of(thrown).text(), "connect: " + name) << text;
    }
    const wordless_category wordy("No route");
    EXPECT_EQ(failure_view::of(std::error_code(refused, wordy)).text(), "No route");
    const std::error_code generic = make_error_code(std::errc::connection_refused);
    EXPECT_TRUE(failure_view::of(generic).text().ends_with("onnection refused"));
}

TEST(failure_view, SM_02_a_refresh_sees_the_result_that_a_predicate_calls_a_failure) {
    const auto seen = seen_of(fails_if(std::logical_not<>{}, [] { return std::optional<int>{}; }));
    EXPECT_EQ(seen, (std::vector<std::string>{"no number", "no number"}));
}

/// Has neither a value nor an error, as Boost.Outcome's `outcome` that holds an exception.
struct third_state {
    [[nodiscard]] static bool has_value() { return false; }
    [[nodiscard]] static const quota_error& error() { throw std::logic_error("no error"); }
};

// Reading the error for the strategy ended the program.
TEST(failure_view, is_the_whole_result_if_its_error_cannot_be_read) {
    testing::virtual_clock clock;
    int seen = 0;
    const auto is_whole = [&](const failure_view& failure) {
        return failure.get_if<third_state>() != nullptr && ++seen > 0;
    };
    const auto result =
        retry(attempts(3).when(is_whole), {.clock = &clock}, [] { return third_state{}; });
    EXPECT_FALSE(result.has_value());
    EXPECT_EQ(seen, 3) << "one question after each attempt";
}

TEST(failure_view, a_policy_of_a_composed_strategy_may_look_at_the_failure) {
    struct only_blue : driver::stated_safety {
        [[nodiscard]] refusal_reason check(const driver::retry_question& question) const noexcept {
            const auto* quota = question.failure.get_if<quota_error>();
            return quota != nullptr && quota->tenant == "blue"
                       ? driver::stated_safety::check(question.facts, question.repeat)
                       : refusal_reason::unsafe;
        }
    };
    driver::composed_strategy strategy(
        driver::attempt_limits{3}, only_blue{}, driver::exponential_backoff{}, driver::no_budget{});
    const auto attempts = [&](const std::string& tenant) {
        testing::virtual_clock clock;
        int calls = 0;
        static_cast<void>(retry(strategy, {.clock = &clock}, [&] {
            ++calls;
            return result<const quota_error&>{{tenant}};
        }));
        return calls;
    };
    EXPECT_EQ(attempts("blue"), 3);
    EXPECT_EQ(attempts("red"), 1);
}

}  // namespace reprise
