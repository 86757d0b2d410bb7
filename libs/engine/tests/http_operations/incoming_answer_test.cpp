#include "http_operations/incoming_answer.hpp"

#include <gtest/gtest.h>

#include <reprise/base/bytes.hpp>

namespace reprise::engine::testing::incoming_answer_tests {

struct one_answer {
    http_request request;
    service_call call;
    incoming_answer answer;

    explicit one_answer(std::string rows_member = "results") {
        call.rows_member = std::move(rows_member);
    }
    [[nodiscard]] incoming_answer::problem head(int status, http::header_list headers = {}) {
        http::response_head given;
        given.status = status;
        given.headers = std::move(headers);
        return answer.on_head(given, call, request);
    }
    [[nodiscard]] incoming_answer::problem body(std::string_view text) {
        return answer.on_body(base::as_bytes(text), nullptr, request);
    }
};

TEST(incoming_answer, rows_are_split_and_the_rest_is_the_body) {
    one_answer of;
    ASSERT_FALSE(of.head(200));
    ASSERT_FALSE(of.body(R"({"results":[1,{"a":2})"));
    ASSERT_FALSE(of.body(R"(],"status":"success"})"));
    ASSERT_FALSE(of.answer.on_end());
    EXPECT_EQ(of.answer.row_count(), 2U);
    EXPECT_NE(of.answer.body().find("success"), std::string_view::npos);
    http_result result;
    of.answer.move_to(result);
    EXPECT_EQ(result.status, 200);
    EXPECT_EQ(result.rows.size(), 2U);
}

TEST(incoming_answer, an_error_is_kept_whole) {
    one_answer of;
    ASSERT_FALSE(of.head(400));
    ASSERT_FALSE(of.body(R"({"results":[1],"errors":[]})"));
    ASSERT_FALSE(of.answer.on_end());
    EXPECT_EQ(of.answer.row_count(), 0U);
    EXPECT_EQ(of.answer.body(), R"({"results":[1],"errors":[]})");
}

TEST(incoming_answer, every_bound_is_named_when_it_is_passed) {
    one_answer whole("");
    whole.request.body_size_max_bytes = 3;
    ASSERT_FALSE(whole.head(200));
    EXPECT_EQ(whole.body("four"), "the answer is larger than body_size_max_bytes");
    one_answer rows;
    rows.request.rows_size_max_bytes = 1;
    ASSERT_FALSE(rows.head(200));
    EXPECT_EQ(
        rows.body(R"({"results":[11,22,33]})"),
        "all rows together are larger than rows_size_max_bytes");
    one_answer packed;
    EXPECT_EQ(
        packed.head(200, {{"Content-Encoding", "gzip"}}),
        "the answer is compressed although the client did not accept it");
    one_answer cut;
    ASSERT_FALSE(cut.head(200));
    ASSERT_FALSE(cut.body(R"({"results":[1)"));
    EXPECT_TRUE(cut.answer.on_end());
}

TEST(incoming_answer, streamed_rows_are_announced_once_until_they_are_taken) {
    one_answer of;
    of.request.on_rows = [] {};
    of.request.rows_size_max_bytes = 1;
    ASSERT_FALSE(of.head(200));
    EXPECT_FALSE(of.answer.take_notice());
    ASSERT_FALSE(of.body(R"({"results":[11,22,)"));
    EXPECT_TRUE(of.answer.take_notice());
    EXPECT_FALSE(of.answer.take_notice());
    EXPECT_TRUE(of.answer.is_full(of.request)) << "a bound to stop reading at, no error";
    row_batch taken;
    of.answer.take_rows(taken);
    EXPECT_EQ(taken.size(), 2U);
    EXPECT_FALSE(of.answer.is_full(of.request));
    ASSERT_FALSE(of.body("33,"));
    EXPECT_TRUE(of.answer.take_notice());
}

TEST(incoming_answer, RH_45_a_restart_does_not_forget_that_rows_were_taken) {
    one_answer of;
    of.request.on_rows = [] {};
    ASSERT_FALSE(of.head(200));
    ASSERT_FALSE(of.body(R"({"results":[11,22,)"));
    row_batch taken;
    of.answer.take_rows(taken);
    of.answer.restart();
    EXPECT_EQ(of.answer.status(), 0);
    EXPECT_EQ(of.answer.row_count(), 0U);
    EXPECT_TRUE(of.answer.has_taken_rows());
}

}  // namespace reprise::engine::testing::incoming_answer_tests
