#include <gtest/gtest.h>

#include <reprise/services/search_request.hpp>

namespace reprise::services::search_request_test {

using namespace std::chrono_literals;

using couchbase::json_text;

TEST(search_request, RH_18_is_always_idempotent_and_has_its_index_in_the_path) {
    const auto call = make_search_call("hotels/1", search_query::match_all()).value();
    EXPECT_EQ(call.service, wire::service::search);
    EXPECT_EQ(call.method, "POST");
    EXPECT_EQ(call.target, "/api/index/hotels%2F1/query");
    EXPECT_EQ(call.body, R"({"query":{"match_all":{}}})");
    EXPECT_EQ(call.rows_member, "hits");
    EXPECT_TRUE(call.is_idempotent);
    EXPECT_EQ(
        make_search_call("i", search_query("{}"), {}, {.bucket = "b c", .scope = "s"})->target,
        "/api/bucket/b%20c/scope/s/index/i/query");
}

TEST(search_request, typed_queries_are_json) {
    EXPECT_EQ(search_query::match("a \"b\"").json, R"({"match":"a \"b\""})");
    EXPECT_EQ(search_query::match("x", "f").json, R"({"match":"x","field":"f"})");
    EXPECT_EQ(search_query::term("x", "f").json, R"({"term":"x","field":"f"})");
    EXPECT_EQ(search_query::query_string("+a -b").json, R"({"query":"+a -b"})");
}

TEST(search_request, every_member_has_its_place) {
    search_options options;
    options.timeout = 5s;
    options.consistent_with.tokens = {{"b", 5, 77, 3}};
    options.limit = 10;
    options.skip = 20;
    options.explain = true;
    options.disable_scoring = true;
    options.include_locations = true;
    options.fields = {"*"};
    options.collections = {"c1", "c2"};
    options.sort = {"-_score", json_text{R"({"by":"id"})"}};
    options.facets = {{"types", json_text{R"({"field":"type","size":5})"}}};
    options.raw = {{"extra", 1}};
    EXPECT_EQ(
        make_search_call("i", search_query("{}"), options)->body,
        R"({"query":{},"ctl":{"timeout":5000,"consistency":{"level":"at_plus","vectors":)"
        R"({"i":{"5/77":3}}}},"size":10,"from":20,"explain":true,"score":"none",)"
        R"("includeLocations":true,"fields":["*"],"collections":["c1","c2"],)"
        R"("sort":["-_score",{"by":"id"}],"facets":{"types":{"field":"type","size":5}},)"
        R"("extra":1})");
}

TEST(search_request, missing_or_invalid_members_are_reported) {
    using enum service_call_errc;
    const auto error_of = [](std::string_view index, std::string query,
                             const search_options& options = {},
                             const request_context& context = {}) {
        return make_search_call(index, search_query(std::move(query)), options, context).error();
    };
    EXPECT_EQ(error_of("", "{}"), (service_call_error{text_missing, "index"}));
    EXPECT_EQ(error_of("i", ""), (service_call_error{text_missing, "query"}));
    EXPECT_EQ(error_of("..", "{}"), (service_call_error{dot_segment, "index"}));
    EXPECT_EQ(
        error_of("i", "{}", {}, {.bucket = ".", .scope = "s"}),
        (service_call_error{dot_segment, "bucket"}));
    EXPECT_EQ(
        error_of("i", "{}", {}, {.bucket = "b", .scope = ".."}),
        (service_call_error{dot_segment, "scope"}));
    EXPECT_EQ(
        error_of("i", "{}", {}, {.bucket = "b"}),
        (service_call_error{option_out_of_place, "scope"}));
    EXPECT_EQ(error_of("i", "{},\"size\":1"), (service_call_error{value_not_json, "query"}));
    EXPECT_EQ(
        error_of("i", "{}", {.sort = {json_text{"1],\"x\":[2"}}}),
        (service_call_error{value_not_json, "sort[0]"}));
    EXPECT_EQ(
        error_of("i", "{}", {.facets = {{"f", json_text{"{"}}}}),
        (service_call_error{value_not_json, "facets.f"}));
}

}  // namespace reprise::services::search_request_test
