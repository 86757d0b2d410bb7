#include <reprise/couchbase/codecs/boost_json.hpp>

#include <gtest/gtest.h>

#include <boost/describe/class.hpp>
#include <limits>
#include <new>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "encoded_documents.hpp"

namespace boost_json_test {

struct address {
    std::string city;
    int zip = 0;
    friend bool operator==(const address&, const address&) = default;
};
BOOST_DESCRIBE_STRUCT(address, (), (city, zip))

struct hotel {
    std::string name;
    int stars = 0;
    address at{};
    std::vector<std::string> tags{};
    friend bool operator==(const hotel&, const hotel&) = default;
};
BOOST_DESCRIBE_STRUCT(hotel, (), (name, stars, at, tags))

// A temperature with conversions of its own, which throw.
struct celsius {
    double degrees = 0;
};
void tag_invoke(boost::json::value_from_tag, boost::json::value& json, const celsius& from) {
    if (from.degrees < -273.15) {
        throw std::domain_error("below absolute zero");
    }
    json = {{"celsius", from.degrees}};
}
celsius tag_invoke(boost::json::value_to_tag<celsius>, const boost::json::value& json) {
    const auto* unit = json.as_object().if_contains("celsius");
    if (unit == nullptr) {
        throw std::domain_error("no unit");
    }
    return {boost::json::value_to<double>(*unit)};
}

// Its conversions throw what is no exception of the standard library, and what is no answer.
struct unruly {
    bool is_out_of_memory = false;
};
void tag_invoke(boost::json::value_from_tag, boost::json::value&, const unruly& from) {
    if (from.is_out_of_memory) {
        throw std::bad_alloc();
    }
    throw 7;
}
unruly tag_invoke(boost::json::value_to_tag<unruly>, const boost::json::value& json) {
    if (json.is_null()) {
        throw std::bad_alloc();
    }
    throw 7;
}

// It can only be written.
struct report {
    int count = 0;
};
void tag_invoke(boost::json::value_from_tag, boost::json::value& json, const report& from) {
    json = from.count;
}

struct unprepared {
    int n = 0;
};

}  // namespace boost_json_test

namespace reprise::couchbase {
template <>
struct codec<boost_json_test::hotel> : boost_json_codec<boost_json_test::hotel> {};
template <>
struct codec<boost_json_test::celsius> : boost_json_codec<boost_json_test::celsius> {};
template <>
struct codec<boost_json_test::unruly> : boost_json_codec<boost_json_test::unruly> {};
template <>
struct codec<boost_json_test::report> : boost_json_codec<boost_json_test::report> {};
template <>
struct codec<boost_json_test::unprepared> : boost_json_codec<boost_json_test::unprepared> {};
template <>
struct codec<std::vector<boost_json_test::hotel>>
    : boost_json_codec<std::vector<boost_json_test::hotel>> {};
}  // namespace reprise::couchbase

namespace boost_json_test {
namespace {

using namespace encoded_documents;
using boost::json::array;
using boost::json::object;
using boost::json::value;

constexpr auto not_a_number = std::numeric_limits<double>::quiet_NaN();

const hotel inn{"Reprise Inn", 4, {"Lyon", 69001}, {"quiet"}};
const std::string inn_text =
    R"({"name":"Reprise Inn","stars":4,"at":{"city":"Lyon","zip":69001},"tags":["quiet"]})";

TEST(boost_json, a_described_struct_is_stored_as_an_object_and_read_back) {
    EXPECT_EQ(encode(inn), inn_text);
    EXPECT_EQ(decode<hotel>(inn_text), inn);
    EXPECT_EQ(encode(std::vector{inn, inn}), "[" + inn_text + "," + inn_text + "]");
    EXPECT_EQ(decode<std::vector<hotel>>("[" + inn_text + "]"), std::vector{inn});
}

TEST(boost_json, values_objects_and_arrays_are_stored_and_read_without_preparation) {
    EXPECT_EQ(encode(value{{"n", 1}, {"s", nullptr}}), R"({"n":1,"s":null})");
    EXPECT_EQ(encode(object{{"n", 1}}), R"({"n":1})");
    EXPECT_EQ(encode(array{1, "two", 3.5}), R"([1,"two",3.5E0])");
    EXPECT_EQ(decode<value>(" 7 ")->as_int64(), 7);
    EXPECT_EQ(decode<object>(R"({"n":1})")->at("n").as_int64(), 1);
    EXPECT_EQ(decode<array>("[1,2]")->size(), 2U);
}

TEST(boost_json, a_document_without_a_format_is_read_and_other_formats_are_refused) {
    expect_only_json_is_read<value, hotel>(inn_text);
}

TEST(boost_json, text_that_is_not_json_is_refused_with_the_place) {
    EXPECT_EQ(why_not<value>(""), "the document is not JSON: incomplete JSON at byte 0");
    EXPECT_EQ(why_not<value>(R"({"n":)"), "the document is not JSON: incomplete JSON at byte 5");
    EXPECT_EQ(why_not<value>("[1,]"), "the document is not JSON: syntax error at byte 3");
    EXPECT_EQ(why_not<value>("{} {}"), "the document is not JSON: extra data at byte 3");
    EXPECT_EQ(why_not<value>("NaN"), "the document is not JSON: syntax error at byte 0");
    EXPECT_NE(why_not<value>("\"\xff\""), "decoded");
}

// Whether reading fails with a text that starts like this. The rest is Boost's, which changes.
template <class T>
testing::AssertionResult misfits(std::string_view text, std::string_view start) {
    const auto why = why_not<T>(text);
    return why.starts_with("the JSON does not fit the type: " + std::string(start))
               ? testing::AssertionSuccess()
               : testing::AssertionFailure() << why;
}

TEST(boost_json, a_misfit_names_the_member_of_a_described_struct) {
    EXPECT_TRUE(misfits<hotel>("[]", ""));
    EXPECT_TRUE(misfits<object>("[]", ""));
    EXPECT_TRUE(misfits<hotel>(
        R"({"name":"x","stars":"4","at":{"city":"y","zip":1},"tags":[]})", "/stars: "));
    EXPECT_TRUE(misfits<hotel>(
        R"({"name":"x","stars":4,"at":{"city":5,"zip":1},"tags":[]})", "/at/city: "));
    EXPECT_TRUE(misfits<hotel>(R"({"name":"x","tags":[]})", "/stars, /at: missing"));
    EXPECT_TRUE(misfits<hotel>(
        R"({"name":"x","stars":4,"at":{"city":"y"},"tags":[]})", "/at/zip: missing"));
    EXPECT_TRUE(misfits<hotel>(
        R"({"name":"x","stars":4,"at":{},"tags":[]})", "/at/city, /at/zip: missing"));
    EXPECT_TRUE(misfits<std::vector<hotel>>("[{}]", ""));
}

TEST(boost_json, an_unknown_member_is_named_where_boost_json_refuses_it) {
    const auto why =
        why_not<hotel>(R"({"name":"x","stars":4,"pool":1,"at":{"city":"y","zip":1},"tags":[]})");
    if (why != "decoded") {  // later versions ignore such members
        EXPECT_EQ(why, "the JSON does not fit the type: /pool: unknown member");
        const auto long_name = R"({"name":"x","stars":4,"at":{"city":"y","zip":1,")" +
                               std::string(100, 'x') + R"(":1},"tags":[]})";
        EXPECT_TRUE(misfits<hotel>(long_name, "/at/" + std::string(64, 'x') + ": unknown member"));
    }
}

