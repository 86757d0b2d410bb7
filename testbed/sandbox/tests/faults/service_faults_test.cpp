#include "service_client.hpp"

#include <vector>

#include <reprise/sandbox/service_connection.hpp>

namespace service_fault_test {

using namespace service_testing;
using namespace std::chrono_literals;
using sandbox::service_connection;

struct service_fault : testing::Test, service_client {
    service_connection open(wire::service service = wire::service::query) {
        return service_connection(cluster, {.node = sandbox::node_id{1}, .service = service});
    }
    static std::string post(std::string_view statement, std::string_view context = "c1") {
        const std::string body =
            json::serialize(json::object{{"statement", statement}, {"client_context_id", context}});
        return "POST /query/service HTTP/1.1\r\nHost: x\r\nAuthorization: " +
               http::make_basic_authorization("app", "secret") +
               "\r\nContent-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body;
    }
    std::string send(service_connection& to, std::string_view text) {
        std::vector<std::byte> out;
        to.on_bytes(now, reprise::base::as_bytes(text), out);
        while (to.has_more()) {
            to.on_time(now, out);
        }
        return std::string(reprise::base::as_text(out));
    }
    // Sends one request on its own connection, disturbed by this effect.
    std::string disturbed(sandbox::service_fault_effect effect, bool* is_closing = nullptr) {
        cluster.services().faults().clear();
        sandbox::service_fault_rule rule;
        rule.effect = std::move(effect);
        cluster.services().faults().add(std::move(rule));
        service_connection connection = open();
        std::string text = send(connection, post("SELECT RAW 'abcdefgh'"));
        if (is_closing != nullptr) {
            *is_closing = connection.is_closing();
        }
        return text;
    }
    sandbox::service_audit_entry last() { return cluster.services().audit().entries({}, 1).at(0); }
};

TEST_F(service_fault, a_connection_answers_requests_in_order_wherever_they_are_split) {
    service_connection connection = open();
    const std::string both = post("SELECT RAW 1") + post("SELECT RAW 2");
    std::string answers;
    for (const char c : both) {
        answers += send(connection, std::string_view(&c, 1));
    }
    const std::size_t first = answers.find("\"results\":[1]");
    ASSERT_NE(first, std::string::npos) << answers;
    EXPECT_NE(answers.find("\"results\":[2]", first), std::string::npos) << answers;
    EXPECT_FALSE(connection.is_closing());
    EXPECT_TRUE(send(connection, "nonsense\r\n\r\n").starts_with("HTTP/1.1 400"));
    EXPECT_TRUE(connection.is_closing());
}

TEST_F(service_fault, a_connection_holds_requests_back_while_it_streams_a_body) {
    service_connection connection = open();
    std::vector<std::byte> out;
    const std::string both =
        post("SELECT RAW n FROM ARRAY_RANGE(0, 50000) AS n") + post("SELECT RAW 'next'");
    connection.on_bytes(now, reprise::base::as_bytes(both), out);
    ASSERT_TRUE(connection.has_more());
    const std::size_t size_before = out.size();
    connection.on_time(now, out);
    EXPECT_LT(out.size() - size_before, 50'000u);
    EXPECT_TRUE(connection.has_more());
    while (connection.has_more()) {
        connection.on_time(now, out);
    }
    const std::string_view text = reprise::base::as_text(out);
    EXPECT_NE(text.find("Transfer-Encoding: chunked"), std::string_view::npos);
    EXPECT_GT(text.find("\"next\""), text.find("\r\n0\r\n\r\n"));
    EXPECT_NE(text.find("\"next\""), std::string_view::npos);
}

TEST_F(service_fault, RH_43_any_status_headers_and_body_can_replace_the_answer) {
    const std::string text = disturbed(sandbox::service_fault_answer{
        429, {{"Retry-After", "3"}, {"Content-Type", "text/plain"}}, "slow down"});
    EXPECT_TRUE(text.starts_with("HTTP/1.1 429 ")) << text;
    EXPECT_NE(text.find("Retry-After: 3\r\n"), std::string::npos);
    EXPECT_TRUE(text.ends_with("\r\n\r\nslow down"));
    EXPECT_EQ(last().status, 429);
    EXPECT_EQ(last().fault_id, 1u);
    const std::string redirect = disturbed(sandbox::service_fault_redirect{302, "/elsewhere"});
    EXPECT_TRUE(redirect.starts_with("HTTP/1.1 302 "));
    EXPECT_NE(redirect.find("Location: /elsewhere\r\n"), std::string::npos);
    bool is_closing = false;
    EXPECT_TRUE(disturbed(sandbox::service_fault_answer{7, {}, ""}, &is_closing)
                    .starts_with("HTTP/1.1 500 "));
    EXPECT_TRUE(is_closing);
}

TEST_F(service_fault, answers_are_truncated_where_the_rule_specifies) {
    bool is_closing = false;
    EXPECT_EQ(disturbed(sandbox::fault_close_before{}, &is_closing), "");
    EXPECT_TRUE(is_closing);
    EXPECT_EQ(last().fate, sandbox::answer_fate::closed);
    EXPECT_EQ(disturbed(sandbox::fault_close_after{}, &is_closing), "");
    EXPECT_TRUE(is_closing);
    const std::string head = disturbed(sandbox::service_fault_close_after_headers{}, &is_closing);
    EXPECT_TRUE(head.starts_with("HTTP/1.1 200 OK\r\n"));
    EXPECT_TRUE(head.ends_with("\r\n\r\n"));
    EXPECT_NE(head.find("Content-Length: "), std::string::npos);
    EXPECT_TRUE(is_closing);
    const std::string middle = disturbed(sandbox::service_fault_close_mid_body{12}, &is_closing);
    EXPECT_TRUE(middle.ends_with("\r\n\r\n{\"requestID\"")) << middle;
    EXPECT_TRUE(is_closing);
}

TEST_F(service_fault, a_streamed_body_is_truncated_too) {
    sandbox::service_fault_rule rule;
    rule.effect = sandbox::service_fault_close_mid_body{100'000};
    cluster.services().faults().add(rule);
    service_connection connection = open();
    const std::string text =
        send(connection, post("SELECT RAW n FROM ARRAY_RANGE(0, 10000000) AS n"));
    EXPECT_TRUE(connection.is_closing());
    EXPECT_GT(text.size(), 100'000u);
    EXPECT_LT(text.size(), 101'000u);
    EXPECT_FALSE(text.ends_with("0\r\n\r\n"));
}

TEST_F(service_fault, framing_is_wrong_as_the_rule_specifies) {
    bool is_closing = false;
    const std::string longer = disturbed(sandbox::service_fault_wrong_length{5}, &is_closing);
    EXPECT_TRUE(is_closing);
    const std::size_t body_at = longer.find("\r\n\r\n") + 4;
    EXPECT_NE(
        longer.find("Content-Length: " + std::to_string(longer.size() - body_at + 5)),
        std::string::npos)
        << longer;
    const std::string chunked = disturbed(sandbox::service_fault_bad_chunk{}, &is_closing);
    EXPECT_TRUE(is_closing);
    EXPECT_NE(chunked.find("Transfer-Encoding: chunked"), std::string::npos);
    EXPECT_NE(chunked.find("\r\nnot a size\r\n"), std::string::npos);
    const std::string zipped = disturbed(sandbox::service_fault_unasked_encoding{}, &is_closing);
    EXPECT_FALSE(is_closing);
    EXPECT_NE(zipped.find("Content-Encoding: gzip"), std::string::npos);
    const std::string patient = disturbed(sandbox::service_fault_continue_first{2});
    EXPECT_TRUE(patient.starts_with(
        "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK"));
}

TEST_F(service_fault, stray_bytes_surround_the_answer_and_the_connection_stays_open) {
    bool is_closing = true;
    const std::string both =
        disturbed(sandbox::service_fault_stray_bytes{"\r\n", "more", {}}, &is_closing);
    EXPECT_TRUE(both.starts_with("\r\nHTTP/1.1 200 OK")) << both;
    EXPECT_TRUE(both.ends_with("}more")) << both;
    EXPECT_FALSE(is_closing);
    sandbox::service_fault_rule rule;
    rule.effect = sandbox::service_fault_stray_bytes{"", "later", 30ms};
    rule.when.limit = 1;
    cluster.services().faults().clear();
    cluster.services().faults().add(rule);
    service_connection connection = open();
    EXPECT_TRUE(send(connection, post("SELECT RAW 1")).ends_with("}"));
    ASSERT_TRUE(connection.next_due());
    std::vector<std::byte> out;
    connection.on_time(*connection.next_due(), out);
    EXPECT_EQ(reprise::base::as_text(out), "later");
    EXPECT_FALSE(connection.next_due());
}

TEST_F(service_fault, a_delayed_request_is_applied_at_once_and_holds_the_next_one) {
    sandbox::service_fault_rule rule;
    rule.effect = sandbox::fault_delay{30ms};
    rule.when.limit = 1;
    cluster.services().faults().add(rule);
    service_connection connection = open();
    EXPECT_EQ(
        send(
            connection,
            post("UPSERT INTO travel (KEY, VALUE) VALUES ('k', 1)") + post("SELECT RAW 'next'")),
        "");
    EXPECT_TRUE(cluster.buckets().find_document("travel", wire::collection_id{0}, "k", now));
    ASSERT_TRUE(connection.next_due());
    EXPECT_EQ(*connection.next_due(), now + 30ms);
    std::vector<std::byte> out;
    connection.on_time(now + 29ms, out);
    EXPECT_TRUE(out.empty());
    connection.on_time(now + 30ms, out);
    const std::string_view text = reprise::base::as_text(out);
    EXPECT_LT(text.find("mutationCount"), text.find("\"next\""));
    EXPECT_NE(text.find("\"next\""), std::string_view::npos);
    EXPECT_FALSE(connection.next_due());
}

TEST_F(service_fault, a_withheld_answer_leaves_the_connection_silent) {
    sandbox::service_fault_rule rule;
    rule.effect = sandbox::fault_no_answer{};
    rule.when.limit = 1;
    cluster.services().faults().add(rule);
    service_connection connection = open();
    EXPECT_EQ(send(connection, post("SELECT 1") + post("SELECT 2")), "");
    EXPECT_EQ(send(connection, post("SELECT 3")), "");
    EXPECT_FALSE(connection.is_closing());
    EXPECT_EQ(last().fate, sandbox::answer_fate::withheld);
}

TEST_F(service_fault, rules_match_by_service_patterns_and_count) {
    auto& faults = cluster.services().faults();
    sandbox::service_fault_rule rule;
    rule.service = wire::service::query;
    rule.method = "POST";
    rule.path_pattern = "/query/*";
    rule.statement_pattern = "SELECT*";
    rule.context_pattern = "app-?";
    rule.when.skip = 1;
    rule.when.every = 2;
    rule.when.limit = 2;
    rule.effect = sandbox::service_fault_answer{503, {}, "{}"};
    const std::uint64_t id = faults.add(rule);
    const json::object context{{"client_context_id", "app-1"}};
    std::string statuses;
    for (int i = 0; i < 8; ++i) {
        statuses += std::to_string(query("SELECT 1", context).status) + " ";
    }
    EXPECT_EQ(statuses, "200 503 200 503 200 200 200 200 ");
    EXPECT_EQ(faults.entries().at(0).effect_count, 2u);
    faults.remove(id);
    rule.when.skip = 0;
    rule.when.every = 1;
    rule.when.limit.reset();
    faults.add(rule);
    EXPECT_EQ(query("SELECT 1", {{"client_context_id", "other"}}).status, 200);
    EXPECT_EQ(query("DELETE FROM travel USE KEYS 'a'", context).status, 200);
    EXPECT_EQ(analytics("SELECT 1", context).status, 200);
    EXPECT_EQ(query("SELECT 1", context).status, 503);
    faults.clear();
    rule.when.probability = 0.5;
    faults.add(rule);
    int taken = 0;
    for (int i = 0; i < 200; ++i) {
        taken += query("SELECT 1", context).status == 503 ? 1 : 0;
    }
    EXPECT_GT(taken, 60);
    EXPECT_LT(taken, 140);
}

TEST_F(service_fault, a_rule_that_answers_prevents_the_write) {
    sandbox::service_fault_rule rule;
    rule.effect = sandbox::service_fault_answer{500, {}, "{}"};
    cluster.services().faults().add(rule);
    EXPECT_EQ(query("UPSERT INTO travel (KEY, VALUE) VALUES ('k', 1)").status, 500);
    EXPECT_FALSE(cluster.buckets().find_document("travel", wire::collection_id{0}, "k", now));
    EXPECT_FALSE(last().is_applied);
}

TEST_F(service_fault, a_rule_can_answer_after_the_write) {
    sandbox::service_fault_rule rule;
    rule.effect = sandbox::service_fault_answer{500, {}, "{}", true};
    cluster.services().faults().add(rule);
    EXPECT_EQ(query("UPSERT INTO travel (KEY, VALUE) VALUES ('k', 1)").status, 500);
    EXPECT_TRUE(cluster.buckets().find_document("travel", wire::collection_id{0}, "k", now));
    EXPECT_TRUE(last().is_applied);
}

// As seen on a real server: an UPDATE ran into the timeout of its request. The answer was HTTP 200
// with 1080 and `retry: true`, and the documents were changed.
TEST_F(service_fault, a_statement_that_exceeds_its_timeout_keeps_its_effects) {
    fill();
    sandbox::service_fault_rule rule;
    rule.effect = sandbox::fault_delay{10s};
    cluster.services().faults().add(rule);
    const std::string_view update = "UPDATE travel USE KEYS ['k1', 'k2', 'k3'] SET n = n + 1";
    const reply late = query(update, {{"timeout", "9500ms"}});
    EXPECT_EQ(late.status, 200);
    EXPECT_EQ(late.code(), 1080);
    EXPECT_EQ(late.member("status"), "\"timeout\"");
    EXPECT_NE(late.text.find("\"msg\":\"Timeout 9500ms exceeded\""), std::string::npos);
    EXPECT_NE(late.text.find("\"retry\":true"), std::string::npos) << late.text;
    EXPECT_EQ(last().mutation_count, 3u);
    // The answer comes when the time of the request is over.
    sandbox::service_request request;
    request.method = "POST";
    request.target = "/query/service";
    request.body = json::serialize(json::object{{"statement", update}, {"timeout", "9500ms"}});
    const auto answer = raw(request);
    EXPECT_EQ(std::get<sandbox::fault_delay>(*answer.disturbance).delay, 9500ms);
    cluster.services().faults().clear();
    EXPECT_EQ(query("SELECT RAW n FROM travel USE KEYS 'k1'").results(), "[3]");
    EXPECT_EQ(query(update, {{"timeout", "1ms"}}).code(), 0);
}

TEST_F(service_fault, a_timeout_is_a_duration_and_a_negative_one_is_no_limit) {
    sandbox::service_fault_rule rule;
    rule.effect = sandbox::fault_delay{10s};
    cluster.services().faults().add(rule);
    for (const std::string_view unlimited : {"0s", "-1s", "20s", "1m30.5s"}) {
        EXPECT_EQ(query("SELECT RAW 1", {{"timeout", unlimited}}).results(), "[1]") << unlimited;
    }
    EXPECT_EQ(query("SELECT RAW 1", {{"timeout", "10s"}}).code(), 1080);
    const reply odd = query("SELECT RAW 1", {{"timeout", "abc"}});
    EXPECT_EQ(odd.status, 400);
    EXPECT_EQ(odd.code(), 1040);
}

// As seen on a real server: a search service that starts does not have its partitions yet.
TEST_F(service_fault, a_starting_search_service_has_no_partitions_yet) {
    ASSERT_TRUE(cluster.services().create_search_index("names", "travel"));
    const auto search = [this] {
        return ask(
            wire::service::search, "POST", "/api/index/names/query",
            R"({"query":{"match_all":{}}})");
    };
    EXPECT_EQ(search().status, 200);
    cluster.on_time(now);
    ASSERT_TRUE(cluster.topology().restart(
        sandbox::node_id{0}, sandbox::restart_kind::with_data, {.silence = {}, .absence = 2s}));
    const reply early = search();
    EXPECT_EQ(early.status, 400);
    EXPECT_NE(early.text.find("err: pindex not available"), std::string::npos) << early.text;
    now += 2s;
    EXPECT_EQ(search().status, 200);
}

TEST_F(service_fault, the_audit_records_every_request_and_counts_contexts) {
    std::vector<std::string> seen;
    cluster.services().audit().set_observer(
        [&seen](const sandbox::service_audit_entry& entry) { seen.push_back(entry.context_id); });
    const json::object context{{"client_context_id", "twice"}};
    query("UPSERT INTO travel (KEY, VALUE) VALUES ('k', 1)", context);
    query("UPSERT INTO travel (KEY, VALUE) VALUES ('k', 1)", context);
    query("SELECT nothing from", {{"client_context_id", "once"}});
    ask(wire::service::views, "GET", "/?x=1");
    EXPECT_EQ(seen, (std::vector<std::string>{"twice", "twice", "once", ""}));
    auto& audit = cluster.services().audit();
    const auto contexts = audit.contexts();
    ASSERT_EQ(contexts.size(), 1u);
    EXPECT_EQ(contexts[0].context_id, "twice");
    EXPECT_EQ(contexts[0].request_count, 2u);
    EXPECT_EQ(contexts[0].applied_count, 2u);
    const auto entries = audit.entries();
    ASSERT_EQ(entries.size(), 4u);
    EXPECT_EQ(entries[0].user, "app");
    EXPECT_EQ(entries[0].mutation_count, 1u);
    EXPECT_TRUE(entries[0].statement_start.starts_with("UPSERT INTO travel"));
    EXPECT_EQ(entries[2].error_code, 3000);
    EXPECT_EQ(entries[2].status, 400);
    EXPECT_FALSE(entries[2].is_applied);
    EXPECT_EQ(entries[3].path, "/");
    EXPECT_EQ(audit.count({.statement_pattern = "UPSERT*"}), 2u);
    EXPECT_EQ(audit.count({.status = 400}), 1u);
    audit.clear();
    EXPECT_EQ(audit.entries().size(), 0u);
    EXPECT_EQ(audit.request_count(), 4u);
}

TEST_F(service_fault, the_audit_forgets_the_oldest_entries_first) {
    sandbox::service_audit_log log(2);
    for (int i = 1; i <= 5; ++i) {
        log.record({.context_id = std::to_string(i)});
    }
    const auto entries = log.entries();
    ASSERT_EQ(entries.size(), 2u);
    EXPECT_EQ(entries[0].context_id, "4");
    EXPECT_EQ(entries[1].context_id, "5");
    EXPECT_EQ(log.entries({}, 1).at(0).context_id, "5");
}

TEST_F(service_fault, configurations_are_streamed_when_they_change) {
    service_connection connection = open(wire::service::management);
    std::vector<std::byte> out;
    const std::string request =
        "GET /pools/default/bs/travel HTTP/1.1\r\nHost: x\r\nAuthorization: " +
        http::make_basic_authorization("app", "secret") + "\r\n\r\n";
    connection.on_bytes(now, reprise::base::as_bytes(request), out);
    ASSERT_TRUE(connection.is_streaming());
    EXPECT_FALSE(out.empty());
    out.clear();
    connection.on_time(now, out);
    EXPECT_TRUE(out.empty());
    ASSERT_TRUE(cluster.buckets().create_scope("travel", "more"));
    connection.on_time(now, out);
    EXPECT_TRUE(reprise::base::as_text(out).ends_with("\n\n\n\n\r\n"));
}

}  // namespace service_fault_test
