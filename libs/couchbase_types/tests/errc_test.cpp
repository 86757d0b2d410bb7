#include <reprise/couchbase_types/errc.hpp>

#include <set>
#include <string>

#include <gtest/gtest.h>

namespace reprise::couchbase::errc_test {

// Above every number that is in use.
constexpr int number_max = 2000;

bool is_known(int number) {
    return to_string(static_cast<errc>(number)) != "unknown_error";
}

TEST(errc, every_error_has_a_name_and_a_message_of_its_own) {
    std::set<std::string> names;
    std::set<std::string> messages;
    std::size_t count = 0;
    for (int number = 1; number < number_max; ++number) {
        if (is_known(number)) {
            const std::error_code code = make_error_code(static_cast<errc>(number));
            names.emplace(to_string(static_cast<errc>(number)));
            messages.insert(code.message());
            ++count;
        }
    }
    EXPECT_EQ(names.size(), count);
    EXPECT_EQ(messages.size(), count);
    EXPECT_TRUE(is_known(static_cast<int>(errc::read_in_progress))) << "the last one";
    EXPECT_EQ(to_string(errc::dataverse_exists), "dataverse_exists");
}

TEST(errc, numbers_without_an_error_say_so) {
    EXPECT_EQ(to_string(static_cast<errc>(0)), "unknown_error");
    EXPECT_EQ(to_string(static_cast<errc>(999)), "unknown_error");
    EXPECT_NE(make_error_code(static_cast<errc>(999)).message().find("999"), std::string::npos);
}

TEST(errc, a_repetition_after_an_ambiguous_error_may_do_it_twice) {
    EXPECT_EQ(describe(errc::ambiguous_timeout).safety, retry_safety::maybe);
    EXPECT_EQ(describe(errc::unambiguous_timeout).safety, retry_safety::yes);
    EXPECT_EQ(describe(errc::document_exists).safety, retry_safety::no);
}

TEST(errc, a_call_that_was_not_started_is_safe_to_repeat_where_that_may_help) {
    const failure_facts full = describe(errc::submission_queue_full);
    EXPECT_EQ(full.safety, retry_safety::yes);
    EXPECT_TRUE(full.throttling);
    EXPECT_EQ(full.fault, failure_fault::client) << "no server was asked";
    EXPECT_EQ(describe(errc::no_resources).safety, retry_safety::yes);
    EXPECT_EQ(describe(errc::option_invalid).safety, retry_safety::no);
}

TEST(error_condition, groups_errors) {
    EXPECT_EQ(make_error_code(errc::ambiguous_timeout), error_condition::timeout);
    EXPECT_EQ(make_error_code(errc::unambiguous_timeout), error_condition::timeout);
    EXPECT_EQ(make_error_code(errc::tls_failure), error_condition::client_error);
    EXPECT_NE(make_error_code(errc::document_not_found), error_condition::timeout);
    EXPECT_NE(make_error_code(errc::plain_http_not_allowed), error_condition::not_started);
    EXPECT_EQ(make_error_code(errc::blocking_call_in_loop), error_condition::not_started);
    EXPECT_EQ(make_error_code(errc::read_in_progress), error_condition::not_started);
    EXPECT_NE(std::error_code(1201, std::generic_category()), error_condition::not_started);
    EXPECT_NE(std::error_code(1101, std::generic_category()), error_condition::client_error);
}

}  // namespace reprise::couchbase::errc_test
