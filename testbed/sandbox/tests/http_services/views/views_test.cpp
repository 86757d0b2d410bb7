#include "service_client.hpp"

namespace views_test {

using namespace service_testing;
using wire::service;

struct views : testing::Test, service_client {
    views() {
        query(
            R"(UPSERT INTO travel (KEY, VALUE) VALUES ("a", 1), ("b", 2), ("c", 3), ("d", null))");
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
    // The ids of all rows.
    std::string rows(const std::string& parameters = "") {
        const reply made = view(parameters);
        EXPECT_EQ(made.status, 200) << made.text;
        std::string all;
        const json::value* found = made.find("rows");
        for (std::size_t i = 0; found != nullptr && found->at(i) != nullptr; ++i) {
            all += std::string(found->at(i)->find("id")->as_string().value_or("?")) + " ";
        }
        return all;
    }
};

TEST_F(views, list_all_documents_by_id) {
    ASSERT_EQ(put("_by_id").status, 201);
    EXPECT_EQ(rows(), "a b c d ");
    EXPECT_EQ(view().member("total_rows"), "4");
    EXPECT_EQ(rows("descending=true&limit=2"), "d c ");
    EXPECT_EQ(rows("startkey=%22b%22&startkey_docid=c"), "c d ");
    EXPECT_EQ(rows("startkey=%22b%22&endkey=%22d%22&inclusive_end=false"), "b c ");
    // The function that a server's console suggests needs no JavaScript.
    ASSERT_EQ(put("function (doc, meta) {\n  emit(meta.id, null);\n}").status, 201);
    EXPECT_EQ(rows("reduce=false"), "a b c d ");
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
    refused(put("_by_fields:a"), "A map function other than");
    refused(
        ask(service::views, "PUT", "/travel/_design/d", R"({"views":{},"spatial":{"s":"x"}})"),
        "spatial");
    EXPECT_EQ(ask(service::views, "GET", "/travel/_design/d").status, 404);
    ASSERT_EQ(put("_by_id").status, 201);
    refused(view("bbox=1,2"), "bbox");
    refused(view("include_docs=true"), "include_docs");
    refused(view("debug=true"), "debug");
    refused(view("reduce=true"), "reduce");
    refused(view("group=true"), "group");
    EXPECT_EQ(view("descending=maybe").status, 400);
    EXPECT_EQ(view("stale=ok&connection_timeout=1000&on_error=stop&full_set=true").status, 200);
}

}  // namespace views_test
