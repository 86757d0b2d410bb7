#include <gtest/gtest.h>

#include <boost/asio/error.hpp>
#include <boost/system/result.hpp>
#include <reprise/asio/async_retry.hpp>
#include <reprise/asio/error_facts.hpp>
#include <reprise/retry/blocking.hpp>
#include <reprise/retry/retry_errc.hpp>
#include <reprise/retry/retry_history.hpp>
#include <reprise/retry/simple_strategy.hpp>
#include <reprise/retry/standard_strategy.hpp>
#include <reprise/testing/virtual_clock.hpp>
#include <system_error>

#include "chosen_asio.hpp"

namespace reprise::error_facts_test {

namespace error = boost::asio::error;
using boost::system::error_code;

TEST(error_facts, SM_08_boost_codes_have_the_facts_of_their_standard_twins) {
    EXPECT_EQ(
        facts_of(error_code(error::connection_refused)),
        facts_of(make_error_code(std::errc::connection_refused)));
    EXPECT_EQ(facts_of(error_code(error::connection_reset)).safety, retry_safety::maybe);
    EXPECT_TRUE(facts_of(error_code(error::timed_out)).timeout);
    EXPECT_EQ(facts_of(error_code(error::access_denied)).safety, std::nullopt);
}

TEST(error_facts, codes_that_only_asio_defines) {
    EXPECT_EQ(facts_of(error_code(error::eof)).safety, retry_safety::maybe);
    EXPECT_EQ(facts_of(error_code(error::host_not_found_try_again)).safety, retry_safety::yes);
    EXPECT_EQ(facts_of(error_code(error::host_not_found)).safety, std::nullopt);
}

// It did not compile: it has no `unexpected_type`.
TEST(error_facts, results_of_boost_are_retried_like_expected_ones) {
    using result = boost::system::result<int>;
    testing::virtual_clock clock;
    int calls = 0;
    const auto read = [&]() -> result {
        return ++calls < 3 ? result(error_code(error::connection_refused)) : result(7);
    };
    EXPECT_EQ(*retry(attempts(5), {.clock = &clock}, read), 7);
    EXPECT_EQ(calls, 3);
    const auto unattempted = driver::unattempted_outcome<result>::make(refusal_reason::canceled);
    EXPECT_EQ(std::error_code(unattempted.error()), retry_errc::canceled);
    const auto nothing = driver::unattempted_outcome<boost::system::result<void>>::make(
        refusal_reason::circuit_open);
    EXPECT_TRUE(nothing.has_error());
}

/// The core identifies Asio's categories by name and number; here they are compared with Asio's
/// own.
TEST(error_facts, every_code_of_asio_is_in_the_tables) {
    struct expected_row {
        error_code code;
        std::string_view name;
        std::optional<retry_safety> safety;
    };
    const expected_row rows[]{
        {error::already_open, "already_open", std::nullopt},
        {error::eof, "eof", retry_safety::maybe},
        {error::not_found, "not_found", std::nullopt},
        {error::fd_set_failure, "fd_set_failure", std::nullopt},
        {error::host_not_found, "host_not_found", std::nullopt},
        {error::host_not_found_try_again, "host_not_found_try_again", retry_safety::yes},
        {error::no_recovery, "no_recovery", std::nullopt},
        {error::no_data, "no_data", std::nullopt},
    };
    for (const expected_row& expected : rows) {
        const detail::error_row* const row =
            detail::find_error(expected.code.category().name(), expected.code.value());
        ASSERT_NE(row, nullptr) << expected.name;
        EXPECT_EQ(row->name, expected.name);
        EXPECT_EQ(facts_of(expected.code).safety, expected.safety) << expected.name;
    }
    // Mistakes of the caller: waiting does not fix them.
    EXPECT_EQ(facts_of(error_code(error::service_not_found)).safety, std::nullopt);
    EXPECT_EQ(facts_of(error_code(error::socket_type_not_supported)).safety, std::nullopt);
}

TEST(error_facts, system_errors_of_asio_that_can_come_after_sending_are_maybe) {
    for (const error::basic_errors code :
         {error::try_again, error::would_block, error::interrupted, error::host_unreachable,
          error::network_unreachable, error::network_down, error::not_connected, error::broken_pipe,
          error::connection_aborted, error::network_reset}) {
        EXPECT_EQ(facts_of(error_code(code)).safety, retry_safety::maybe)
            << error_code(code).message();
    }
}

TEST(error_facts, histories_name_the_errors_of_asio) {
    const auto text_of = [](const error_code& code) {
        const failure_facts facts = facts_of(code);
        retry_history history;
        retry_history::entry entry;
        entry.set_code(facts.code);
        entry.set_category(history.index_of(facts.category));
        return history.message_of(entry);
    };
    EXPECT_EQ(text_of(error::connection_refused), "connection refused");
    EXPECT_EQ(text_of(error::eof), "end of file");
    EXPECT_EQ(text_of(error::host_not_found), "host not found (authoritative)");
}

TEST(error_facts, a_canceled_operation_has_no_facts) {
    const failure_facts facts = facts_of(error_code(error::operation_aborted));
    EXPECT_EQ(facts.safety, std::nullopt);
    EXPECT_EQ(facts.fault, std::nullopt);
    EXPECT_FALSE(facts.timeout);
}

TEST(error_facts, boost_system_errors_are_described_behind_an_exception_pointer) {
    const auto thrown =
        std::make_exception_ptr(boost::system::system_error(error_code(error::connection_reset)));
    EXPECT_TRUE(outcome_traits<std::exception_ptr>::is_failure(thrown));
    EXPECT_EQ(outcome_traits<std::exception_ptr>::facts(thrown).safety, retry_safety::maybe);
    EXPECT_FALSE(outcome_traits<std::exception_ptr>::is_failure(nullptr));
}

/// Has the shape of `std::expected<void, std::exception_ptr>`.
struct caught_result {
    std::exception_ptr thrown;
    [[nodiscard]] bool has_value() const noexcept { return thrown == nullptr; }
    [[nodiscard]] const std::exception_ptr& error() const noexcept { return thrown; }
};

// It was retried if the coroutine threw it, but not if the coroutine returned it.
TEST(error_facts, a_boost_system_error_that_a_coroutine_returns_is_described_as_if_it_were_thrown) {
    testing::virtual_clock clock;
    boost::asio::io_context io;
    standard_strategy strategy({.attempts_max = 3});
    int calls = 0;
    auto read = [&]() -> boost::asio::awaitable<caught_result> {
        ++calls;
        co_return caught_result{std::make_exception_ptr(
            boost::system::system_error(error_code(error::connection_refused)))};
    };
    auto caller = [&]() -> boost::asio::awaitable<void> {
        const async_call_options options{.clock = borrowed(&clock)};
        auto pending = async_retry(strategy, options, read);
        const caught_result last = co_await std::move(pending);
        EXPECT_FALSE(last.has_value());
    };
    EXPECT_EQ(testing::play(io, clock, caller), nullptr);
    EXPECT_EQ(calls, 3);
}

TEST(error_facts, the_blocking_loop_describes_boost_system_errors_that_are_listed) {
    testing::virtual_clock clock;
    standard_strategy strategy({.attempts_max = 3});
    int calls = 0;
    const auto read = [&]() -> unsigned {
        ++calls;
        throw boost::system::system_error(error_code(error::connection_refused));
    };
    using listed = boost::system::system_error;
    EXPECT_THROW(
        static_cast<void>(retry(strategy, {.clock = &clock}, catching<listed>, read)), listed);
    EXPECT_EQ(calls, 3);
}

/// Has the shape of `std::expected`, which C++20 does not have.
class read_result {
public:
    using error_type = std::error_code;
    struct unexpected_type {
        explicit unexpected_type(std::error_code code) : error(code) {}
        std::error_code error;
    };
    explicit read_result(unexpected_type bad) : error_(bad.error) {}
    [[nodiscard]] bool has_value() const noexcept { return !error_; }
    [[nodiscard]] const std::error_code& error() const noexcept { return error_; }

private:
    std::error_code error_;
};

TEST(error_facts, an_outcome_without_an_attempt_is_a_failure_of_the_right_type) {
    EXPECT_EQ(
        driver::unattempted_outcome<error_code>::make(refusal_reason::canceled),
        error::operation_aborted);
    EXPECT_EQ(
        driver::unattempted_outcome<std::error_code>::make(refusal_reason::canceled),
        std::errc::operation_canceled);
    EXPECT_THROW(
        std::rethrow_exception(
            driver::unattempted_outcome<std::exception_ptr>::make(refusal_reason::canceled)),
        retry_error);
    EXPECT_EQ(
        driver::unattempted_outcome<read_result>::make(refusal_reason::canceled).error(),
        std::errc::operation_canceled);
}

}  // namespace reprise::error_facts_test
