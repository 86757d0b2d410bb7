#include <reprise/base/printable.hpp>

#include <gtest/gtest.h>

namespace reprise::base::printable_tests {

using namespace std::string_literals;

TEST(printable, leaves_text_unchanged) {
    for (const std::string text :
         {"", "plain", "back\\slash", "gr\xc3\xbc\xc3\x9f", "\xf0\x9f\x99\x82"}) {
        EXPECT_EQ(printable(text), text);
    }
}

TEST(printable, escapes_characters_that_control_a_terminal) {
    EXPECT_EQ(printable("a\nb\rc\td"), "a\\nb\\rc\\td");
    EXPECT_EQ(printable("\x1b[2J"), "\\x1b[2J");
    EXPECT_EQ(printable("\0"s), "\\x00");
    EXPECT_EQ(printable("\x7f"), "\\x7f");
    EXPECT_EQ(printable("\xc2\x9b"), "\\u009b") << "C1, as UTF-8";
    EXPECT_EQ(printable("\xc2\xa0"), "\xc2\xa0") << "the first character after C1";
}

TEST(printable, escapes_bytes_that_are_not_utf8) {
    EXPECT_EQ(printable("\x9b"), "\\x9b") << "C1, as one byte";
    EXPECT_EQ(printable("a\xc3"), "a\\xc3");
    EXPECT_EQ(printable("\xc0\x8a"), "\\xc0\\x8a") << "a line feed in too many bytes";
    EXPECT_EQ(printable("\xed\xa0\x80"), "\\xed\\xa0\\x80") << "half a surrogate pair";
    EXPECT_EQ(printable("\xf5\x80\x80\x80"), "\\xf5\\x80\\x80\\x80");
    EXPECT_EQ(printable("\xe2\x28\xa1"), "\\xe2(\\xa1");
}

TEST(printable, escapes_invisible_characters_that_change_the_order_of_a_text) {
    EXPECT_EQ(
        printable("a\xe2\x80\xae"
                  "b"),
        "a\\u202eb");
    EXPECT_EQ(printable("\xe2\x81\xa6\xe2\x80\xa8\xef\xbb\xbf"), "\\u2066\\u2028\\ufeff");
    EXPECT_EQ(printable("\xf3\xa0\x80\x81"), "\\udb40\\udc01") << "as in JSON";
    EXPECT_EQ(printable("\xe2\x80\x8d"), "\xe2\x80\x8d") << "joins emoji";
}

TEST(printable_page, keeps_lines_and_escapes_the_rest_as_json_does) {
    EXPECT_EQ(printable_page("a\n\tb\rc"), "a\n\tb c");
    EXPECT_EQ(printable_page("\x1b[2J\x7f\xc2\x9b"), "\\u001b[2J\\u007f\\u009b");
    EXPECT_EQ(printable_page("\0"s), "\\u0000");
    EXPECT_EQ(printable_page("\xe2\x80\xae"), "\\u202e");
    EXPECT_EQ(printable_page("\x9b"), "\\ufffd") << "not UTF-8";
    EXPECT_EQ(printable_page("gr\xc3\xbc\xc3\x9f"), "gr\xc3\xbc\xc3\x9f");
}

TEST(shortened, truncates_a_longer_text_and_reports_it) {
    EXPECT_EQ(shortened("1234", 4), "1234");
    EXPECT_EQ(shortened("12345", 4), "1234... (1 more bytes)");
    EXPECT_EQ(shortened("", 0), "");
}

TEST(shortened, truncates_between_characters) {
    EXPECT_EQ(shortened("123\xc3\xbc", 4), "123... (2 more bytes)");
    EXPECT_EQ(shortened("1\xf0\x9f\x99\x82", 4), "1... (4 more bytes)");
    EXPECT_EQ(shortened("\x80\x80\x80\x80\x80\x80", 5), "\x80\x80... (4 more bytes)")
        << "no text at all";
}

}  // namespace reprise::base::printable_tests
