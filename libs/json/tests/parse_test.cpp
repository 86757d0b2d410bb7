#include <reprise/json/parse.hpp>

#include <gtest/gtest.h>

#include <string>

#include <reprise/json/write.hpp>

namespace reprise::json::parse_test {

value parsed(std::string_view text) {
    auto result = parse(text);
    EXPECT_TRUE(result.has_value()) << (result ? "" : to_string(result.error()));
    return result ? std::move(result->root) : value("unparsed");
}

parse_error refused(std::string_view text, const parse_options& options = {}) {
    auto result = parse(text, options);
    EXPECT_FALSE(result.has_value()) << text;
    return result ? parse_error{} : result.error();
}

TEST(json_parse, the_text_of_a_scalar_determines_its_kind) {
    EXPECT_EQ(parsed("null").what(), kind::null);
    EXPECT_EQ(parsed("true").as_bool(), true);
    EXPECT_EQ(parsed(" -7 ").as_int64(), -7);
    EXPECT_EQ(parsed("9223372036854775808").what(), kind::unsigned_integer);
    EXPECT_EQ(parsed("18446744073709551615").as_uint64(), 18446744073709551615ULL);
    EXPECT_EQ(parsed("18446744073709551616").what(), kind::decimal);
    EXPECT_EQ(parsed("1.0").as_int64(), std::nullopt);
    EXPECT_EQ(parsed("\"a\\u00e9\\n\"").as_string(), "a\xc3\xa9\n");
    EXPECT_EQ(parsed("\"\\ud83d\\ude00\"").as_string(), "\xf0\x9f\x98\x80");
}

TEST(json_parse, numbers_are_rounded_as_the_standard_library_does_and_keep_their_spelling) {
    const value number = parsed("1.50");
    EXPECT_EQ(number.as_double(), 1.5);
    EXPECT_EQ(serialize(number), "1.50");
    // A parser that multiplies powers of ten misses the nearest double of these numbers.
    EXPECT_EQ(parsed("0.000016499999999999998").as_double(), 0.000016499999999999998);
    EXPECT_EQ(parsed("1.7976931348623157e308").as_double(), 1.7976931348623157e308);
    EXPECT_EQ(serialize(parsed("1e400")), "1e400");
    EXPECT_EQ(
        serialize(parsed("123456789012345678901234567890")), "123456789012345678901234567890");
}

TEST(json_parse, objects_keep_the_order_of_their_members) {
    EXPECT_EQ(
        serialize(parsed("{ \"b\" : [1, {}], \"a\" : {\"z\":null} }")),
        R"({"b":[1,{}],"a":{"z":null}})");
}

TEST(json_parse, errors_report_offset_and_reason) {
    EXPECT_EQ(refused("").code, parse_errc::empty);
    EXPECT_EQ(refused(" \n").code, parse_errc::empty);
    EXPECT_EQ(refused("[1,").code, parse_errc::incomplete);
    EXPECT_EQ(refused("{\"a\":1").code, parse_errc::incomplete);
    const parse_error syntax = refused("[1,,2]");
    EXPECT_EQ(syntax.code, parse_errc::syntax);
    EXPECT_EQ(syntax.offset, 3U);
    EXPECT_NE(to_string(syntax).find("at byte 3"), std::string::npos);
    const parse_error extra = refused("{} x");
    EXPECT_EQ(extra.code, parse_errc::extra_text);
    EXPECT_EQ(extra.offset, 3U);
    EXPECT_EQ(refused("[1,]").code, parse_errc::syntax);
    EXPECT_EQ(refused("[1] // comment").code, parse_errc::extra_text);
    EXPECT_EQ(refused("nul").code, parse_errc::incomplete);
    EXPECT_EQ(refused("01").code, parse_errc::extra_text);
}

TEST(json_parse, invalid_utf8_is_rejected_with_its_offset) {
    const parse_error error = refused("[\"ab\xff\"]");
    EXPECT_EQ(error.code, parse_errc::invalid_utf8);
    EXPECT_EQ(error.offset, 4U);
    EXPECT_EQ(refused("\"\xc0\x80\"").code, parse_errc::invalid_utf8);          // overlong
    EXPECT_EQ(refused("\"\xed\xa0\x80\"").code, parse_errc::invalid_utf8);      // surrogate
    EXPECT_EQ(refused("\"\xf4\x90\x80\x80\"").code, parse_errc::invalid_utf8);  // past U+10FFFF
    EXPECT_EQ(refused("\"\xe2\x82\"").code, parse_errc::invalid_utf8);          // truncated
    EXPECT_NE(refused("\"\\ud800\"").code, parse_errc::incomplete);             // lone surrogate
}

TEST(json_parse, depth_and_size_are_limited) {
    parse_options options;
    options.depth_max = 4;
    EXPECT_TRUE(parse("[[[[]]]]", options).has_value());
    EXPECT_EQ(refused("[[[[[]]]]]", options).code, parse_errc::too_deep);
    EXPECT_EQ(refused(std::string(1000000, '[')).code, parse_errc::too_deep);
    options.size_max_bytes = 3;
    EXPECT_TRUE(parse("[1]", options).has_value());
    EXPECT_EQ(refused("[12]", options).code, parse_errc::too_large);
}

TEST(json_parse, the_last_duplicate_wins_at_the_place_of_the_first) {
    EXPECT_EQ(serialize(parsed(R"({"a":1,"b":2,"a":3,"c":4,"a":5})")), R"({"a":5,"b":2,"c":4})");
    EXPECT_TRUE(parse(R"({"a":1,"a":2})")->duplicates.empty());
}

TEST(json_parse, duplicates_are_reported_with_path_and_count) {
    parse_options options;
    options.duplicates = duplicate_policy::report;
    const auto result =
        parse(R"({"x":[{}, {"k":{"a":1,"\u0061":2,"a":3}}], "y":1, "y":2})", options);
    ASSERT_TRUE(result.has_value());
    ASSERT_EQ(result->duplicates.size(), 2U);
    EXPECT_EQ(to_string(result->duplicates[0]), "x.1.k.a");
    EXPECT_EQ(result->duplicates[0].count, 3U);
    EXPECT_EQ(to_string(result->duplicates[1]), "y");
}

TEST(json_parse, duplicates_are_rejected_on_request) {
    parse_options options;
    options.duplicates = duplicate_policy::refuse;
    EXPECT_TRUE(parse(R"([{"a":1},{"a":1}])", options).has_value());
    const parse_error error = refused(R"([{"a":1,"a":1}])", options);
    EXPECT_EQ(error.code, parse_errc::duplicate_member);
    EXPECT_EQ(error.detail, "0.a");
}

TEST(json_parse, checking_a_large_object_for_duplicates_does_not_take_quadratic_time) {
    std::string text = "{";
    for (int index = 0; index < 50000; ++index) {
        text += "\"" + std::to_string(index) + "\":0,";
    }
    text += "\"7\":1}";
    parse_options options;
    options.duplicates = duplicate_policy::report;
    const auto result = parse(text, options);
    ASSERT_TRUE(result.has_value());
    EXPECT_EQ(result->root.as_object()->size(), 50000U);
    ASSERT_EQ(result->duplicates.size(), 1U);
    EXPECT_EQ(result->root.find("7")->as_int64(), 1);
}

}  // namespace reprise::json::parse_test
