#include <reprise/couchbase/codecs/nlohmann.hpp>

#include <gtest/gtest.h>

#include <limits>
#include <new>
#include <stdexcept>
#include <string>
#include <vector>

#include "encoded_documents.hpp"

namespace nlohmann_test {

struct address {
    std::string city;
    int zip = 0;
    friend bool operator==(const address&, const address&) = default;
};
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(address, city, zip)

struct hotel {
    std::string name;
    int stars = 0;
    address at{};
    std::vector<std::string> tags{};
    friend bool operator==(const hotel&, const hotel&) = default;
};
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(hotel, name, stars, at, tags)

// Keeps the order of its members.
struct ordered {
    int z = 0;
    int a = 0;
};
void to_json(nlohmann::ordered_json& json, const ordered& from) {
    json = {{"z", from.z}, {"a", from.a}};
}
void from_json(const nlohmann::ordered_json& json, ordered& to) {
    json.at("z").get_to(to.z);
    json.at("a").get_to(to.a);
}

// A temperature with conversions of its own, which throw, and without a default.
struct celsius {
    explicit celsius(double given) : degrees(given) {}
    double degrees;
};

// Its conversions throw what is no exception of the standard library, and what is no answer.
struct unruly {
    bool is_out_of_memory = false;
};
void to_json(nlohmann::json&, const unruly& from) {
    if (from.is_out_of_memory) {
        throw std::bad_alloc();
    }
    throw 7;
}
void from_json(const nlohmann::json& json, unruly&) {
    if (json.is_null()) {
        throw std::bad_alloc();
    }
    throw 7;
}

// It can only be written.
struct report {
    int count = 0;
};
void to_json(nlohmann::json& json, const report& from) {
    json = from.count;
}

struct unprepared {
    int n = 0;
};

}  // namespace nlohmann_test

template <>
struct nlohmann::adl_serializer<nlohmann_test::celsius> {
    static void to_json(json& to, const nlohmann_test::celsius& from) {
        if (from.degrees < -273.15) {
            throw std::domain_error("below absolute zero");
        }
        to = {{"celsius", from.degrees}};
    }
    static nlohmann_test::celsius from_json(const json& from) {
        return nlohmann_test::celsius(from.at("celsius").get<double>());
    }
};

namespace reprise::couchbase {
template <>
struct codec<nlohmann_test::hotel> : nlohmann_codec<nlohmann_test::hotel> {};
template <>
struct codec<nlohmann_test::ordered>
    : nlohmann_codec<nlohmann_test::ordered, nlohmann::ordered_json> {};
template <>
struct codec<nlohmann_test::celsius> : nlohmann_codec<nlohmann_test::celsius> {};
template <>
struct codec<nlohmann_test::unruly> : nlohmann_codec<nlohmann_test::unruly> {};
template <>
struct codec<nlohmann_test::report> : nlohmann_codec<nlohmann_test::report> {};
template <>
struct codec<nlohmann_test::unprepared> : nlohmann_codec<nlohmann_test::unprepared> {};
template <>
struct codec<std::vector<nlohmann_test::hotel>>
    : nlohmann_codec<std::vector<nlohmann_test::hotel>> {};
}  // namespace reprise::couchbase

