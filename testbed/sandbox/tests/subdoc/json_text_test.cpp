#include "subdoc/json_text.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include <reprise/json/parse.hpp>

namespace json_text_test {

using namespace reprise::sandbox::detail;

TEST(json_text, depth_counts_nesting_and_refuses_what_is_not_json) {
    EXPECT_EQ(json_depth("1"), 1u);
    EXPECT_EQ(json_depth(" {\"a\":[1,{\"b\":null}]} "), 4u);
    EXPECT_EQ(json_depth("\"\\u00e9\\n\""), 1u);
    EXPECT_EQ(json_depth("-0.5e+3"), 1u);
    for (const char* bad : {"",    " ",      "{",    "[1,]",     "{\"a\"}", "{a:1}",     "01",
                            "1.",  "+1",     "'a'",  "nul",      "1 2",     "\"\t\"",    "\"\\x\"",
                            "[1}", "\"open", "\xff", "\"\xc3\"", "-",       "{\"a\":1,}"}) {
        EXPECT_FALSE(json_depth(bad)) << bad;
    }
}

TEST(json_text, text_nested_too_deeply_is_not_accepted_as_json) {
    const std::string deep(json_depth_max, '[');
    EXPECT_TRUE(json_depth(deep + std::string(json_depth_max, ']')));
    EXPECT_FALSE(json_depth("[" + deep + std::string(json_depth_max + 1, ']')));
}

TEST(json_text, agrees_with_the_parser_on_generated_texts) {
    // Every text of up to six characters over a small alphabet that covers most of JSON's syntax.
    const std::string alphabet = "[{\"a:,1}]";
    std::string text;
    std::size_t accepted = 0;
    const auto compare = [&accepted](const std::string& candidate) {
        const bool is_json = reprise::json::parse(candidate).has_value();
        EXPECT_EQ(json_depth(candidate).has_value(), is_json) << candidate;
        accepted += is_json ? 1 : 0;
    };
    for (std::size_t length = 1; length <= 5; ++length) {
        std::vector<std::size_t> digits(length, 0);
        for (bool done = false; !done;) {
            text.clear();
            for (const std::size_t digit : digits) {
                text += alphabet[digit];
            }
            compare(text);
            std::size_t at = 0;
            while (at < length && ++digits[at] == alphabet.size()) {
                digits[at++] = 0;
            }
            done = at == length;
        }
    }
    EXPECT_GT(accepted, 50u);
}

TEST(json_text, walker_returns_members_and_elements_in_order) {
    const std::string text = R"( { "a" : 1 , "b\u0062":[1, {"x":"]"}] } )";
    json_walker walker(text, value_range(text).begin);
    json_item item;
    ASSERT_TRUE(walker.next(item));
    EXPECT_EQ(item.name.of(text), "\"a\"");
    EXPECT_EQ(item.value.of(text), "1");
    ASSERT_TRUE(walker.next(item));
    EXPECT_TRUE(name_equals(item.name.of(text), "bb"));
    EXPECT_EQ(item.value.of(text), R"([1, {"x":"]"}])");
    EXPECT_FALSE(walker.next(item));

    json_walker empty("[ ]", 0);
    EXPECT_FALSE(empty.next(item));
}

TEST(json_text, unquote_resolves_escapes_and_surrogate_pairs) {
    EXPECT_EQ(unquote(R"("a\"b\\c\/\n\u00e9\ud83d\ude00")"), "a\"b\\c/\n\xc3\xa9\xf0\x9f\x98\x80");
    EXPECT_EQ(unquote("\"\""), "");
}

}  // namespace json_text_test
