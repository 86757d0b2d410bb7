#include "service_client.hpp"

namespace service_query_test {

using namespace service_testing;

struct service_query : testing::Test, service_client {};

TEST_F(service_query, returns_constants_parameters_and_raw_values) {
    EXPECT_EQ(query("SELECT 1").results(), R"([{"$1":1}])");
    EXPECT_EQ(
        query("SELECT 'it''s' AS b, \"q\\\"\" AS c;").results(), R"([{"b":"it's","c":"q\""}])");
    EXPECT_EQ(query("SELECT RAW {\"a\": [1, NULL, TRUE]}").results(), R"([{"a":[1,null,true]}])");
    EXPECT_EQ(query("SELECT $who AS w", {{"$who", "me"}}).results(), R"([{"w":"me"}])");
    EXPECT_EQ(
        query("SELECT RAW [?, $2, ?]", {{"args", json::array{7, "x"}}}).results(),
        R"([[7,"x","x"]])");
    EXPECT_EQ(
        query("SELECT 1 + 2 * 3 AS n, 7 / 2 AS f, 'a' || 'b' AS t").results(),
        R"([{"n":7,"f":3.5,"t":"ab"}])");
    EXPECT_EQ(query("SELECT $nobody").code(), 5010);
}

TEST_F(service_query, answers_in_the_format_that_clients_read) {
    const reply made =
        query("SELECT 1 AS one", {{"client_context_id", "ctx-7"}, {"profile", "timings"}});
    EXPECT_EQ(made.status, 200);
    EXPECT_EQ(made.member("clientContextID"), "\"ctx-7\"");
    EXPECT_EQ(made.member("signature"), R"({"one":"number"})");
    EXPECT_EQ(made.member("status"), "\"success\"");
    EXPECT_EQ(json::serialize(*made.find("metrics")->find("resultCount")), "1");
    EXPECT_EQ(json::serialize(*made.find("metrics")->find("resultSize")), "9");
    EXPECT_NE(made.find("profile"), nullptr);
    EXPECT_EQ(made.find("errors"), nullptr);
    EXPECT_NE(made.member("requestID"), query("SELECT 1").member("requestID"));
    const reply bare = query("SELECT 1", {{"metrics", false}, {"signature", false}});
    EXPECT_EQ(bare.find("metrics"), nullptr);
    EXPECT_EQ(bare.find("signature"), nullptr);
    EXPECT_EQ(bare.find("profile"), nullptr);
}

TEST_F(service_query, changes_and_reads_documents_by_key) {
    fill();
    EXPECT_EQ(
        query("SELECT * FROM travel USE KEYS 'k1'").results(),
        R"([{"travel":{"name":"first one","n":1}}])");
    EXPECT_EQ(
        query(
            "SELECT t.*, META(t).id FROM `travel` AS t USE KEYS $k",
            {{"$k", json::array{"k3", "no"}}})
            .results(),
        R"([{"n":3,"id":"k3"}])");
    EXPECT_EQ(
        query("SELECT RAW t.at.city FROM default:travel t USE KEYS ['k2']").results(),
        R"(["Brno"])");
    const reply updated = query(
        "UPDATE travel USE KEYS 'k2' SET n = n + 40, at.zip = '602' UNSET name RETURNING travel.*");
    EXPECT_EQ(updated.results(), R"([{"n":42,"at":{"city":"Brno","zip":"602"}}])");
    const reply removed = query("DELETE FROM travel USE KEYS ['k1', 'k9'] RETURNING META().id");
    EXPECT_EQ(removed.results(), R"([{"id":"k1"}])");
    EXPECT_EQ(json::serialize(*removed.find("metrics")->find("mutationCount")), "1");
    EXPECT_FALSE(
        cluster.buckets().find_document("travel", wire::collection_id{0}, "k2", now)->is_deleted);
    EXPECT_TRUE(
        cluster.buckets().find_document("travel", wire::collection_id{0}, "k1", now)->is_deleted);
}

TEST_F(service_query, reports_a_duplicate_insert_and_keeps_the_rest) {
    fill();
    const reply made =
        query("INSERT INTO travel (KEY, VALUE) VALUES ('k1', 0), VALUES ('k9', {\"x\": 1})");
    ASSERT_EQ(made.code(), 12009);
    EXPECT_EQ(json::serialize(*made.find("errors")->at(0)->find("reason")->find("code")), "17012");
    EXPECT_EQ(made.member("status"), "\"errors\"");
    EXPECT_EQ(made.status, 200);
    EXPECT_EQ(query("SELECT RAW travel.x FROM travel USE KEYS 'k9'").results(), "[1]");
    EXPECT_EQ(query("SELECT RAW travel.n FROM travel USE KEYS 'k1'").results(), "[1]");
}

TEST_F(service_query, stores_documents_with_an_expiry_that_key_value_sees) {
    EXPECT_EQ(
        query("UPSERT INTO travel (KEY, VALUE, OPTIONS) VALUES ('k', {}, {'expiration': 60})")
            .member("status"),
        "\"success\"");
    const auto found = cluster.buckets().find_document("travel", wire::collection_id{0}, "k", now);
    ASSERT_TRUE(found);
    EXPECT_EQ(found->expiry, 1'735'689'660u);
    EXPECT_EQ(found->flags, 0x02000000u);
    now += std::chrono::seconds(61);
    EXPECT_EQ(query("SELECT * FROM travel USE KEYS 'k'").results(), "[]");
}

TEST_F(service_query, finds_keyspaces_by_path_and_by_context) {
    EXPECT_EQ(
        query("UPSERT INTO travel.inventory.airline (KEY, VALUE) VALUES ('a', {'x': 1})").code(),
        0);
    const json::object context{{"query_context", "default:`travel`.`inventory`"}};
    EXPECT_EQ(query("SELECT RAW airline.x FROM airline USE KEYS 'a'", context).results(), "[1]");
    EXPECT_EQ(query("SELECT * FROM hotel USE KEYS 'a'", context).results(), "[]");
    EXPECT_EQ(query("SELECT * FROM travel USE KEYS 'a'").results(), "[]");
    EXPECT_EQ(query("SELECT * FROM nowhere USE KEYS 'a'").code(), 12003);
    EXPECT_EQ(query("SELECT * FROM travel.nowhere.x USE KEYS 'a'").code(), 12021);
    EXPECT_EQ(query("SELECT * FROM travel.inventory.x USE KEYS 'a'").code(), 12003);
    EXPECT_EQ(
        query("SELECT * FROM x USE KEYS 'a'", {{"query_context", "what.ever;"}}).code(), 1040);
}

TEST_F(service_query, refuses_writes_in_read_only_requests_before_they_happen) {
    const reply made =
        query("INSERT INTO travel (KEY, VALUE) VALUES ('k', 1)", {{"readonly", true}});
    EXPECT_EQ(made.code(), 1000);
    EXPECT_EQ(made.status, 403);
    EXPECT_FALSE(cluster.buckets().find_document("travel", wire::collection_id{0}, "k", now));
    EXPECT_EQ(
        ask(wire::service::query, "GET",
            "/query/service?statement=DELETE%20FROM%20travel%20USE%20KEYS%20%27k%27")
            .code(),
        1000);
    EXPECT_EQ(query("SELECT 1", {{"readonly", true}}).code(), 0);
}

TEST_F(service_query, reports_what_it_does_not_understand) {
    const reply made = query("SELECT * FROM a WHERE LIMIT");
    EXPECT_EQ(made.code(), 3000);
    EXPECT_EQ(made.status, 400);
    EXPECT_EQ(made.member("status"), "\"fatal\"");
    EXPECT_NE(made.member("errors").find("line 1, column 23"), std::string::npos) << made.text;
    EXPECT_NE(made.member("errors").find("at: LIMIT"), std::string::npos) << made.text;
    for (const char* text :
         {"", " ", "SELECT", "SELECT 1 2", "SELECT `a", "SELECT 'a", "SELECT ((1)", "SELECT RAW *",
          "SELECT RAW 1, 2", "DELETE travel", "INSERT INTO t VALUES", "PREPARE PREPARE SELECT 1",
          "EXECUTE", "CREATE INDEX ON travel(a)", "SELECT 1 \x01", "SELECT 01a",
          "UPDATE travel USE KEYS 'a'"}) {
        const reply refused = query(text);
        EXPECT_EQ(refused.code(), 3000) << text << refused.text;
    }
}

TEST_F(service_query, bounds_the_nesting_of_a_statement) {
    EXPECT_EQ(query("SELECT " + std::string(100'000, '(') + "1").code(), 3000);
    EXPECT_EQ(query("SELECT " + std::string(100'000, '[') + "1").code(), 3000);
    EXPECT_EQ(query("SELECT " + std::string(100'000, '-') + "1").code(), 3000);
    std::string sum = "SELECT 1";
    std::string path = "SELECT a";
    std::string prepares;
    for (int i = 0; i < 100'000; ++i) {
        sum += "+1";
        path += ".b";
        prepares += "PREPARE ";
    }
    EXPECT_EQ(query(sum).code(), 3000);
    EXPECT_EQ(query(path).code(), 3000);
    EXPECT_EQ(query(prepares + "SELECT 1").code(), 3000);
    EXPECT_EQ(query("SELECT RAW ((((1))))").results(), "[1]");
}

TEST_F(service_query, scans_only_with_an_index) {
    fill();
    const reply refused = query("SELECT * FROM travel");
    EXPECT_EQ(refused.code(), 4000);
    EXPECT_EQ(refused.status, 404);
    EXPECT_EQ(query("CREATE PRIMARY INDEX ON travel").code(), 0);
    EXPECT_EQ(query("SELECT RAW META().id FROM travel").results(), R"(["k1","k2","k3"])");
    EXPECT_EQ(query("SELECT COUNT(*) AS c FROM travel").results(), R"([{"c":3}])");
    EXPECT_EQ(
        query("SELECT RAW n FROM travel WHERE n >= 2 AND name IS MISSING OR name LIKE 'first%' "
              "ORDER BY n DESC LIMIT 1 OFFSET 1")
            .results(),
        "[1]");
    EXPECT_EQ(query("DELETE FROM travel WHERE n IN [1, 3]").code(), 0);
    EXPECT_EQ(query("SELECT RAW META().id FROM travel").results(), R"(["k2"])");
}

TEST_F(service_query, keeps_a_catalogue_of_indexes) {
    EXPECT_EQ(
        query("CREATE INDEX `by n` ON travel(n, `name`) WHERE n > 1 WITH {'defer_build': true}")
            .code(),
        0);
    EXPECT_EQ(query("CREATE INDEX `by n` ON travel(n)").code(), 4300);
    EXPECT_EQ(query("CREATE INDEX `by n` IF NOT EXISTS ON travel(n)").code(), 0);
    EXPECT_EQ(
        query("CREATE PRIMARY INDEX IF NOT EXISTS ON travel.inventory.airline USING GSI").code(),
        0);
    // This is how clients request all indexes of a bucket.
    const std::string all =
        "SELECT `idx`.* FROM system:indexes AS idx WHERE ((`bucket_id` IS MISSING AND "
        "`keyspace_id` = $bucket) OR `bucket_id` = $bucket) AND `using` = \"gsi\" "
        "ORDER BY is_primary DESC, name ASC";
    const reply listed = query(all, {{"$bucket", "travel"}});
    ASSERT_EQ(listed.code(), 0) << listed.text;
    const json::value& rows = *listed.find("results");
    ASSERT_EQ(rows.as_array()->size(), 2u) << listed.text;
    EXPECT_EQ(rows.at(0)->find("name")->as_string(), "#primary");
    EXPECT_EQ(rows.at(0)->find("scope_id")->as_string(), "inventory");
    EXPECT_EQ(rows.at(1)->find("state")->as_string(), "deferred");
    EXPECT_EQ(json::serialize(*rows.at(1)->find("index_key")), R"(["n","`name`"])");
    EXPECT_EQ(query("BUILD INDEX ON travel(`by n`)").code(), 0);
    EXPECT_EQ(query("DROP INDEX travel.`by n`").code(), 0);
    EXPECT_EQ(query("DROP INDEX `by n` ON travel").code(), 12016);
    EXPECT_EQ(query("DROP INDEX `by n` IF EXISTS ON travel").code(), 0);
    EXPECT_EQ(query("DROP PRIMARY INDEX ON travel").code(), 12004);
    EXPECT_EQ(query("DROP PRIMARY INDEX ON travel.inventory.airline").code(), 0);
    EXPECT_EQ(query("SELECT * FROM system:indexes").results(), "[]");
}

TEST_F(service_query, RH_20_legacy_prepared_statements_work_until_forgotten) {
    fill();
    const reply prepared = query("PREPARE SELECT RAW n FROM travel USE KEYS $1");
    const json::value* row = prepared.find("results")->at(0);
    ASSERT_NE(row, nullptr) << prepared.text;
    const std::string name(*row->find("name")->as_string());
    const std::string plan(*row->find("encoded_plan")->as_string());
    const auto execute = [&](json::object members) {
        members.set("args", json::array{"k2"});
        return ask(wire::service::query, "POST", "/query/service", json::serialize(members));
    };
    EXPECT_EQ(execute({{"prepared", name}}).results(), "[2]");
    cluster.services().forget_prepared();
    const reply forgotten = execute({{"prepared", name}});
    EXPECT_EQ(forgotten.code(), 4040);
    EXPECT_EQ(forgotten.status, 404);
    EXPECT_EQ(execute({{"prepared", name}, {"encoded_plan", "%%%"}}).code(), 4070);
    EXPECT_EQ(execute({{"prepared", "other"}, {"encoded_plan", plan}}).code(), 4080);
    EXPECT_EQ(execute({{"prepared", name}, {"encoded_plan", plan}}).results(), "[2]");
    EXPECT_EQ(execute({{"prepared", name}}).results(), "[2]");
    EXPECT_EQ(cluster.services().prepared_count(), 1u);
}

TEST_F(service_query, enhanced_prepare_runs_the_statement_and_returns_its_name) {
    const reply first =
        query("PREPARE SELECT RAW $1", {{"auto_execute", true}, {"args", json::array{5}}});
    EXPECT_EQ(first.results(), "[5]");
    const json::value* name = first.find("prepared");
    ASSERT_NE(name, nullptr) << first.text;
    const reply again =
        ask(wire::service::query, "POST", "/query/service",
            json::serialize(json::object{{"prepared", *name}, {"args", json::array{6}}}));
    EXPECT_EQ(again.results(), "[6]");
    EXPECT_EQ(query("PREPARE mine FROM SELECT RAW $x").code(), 0);
    EXPECT_EQ(query("EXECUTE mine USING {'x': 8}").results(), "[8]");
    EXPECT_EQ(
        query(
            "PREPARE INSERT INTO travel (KEY, VALUE) VALUES ('p', 1)",
            {{"auto_execute", true}, {"readonly", true}})
            .code(),
        1000);
    EXPECT_EQ(query("PREPARE SELECT * FROM nowhere USE KEYS 'a'").code(), 12003);
}

TEST_F(service_query, refuses_requests_it_cannot_read) {
    const auto post = [this](std::string body) {
        return ask(wire::service::query, "POST", "/query/service", std::move(body));
    };
    EXPECT_EQ(post("{").code(), 1040);
    EXPECT_EQ(post("[]").code(), 1040);
    EXPECT_EQ(post("{}").code(), 1050);
    EXPECT_EQ(query("SELECT 1", {{"preserve_expirie", true}}).code(), 1065);
    EXPECT_EQ(query("SELECT 1", {{"args", 1}}).code(), 1070);
    EXPECT_EQ(ask(wire::service::query, "PUT", "/query/service").status, 405);
    EXPECT_EQ(ask(wire::service::query, "GET", "/nothing").status, 404);
    EXPECT_EQ(ask(wire::service::query, "GET", "/admin/ping").status, 200);
    EXPECT_EQ(
        ask(wire::service::query, "GET", "/query/service?statement=SELECT+%24x+AS+x&%24x=%22y%22")
            .results(),
        R"([{"x":"y"}])");
}

TEST_F(service_query, requires_a_user_who_may_see_the_bucket) {
    user = "guest";
    password = "guest";
    EXPECT_EQ(query("SELECT * FROM travel USE KEYS 'k'").code(), 13014);
    EXPECT_EQ(query("SELECT 1").code(), 0);
    password = "wrong";
    const reply refused = query("SELECT 1");
    EXPECT_EQ(refused.code(), 2120);
    EXPECT_EQ(refused.status, 401);
    user.clear();
    EXPECT_EQ(ask(wire::service::query, "GET", "/admin/ping").status, 200);
}

TEST_F(service_query, streams_the_requested_number_of_rows_in_small_pieces) {
    sandbox::service_request request;
    request.method = "POST";
    request.target = "/query/service";
    request.body = R"({"statement":"SELECT RAW n FROM ARRAY_RANGE(0, 100000) AS n"})";
    auto answer = raw(request);
    ASSERT_NE(answer.response.more, nullptr);
    std::string text = answer.response.body;
    std::size_t piece_size_max = 0;
    for (bool is_more = true; is_more;) {
        std::string piece;
        is_more = answer.response.more->append_next(piece);
        piece_size_max = std::max(piece_size_max, piece.size());
        text += piece;
    }
    EXPECT_LT(piece_size_max, 40'000u);
    const auto parsed = json::parse(text);
    ASSERT_TRUE(parsed);
    EXPECT_EQ(parsed->root.find("results")->as_array()->size(), 100'000u);
    EXPECT_EQ(parsed->root.find("results")->at(99'999)->as_int64(), 99'999);
    EXPECT_EQ(parsed->root.find("metrics")->find("resultCount")->as_int64(), 100'000);
    EXPECT_EQ(
        query("SELECT n, 'x' AS pad FROM ARRAY_RANGE(5, 10) AS n WHERE n > 6 LIMIT 1 OFFSET 1")
            .results(),
        R"([{"n":8,"pad":"x"}])");
}

TEST_F(service_query, RH_45_an_error_in_the_middle_of_rows_follows_them) {
    const reply made = query("SELECT RAW n FROM ARRAY_RANGE(0, 5) AS n WHERE n < 3 OR n = $nobody");
    EXPECT_EQ(made.status, 200);
    EXPECT_EQ(made.code(), 5010);
    EXPECT_EQ(made.member("status"), "\"fatal\"");
}

TEST_F(service_query, changes_nothing_while_no_node_is_responsible) {
    fill();
    ASSERT_TRUE(cluster.topology().set_node_state(sandbox::node_id{0}, false));
    ASSERT_TRUE(cluster.topology().set_node_state(sandbox::node_id{1}, false));
    const reply made = query("UPSERT INTO travel (KEY, VALUE) VALUES ('k1', 0)");
    EXPECT_EQ(made.code(), 12009);
    EXPECT_EQ(query("SELECT * FROM travel USE KEYS 'k1'").results(), "[]");
}

TEST_F(service_query, analytics_reads_the_same_documents_without_an_index) {
    fill();
    EXPECT_EQ(
        analytics(
            "SELECT VALUE t.n FROM travel t WHERE META(t).id = $1", {{"args", json::array{"k2"}}})
            .results(),
        "[2]");
    EXPECT_EQ(analytics("SELECT COUNT(*) AS n FROM travel").results(), R"([{"n":3}])");
    EXPECT_NE(analytics("SELECT 1").find("metrics")->find("processedObjects"), nullptr);
    EXPECT_EQ(analytics("SELECT nonsense from").code(), 24000);
    EXPECT_EQ(analytics("SELECT * FROM nowhere").code(), 24045);
    EXPECT_EQ(analytics("DELETE FROM travel USE KEYS 'k1'").code(), 90000);
    EXPECT_EQ(
        ask(wire::service::analytics, "POST", "/query/service", R"({"statement":"SELECT 1"})")
            .results(),
        R"([{"$1":1}])");
    password = "wrong";
    EXPECT_EQ(analytics("SELECT 1").code(), 20000);
}

}  // namespace service_query_test
