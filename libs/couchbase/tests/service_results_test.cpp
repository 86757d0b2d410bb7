#include <reprise/couchbase/results.hpp>

#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <ranges>
#include <string>
#include <string_view>
#include <utility>

#include <reprise/couchbase/streams.hpp>

namespace {

using namespace reprise::couchbase;

row_list three_rows() {
    auto memory = std::make_shared<const std::string>("1\"two\"{\"n\":3}");
    const std::string_view text = *memory;
    return {{text.substr(0, 1), text.substr(1, 5), text.substr(6)}, std::move(memory)};
}

// Rows and streams work with the algorithms of the standard library.
static_assert(std::ranges::forward_range<const row_list>);
static_assert(std::ranges::input_range<query_stream>);
static_assert(std::ranges::input_range<search_stream>);
static_assert(std::ranges::input_range<view_stream>);
static_assert(std::ranges::input_range<scan_stream>);

TEST(service_results, rows_are_read_by_index_and_in_order) {
    const row_list rows = three_rows();
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

TEST(service_results, a_copy_of_rows_outlives_them) {
    std::optional rows = three_rows();
    const row_list copied = *rows;
    const row_view second = (*rows)[1];
    rows.reset();
    EXPECT_EQ(second.text(), "\"two\"");
    EXPECT_EQ(copied[2].text(), "{\"n\":3}");
}

TEST(service_results, a_row_of_another_type_is_a_decoding_failure) {
    const auto number = row_view("\"x\"").as<int>();
    ASSERT_FALSE(number);
    EXPECT_EQ(number.error().code(), errc::decoding_failure);
}

TEST(service_results, view_rows_are_split_into_their_parts) {
    const auto row = parse_view_row(row_view(R"({"id":"a","key":["x",1],"value":null})"));
    ASSERT_TRUE(row) << row.error().message();
    EXPECT_EQ(row->id, "a");
    EXPECT_EQ(row->key, R"(["x",1])");
    EXPECT_EQ(row->value, "null");
    EXPECT_FALSE(parse_view_row(row_view("7")));
}

TEST(service_results, an_error_of_a_service_shows_its_http_status_and_code) {
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
    EXPECT_EQ(failed.info().status, 404) << "only the text changes";
}

}  // namespace
