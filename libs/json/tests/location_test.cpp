#include <reprise/json/location.hpp>

#include <gtest/gtest.h>

#include <vector>

#include <reprise/json/parse.hpp>

namespace reprise::json::location_test {

constexpr std::string_view commented = R"(// A file with "quotes" { in its comments.
{
  "a": [1, {"b": "x,]}\"", /* "c": 0 */ "c": [[], {"c": 1}]}, 3],
  "d\u0065": null  // the last one
}
)";

text_position found(std::vector<std::string> path) {
    return position_at(commented, find_offset(commented, path));
}

TEST(json_location, a_path_leads_to_the_line_and_column_of_its_member_or_element) {
    EXPECT_EQ(found({}).line, 2U);
    EXPECT_EQ(found({"a"}).line, 3U);
    EXPECT_EQ(found({"a"}).column, 3U);
    EXPECT_EQ(found({"a", "0"}).column, 9U);
    EXPECT_EQ(found({"a", "1", "c"}).column, 41U);
    EXPECT_EQ(found({"a", "2"}).column, 63U);
    EXPECT_EQ(found({"de"}).line, 4U);
}

TEST(json_location, a_path_that_leads_to_nothing_ends_at_its_last_value) {
    EXPECT_EQ(found({"a", "7"}).line, 3U);
    EXPECT_EQ(found({"a", "7"}).column, found({"a"}).column);
    EXPECT_EQ(found({"z"}).line, 2U);
    EXPECT_EQ(found({"a", "0", "b"}).column, 9U);
}

TEST(json_location, any_text_gives_an_offset_within_it) {
    const std::vector<std::string> path{"a", "1", "b"};
    for (const std::string_view text :
         {"", "{", "[", "{\"a", "{\"a\"", "{\"a\":", "{\"a\":[1", "{\"a\":[}}", "]", "/*",
          "{\"\\"}) {
        EXPECT_LE(find_offset(text, path), text.size()) << text;
    }
    EXPECT_EQ(position_at("a\nb", 99).line, 2U);
}

TEST(json_location, comments_are_accepted_on_request_only) {
    parse_options options;
    EXPECT_FALSE(parse(commented, options).has_value());
    options.allows_comments = true;
    const auto result = parse(commented, options);
    ASSERT_TRUE(result.has_value());
    EXPECT_EQ(result->root.find("a")->at(2)->as_int64(), 3);
    EXPECT_FALSE(parse("// nothing", options).has_value());
}

}  // namespace reprise::json::location_test