TEST(boost_json, a_number_that_does_not_fit_is_refused) {
    EXPECT_TRUE(misfits<hotel>(
        R"({"name":"x","stars":4.5,"at":{"city":"y","zip":1},"tags":[]})", "/stars: "));
    EXPECT_TRUE(misfits<hotel>(
        R"({"name":"x","stars":5000000000,"at":{"city":"y","zip":1},"tags":[]})", "/stars: "));
}

TEST(boost_json, own_conversions_are_used_and_their_exceptions_become_errors) {
    EXPECT_EQ(encode(celsius{21.5}), R"({"celsius":2.15E1})");
    EXPECT_EQ(decode<celsius>(R"({"celsius":21.5})")->degrees, 21.5);
    EXPECT_EQ(problem_of(celsius{-300}), "below absolute zero");
    EXPECT_EQ(why_not<celsius>("{}"), "the JSON does not fit the type: no unit");
    EXPECT_TRUE(misfits<celsius>(R"({"celsius":"x"})", ""));
    EXPECT_EQ(why_not<celsius>(R"({"celsius":"x"})").find(" at "), std::string::npos);  // no place
    EXPECT_EQ(problem_of(unruly{}), "an exception without a text");
    EXPECT_EQ(why_not<unruly>("1"), "the JSON does not fit the type: an exception without a text");
}

TEST(boost_json, a_lack_of_memory_is_not_blamed_on_the_document) {
    EXPECT_THROW((void)codec<unruly>::encode({.is_out_of_memory = true}), std::bad_alloc);
    EXPECT_THROW((void)decode<unruly>("null"), std::bad_alloc);
}

TEST(boost_json, a_value_that_is_not_json_is_refused_with_its_path) {
    EXPECT_EQ(problem_of(value(not_a_number)), "the number is not finite");
    EXPECT_EQ(
        problem_of(value{{"rooms", {{{"price", 1.0}}, {{"price", not_a_number}}}}}),
        "/rooms/1/price: the number is not finite");
    EXPECT_EQ(problem_of(value{{"name", "caf\xe9"}}), "/name: the text is not UTF-8");
    EXPECT_EQ(problem_of(value{{"caf\xe9", 1}}), "the name of a member is not UTF-8");
    EXPECT_EQ(problem_of(celsius{-not_a_number}), "/celsius: the number is not finite");
}

TEST(boost_json, sixty_four_levels_are_stored_and_read_and_one_more_is_refused) {
    const auto deep = decode<value>(nested(64));
    ASSERT_TRUE(deep) << deep.error();
    EXPECT_EQ(encode(*deep), nested(64));
    EXPECT_EQ(why_not<value>(nested(65)), "the document is not JSON: nested deeper than 64 levels");
    const auto problem = problem_of(value{*deep, 1});
    EXPECT_TRUE(problem.ends_with("/0: nested deeper than 64 levels")) << problem;
    EXPECT_NE(why_not<value>(nested(1'000'000)), "decoded");
}

TEST(boost_json, every_damaged_document_is_a_value_or_a_failure_with_a_text) {
    EXPECT_GT(decode_damaged<hotel>(inn_text), 0U);
    EXPECT_GT(decode_damaged<value>(R"({"a":[1,-2.5e3,"\u00e9\\",true,null],"b":{}})"), 0U);
}

TEST(boost_json, a_type_can_be_stored_or_read_only_if_boost_json_can_convert_it) {
    using couchbase::decodable;
    using couchbase::encodable;
    EXPECT_TRUE(encodable<hotel> && decodable<hotel>);
    EXPECT_TRUE(encodable<report> && !decodable<report>);
    EXPECT_FALSE(encodable<unprepared> || decodable<unprepared>);
    EXPECT_FALSE(encodable<address> || decodable<address>);  // no line selects a codec
    EXPECT_FALSE(encodable<std::string>);                    // still neither JSON nor plain text
}

}  // namespace
}  // namespace boost_json_test
