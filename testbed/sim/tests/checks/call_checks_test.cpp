#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <memory>
#include <string>

#include "asked_question.hpp"
#include "world/world.hpp"

// Tests the checkers of calls alone: each sees one broken promise and one that was kept.

namespace reprise::sim {
namespace checks_call_tests {

using namespace std::chrono_literals;
using couchbase::errc;
using couchbase::retry_reason;

scenario scenario_with_a_call() {
    scenario plan;
    plan.clients.emplace_back();
    planned_client& client = plan.clients[0];
    client.kv_timeout = 100ms;
    client.kv_durable_timeout = 2s;
    client.connect_timeout = 100ms;
    client.bootstrap_timeout = 1s;
    client.reconnect_delay_max = 100ms;
    client.config_poll_interval = 1s;
    client.probe_after = 1s;
    client.probe_timeout = 1s;
    client.internal_timeout = 1s;
    plan.calls.emplace_back();
    plan.network.send_room = 65536;
    plan.span = 1s;
    return plan;
}

// A world in which only the test's own events happen. Two connections to the query service of a
// node are open.
struct scripted_calls {
    scenario plan = scenario_with_a_call();
    run_options options{};
    world all{plan, options};

    scripted_calls() {
        for (const std::uint64_t id : {1U, 2U}) {
            all.net.connect(0, {engine::connection_id{id}, "node0", 11210, {}, "node0"});
            sim_link& made = all.net.link(static_cast<std::uint32_t>(id - 1));
            made.http = std::make_unique<service_side>();
            made.http->service = wire::service::query;
        }
    }
    operation_record& add(call_kind kind, std::uint32_t row_count = 0) {
        planned_call call;
        call.kind = kind;
        call.row_count = row_count;
        operation_record& added = all.records.add_call(call);
        added.is_started = true;
        added.started = all.now;
        added.deadline = all.now + 100ms;
        all.checks.results.on_started(added);
        return added;
    }
    void compose(const operation_record& record, std::string body = {}) {
        services::service_call call;
        call.method = "POST";
        call.target = "/query/service";
        call.body = std::move(body);
        all.checks.calls.on_composed(record.number, call);
    }
    void send(
        const operation_record& record, std::uint32_t link = 0,
        std::string_view line = "POST /query/service HTTP/1.1") {
        all.checks.calls.on_sent(link, record.number, line);
    }
    void answer(const operation_record& record, std::uint16_t status = 200) {
        sim_link::answer_mark mark;
        mark.opaque = record.number + 1;
        mark.status = status;
        all.checks.calls.on_answered(record.last.link, mark);
    }
    void audit(const operation_record& record, bool is_applied, int error_code = 0) {
        sandbox::service_audit_entry entry;
        entry.context_id = std::to_string(record.number);
        entry.is_applied = is_applied;
        entry.error_code = error_code;
        all.checks.calls.on_audit(record.last.link, entry);
    }
    void judge(
        const operation_record& record, int status, std::uint32_t server_code = 0,
        std::string_view body = {}) {
        const http::header_list headers{{"Retry-After", "2"}};
        services::exchange_result verdict;
        verdict.server_code = server_code;
        all.checks.calls.on_judged(record.number, {status, headers, body, 0}, verdict);
    }
    // A write is sent, applied or not, and answered; the client reads the answer and reports this.
    void fail_write(
        call_kind kind, int status, std::string_view body, bool is_applied, bool is_ambiguous) {
        operation_record& record = add(kind);
        compose(record);
        send(record);
        audit(record, is_applied);
        answer(record, static_cast<std::uint16_t>(status));
        judge(record, status, 0, body);
        end(record, errc::internal_server_failure, is_ambiguous);
    }
    void take(operation_record& record, const std::vector<std::string>& rows) {
        engine::row_batch batch;
        const std::vector<std::string_view> views(rows.begin(), rows.end());
        batch.append(views, {}, nullptr);
        all.checks.calls.on_rows(record, batch);
    }
    void end(operation_record& record, errc error = {}, bool is_ambiguous = false) {
        engine::operation_result result;
        result.http = std::make_unique<engine::http_result>();
        result.http->row_count = record.call->rows_taken;
        if (error != errc{}) {
            result.ec = error;
            auto info = std::make_shared<couchbase::error_info>();
            info->code = error;
            info->is_ambiguous = is_ambiguous;
            result.error = std::move(info);
        } else {
            all.checks.decisions.on_success_reported(record.number);
        }
        ++record.calls;
        all.checks.results.on_done(record, result);
    }
    bool has(checker what) const {
        return std::ranges::find(all.record.findings(), what, &finding::what) !=
               all.record.findings().end();
    }
    bool is_clean() const { return all.record.findings().empty(); }
};

}  // namespace checks_call_tests

using namespace checks_call_tests;

TEST(checks_call, an_address_that_is_not_in_any_configuration_is_found) {
    scripted_calls scene;
    EXPECT_TRUE(scene.is_clean());
    scene.all.net.connect(
        0, {engine::connection_id{3}, "elsewhere.example", 8093, {}, "elsewhere.example"});
    EXPECT_TRUE(scene.has(checker::routing));
}

TEST(checks_call, a_request_not_composed_by_the_call_and_one_without_a_call_are_found) {
    for (const bool is_redirected : {true, false}) {
        scripted_calls scene;
        operation_record& record = scene.add(call_kind::select_range);
        scene.compose(record);
        scene.send(record, 0, is_redirected ? "POST / HTTP/1.1" : "POST /query/service HTTP/1.1");
        EXPECT_EQ(scene.has(checker::routing), is_redirected);
    }
    scripted_calls scene;
    scene.all.checks.calls.on_sent(0, std::nullopt, "GET /secrets HTTP/1.1");
    EXPECT_TRUE(scene.has(checker::routing));
}

TEST(checks_call, a_connection_used_before_its_answer_or_while_not_read_is_found) {
    for (const bool is_answered : {true, false}) {
        scripted_calls scene;
        operation_record& first = scene.add(call_kind::select_range);
        operation_record& second = scene.add(call_kind::select_range);
        scene.compose(first);
        scene.compose(second);
        scene.send(first);
        if (is_answered) {
            scene.answer(first);
        }
        scene.send(second);
        EXPECT_EQ(scene.has(checker::credit), !is_answered);
    }
    scripted_calls scene;
    operation_record& record = scene.add(call_kind::select_range);
    scene.compose(record);
    scene.all.net.link(0).http->is_paused = true;
    scene.send(record);
    EXPECT_TRUE(scene.has(checker::credit));
}

TEST(checks_call, a_repeated_write_is_found_unless_the_server_did_nothing) {
    for (const bool is_answered : {true, false}) {
        for (const bool is_applied : {true, false}) {
            scripted_calls scene;
            operation_record& record = scene.add(call_kind::insert);
            scene.compose(record);
            scene.send(record);
            scene.audit(record, is_applied);
            if (is_answered) {
                scene.answer(record, 503);
            }
            record.retries = 1;
            scene.send(record, 1);
            EXPECT_EQ(scene.has(checker::repetition), !is_answered || is_applied);
        }
    }
}

TEST(checks_call, a_request_that_only_prepares_may_be_repeated_and_is_not_ambiguous) {
    for (const bool is_run : {true, false}) {
        scripted_calls scene;
        operation_record& record = scene.add(call_kind::insert);
        scene.compose(
            record, std::string(R"({"statement":"PREPARE INSERT")") +
                        (is_run ? R"(,"auto_execute":true})" : "}"));
        scene.send(record);
        record.last.is_decided = true;
        record.retries = 1;
        scene.send(record, 1);
        EXPECT_EQ(scene.has(checker::repetition), is_run);
        scene.end(record, errc::request_canceled, true);
        EXPECT_EQ(scene.has(checker::ambiguity), !is_run);
    }
}

TEST(
    checks_call, RH_29_a_write_on_the_wire_must_end_ambiguous_and_a_statement_that_reads_must_not) {
    for (const call_kind kind : {call_kind::upsert, call_kind::select_range}) {
        for (const bool is_ambiguous : {true, false}) {
            scripted_calls scene;
            operation_record& record = scene.add(kind);
            scene.compose(record);
            scene.send(record);
            scene.end(record, errc::request_canceled, is_ambiguous);
            EXPECT_EQ(scene.has(checker::ambiguity), is_ambiguous != (kind == call_kind::upsert));
        }
    }
}

// 'Nothing was changed' although it was: the worst report there is.
TEST(checks_call, RH_29_an_applied_write_that_is_reported_as_not_applied_is_found) {
    for (const char* const body :
         {R"({"errors":[{"code":1080,"msg":"timeout"}]})",
          R"({"errors":[{"code":3000,"msg":"a lie"}]})", ""}) {
        scripted_calls scene;
        scene.fail_write(call_kind::insert, 200, body, true, false);
        EXPECT_TRUE(scene.has(checker::ambiguity)) << body;
    }
    scripted_calls scene;
    scene.fail_write(call_kind::put_user, 500, "", true, false);
    EXPECT_TRUE(scene.has(checker::ambiguity));
}

TEST(checks_call, RH_29_RH_42_the_code_of_an_answer_decides_whether_a_write_is_ambiguous) {
    struct answered {
        int status;
        const char* body;
        bool may_have_acted;
    };
    constexpr std::array<answered, 12> answers = {{
        {200, R"({"errors":[{"code":1080,"msg":"timeout","retry":true}]})", true},
        {200, R"({"errors":[{"code":1080,"msg":"timeout"}]})", true},
        {200, R"({"errors":[{"code":12009,"msg":"DML"}]})", true},
        {503, R"({"errors":[{"code":1181,"msg":"flagged","retry":true}]})", true},
        {200, R"({"errors":[{"code":5000,"msg":"panic"}]})", true},
        {500, "no JSON", true},
        {200, R"({"errors":[{"code":5000,"msg":"queryport.indexNotFound"}]})", false},
        {503, R"({"errors":[{"code":1201,"msg":"queue full"}]})", false},
        {404, R"({"errors":[{"code":4040,"msg":"no such statement"}]})", false},
        {200, R"({"errors":[{"code":3000,"msg":"syntax"}]})", false},
        {200, R"({"errors":[{"code":12003,"msg":"no keyspace"}]})", false},
        {400, "no JSON", false},
    }};
    for (const answered& each : answers) {
        for (const bool is_ambiguous : {true, false}) {
            scripted_calls scene;
            scene.fail_write(call_kind::upsert, each.status, each.body, false, is_ambiguous);
            EXPECT_EQ(scene.has(checker::ambiguity), is_ambiguous != each.may_have_acted)
                << each.status << " " << each.body;
        }
    }
}

TEST(checks_call, RH_29_an_answer_that_could_not_be_read_proves_nothing) {
    for (const bool is_ambiguous : {true, false}) {
        scripted_calls scene;
        operation_record& record = scene.add(call_kind::insert);
        scene.compose(record);
        scene.send(record);
        scene.answer(record, 400);
        scene.end(record, errc::parsing_failure, is_ambiguous);
        EXPECT_EQ(scene.has(checker::ambiguity), !is_ambiguous);
    }
}

TEST(checks_call, a_row_that_is_missing_wrong_or_duplicated_is_found) {
    const std::vector<std::vector<std::string>> all_rows = {
        {"0", "1", "2"}, {"0", "1"}, {"0", "1", "1"}, {"0", "2", "1"}, {"0", "1", "2", "3"}};
    for (const auto& rows : all_rows) {
        scripted_calls scene;
        operation_record& record = scene.add(call_kind::select_range, 3);
        scene.compose(record);
        scene.send(record);
        scene.answer(record);
        scene.take(record, rows);
        scene.end(record);
        EXPECT_EQ(scene.is_clean(), rows.size() == 3 && rows[1] == "1" && rows[2] == "2");
        EXPECT_EQ(scene.has(checker::answer), !scene.is_clean());
    }
    scripted_calls scene;
    operation_record& record = scene.add(call_kind::search);
    scene.take(record, {R"({"id":"a"})", R"({"id":"b"})"});
    EXPECT_TRUE(scene.is_clean());
    scene.take(record, {R"({"id":"a"})"});
    EXPECT_TRUE(scene.has(checker::answer));
}

TEST(checks_call, RH_45_a_retry_after_rows_were_taken_is_found) {
    scripted_calls scene;
    operation_record& record = scene.add(call_kind::select_range, 3);
    scene.compose(record);
    scene.send(record);
    scene.take(record, {"0"});
    EXPECT_TRUE(scene.is_clean());
    record.last.is_decided = true;
    record.retries = 1;
    scene.send(record, 1);
    EXPECT_TRUE(scene.has(checker::repetition));
}

TEST(checks_call, a_forgotten_statement_that_is_not_prepared_again_is_found) {
    enum class prepared : std::uint8_t { never, while_it_was_sent, after_its_answer };
    for (const auto when :
         {prepared::never, prepared::while_it_was_sent, prepared::after_its_answer}) {
        scripted_calls scene;
        operation_record& record = scene.add(call_kind::select_range);
        const auto prepare_elsewhere = [&scene] {
            operation_record& other = scene.add(call_kind::select_range);
            scene.compose(other, R"({"statement":"PREPARE SELECT","auto_execute":true})");
            scene.send(other, 1);
            scene.answer(other);
            scene.judge(other, 200);
        };
        scene.compose(record);
        scene.send(record);
        if (when == prepared::while_it_was_sent) {
            prepare_elsewhere();
        }
        scene.audit(record, false, 4040);
        scene.answer(record, 404);
        scene.judge(record, 404, 4040);
        if (when == prepared::after_its_answer) {
            prepare_elsewhere();
        }
        EXPECT_TRUE(scene.is_clean());
        record.retries = 1;
        scene.compose(record);
        scene.send(record);
        scene.audit(record, false, 4040);
        EXPECT_EQ(scene.has(checker::repetition), when == prepared::never);
    }
}

TEST(checks_call, RH_47_left_over_bytes_that_are_taken_for_an_answer_are_found) {
    for (const bool is_left_over : {true, false}) {
        scripted_calls scene;
        operation_record& record = scene.add(call_kind::select_range);
        scene.compose(record);
        scene.send(record);
        scene.answer(record);
        const http::header_list headers{
            {std::string(is_left_over ? left_over_field : "Content-Type"), "yes"}};
        scene.all.checks.calls.on_judged(record.number, {200, headers, {}, 0}, {});
        EXPECT_EQ(scene.has(checker::answer), is_left_over);
    }
}

TEST(checks_call, RH_47_a_connection_that_is_kept_after_left_over_bytes_is_found) {
    struct reading {
        std::uint64_t got;
        bool is_paused;
        link_state state;
        bool is_found;
    };
    constexpr std::array<reading, 4> readings = {{
        {12, false, link_state::open, true},
        {12, false, link_state::closed, false},
        {12, true, link_state::open, false},
        {10, false, link_state::open, false},
    }};
    for (const reading& each : readings) {
        scripted_calls scene;
        sim_link& link = scene.all.net.link(0);
        link.http->left_over = 10;
        link.http->is_paused = each.is_paused;
        link.got_down = each.got;
        link.state = each.state;
        scene.all.checks.calls.after_bytes(0);
        EXPECT_EQ(scene.has(checker::answer), each.is_found);
    }
}

TEST(checks_call, RH_43_a_strategy_that_does_not_get_the_requested_delay_is_found) {
    for (const duration floor : {duration{2s}, duration::zero()}) {
        scripted_calls scene;
        operation_record& record = scene.add(call_kind::select_range);
        scene.compose(record);
        scene.send(record);
        scene.answer(record, 503);
        scene.judge(record, 503);
        couchbase::request_snapshot request;
        request.operation = "query";
        request.is_idempotent = true;
        request.status = 503;
        driver::retry_question asked =
            question_about(request, retry_reason::service_response_code_indicated);
        if (floor > duration::zero()) {
            asked.facts.minimum_wait = floor;
        }
        asked.at.now = scene.all.now;
        asked.deadline = record.deadline;
        scene.all.checks.decisions.on_asked(record.number, asked);
        EXPECT_EQ(scene.has(checker::strategy), floor != 2s);
    }
}

}  // namespace reprise::sim
