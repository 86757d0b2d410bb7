#include <reprise/json/write.hpp>

#include <gtest/gtest.h>

#include <limits>
#include <string>

#include <reprise/json/parse.hpp>

namespace reprise::json::write_test {

std::string quoted(std::string_view text) {
    std::string out;
    append_quoted(out, text);
    return out;
}

TEST(json_write, strings_are_escaped_and_always_valid_utf8) {
    EXPECT_EQ(quoted("a\"b\\c\n\x01"), "\"a\\\"b\\\\c\\n\\u0001\"");
    EXPECT_EQ(quoted("\xc3\xa9"), "\"\xc3\xa9\"");
    EXPECT_EQ(quoted("x\xffy"), "\"x\xef\xbf\xbdy\"");
    EXPECT_EQ(quoted(std::string_view("\0", 1)), "\"\\u0000\"");
    EXPECT_EQ(parse(quoted("\t\b\f\r\x1f/"))->root.as_string(), "\t\b\f\r\x1f/");
}

TEST(json_write, doubles_parse_as_doubles_again) {
    EXPECT_EQ(serialize(value(2.0)), "2.0");
    EXPECT_EQ(serialize(value(0.1)), "0.1");
    EXPECT_EQ(parse(serialize(value(1e300)))->root.as_double(), 1e300);
    EXPECT_EQ(serialize(value(std::numeric_limits<double>::infinity())), "null");
    EXPECT_EQ(serialize(value(std::numeric_limits<double>::quiet_NaN())), "null");
}

TEST(json_write, a_writer_adds_the_commas) {
    std::string out = "> ";
    writer w(out);
    w.begin_object().member("rev", 7).member("name", "b").member("on", true);
    w.key("list").begin_array().value(1).value(nullptr).value(std::string("x")).raw("[0]");
    w.end_array().member("big", UINT64_MAX).member("tree", value(array{1.5}));
    w.key("empty").begin_object().end_object().end_object();
    EXPECT_TRUE(w.is_complete());
    EXPECT_EQ(
        out, R"(> {"rev":7,"name":"b","on":true,"list":[1,null,"x",[0]],)"
             R"("big":18446744073709551615,"tree":[1.5],"empty":{}})");
}

TEST(json_write, the_indented_layout_has_one_item_per_line) {
    const value tree = parse(R"({"a":[1,{"b":[]}],"c":{}})")->root;
    EXPECT_EQ(
        serialize(tree, layout::indented),
        "{\n  \"a\": [\n    1,\n    {\n      \"b\": []\n    }\n  ],\n  \"c\": {}\n}");
}

TEST(json_write, calls_out_of_order_are_detected_and_write_nothing) {
    std::string out;
    writer value_without_key(out);
    value_without_key.begin_object().value(1);
    EXPECT_EQ(out, "{");
    value_without_key.end_object();
    EXPECT_FALSE(value_without_key.is_complete());

    out.clear();
    writer key_in_array(out);
    key_in_array.begin_array().key("a").end_array();
    EXPECT_FALSE(key_in_array.is_complete());

    out.clear();
    writer two_roots(out);
    two_roots.value(1).value(2);
    EXPECT_EQ(out, "1");
    EXPECT_FALSE(two_roots.is_complete());

    out.clear();
    writer wrong_end(out);
    wrong_end.begin_array().end_object();
    EXPECT_FALSE(wrong_end.is_complete());

    out.clear();
    writer unfinished(out);
    unfinished.begin_array();
    EXPECT_FALSE(unfinished.is_complete());
}

}  // namespace reprise::json::write_test
