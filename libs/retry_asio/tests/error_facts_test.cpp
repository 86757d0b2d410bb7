#include <gtest/gtest.h>

#include <boost/asio/error.hpp>
#include <reprise/asio/error_facts.hpp>
#include <reprise/retry/retry_history.hpp>

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

TEST(error_facts, codes_that_only_asio_knows) {
    EXPECT_EQ(facts_of(error_code(error::eof)).safety, retry_safety::maybe);
    EXPECT_EQ(facts_of(error_code(error::host_not_found_try_again)).safety, retry_safety::yes);
    EXPECT_EQ(facts_of(error_code(error::host_not_found)).safety, std::nullopt);
}

TEST(error_facts, histories_name_the_errors_of_asio) {
    const auto text_of = [](const error_code& code) {
        const failure_facts facts = facts_of(code);
        retry_history history;
        history_entry entry;
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
        unattempted_outcome<error_code>::make(refusal_reason::canceled), error::operation_aborted);
    EXPECT_EQ(
        unattempted_outcome<std::error_code>::make(refusal_reason::canceled),
        std::errc::operation_canceled);
    EXPECT_THROW(
        std::rethrow_exception(
            unattempted_outcome<std::exception_ptr>::make(refusal_reason::canceled)),
        canceled_before_first_attempt);
    EXPECT_EQ(
        unattempted_outcome<read_result>::make(refusal_reason::canceled).error(),
        std::errc::operation_canceled);
}

}  // namespace reprise::error_facts_test
