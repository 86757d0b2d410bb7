#include <gtest/gtest.h>

#include <reprise/http/target.hpp>

namespace reprise::http {
namespace target_test {

TEST(target, is_cut_at_the_first_question_mark) {
    EXPECT_EQ(split_target("/a/b?c=?d").path, "/a/b");
    EXPECT_EQ(split_target("/a/b?c=?d").query, "c=?d");
    EXPECT_EQ(split_target("/a").query, "");
}

TEST(percent, decodes_what_it_encodes) {
    std::string bytes;
    for (int i = 0; i < 256; ++i) {
        bytes += static_cast<char>(i);
    }
    EXPECT_EQ(percent_decode(percent_encode(bytes)), bytes);
    EXPECT_EQ(percent_encode("a b/%"), "a%20b%2F%25");
    EXPECT_EQ(percent_decode("a+b%2fC"), "a+b/C");
}

TEST(percent, refuses_a_broken_escape) {
    for (const char* text : {"%", "%4", "%4g", "abc%", "%%%"}) {
        EXPECT_EQ(percent_decode(text), std::unexpected(http_errc::percent_encoding_invalid))
            << text;
    }
}

TEST(query, gives_names_and_values_in_order) {
    using pairs = std::vector<std::pair<std::string, std::string>>;
    EXPECT_EQ(
        parse_query("a=1&b&&c=x+y%3D&a=2").value(),
        (pairs{{"a", "1"}, {"b", ""}, {"c", "x y="}, {"a", "2"}}));
    EXPECT_EQ(parse_query("").value(), pairs{});
    EXPECT_EQ(parse_query("=v").value(), (pairs{{"", "v"}}));
    EXPECT_FALSE(parse_query("a=%zz"));
}

}  // namespace target_test
}  // namespace reprise::http
