#include <reprise/couchbase/codec.hpp>

#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <vector>

namespace reprise::couchbase::json_fragment_test {

document_view view_of(std::string_view text) {
    return {std::as_bytes(std::span{text}), flags_of(document_format::json)};
}

TEST(json_fragment, values_become_json) {
    EXPECT_EQ(json_fragment(nullptr).text(), "null");
    EXPECT_EQ(json_fragment(true).text(), "true");
    EXPECT_EQ(json_fragment(-7).text(), "-7");
    EXPECT_EQ(
        json_fragment(std::numeric_limits<std::uint64_t>::max()).text(), "18446744073709551615");
    EXPECT_EQ(json_fragment("a \"b\"\n").text(), R"("a \"b\"\n")");
    EXPECT_EQ(json_fragment(std::string("x")).text(), R"("x")");
    EXPECT_EQ(json_fragment(json_text{R"({"a":[1]})"}).text(), R"({"a":[1]})");
    EXPECT_EQ(read_fragment<double>(view_of(json_fragment(0.25).text())).value(), 0.25);
}

TEST(json_fragment, a_macro_is_marked_and_has_the_servers_spelling) {
    const json_fragment macro = mutation_macro::cas;
    EXPECT_TRUE(macro.is_macro());
    EXPECT_EQ(macro.text(), "\"${Mutation.CAS}\"");
    EXPECT_FALSE(json_fragment("${Mutation.CAS}").is_macro());
}

TEST(json_fragment, a_value_that_is_not_json_has_a_problem_and_no_text) {
    const json_fragment infinite = std::numeric_limits<double>::infinity();
    EXPECT_NE(infinite.problem(), "");
    EXPECT_EQ(infinite.text(), "");
    EXPECT_NE(json_fragment("\xff").problem(), "");
    EXPECT_NE(json_fragment(std::vector<std::byte>(3)).problem().find("binary"), std::string::npos);
    EXPECT_NE(json_fragment(json_text{}).problem(), "");
}

TEST(json_fragment, numbers_are_read_if_they_fit) {
    EXPECT_EQ(read_fragment<int>(view_of("-12")).value(), -12);
    EXPECT_EQ(read_fragment<std::uint64_t>(view_of("18446744073709551615")).value(), ~0ULL);
    EXPECT_EQ(read_fragment<float>(view_of("1.5")).value(), 1.5F);
    EXPECT_EQ(read_fragment<double>(view_of("3")).value(), 3.0);
    for (const char* text : {"1.5", "\"1\"", "true", "null", "", "[1]", "99999999999999999999"}) {
        const auto read = read_fragment<int>(view_of(text));
        ASSERT_FALSE(read) << text;
        EXPECT_EQ(read.error().code(), errc::decoding_failure) << text;
    }
    EXPECT_FALSE(read_fragment<std::int8_t>(view_of("128")));
    EXPECT_FALSE(read_fragment<std::uint8_t>(view_of("-1")));
}

TEST(json_fragment, strings_are_read_without_their_quotes) {
    EXPECT_EQ(read_fragment<std::string>(view_of(R"("a\"\u00e4")")).value(), "a\"\xc3\xa4");
    const auto number = read_fragment<std::string>(view_of("12"));
    ASSERT_FALSE(number);
    EXPECT_NE(number.error().message().find("a string"), std::string::npos) << number.error();
    EXPECT_FALSE(read_fragment<std::string>(view_of("\"cut")));
}

TEST(json_fragment, other_types_are_read_by_their_codec) {
    EXPECT_EQ(read_fragment<json_text>(view_of("[1, 2]")).value().text, "[1, 2]");
    EXPECT_EQ(read_fragment<bool>(view_of("true")).value(), true);
    EXPECT_FALSE(read_fragment<bool>(view_of("1")));
}

}  // namespace reprise::couchbase::json_fragment_test