namespace nlohmann_test {
namespace {

using namespace encoded_documents;
using nlohmann::json;
using nlohmann::ordered_json;

constexpr auto not_a_number = std::numeric_limits<double>::quiet_NaN();

const hotel inn{"Reprise Inn", 4, {"Lyon", 69001}, {"quiet"}};
const std::string inn_text =
    R"({"at":{"city":"Lyon","zip":69001},"name":"Reprise Inn","stars":4,"tags":["quiet"]})";

TEST(nlohmann, a_struct_is_stored_as_an_object_and_read_back) {
    EXPECT_EQ(encode(inn), inn_text);
    EXPECT_EQ(decode<hotel>(inn_text), inn);
    EXPECT_EQ(encode(std::vector{inn, inn}), "[" + inn_text + "," + inn_text + "]");
    EXPECT_EQ(decode<std::vector<hotel>>("[" + inn_text + "]"), std::vector{inn});
}

TEST(nlohmann, values_are_stored_and_read_without_preparation) {
    EXPECT_EQ(encode(json{{"s", nullptr}, {"n", 1}}), R"({"n":1,"s":null})");
    EXPECT_EQ(encode(ordered_json{{"s", nullptr}, {"n", 1}}), R"({"s":null,"n":1})");
    EXPECT_EQ(encode(json("text")), R"("text")");
    EXPECT_EQ(decode<json>(" 7 "), 7);
    EXPECT_EQ(decode<ordered_json>(R"({"z":1,"a":2})")->begin().key(), "z");
}

TEST(nlohmann, a_struct_keeps_the_order_of_its_members_with_ordered_json) {
    EXPECT_EQ(encode(ordered{1, 2}), R"({"z":1,"a":2})");
    EXPECT_EQ(decode<ordered>(R"({"a":2,"z":1})")->a, 2);
}

TEST(nlohmann, a_document_without_a_format_is_read_and_other_formats_are_refused) {
    expect_only_json_is_read<json, hotel>(inn_text);
}

TEST(nlohmann, text_that_is_not_json_is_refused_with_the_place_but_without_the_text) {
    EXPECT_EQ(why_not<json>(""), "the document is not JSON: wrong at byte 1");
    EXPECT_EQ(why_not<json>(R"({"n":)"), "the document is not JSON: wrong at byte 6");
    EXPECT_EQ(why_not<json>("[1,]"), "the document is not JSON: wrong at byte 4");
    EXPECT_EQ(why_not<json>("{} {}"), "the document is not JSON: wrong at byte 4");
    EXPECT_EQ(why_not<json>("\"secret\xff\""), "the document is not JSON: wrong at byte 8");
    EXPECT_NE(why_not<json>("1e999"), "decoded");
}

TEST(nlohmann, a_misfit_has_the_message_of_the_library) {
    EXPECT_EQ(
        why_not<hotel>(R"({"name":"x"})"),
        "the JSON does not fit the type: "
        "[json.exception.out_of_range.403] key 'stars' not found");
    EXPECT_EQ(
        why_not<hotel>(R"({"name":5})"),
        "the JSON does not fit the type: "
        "[json.exception.type_error.302] type must be string, but is number");
    EXPECT_NE(why_not<hotel>("[]"), "decoded");
}

TEST(nlohmann, own_conversions_are_used_and_their_exceptions_become_errors) {
    EXPECT_EQ(encode(celsius(21.5)), R"({"celsius":21.5})");
    EXPECT_EQ(decode<celsius>(R"({"celsius":21.5})")->degrees, 21.5);
    EXPECT_EQ(problem_of(celsius(-300)), "below absolute zero");
    EXPECT_NE(why_not<celsius>("{}").find("key 'celsius' not found"), std::string::npos);
    EXPECT_EQ(problem_of(unruly{}), "an exception without a text");
    EXPECT_EQ(why_not<unruly>("1"), "the JSON does not fit the type: an exception without a text");
}

TEST(nlohmann, a_lack_of_memory_is_not_blamed_on_the_document) {
    EXPECT_THROW((void)codec<unruly>::encode({.is_out_of_memory = true}), std::bad_alloc);
    EXPECT_THROW((void)decode<unruly>("null"), std::bad_alloc);
}

TEST(nlohmann, a_value_that_is_not_json_is_refused_with_its_path) {
    EXPECT_EQ(problem_of(json(not_a_number)), "the number is not finite");
    EXPECT_EQ(
        problem_of(json{{"rooms", {{{"price", 1.0}}, {{"price", not_a_number}}}}}),
        "/rooms/1/price: the number is not finite");
    EXPECT_NE(problem_of(json{{"name", "caf\xe9"}}).find("UTF-8"), std::string::npos);
    EXPECT_EQ(problem_of(json::parse("[", nullptr, false)), "the value was discarded");
}

TEST(nlohmann, sixty_four_levels_are_stored_and_read_and_one_more_is_refused) {
    const auto deep = decode<json>(nested(64));
    ASSERT_TRUE(deep) << deep.error();
    EXPECT_EQ(encode(*deep), nested(64));
    EXPECT_EQ(why_not<json>(nested(65)), "the document is not JSON: nested deeper than 64 levels");
    const auto problem = problem_of(json::array({*deep}));
    EXPECT_TRUE(problem.ends_with("/0: nested deeper than 64 levels")) << problem;
    EXPECT_NE(why_not<json>(nested(1'000'000)), "decoded");
}

TEST(nlohmann, brackets_in_strings_and_beside_each_other_are_not_nested) {
    EXPECT_TRUE(decode<json>('"' + std::string(100, '[') + '"'));
    EXPECT_TRUE(decode<json>(R"(["\"", ")" + std::string(100, '{') + R"(", "\\"])"));
    std::string many = "[[]";
    for (int count = 0; count < 100; ++count) {
        many += ",{}";
    }
    EXPECT_TRUE(decode<json>(many + "]"));
    EXPECT_EQ(
        why_not<json>(R"(["\\)" + std::string("\",") + nested(64) + "]"),
        "the document is not JSON: nested deeper than 64 levels");
}

TEST(nlohmann, every_damaged_document_is_a_value_or_a_failure_with_a_text) {
    EXPECT_GT(decode_damaged<hotel>(inn_text), 0U);
    EXPECT_GT(decode_damaged<json>(R"({"a":[1,-2.5e3,"\u00e9\\",true,null],"b":{}})"), 0U);
}

TEST(nlohmann, a_type_can_be_stored_or_read_only_if_the_library_can_convert_it) {
    using couchbase::decodable;
    using couchbase::encodable;
    EXPECT_TRUE(encodable<hotel> && decodable<hotel>);
    EXPECT_TRUE(encodable<report> && !decodable<report>);
    EXPECT_FALSE(encodable<unprepared> || decodable<unprepared>);
    EXPECT_FALSE(encodable<address> || decodable<address>);  // no line selects a codec
    EXPECT_FALSE(encodable<std::string>);                    // still neither JSON nor plain text
}

}  // namespace
}  // namespace nlohmann_test
