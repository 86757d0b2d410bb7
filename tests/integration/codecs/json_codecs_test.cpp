#include <gtest/gtest.h>

#include <boost/asio/use_future.hpp>
#include <boost/describe/class.hpp>
#include <limits>
#include <string>

#include <reprise/couchbase/asio.hpp>
#include <reprise/couchbase/codecs/boost_json.hpp>
#include <reprise/couchbase/codecs/nlohmann.hpp>

#include "../service_calls/live_services.hpp"

// Structs and values as documents, paths, parameters and rows, with both JSON libraries.

namespace json_codecs_test {

struct hotel {
    std::string name;
    double rating = 0;
    friend bool operator==(const hotel&, const hotel&) = default;
};
BOOST_DESCRIBE_STRUCT(hotel, (), (name, rating))

struct room {
    std::string kind;
    int beds = 0;
    friend bool operator==(const room&, const room&) = default;
};
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(room, kind, beds)

}  // namespace json_codecs_test

namespace reprise::couchbase {
template <>
struct codec<json_codecs_test::hotel> : boost_json_codec<json_codecs_test::hotel> {};
template <>
struct codec<json_codecs_test::room> : nlohmann_codec<json_codecs_test::room> {};
}  // namespace reprise::couchbase

namespace json_codecs_test {
namespace {

using namespace live_services;

const hotel inn{"Reprise Inn", 4.5};
const room suite{"suite", 2};
const hotel unrated{"New", std::numeric_limits<double>::infinity()};

class json_codecs : public ::testing::Test {
protected:
    json_codecs()
        : server_(start_services()), cluster_(connect(*server_)), at_(documents(cluster_)) {}

    std::unique_ptr<sandbox::embedded_cluster> server_;
    couchbase::cluster cluster_;
    couchbase::collection at_;
};

TEST_F(json_codecs, structs_and_values_are_stored_as_json_and_read_back) {
    ASSERT_TRUE(at_.upsert("hotel", inn));
    ASSERT_TRUE(at_.insert("room", suite));
    ASSERT_TRUE(at_.replace("room", room{"single", 1}));
    const auto stored = must(at_.get("hotel"));
    EXPECT_EQ(stored.format(), couchbase::document_format::json);
    EXPECT_EQ(stored.content_as<hotel>(), inn);
    EXPECT_EQ(stored.content_as<nlohmann::json>()->at("name"), "Reprise Inn");
    EXPECT_EQ(at_.get("room")->content_as<boost::json::object>()->at("beds").as_int64(), 1);
}

TEST_F(json_codecs, a_document_that_does_not_fit_is_a_decoding_failure_with_the_reason) {
    ASSERT_TRUE(at_.upsert("room", suite));
    const auto found = must(at_.get("room"));
    const auto read = found.content_as<hotel>();
    ASSERT_FALSE(read);
    EXPECT_EQ(read.error().code(), errc::decoding_failure);
    EXPECT_NE(words(read).find("/name, /rating: missing"), std::string::npos) << words(read);
}

TEST_F(json_codecs, a_value_without_an_encoding_is_an_encoding_failure_and_nothing_is_sent) {
    const auto stored = at_.upsert("hotel", unrated);
    ASSERT_FALSE(stored);
    EXPECT_EQ(stored.error().code(), errc::encoding_failure);
    EXPECT_NE(words(stored).find("/rating: the number is not finite"), std::string::npos)
        << words(stored);
    for (const auto& started :
         {at_.async_upsert("hotel", unrated, {}, boost::asio::use_future).get(),
          at_.async_insert("hotel", unrated, {}, boost::asio::use_future).get(),
          at_.async_replace("hotel", unrated, {}, boost::asio::use_future).get()}) {
        ASSERT_FALSE(started);
        EXPECT_EQ(started.error().code(), errc::encoding_failure);
    }
    EXPECT_FALSE(at_.exists("hotel")->exists);
    const auto changed = at_.mutate_in("hotel", {couchbase::mutate_spec::upsert("best", unrated)});
    ASSERT_FALSE(changed);
    EXPECT_EQ(changed.error().code(), errc::encoding_failure);
    EXPECT_NE(words(changed).find("/rating"), std::string::npos) << words(changed);
}

TEST_F(json_codecs, asynchronous_writes_store_structs) {
    EXPECT_TRUE(at_.async_upsert("room", suite, {}, boost::asio::use_future).get());
    EXPECT_EQ(at_.async_get("room", {}, boost::asio::use_future).get()->content_as<room>(), suite);
}

TEST_F(json_codecs, paths_hold_structs_and_values) {
    ASSERT_TRUE(at_.upsert("hotel", nlohmann::json{{"rooms", nlohmann::json::array()}}));
    using change = couchbase::mutate_spec;
    must(at_.mutate_in(
        "hotel", {change::array_append("rooms", {suite, nlohmann::json{{"beds", 1}}}),
                  change::upsert("about", boost::json::value{{"pets", true}})}));
    using look = couchbase::lookup_spec;
    const auto seen = must(at_.lookup_in("hotel", {look::get("rooms[0]"), look::get("about")}));
    EXPECT_EQ(seen.content_as<room>(0), suite);
    EXPECT_EQ(seen.content_as<nlohmann::json>(1), nlohmann::json({{"pets", true}}));
    EXPECT_EQ(seen.content_as<room>(1).error().code(), errc::decoding_failure);
}

TEST_F(json_codecs, rows_and_parameters_are_structs_and_values) {
    const auto echo = [&](couchbase::json_fragment parameter) {
        return cluster_.query("SELECT RAW $1", {.readonly = true, .positional = {parameter}});
    };
    const auto hotels = must(echo(inn));
    EXPECT_EQ(hotels.rows[0].as<hotel>(), inn);
    EXPECT_EQ(hotels.rows[0].as<room>().error().code(), errc::decoding_failure);
    EXPECT_EQ(echo(suite)->rows[0].as<room>(), suite);
    EXPECT_EQ(echo(boost::json::array{1, "x"})->rows[0].as<nlohmann::json>()->size(), 2U);
    const auto refused = must_fail(echo(unrated));
    EXPECT_EQ(refused.code(), errc::encoding_failure);
}

}  // namespace
}  // namespace json_codecs_test
