#include "service_client.hpp"

namespace views_test {

using namespace service_testing;
using wire::service;

struct views : testing::Test, service_client {
    views() {
        query(
            R"(UPSERT INTO travel (KEY, VALUE) VALUES
               ("a", {"type": "hotel", "city": "Brno", "stars": 3, "tags": ["x", "y"]}),
               ("b", {"type": "hotel", "city": "Oslo", "stars": 4}),
               ("c", {"type": "airline", "city": "Brno", "stars": 1.5}),
               ("d", {"city": null}))");
    }
    reply put(const std::string& map, const std::string& reduce = "") {
        json::object view{{"map", map}};
        if (!reduce.empty()) {
            view.set("reduce", reduce);
        }
        return ask(
            service::views, "PUT", "/travel/_design/d",
            json::serialize(json::object{{"views", json::object{{"v", view}}}}));
    }
    reply view(const std::string& parameters = "") {
        return ask(service::views, "GET", "/travel/_design/d/_view/v?" + parameters);
    }
    // All rows as "id:key=value ...".
    std::string rows(const std::string& parameters = "") {
        const reply made = view(parameters);
        EXPECT_EQ(made.status, 200) << made.text;
        std::string all;
        const json::value* found = made.find("rows");
        for (std::size_t i = 0; found != nullptr && found->at(i) != nullptr; ++i) {
            const json::value& row = *found->at(i);
            if (const json::value* id = row.find("id")) {
                all += std::string(id->as_string().value_or("?")) + ":";
            }
            all += json::serialize(*row.find("key")) + "=" + json::serialize(*row.find("value"));
            all += " ";
        }
        return all;
    }
};

TEST_F(views, run_the_built_in_map_function_that_they_name) {
    ASSERT_EQ(put("_by_fields:city=stars").status, 201);
    EXPECT_EQ(rows(), R"(d:null=null a:"Brno"=3 c:"Brno"=1.5 b:"Oslo"=4 )");
    EXPECT_EQ(view().member("total_rows"), "4");
    EXPECT_EQ(rows("descending=true&limit=2"), R"(b:"Oslo"=4 c:"Brno"=1.5 )");
    EXPECT_EQ(rows("key=%22Brno%22"), R"(a:"Brno"=3 c:"Brno"=1.5 )");
    EXPECT_EQ(rows("startkey=%22Brno%22&startkey_docid=b"), R"(c:"Brno"=1.5 b:"Oslo"=4 )");
    EXPECT_EQ(
        rows("startkey=%22Brno%22&endkey=%22Oslo%22&inclusive_end=false"),
        R"(a:"Brno"=3 c:"Brno"=1.5 )");
    // A document without the first field has no row.
    ASSERT_EQ(put("_by_fields:type,tags").status, 201);
    EXPECT_EQ(
        rows(), R"(c:["airline",null]=null b:["hotel",null]=null a:["hotel",["x","y"]]=null )");
    const std::string all = R"(a:"a"=null b:"b"=null c:"c"=null d:"d"=null )";
    ASSERT_EQ(put("_by_id").status, 201);
    EXPECT_EQ(rows(), all);
    // The function that a server's console suggests needs no JavaScript.
    ASSERT_EQ(put("function (doc, meta) {\n  emit(meta.id, null);\n}").status, 201);
    EXPECT_EQ(rows(), all);
}

TEST_F(views, refuse_unsupported_definitions_when_they_are_created) {
    const auto refused = [](const reply& made, const char* text) {
        EXPECT_EQ(made.status, 400) << made.text;
        EXPECT_NE(made.text.find(text), std::string::npos) << made.text;
        EXPECT_NE(made.text.find("is not in the sandbox"), std::string::npos) << made.text;
    };
    refused(put("x"), "A map function other than");
    refused(put("function (doc, meta) { emit(doc.a, null); }"), "A map function other than");
    refused(put("_by_id", "function (k, v) { return 1; }"), "reduce");
    refused(put("_by_id", "_approx_count_distinct"), "reduce");
    EXPECT_EQ(put("_by_fields:").status, 400);
    refused(
        ask(service::views, "PUT", "/travel/_design/d", R"({"views":{},"spatial":{"s":"x"}})"),
        "spatial");
    EXPECT_EQ(ask(service::views, "GET", "/travel/_design/d").status, 404);
    ASSERT_EQ(put("_by_id").status, 201);
    refused(view("bbox=1,2"), "bbox");
    refused(view("include_docs=true"), "include_docs");
    refused(view("debug=true"), "debug");
    EXPECT_EQ(view("group=true").status, 400);
    EXPECT_EQ(view("descending=maybe").status, 400);
    EXPECT_EQ(view("stale=ok&connection_timeout=1000&on_error=stop&full_set=true").status, 200);
}

TEST_F(views, reduce_by_count_sum_and_stats) {
    const std::string map = "_by_fields:type,city=stars";
    ASSERT_EQ(put(map, "_count").status, 201);
    EXPECT_EQ(rows(), "null=3 ");
    EXPECT_EQ(rows("group_level=1"), R"(["airline"]=1 ["hotel"]=2 )");
    EXPECT_EQ(rows("group=true&limit=1"), R"(["airline","Brno"]=1 )");
    EXPECT_EQ(rows("reduce=false&limit=1"), R"(c:["airline","Brno"]=1.5 )");
    ASSERT_EQ(put(map, "_sum").status, 201);
    EXPECT_EQ(rows("group_level=1&startkey=[%22hotel%22]"), R"(["hotel"]=7 )");
    ASSERT_EQ(put(map, "_stats").status, 201);
    EXPECT_EQ(
        rows("startkey=[%22hotel%22]"), R"(null={"sum":7,"count":2,"min":3,"max":4,"sumsqr":25} )");
    ASSERT_EQ(put("_by_fields:stars=city", "_sum").status, 201);
    EXPECT_EQ(view().status, 400);
}

}  // namespace views_test
