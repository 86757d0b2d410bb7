#include <gtest/gtest.h>

#include <reprise/services/search_request.hpp>

namespace reprise::services {
namespace search_request_test {

using namespace std::chrono_literals;

TEST(search_request, RH_18_is_always_idempotent_and_has_its_index_in_the_path) {
    const auto call =
        make_search_call({.index = "hotels/1", .query = make_match_all_query()}).value();
    EXPECT_EQ(call.service, wire::service::search);
    EXPECT_EQ(call.method, "POST");
    EXPECT_EQ(call.target, "/api/index/hotels%2F1/query");
    EXPECT_EQ(call.body, R"({"query":{"match_all":{}}})");
    EXPECT_EQ(call.rows_member, "hits");
    EXPECT_TRUE(call.is_idempotent);
    EXPECT_EQ(
        make_search_call({.index = "i", .bucket = "b c", .scope = "s", .query = "{}"})->target,
        "/api/bucket/b%20c/scope/s/index/i/query");
}

TEST(search_request, typed_queries_are_json) {
    EXPECT_EQ(make_match_query("a \"b\""), R"({"match":"a \"b\""})");
    EXPECT_EQ(make_match_query("x", "f"), R"({"match":"x","field":"f"})");
    EXPECT_EQ(make_term_query("x", "f"), R"({"term":"x","field":"f"})");
    EXPECT_EQ(make_query_string_query("+a -b"), R"({"query":"+a -b"})");
}

TEST(search_request, every_member_has_its_place) {
    search_request request;
    request.index = "i";
    request.query = "{}";
    request.timeout = 75s;
    request.consistent_with = {{"b", wire::vbucket_id{5}, {.vbucket_uuid = 77, .seqno = 3}}};
    request.size = 10;
    request.from = 20;
    request.is_explained = true;
    request.is_unscored = true;
    request.has_locations = true;
    request.fields = {"*"};
    request.collections = {"c1", "c2"};
    request.sort = {R"("-_score")", R"({"by":"id"})"};
    request.facets = {{"types", R"({"field":"type","size":5})"}};
    request.raw = {{"extra", "1"}};
    EXPECT_EQ(
        make_search_call(request)->body,
        R"({"query":{},"ctl":{"timeout":75000,"consistency":{"level":"at_plus","vectors":)"
        R"({"i":{"5/77":3}}}},"size":10,"from":20,"explain":true,"score":"none",)"
        R"("includeLocations":true,"fields":["*"],"collections":["c1","c2"],)"
        R"("sort":["-_score",{"by":"id"}],"facets":{"types":{"field":"type","size":5}},)"
        R"("extra":1})");
}

TEST(search_request, missing_or_invalid_members_are_reported) {
    using enum service_call_errc;
    const auto error_of = [](const search_request& request) {
        return make_search_call(request).error();
    };
    EXPECT_EQ(error_of({.query = "{}"}), (service_call_error{text_missing, "index"}));
    EXPECT_EQ(error_of({.index = "i"}), (service_call_error{text_missing, "query"}));
    EXPECT_EQ(error_of({.index = "..", .query = "{}"}), (service_call_error{dot_segment, "index"}));
    EXPECT_EQ(
        error_of({.index = "i", .bucket = ".", .scope = "s", .query = "{}"}),
        (service_call_error{dot_segment, "bucket"}));
    EXPECT_EQ(
        error_of({.index = "i", .bucket = "b", .scope = "..", .query = "{}"}),
        (service_call_error{dot_segment, "scope"}));
    EXPECT_EQ(
        error_of({.index = "i", .bucket = "b", .query = "{}"}),
        (service_call_error{option_out_of_place, "scope"}));
    EXPECT_EQ(
        error_of({.index = "i", .query = "{},\"size\":1"}),
        (service_call_error{value_not_json, "query"}));
    EXPECT_EQ(
        error_of({.index = "i", .query = "{}", .sort = {"1],\"x\":[2"}}),
        (service_call_error{value_not_json, "sort"}));
    EXPECT_EQ(
        error_of({.index = "i", .query = "{}", .facets = {{"f", "{"}}}),
        (service_call_error{value_not_json, "facets.f"}));
}

}  // namespace search_request_test
}  // namespace reprise::services
