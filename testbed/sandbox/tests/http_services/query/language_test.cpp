#include "service_client.hpp"

#include <map>

// The statement language refuses by name what it does not support, and behaves like servers in what
// it does support.

namespace service_language_test {

using namespace service_testing;

struct service_language : testing::Test, service_client {
    std::string message(const reply& of) const {
        const json::value* errors = of.find("errors");
        const json::value* first = errors == nullptr ? nullptr : errors->at(0);
        const json::value* text = first == nullptr ? nullptr : first->find("msg");
        return text == nullptr ? std::string() : std::string(text->as_string().value_or(""));
    }
    std::string refusal(std::string_view statement) {
        const reply made = query(statement);
        EXPECT_EQ(made.code(), 90000) << statement << "\n" << made.text;
        EXPECT_EQ(made.status, 400);
        EXPECT_EQ(made.member("status"), "\"fatal\"");
        const std::string text = message(made);
        const std::string_view end = " is not in the sandbox; docs/sandbox.md lists what is";
        EXPECT_TRUE(text.ends_with(end)) << text;
        return text.substr(0, text.size() - std::min(end.size(), text.size()));
    }
};

TEST_F(service_language, refuses_clauses_by_name) {
    const std::map<std::string, std::string> statements{
        {"SELECT n FROM travel GROUP BY n", "GROUP BY"},
        {"SELECT n FROM travel t WHERE n > 1 group by n", "GROUP BY"},
        {"SELECT n, COUNT(*) FROM travel GROUP BY n", "GROUP BY"},
        {"SELECT 1 FROM travel HAVING n > 1", "HAVING"},
        {"SELECT * FROM a JOIN b ON KEYS a.b", "JOIN"},
        {"SELECT * FROM a INNER JOIN b ON a.x = b.x", "INNER JOIN"},
        {"SELECT * FROM a AS x LEFT OUTER JOIN b ON x.y = b.y", "LEFT JOIN"},
        {"SELECT * FROM a NEST b ON KEYS a.b", "NEST"},
        {"SELECT * FROM a UNNEST a.list AS x", "UNNEST"},
        {"SELECT * FROM a, b", "A join by comma"},
        {"SELECT x FROM travel LET x = 1", "LET"},
        {"WITH x AS (SELECT 1) SELECT x", "WITH"},
        {"SELECT 1 UNION SELECT 2", "UNION"},
        {"SELECT 1 INTERSECT ALL SELECT 2", "INTERSECT"},
        {"SELECT 1 EXCEPT SELECT 2", "EXCEPT"},
        {"SELECT (SELECT 1)", "A subquery"},
        {"SELECT * FROM (SELECT 1) AS x", "FROM over an expression or a subquery"},
        {"SELECT * FROM [1, 2] AS x", "FROM over an expression or a subquery"},
        {"SELECT * FROM travel USE INDEX (x USING GSI)", "USE INDEX"},
        {"SELECT n FROM travel ORDER BY n NULLS LAST", "NULLS FIRST or LAST"},
        {"SELECT n FROM travel WINDOW w AS (ORDER BY n)", "WINDOW"},
        {"SELECT * FROM system:keyspaces", "system:keyspaces"},
        {"FROM travel SELECT n", "FROM before SELECT"},
        {"(SELECT 1)", "A statement in parentheses"}};
    for (const auto& [statement, name] : statements) {
        EXPECT_EQ(refusal(statement), name) << statement;
    }
}

TEST_F(service_language, refuses_statements_by_name) {
    const std::map<std::string, std::string> statements{
        {"EXPLAIN SELECT 1", "EXPLAIN"},
        {"ADVISE SELECT 1", "ADVISE"},
        {"INFER travel", "INFER"},
        {"MERGE INTO travel USING x ON KEY 'a' WHEN MATCHED THEN DELETE", "MERGE"},
        {"CREATE SCOPE travel.s", "CREATE SCOPE"},
        {"CREATE COLLECTION travel.s.c", "CREATE COLLECTION"},
        {"DROP COLLECTION travel.s.c", "DROP COLLECTION"},
        {"CREATE FUNCTION f() { 1 }", "CREATE FUNCTION"},
        {"EXECUTE FUNCTION f()", "EXECUTE FUNCTION"},
        {"ALTER INDEX x ON travel WITH {'action': 'move'}", "ALTER"},
        {"UPDATE STATISTICS FOR travel(n)", "UPDATE STATISTICS"},
        {"BEGIN TRANSACTION", "BEGIN TRANSACTION"},
        {"START TRANSACTION", "START TRANSACTION"},
        {"COMMIT", "COMMIT"},
        {"GRANT admin TO eve", "GRANT"},
        {"INSERT INTO travel (KEY k, VALUE v) SELECT 'a' AS k, 1 AS v",
         "INSERT or UPSERT of a SELECT"},
        {"UPSERT INTO travel SELECT 1", "INSERT or UPSERT of a SELECT"},
        {"UPDATE travel USE KEYS 'a' SET a[0] = 1", "SET and UNSET of an array element"},
        {"UPDATE travel USE KEYS 'a' SET META().expiration = 1", "SET of META()"},
        {"UPDATE travel USE KEYS 'a' SET x.y = 1 FOR x IN list END", "FOR"},
        {"CREATE INDEX i ON travel(n) PARTITION BY HASH(n)", "PARTITION BY"},
        {"CREATE INDEX i ON travel(n) USING FTS", "An index that is not USING GSI"},
        {"CREATE INDEX i ON travel(n) WITH {'nodes': ['a']}",
         "The index option nodes with this value"},
        {"PREPARE EXPLAIN SELECT 1", "EXPLAIN"}};
    for (const auto& [statement, name] : statements) {
        EXPECT_EQ(refusal(statement), name) << statement;
    }
}

TEST_F(service_language, refuses_expressions_and_functions_by_name) {
    const std::map<std::string, std::string> statements{
        {"SELECT lower('A')", "LOWER()"},
        {"SELECT COUNT(n) FROM travel USE KEYS 'a'", "COUNT()"},
        {"SELECT SUM(n) FROM travel USE KEYS 'a'", "SUM()"},
        {"SELECT ROW_NUMBER() OVER (ORDER BY n) FROM travel", "ROW_NUMBER()"},
        {"SELECT CASE WHEN 1 THEN 2 END", "CASE"},
        {"SELECT ANY x IN [1] SATISFIES x = 1 END", "ANY ... SATISFIES"},
        {"SELECT ARRAY x FOR x IN [1] END", "ARRAY ... FOR"},
        {"SELECT 1 WHERE EXISTS [1]", "EXISTS"},
        {"SELECT [1, 2][0:1]", "A slice of an array"},
        {"SELECT [{'a': 1}][*].a", "[*]"},
        {"SELECT 'a' LIKE 'b' ESCAPE '!'", "LIKE ... ESCAPE"},
        {"SELECT COUNT(*), 1 FROM travel USE KEYS 'a'", "COUNT(*) with other items or ORDER BY"},
        {"SELECT COUNT(*) + 1 FROM travel USE KEYS 'a'", "COUNT(*) inside an expression"},
        {"SELECT n FROM ARRAY_RANGE(0, 3) AS n ORDER BY n", "ORDER BY over ARRAY_RANGE"},
        {"SELECT DISTINCT n FROM ARRAY_RANGE(0, 3) AS n", "DISTINCT over ARRAY_RANGE"},
        {"SELECT COUNT(*) FROM ARRAY_RANGE(0, 3) AS n", "COUNT(*) over ARRAY_RANGE"}};
    fill();
    query("UPSERT INTO travel (KEY, VALUE) VALUES ('a', {})");
    for (const auto& [statement, name] : statements) {
        EXPECT_EQ(refusal(statement), name) << statement;
    }
    // In backticks every word is a name.
    EXPECT_EQ(query("SELECT `group` FROM travel AS `left` USE KEYS 'a'").results(), "[{}]");
}

TEST_F(service_language, refuses_request_parameters_that_it_would_ignore) {
    for (const auto& [name, value] : std::map<std::string, json::value>{
             {"txid", "abc"},
             {"tximplicit", true},
             {"durability_level", "majority"},
             {"format", "XML"},
             {"namespace", "other"},
             {"use_replica", "on"}}) {
        const reply made = query("SELECT 1", {{name, value}});
        EXPECT_EQ(made.code(), 90000) << name;
        EXPECT_NE(message(made).find(name), std::string::npos) << made.text;
    }
    EXPECT_EQ(
        query("SELECT 1", {{"txid", ""}, {"format", "json"}, {"tximplicit", false}}).code(), 0);
}

TEST_F(service_language, analytics_refuses_by_name_with_the_same_code) {
    const reply made = analytics("CREATE DATAVERSE d");
    EXPECT_EQ(made.code(), 90000);
    EXPECT_EQ(
        message(made), "CREATE DATAVERSE is not in the sandbox; docs/sandbox.md lists what is");
    EXPECT_EQ(made.status, 400);
    EXPECT_EQ(analytics("DELETE FROM travel USE KEYS 'k1'").code(), 90000);
    EXPECT_EQ(analytics("SELECT VALUE n FROM travel GROUP BY n").code(), 90000);
}

TEST_F(service_language, distinct_returns_equal_rows_once) {
    fill();
    query("UPSERT INTO travel (KEY, VALUE) VALUES ('k4', {'n': 1}), ('k5', {'n': 1.0})");
    const std::string from = " FROM travel USE KEYS ['k1', 'k2', 'k3', 'k4', 'k5']";
    EXPECT_EQ(query("SELECT DISTINCT n" + from).results(), R"([{"n":1},{"n":2},{"n":3}])");
    EXPECT_EQ(query("SELECT DISTINCT RAW n" + from + " LIMIT 2").results(), "[1,2]");
    EXPECT_EQ(
        query("SELECT DISTINCT RAW n" + from + " ORDER BY n DESC OFFSET 1").results(), "[2,1]");
    EXPECT_EQ(query("SELECT ALL RAW n" + from + " LIMIT 4").results(), "[1,2,3,1]");
}

TEST_F(service_language, conditions_and_patterns_behave_like_on_servers) {
    const auto value = [this](const std::string& expression) {
        return query("SELECT RAW " + expression).results();
    };
    // There are only these two wildcards, and both can be escaped.
    EXPECT_EQ(value("'abc' LIKE 'a*'"), "[false]");
    EXPECT_EQ(value("'abc' LIKE 'a?c'"), "[false]");
    EXPECT_EQ(value("'a*' LIKE 'a*'"), "[true]");
    EXPECT_EQ(value("'abc' LIKE 'a%'"), "[true]");
    EXPECT_EQ(value("'abcbc' LIKE '%bc'"), "[true]");
    EXPECT_EQ(value("'abc' LIKE '_b_'"), "[true]");
    EXPECT_EQ(value("'aéc' LIKE 'a_c'"), "[true]");
    EXPECT_EQ(value("'100%' LIKE '100\\\\%'"), "[true]");
    EXPECT_EQ(value("'1000' LIKE '100\\\\%'"), "[false]");
    EXPECT_EQ(value("2 BETWEEN 1 AND 3 AND 4 NOT BETWEEN 1 AND 3"), "[true]");
    EXPECT_EQ(value("NULL IS KNOWN"), "[false]");
    EXPECT_EQ(value("NULL IS UNKNOWN AND 1 IS NOT UNKNOWN"), "[true]");
    EXPECT_EQ(value("NOT 0"), "[true]");
    EXPECT_EQ(value("1 AND ''"), "[false]");
    EXPECT_EQ(value("0 OR 'x'"), "[true]");
    EXPECT_EQ(value("NOT NULL"), "[null]");
}

TEST_F(service_language, order_by_may_use_aliases_of_the_projection) {
    fill();
    EXPECT_EQ(
        query("SELECT -n AS back FROM travel USE KEYS ['k1', 'k2', 'k3'] ORDER BY back").results(),
        R"([{"back":-3},{"back":-2},{"back":-1}])");
    EXPECT_EQ(query("SELECT COUNT(*) FROM travel USE KEYS 'k1' LIMIT 0").results(), "[]");
}

TEST_F(service_language, a_query_context_needs_no_quotes) {
    ASSERT_TRUE(cluster.buckets().create({.name = "travel-sample", .scopes = {{"s", {"c"}}}}));
    EXPECT_EQ(
        query("UPSERT INTO `travel-sample`.s.c (KEY, VALUE) VALUES ('a', {'x': 1})").code(), 0);
    for (const char* context :
         {"default:travel-sample.s", ":travel-sample.s", "travel-sample.s",
          "default:`travel-sample`.s", "default:`travel-sample`.`s`"}) {
        EXPECT_EQ(
            query("SELECT RAW c.x FROM c USE KEYS 'a'", {{"query_context", context}}).results(),
            "[1]")
            << context;
    }
    for (const char* context : {"other:travel-sample.s", "travel-sample", "default:.s", "`a.s"}) {
        EXPECT_EQ(query("SELECT * FROM c", {{"query_context", context}}).code(), 1040) << context;
    }
}

TEST_F(service_language, changes_keep_an_expiry_only_on_request) {
    const auto expiry = [this] {
        return cluster.buckets().find_document("travel", wire::collection_id{0}, "k", now)->expiry;
    };
    query("UPSERT INTO travel (KEY, VALUE, OPTIONS) VALUES ('k', {}, {'expiration': 60})");
    query("UPDATE travel USE KEYS 'k' SET a = 1", {{"preserve_expiry", true}});
    EXPECT_NE(expiry(), 0u);
    query("UPDATE travel USE KEYS 'k' SET a = 2");
    EXPECT_EQ(expiry(), 0u);
}

TEST_F(service_language, an_index_has_at_most_as_many_copies_as_nodes) {
    EXPECT_EQ(query("CREATE INDEX one ON travel(n) WITH {'num_replica': 1}").code(), 0);
    const reply shown = query("SELECT RAW i.metadata.num_replica FROM system:indexes AS i");
    EXPECT_EQ(shown.results(), "[1]");
    EXPECT_EQ(query("CREATE INDEX two ON travel(n) WITH {'num_replica': 2}").code(), 5000);
}

}  // namespace service_language_test
