#include <reprise/couchbase/service_results.hpp>

#include <gtest/gtest.h>

#include <memory>
#include <string>

namespace {

using namespace reprise::couchbase;

TEST(service_results, rows_are_cut_out_of_one_block) {
    const row_list rows("1\"two\"{\"n\":3}", {0, 1, 1, 6, 6, 13});
    ASSERT_EQ(rows.size(), 3U);
    EXPECT_EQ(rows[0].as<int>().value(), 1);
    EXPECT_EQ(rows[1].as<std::string>().value(), "two");
    EXPECT_EQ(rows[2].as<json_text>().value().text, "{\"n\":3}");
    std::string joined;
    for (const row_view row : rows) {
        joined += row.text();
    }
    EXPECT_EQ(joined, "1\"two\"{\"n\":3}");
    EXPECT_TRUE(row_list().empty());
}

TEST(service_results, a_row_of_another_type_is_a_decoding_failure) {
    const auto number = row_view("\"x\"").as<int>();
    ASSERT_FALSE(number);
    EXPECT_EQ(number.error().code(), errc::decoding_failure);
}

TEST(service_results, view_rows_are_taken_apart) {
    const auto row = parse_view_row(row_view(R"({"id":"a","key":["x",1],"value":null})"));
    ASSERT_TRUE(row) << row.error().message();
    EXPECT_EQ(row->id, "a");
    EXPECT_EQ(row->key, R"(["x",1])");
    EXPECT_EQ(row->value, "null");
    EXPECT_FALSE(parse_view_row(row_view("7")));
}

TEST(service_results, an_error_of_a_service_speaks_of_http_and_its_own_code) {
    auto info = std::make_shared<error_info>();
    info->code = make_error_code(errc::planning_failure);
    info->operation = "query";
    info->key = "SELECT 1";
    info->status = 404;
    info->server_context = "no index";
    const error failed(info, 4000);
    EXPECT_EQ(failed.service_code(), 4000U);
    const std::string text = failed.message();
    EXPECT_NE(text.find("HTTP 404, code 4000"), std::string::npos) << text;
    EXPECT_NE(text.find("no index"), std::string::npos) << text;
    EXPECT_EQ(text.find("0x"), std::string::npos) << text;
    EXPECT_EQ(failed.info().status, 404) << "only the words change";
}

}  // namespace
