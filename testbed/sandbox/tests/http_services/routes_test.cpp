#include "service_client.hpp"

#include <map>

namespace service_ports_test {

using namespace service_testing;
using wire::service;

// Search, views and management.
struct service_ports : testing::Test, service_client {
    reply search(const std::string& query, const std::string& more = "") {
        return ask(
            service::search, "POST", "/api/index/all/query", "{\"query\":" + query + more + "}");
    }
    static std::string ids(const reply& from, const char* rows = "hits") {
        std::string all;
        const json::value* found = from.find(rows);
        for (std::size_t i = 0; found != nullptr && found->at(i) != nullptr; ++i) {
            all += std::string(found->at(i)->find("id")->as_string().value_or("?")) + " ";
        }
        return all;
    }
    reply view(const std::string& parameters) {
        return ask(service::views, "GET", "/travel/_design/d/_view/v?" + parameters);
    }
};

TEST_F(service_ports, search_finds_documents_by_words) {
    fill();
    ASSERT_TRUE(cluster.services().create_search_index("all", "travel"));
    const reply all = search("{\"match_all\":{}}");
    EXPECT_EQ(ids(all), "k1 k2 k3 ");
    EXPECT_EQ(all.member("total_hits"), "3");
    EXPECT_EQ(json::serialize(*all.find("status")->find("failed")), "0");
    EXPECT_EQ(ids(search("{\"match\":\"SECOND thing\"}")), "k2 ");
    EXPECT_EQ(ids(search("{\"match\":\"brno\",\"field\":\"at.city\"}")), "k2 ");
    EXPECT_EQ(ids(search("{\"match\":\"brno\",\"field\":\"name\"}")), "");
    EXPECT_EQ(ids(search(R"({"match":"first second"})")), "k1 k2 ");
    EXPECT_EQ(ids(search(R"({"term":"second"})")), "k2 ");
    EXPECT_EQ(ids(search(R"({"query":"second brno"})")), "k2 ");
    EXPECT_EQ(ids(search(R"({"match_all":{}})", R"(,"collections":["airline"])")), "");
    EXPECT_EQ(ids(search("{\"match_all\":{}}", ",\"size\":1,\"from\":1")), "k2 ");
}

TEST_F(service_ports, search_reports_what_is_missing_or_malformed) {
    const reply missing = search("{\"match_all\":{}}");
    EXPECT_EQ(missing.status, 400);
    EXPECT_NE(missing.member("error").find("index not found"), std::string::npos);
    EXPECT_EQ(missing.member("status"), "\"fail\"");
    ASSERT_TRUE(cluster.services().create_search_index("all", "travel"));
    EXPECT_NE(search("{\"geo\":null}").text.find("unknown query type"), std::string::npos);
    EXPECT_EQ(search("1}{").status, 400);
    EXPECT_EQ(
        cluster.services().create_search_index("x", "nowhere").error(),
        sandbox::cluster_errc::unknown_bucket);
    password = "wrong";
    EXPECT_EQ(search("{\"match_all\":{}}").status, 401);
    EXPECT_EQ(ask(service::search, "GET", "/api/ping").status, 200);
}

TEST_F(service_ports, search_refuses_wrong_types) {
    ASSERT_TRUE(cluster.services().create_search_index("all", "travel"));
    const std::string all = R"({"match_all":{}})";
    for (const char* more :
         {R"(,"size":"x")", R"(,"from":-1)", R"(,"collections":"a")", R"(,"ctl":5)",
          R"(,"ctl":{"consistency":{"level":"sometimes"}})"}) {
        EXPECT_EQ(search(all, more).status, 400) << more;
    }
    for (const char* wrong :
         {R"({"match":5})", R"({"term":"a","field":1})", R"({"query":{}})", R"([])", R"({})"}) {
        EXPECT_EQ(search(wrong).status, 400) << wrong;
    }
    EXPECT_EQ(
        search(all, R"(,"nonsense":1,"ctl":{"consistency":{"level":"at_plus"}})").status, 200);
}

TEST_F(service_ports, control_of_indexes_and_details_of_services_are_refused_by_name) {
    for (const auto& [which, target] : std::map<service, const char*>{
             {service::search, "/api/index/all/ingestControl/pause"},
             {service::query, "/admin/vitals"},
             {service::analytics, "/analytics/link/Default/x"}}) {
        const reply made = ask(which, "POST", target);
        EXPECT_EQ(made.status, 400) << target;
        EXPECT_NE(made.text.find("is not in the sandbox"), std::string::npos) << made.text;
        EXPECT_NE(made.text.find("90000"), std::string::npos) << made.text;
    }
    EXPECT_EQ(ask(service::search, "GET", "/api/nothing").status, 404);
}

TEST_F(service_ports, search_refuses_by_name_what_it_would_ignore) {
    ASSERT_TRUE(cluster.services().create_search_index("all", "travel"));
    const auto refused = [](const reply& made, const char* text) {
        EXPECT_EQ(made.status, 400) << made.text;
        EXPECT_NE(made.text.find(text), std::string::npos) << made.text;
        EXPECT_NE(made.text.find("is not in the sandbox"), std::string::npos) << made.text;
    };
    refused(search(R"({"regexp":"a.*"})"), "regexp");
    refused(search(R"({"match":"a","fuzziness":2})"), "fuzziness");
    refused(search(R"({"term":"a","boost":2})"), "boost");
    refused(search(R"({"query":"+a -b"})"), "operators");
    refused(search(R"({"conjuncts":[{"match_all":{}}]})"), "conjuncts");
    refused(search(R"({"query":"a","field":"b"})"), "field");
    refused(search(R"({"match_all":{}})", R"(,"facets":{"f":{}})"), "facets");
    refused(search(R"({"match_all":{}})", R"(,"highlight":{})"), "highlight");
    refused(search(R"({"match_all":{}})", R"(,"knn":[])"), "knn");
    refused(search(R"({"match_all":{}})", R"(,"sort":["name"])"), "sort");
    EXPECT_EQ(search(R"({"match_all":{}})", R"(,"explain":false,"ctl":{"timeout":5})").status, 200);
    const auto put = [this](const char* definition) {
        return ask(service::search, "PUT", "/api/index/x", definition);
    };
    refused(put(R"({"type":"fulltext-alias","sourceName":"travel"})"), "fulltext-alias");
    refused(put(R"({"sourceName":"travel","params":{"mapping":{"types":{"hotel":{}}}}})"), "types");
    refused(
        put(R"({"sourceName":"travel","params":{"mapping":{)"
            R"("default_mapping":{"dynamic":false}}}})"),
        "dynamic");
}

TEST_F(service_ports, search_indexes_are_created_listed_counted_and_dropped) {
    fill();
    const std::string definition = R"({"type":"fulltext-index","sourceName":"travel"})";
    const std::string path = "/api/index/mine";
    EXPECT_EQ(ask(service::search, "PUT", path, R"({"sourceName":"nowhere"})").status, 400);
    const reply made = ask(service::search, "PUT", path, definition);
    EXPECT_EQ(made.status, 200);
    const reply again = ask(service::search, "PUT", path, definition);
    EXPECT_EQ(again.status, 400);
    EXPECT_NE(again.text.find("index with the same name already exists"), std::string::npos);
    EXPECT_EQ(
        ask(service::search, "PUT", path,
            R"({"sourceName":"travel","uuid":)" + made.member("uuid") + "}")
            .status,
        200);
    EXPECT_EQ(ask(service::search, "GET", path + "/count").member("count"), "3");
    EXPECT_NE(
        ask(service::search, "GET", "/api/index")
            .find("indexDefs")
            ->find("indexDefs")
            ->find("mine"),
        nullptr);
    const std::string scoped = "/api/bucket/travel/scope/inventory/index/in";
    EXPECT_EQ(ask(service::search, "PUT", scoped, definition).status, 200);
    EXPECT_EQ(ask(service::search, "GET", scoped + "/count").member("count"), "0");
    EXPECT_EQ(ask(service::search, "DELETE", path).status, 200);
    EXPECT_EQ(ask(service::search, "GET", path).status, 400);
}

TEST_F(service_ports, views_return_all_documents_in_order) {
    fill();
    ASSERT_TRUE(cluster.services().put_view("travel", "d", "v"));
    const reply all = view("");
    EXPECT_EQ(
        all.text, R"({"total_rows":3,"rows":[{"id":"k1","key":"k1","value":null},)"
                  R"({"id":"k2","key":"k2","value":null},{"id":"k3","key":"k3","value":null}]})");
    EXPECT_EQ(ids(view("descending=true"), "rows"), "k3 k2 k1 ");
    EXPECT_EQ(ids(view("limit=1&skip=1"), "rows"), "k2 ");
    EXPECT_EQ(ids(view("key=%22k2%22"), "rows"), "k2 ");
    EXPECT_EQ(ids(view("keys=[%22k3%22,%22k1%22,5]"), "rows"), "k3 k1 ");
    EXPECT_EQ(ids(view("startkey=%22k2%22"), "rows"), "k2 k3 ");
    EXPECT_EQ(ids(view("start_key=%22k1%22&end_key=%22k2%22&inclusive_end=false"), "rows"), "k1 ");
    EXPECT_EQ(ids(view("startkey=%22k2%22&descending=true"), "rows"), "k2 k1 ");
    EXPECT_EQ(ids(view("startkey={}"), "rows"), "");
    const reply posted =
        ask(service::views, "POST", "/travel/_design/d/_view/v?limit=1", R"({"keys":["k2","k1"]})");
    EXPECT_EQ(ids(posted, "rows"), "k2 ");
    EXPECT_EQ(view("limit=x").status, 400);
    EXPECT_EQ(view("key=x").status, 400);
}

TEST_F(service_ports, views_are_defined_by_design_documents) {
    fill();
    EXPECT_EQ(view("").status, 404);
    EXPECT_EQ(view("").text.find("\"reason\":\"missing\""), std::string::npos);
    const std::string path = "/travel/_design/d";
    EXPECT_EQ(ask(service::views, "PUT", path, "no").status, 400);
    EXPECT_EQ(
        ask(service::views, "PUT", path,
            R"({"views":{"v":{"map":"function (doc, meta) { emit(meta.id, null); }"}}})")
            .status,
        201);
    EXPECT_EQ(ids(view("limit=1"), "rows"), "k1 ");
    EXPECT_EQ(ask(service::views, "GET", "/travel/_design/d/_view/w").status, 404);
    EXPECT_NE(
        ask(service::management, "GET", "/pools/default/buckets/travel/ddocs")
            .text.find("_design/d"),
        std::string::npos);
    EXPECT_EQ(ask(service::views, "DELETE", path).status, 200);
    EXPECT_EQ(ask(service::views, "GET", path).status, 404);
    EXPECT_EQ(ask(service::views, "GET", "/nowhere/_design/d/_view/v").status, 404);
    EXPECT_EQ(ask(service::views, "GET", "/").status, 200);
    password = "wrong";
    EXPECT_EQ(view("").status, 401);
}

TEST_F(service_ports, management_creates_shows_and_drops_buckets) {
    const std::string path = "/pools/default/buckets";
    EXPECT_EQ(
        ask(service::management, "POST", path,
            "name=fresh&ramQuotaMB=256&flushEnabled=1&bucketType=ephemeral")
            .status,
        202);
    const reply again = ask(service::management, "POST", path, "name=fresh&ramQuotaMB=256");
    EXPECT_EQ(again.status, 400);
    EXPECT_EQ(again.member("errors"), R"({"name":"Bucket with given name already exists"})");
    EXPECT_EQ(ask(service::management, "POST", path, "name=b%20d").status, 400);
    EXPECT_EQ(ask(service::management, "POST", path, "name=c&replicaNumber=9").status, 400);
    EXPECT_EQ(ask(service::management, "POST", path, "name=c&ramQuotaMB=none").status, 400);
    const reply shown = ask(service::management, "GET", path + "/fresh");
    EXPECT_EQ(shown.member("bucketType"), "\"ephemeral\"");
    EXPECT_EQ(shown.find("quota")->find("rawRAM")->as_int64(), 256 * 1024 * 1024);
    EXPECT_NE(shown.find("controllers")->find("flush"), nullptr);
    EXPECT_EQ(shown.find("nodes")->at(0)->find("status")->as_string(), "healthy");
    EXPECT_EQ(ask(service::management, "GET", path).body.as_array()->size(), 2u);
    EXPECT_EQ(ask(service::management, "DELETE", path + "/fresh").status, 200);
    EXPECT_EQ(ask(service::management, "GET", path + "/fresh").status, 404);
    EXPECT_EQ(cluster.buckets().names().size(), 1u);
    user = password = "guest";
    EXPECT_EQ(ask(service::management, "POST", path, "name=mine").status, 403);
    EXPECT_EQ(ask(service::management, "GET", path + "/travel").status, 403);
}

TEST_F(service_ports, management_flushes_only_if_enabled) {
    fill();
    const std::string path = "/pools/default/buckets/travel";
    const reply refused = ask(service::management, "POST", path + "/controller/doFlush");
    EXPECT_EQ(refused.status, 400);
    EXPECT_NE(refused.text.find("Flush is disabled"), std::string::npos);
    EXPECT_EQ(ask(service::management, "POST", path, "flushEnabled=1").status, 200);
    const std::uint64_t before = cluster.buckets().removal_generation();
    EXPECT_EQ(ask(service::management, "POST", path + "/controller/doFlush").status, 200);
    EXPECT_GT(cluster.buckets().removal_generation(), before);
    EXPECT_EQ(query("SELECT * FROM travel USE KEYS ['k1', 'k2', 'k3']").results(), "[]");
    EXPECT_EQ(ask(service::management, "POST", path, "flushEnabled=yes").status, 400);
}

TEST_F(service_ports, management_names_scopes_and_collections_in_its_refusals) {
    const std::string path = "/pools/default/buckets/travel/scopes";
    EXPECT_EQ(ask(service::management, "POST", path, "name=s").status, 200);
    const auto text = [&](const char* method, const std::string& below, const char* body = "") {
        const reply made = ask(service::management, method, path + below, body);
        return std::to_string(made.status) + " " +
               std::string(made.find("errors")->find("_")->as_string().value_or(""));
    };
    EXPECT_EQ(text("POST", "", "name=s"), "400 Scope with name \"s\" already exists");
    EXPECT_EQ(text("DELETE", "/t"), "404 Scope with name \"t\" is not found");
    EXPECT_EQ(text("POST", "/t/collections", "name=c"), "404 Scope with name \"t\" is not found");
    EXPECT_EQ(
        text("DELETE", "/s/collections/c"),
        "404 Collection with name \"c\" in scope \"s\" is not found");
    EXPECT_EQ(ask(service::management, "POST", path + "/s/collections", "name=c").status, 200);
    EXPECT_EQ(
        text("POST", "/s/collections", "name=c"),
        "400 Collection with name \"c\" in scope \"s\" already exists");
}

TEST_F(service_ports, management_creates_shows_and_drops_users) {
    const std::string path = "/settings/rbac/users/local/eve";
    EXPECT_EQ(ask(service::management, "GET", path).text, "\"Unknown user.\"");
    EXPECT_EQ(ask(service::management, "PUT", path, "roles=admin").status, 400);
    EXPECT_EQ(
        ask(service::management, "PUT", path,
            "password=apples&roles=bucket_full_access%5Btravel%5D")
            .status,
        200);
    EXPECT_EQ(
        cluster.accounts().find_user("eve")->roles,
        (std::vector<sandbox::role_grant>{{"bucket_full_access", "travel", {}, {}}}));
    EXPECT_EQ(ask(service::management, "PUT", path, "roles=admin").status, 200);
    EXPECT_EQ(cluster.accounts().find_user("eve")->password, "apples");
    EXPECT_EQ(ask(service::management, "GET", "/settings/rbac/users").body.as_array()->size(), 2u);
    EXPECT_EQ(
        ask(service::management, "GET", "/settings/rbac/users?pageSize=2").member("total"), "2");
    EXPECT_EQ(ask(service::management, "GET", "/settings/rbac/users?pageSize=1").status, 400);
    EXPECT_EQ(
        ask(service::management, "GET", "/whoami").text,
        R"({"id":"app","domain":"admin","roles":[{"role":"admin"}]})");
    // The built-in administrator is not one of the users.
    const std::string built_in = "/settings/rbac/users/local/app";
    EXPECT_EQ(ask(service::management, "GET", built_in).text, "\"Unknown user.\"");
    EXPECT_EQ(ask(service::management, "DELETE", built_in).text, "\"User was not found.\"");
    EXPECT_EQ(
        ask(service::management, "PUT", path, "password=x&roles=").text,
        R"({"errors":{"password":"The password must be at least 6 characters long."}})");
    EXPECT_EQ(ask(service::management, "DELETE", path).status, 200);
    EXPECT_EQ(cluster.accounts().find_user("eve"), nullptr);
    password = "wrong";
    EXPECT_EQ(ask(service::management, "GET", "/settings/rbac/users").status, 401);
}

}  // namespace service_ports_test
