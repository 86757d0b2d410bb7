#include <gtest/gtest.h>

#include <boost/describe/class.hpp>
#include <string>

#include <reprise/couchbase/codecs/boost_json.hpp>
#include <reprise/couchbase/codecs/nlohmann.hpp>
#include <reprise/couchbase/subdocument_specs.hpp>

#include "encoded_documents.hpp"

// Both headers in one file, and types that both libraries can convert.

namespace both_codecs_test {

struct by_boost {
    int z = 0;
    int a = 0;
};
BOOST_DESCRIBE_STRUCT(by_boost, (), (z, a))
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(by_boost, z, a)

struct by_nlohmann {
    int z = 0;
    int a = 0;
};
BOOST_DESCRIBE_STRUCT(by_nlohmann, (), (z, a))
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(by_nlohmann, z, a)

}  // namespace both_codecs_test

namespace reprise::couchbase {
template <>
struct codec<both_codecs_test::by_boost> : boost_json_codec<both_codecs_test::by_boost> {};
template <>
struct codec<both_codecs_test::by_nlohmann> : nlohmann_codec<both_codecs_test::by_nlohmann> {};
}  // namespace reprise::couchbase

namespace both_codecs_test {
namespace {

using namespace encoded_documents;

TEST(both_codecs, a_type_that_both_libraries_convert_uses_the_codec_that_its_line_selects) {
    EXPECT_EQ(encode(by_boost{1, 2}), R"({"z":1,"a":2})");
    EXPECT_EQ(encode(by_nlohmann{1, 2}), R"({"a":2,"z":1})");  // it sorts members
    EXPECT_EQ(why_not<by_boost>("{}"), "the JSON does not fit the type: /z, /a: missing");
    EXPECT_NE(why_not<by_nlohmann>("{}").find("json.exception"), std::string::npos);
}

TEST(both_codecs, a_document_of_one_library_is_read_by_the_other) {
    const boost::json::value written{{"n", {1, 2.5, "x", nullptr, true}}};
    const auto read = decode<nlohmann::json>(encode(written));
    ASSERT_TRUE(read) << read.error();
    EXPECT_EQ(decode<boost::json::value>(encode(*read)), written);
}

TEST(both_codecs, values_and_structs_are_written_to_paths) {
    using couchbase::json_fragment;
    EXPECT_EQ(json_fragment(boost::json::value{{"n", 1}}).text(), R"({"n":1})");
    EXPECT_EQ(json_fragment(boost::json::array{1}).text(), "[1]");
    EXPECT_EQ(json_fragment(nlohmann::json{{"n", 1}}).text(), R"({"n":1})");
    EXPECT_EQ(json_fragment(by_boost{1, 2}).text(), R"({"z":1,"a":2})");
    EXPECT_EQ(json_fragment(boost::json::value("caf\xe9")).problem(), "the text is not UTF-8");
    const auto change = couchbase::mutate_spec::upsert("path", nlohmann::json{{"n", 1}});
    EXPECT_EQ(couchbase::mutate_spec(change).release().value, R"({"n":1})");
    const auto others = couchbase::mutate_spec::array_append(
        "path", {nlohmann::json(1), boost::json::value(2), by_nlohmann{3, 4}});
    EXPECT_EQ(couchbase::mutate_spec(others).release().value, R"(1,2,{"a":4,"z":3})");
}

TEST(both_codecs, values_and_structs_are_read_from_paths) {
    EXPECT_EQ(couchbase::read_fragment<by_boost>(make_document(R"({"z":1,"a":2})"))->a, 2);
    EXPECT_EQ(couchbase::read_fragment<nlohmann::json>(make_document("[1]"))->size(), 1U);
    EXPECT_EQ(couchbase::read_fragment<boost::json::value>(make_document("5"))->as_int64(), 5);
}

}  // namespace
}  // namespace both_codecs_test
