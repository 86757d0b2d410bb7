#include "service_client.hpp"

#include <map>
#include <tuple>

// Statuses, codes, signatures and values of the query service, as real servers have them.

namespace service_answers_test {

using namespace service_testing;

struct service_answers : testing::Test, service_client {
    std::string value(const std::string& expression) {
        return query("SELECT RAW " + expression).results();
    }
    std::string type(const std::string& expression) {
        return query("SELECT RAW " + expression).member("signature");
    }
};

TEST_F(service_answers, a_statement_that_never_ran_has_no_results) {
    for (const auto& [statement, code, status] : std::vector<std::tuple<std::string, int, int>>{
             {"SELEC 1", 3000, 400},
             {"", 3000, 400},
             {"SELECT x", 3080, 500},
             {"SELECT RAW x.y", 3080, 500},
             {"SELECT META().id", 4310, 500},
             {"SELECT * FROM nowhere", 12003, 424},
             {"SELECT * FROM travel", 4000, 404},
             {"SELECT 1 LIMIT 'a'", 5030, 500},
             {"SELECT 1 LIMIT 1.5", 5030, 500},
             {"EXECUTE nothing", 4040, 404},
             {"UPDATE travel USE KEYS 'k' SET META().id = 'x'", 3000, 400}}) {
        const reply made = query(statement);
        EXPECT_EQ(made.code(), code) << statement;
        EXPECT_EQ(made.status, status) << statement;
        EXPECT_EQ(made.member("status"), "\"fatal\"") << statement;
        EXPECT_EQ(made.find("results"), nullptr) << statement;
        EXPECT_EQ(made.find("signature"), nullptr) << statement;
    }
}

TEST_F(service_answers, an_error_while_a_statement_runs_has_status_200) {
    for (const auto& [statement, code] : std::map<std::string, int>{
             {"SELECT RAW $x", 5010},
             {"SELECT RAW ?", 5010},
             {"SELECT 1 LIMIT NULL", 5030},
             {"INSERT INTO travel (KEY, VALUE) VALUES (5, 1)", 5070},
             {"BUILD INDEX ON travel(nothing)", 5411}}) {
        const reply made = query(statement);
        EXPECT_EQ(made.code(), code) << statement;
        EXPECT_EQ(made.status, 200) << statement;
        EXPECT_EQ(made.member("status"), "\"fatal\"") << statement;
        EXPECT_EQ(made.results(), "[]") << statement;
    }
    EXPECT_EQ(query("SELECT RAW $x").member("signature"), "\"json\"");
}

TEST_F(service_answers, retry_is_present_only_if_the_server_advises_it) {
    EXPECT_EQ(query("SELEC 1").text.find("retry"), std::string::npos);
    EXPECT_EQ(query("SELECT RAW $x").text.find("retry"), std::string::npos);
    ASSERT_TRUE(cluster.topology().set_node_state(sandbox::node_id{0}, false));
    ASSERT_TRUE(cluster.topology().set_node_state(sandbox::node_id{1}, false));
    const reply made = query("SELECT * FROM travel USE KEYS 'k1'");
    EXPECT_EQ(made.code(), 12008);
    EXPECT_NE(made.text.find("\"retry\":true"), std::string::npos) << made.text;
}

TEST_F(service_answers, signatures_have_types) {
    EXPECT_EQ(type("1"), "\"number\"");
    EXPECT_EQ(type("'a'"), "\"string\"");
    EXPECT_EQ(type("TRUE"), "\"boolean\"");
    EXPECT_EQ(type("NULL"), "\"null\"");
    EXPECT_EQ(type("MISSING"), "\"missing\"");
    EXPECT_EQ(type("[1]"), "\"array\"");
    EXPECT_EQ(type("{'a': 1}"), "\"object\"");
    EXPECT_EQ(type("1 + 2"), "\"number\"");
    EXPECT_EQ(type("-1"), "\"number\"");
    EXPECT_EQ(type("'a' || 'b'"), "\"string\"");
    EXPECT_EQ(type("1 < 2 AND NOT 3 IN [4]"), "\"boolean\"");
    EXPECT_EQ(type("[1][0]"), "\"json\"");
    EXPECT_EQ(query("SELECT *, n, 'x' AS t, COUNT(*) c FROM travel USE KEYS 'k1'").code(), 90000);
    EXPECT_EQ(
        query("SELECT *, n, 'x' AS t FROM travel USE KEYS 'k1'").member("signature"),
        R"({"*":"*","n":"json","t":"string"})");
    EXPECT_EQ(
        query("SELECT COUNT(*) AS c FROM travel USE KEYS 'k1'").member("signature"),
        R"({"c":"number"})");
}

TEST_F(service_answers, integers_are_exact_as_long_as_they_fit) {
    EXPECT_EQ(value("9007199254740993 + 0"), "[9007199254740993]");
    EXPECT_EQ(value("9007199254740993 * 3 - 1"), "[27021597764222978]");
    EXPECT_EQ(value("9007199254740993 % 10"), "[3]");
    EXPECT_EQ(value("9223372036854775807"), "[9223372036854775807]");
    // Beyond 64 bits they are doubles, written without an exponent.
    EXPECT_EQ(value("9223372036854775807 + 1"), "[9223372036854776000]");
    EXPECT_EQ(value("0 - 9223372036854775807 - 10"), "[-9223372036854776000]");
    EXPECT_EQ(value("12345678901234567890"), "[12345678901234567000]");
    EXPECT_EQ(value("1e300 * 10"), "[1e+301]");
    EXPECT_EQ(value("[1.0, 1.50, 1e3, 6 / 2, 7 / 2, 2 * 1.5]"), "[[1,1.5,1000,3,3.5,3]]");
    EXPECT_EQ(value("1 / 0"), "[null]");
    EXPECT_EQ(value("[1, 2, 3][1.0]"), "[2]");
    query("UPSERT INTO travel (KEY, VALUE) VALUES ('k', {'n': $1})", {{"args", json::array{15.0}}});
    EXPECT_EQ(query("SELECT n FROM travel USE KEYS 'k'").results(), R"([{"n":15}])");
}

TEST_F(service_answers, membership_is_unknown_if_only_null_could_be_equal) {
    EXPECT_EQ(value("3 IN [1, NULL]"), "[null]");
    EXPECT_EQ(value("3 NOT IN [1, NULL]"), "[null]");
    EXPECT_EQ(value("1 IN [1, NULL]"), "[true]");
    EXPECT_EQ(value("3 IN [1, 2]"), "[false]");
}

TEST_F(service_answers, columns_without_a_name_are_counted_among_themselves) {
    fill();
    EXPECT_EQ(
        query("SELECT n AS m, 1, name, 2 FROM travel USE KEYS 'k1'").results(),
        R"([{"m":1,"$1":1,"name":"first one","$2":2}])");
    EXPECT_EQ(query("SELECT *").results(), "[{}]");
}

TEST_F(service_answers, set_creates_no_objects_on_the_way) {
    fill();
    EXPECT_EQ(
        query("UPDATE travel USE KEYS 'k3' SET m = 1, a.b = 2 RETURNING travel.*").results(),
        R"([{"n":3,"m":1}])");
}

TEST_F(service_answers, negative_limits_count_as_0) {
    const std::string from = "SELECT RAW n FROM ARRAY_RANGE(0, 3) AS n ";
    EXPECT_EQ(query(from + "LIMIT -1").results(), "[]");
    EXPECT_EQ(query(from + "OFFSET -1 LIMIT 1").results(), "[0]");
}

TEST_F(service_answers, parameters_of_a_request_are_checked) {
    for (const auto& [name, value, code] : std::vector<std::tuple<std::string, json::value, int>>{
             {"timeout", "abc", 1040},
             {"timeout", "-1s", 0},
             {"max_parallelism", "x", 1040},
             {"max_parallelism", "4", 0},
             {"readonly", "maybe", 1070},
             {"readonly", "true", 0},
             {"metrics", 3, 1070},
             {"args", "text", 1070},
             {"scan_consistency", "often", 1030},
             {"scan_consistency", "request_plus", 0},
             {"scan_consistency", "at_plus", 1050},
             {"nothing", 1, 1065}}) {
        const reply made = query("SELECT 1", {{name, value}});
        EXPECT_EQ(made.code(), code) << name << made.text;
        EXPECT_EQ(made.status, code == 0 ? 200 : 400) << name;
    }
    EXPECT_EQ(
        query("SELECT 1", {{"scan_consistency", "at_plus"}, {"scan_vectors", json::object{}}})
            .code(),
        0);
}

TEST_F(service_answers, the_name_of_a_prepared_statement_is_taken_once) {
    EXPECT_EQ(query("PREPARE mine FROM SELECT RAW 1").code(), 0);
    EXPECT_EQ(query("PREPARE mine FROM SELECT RAW 1").code(), 0);
    for (const char* statement :
         {"PREPARE mine FROM SELECT RAW 2", "PREPARE FORCE mine FROM SELECT RAW 2"}) {
        const reply made = query(statement);
        EXPECT_EQ(made.code(), 4060) << statement;
        EXPECT_EQ(made.status, 200) << statement;
    }
    EXPECT_EQ(query("EXECUTE mine").results(), "[1]");
    EXPECT_EQ(query("EXECUTE mine").member("signature"), "\"number\"");
}

TEST_F(service_answers, what_is_not_in_the_sandbox_is_never_a_syntax_error) {
    EXPECT_EQ(query("CREATE INDEX i ON travel(DISTINCT ARRAY x FOR x IN tags END)").code(), 90000);
    EXPECT_EQ(query("CREATE INDEX i ON travel(ALL tags)").code(), 90000);
    EXPECT_EQ(query("SELECT {a: 1}").code(), 90000);
    const reply made = analytics("CREATE INDEX i ON travel(n: bigint)");
    EXPECT_EQ(made.code(), 90000);
    EXPECT_NE(made.text.find("CREATE INDEX is not in the sandbox"), std::string::npos) << made.text;
}

}  // namespace service_answers_test
