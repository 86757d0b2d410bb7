#include <gtest/gtest.h>

#include <algorithm>
#include <memory>

#include "asked_question.hpp"
#include "world/world.hpp"

// Tests the checkers alone: each sees one broken promise and one that was kept. `./dev mutants`
// tests them in whole runs with planted bugs.

namespace reprise::sim {
namespace checks_tests {

using namespace std::chrono_literals;
using couchbase::errc;
using couchbase::retry_reason;
using engine::operation_kind;

scenario small_scenario() {
    scenario plan;
    plan.clients.emplace_back();
    plan.clients[0].kv_timeout = 100ms;
    plan.clients[0].kv_durable_timeout = 2s;
    plan.clients[0].connect_timeout = 100ms;
    plan.clients[0].bootstrap_timeout = 1s;
    plan.clients[0].reconnect_delay_max = 100ms;
    plan.clients[0].config_poll_interval = 1s;
    plan.clients[0].probe_after = 1s;
    plan.clients[0].probe_timeout = 1s;
    plan.clients[0].internal_timeout = 1s;
    plan.clients[0].pipeline_credit = 2;
    plan.clients[0].budget_units = 10;
    plan.network.send_room = 65536;
    plan.span = 1s;
    return plan;
}

// A world in which only the test's own events happen.
struct scripted_world {
    scenario plan = small_scenario();
    run_options options{};
    world all{plan, options};

    operation_record& add(operation_kind kind) {
        planned_operation operation;
        operation.kind = kind;
        operation_record& added = all.records.add(operation);
        added.is_started = true;
        added.started = all.now;
        added.deadline = all.now + 100ms;
        all.checks.results.on_started(added);
        return added;
    }
    void connect(std::uint64_t id) {
        all.net.connect(0, {engine::connection_id{id}, "node0", 11210, {}, "node0"});
    }
    void send(const operation_record& record, std::uint64_t connection, std::uint32_t opaque) {
        couchbase::operation_attempt sent;
        sent.which.id = 1;
        sent.which.client = 7;
        sent.connection = connection;
        sent.opaque = opaque;
        sent.retries = record.retries;
        sent.which.operation = engine::to_string(record.plan.kind);
        sent.is_idempotent = record.is_idempotent;
        sent.sent = all.now;
        all.checks.requests.on_request(0, sent);
    }
    void answer(std::uint32_t opaque, wire::status status, std::uint64_t cas = 0) {
        sim_link::answer_mark mark;
        mark.opaque = opaque;
        mark.status = static_cast<std::uint16_t>(status);
        mark.op = wire::opcode::noop;
        mark.cas = cas;
        all.checks.requests.on_answer(0, mark);
    }
    void decide(
        retry_reason reason, attempt_stage stage, bool is_retried, duration delay,
        wire::status status = wire::status::success) {
        couchbase::decision_record decision;
        decision.operation = "noop";
        decision.reason = reason;
        decision.stage = stage;
        decision.is_retried = is_retried;
        decision.delay = delay;
        decision.status = static_cast<std::uint16_t>(status);
        decision.id = 1;
        all.checks.decisions.on_decision(0, decision);
    }
    void end(operation_record& record, errc error, bool is_ambiguous = false) {
        engine::operation_result result;
        result.ec = error;
        auto info = std::make_shared<couchbase::error_info>();
        info->code = error;
        info->is_ambiguous = is_ambiguous;
        result.error = std::move(info);
        ++record.calls;
        all.checks.results.on_done(record, result);
    }
    bool has(checker what) const {
        return std::ranges::find(all.record.findings(), what, &finding::what) !=
               all.record.findings().end();
    }
    bool is_clean() const { return all.record.findings().empty(); }
};

}  // namespace checks_tests

using namespace checks_tests;

TEST(checks, a_second_completion_is_found) {
    scripted_world scene;
    operation_record& record = scene.add(operation_kind::noop);
    scene.end(record, errc::request_canceled);
    EXPECT_TRUE(scene.is_clean());
    scene.end(record, errc::request_canceled);
    EXPECT_TRUE(scene.has(checker::completion));
}

TEST(checks, RH_32_a_final_failure_is_found_unless_the_client_has_no_room) {
    for (const errc error : {errc::retry_queue_full, errc::request_canceled}) {
        for (const std::uint32_t others : {0U, 1U}) {
            scripted_world scene;
            scene.plan.clients[0].parked_count_max = 1;
            scene.all.clients[0]->open_count = others;
            operation_record& record = scene.add(operation_kind::noop);
            record.is_final_round = true;
            scene.end(record, error);
            EXPECT_EQ(scene.has(checker::liveness), error != errc::retry_queue_full || others == 0);
        }
    }
}

TEST(checks, a_timeout_before_its_deadline_or_long_after_it_is_found) {
    for (const duration at : {99ms, 100ms, 101ms, 102ms}) {
        scripted_world scene;
        operation_record& record = scene.add(operation_kind::noop);
        scene.all.now += at;
        scene.end(record, errc::unambiguous_timeout);
        EXPECT_EQ(scene.has(checker::deadline), at < 100ms || at > 101ms) << at.count();
    }
}

TEST(checks, a_write_on_the_wire_must_end_as_ambiguous_and_a_read_must_not) {
    for (const operation_kind kind : {operation_kind::upsert, operation_kind::noop}) {
        for (const bool is_ambiguous : {true, false}) {
            scripted_world scene;
            operation_record& record = scene.add(kind);
            scene.connect(1);
            scene.send(record, 1, 256);
            scene.end(record, errc::request_canceled, is_ambiguous);
            EXPECT_EQ(
                scene.has(checker::ambiguity), is_ambiguous != (kind == operation_kind::upsert));
        }
    }
}

TEST(checks, a_request_that_was_never_sent_is_not_ambiguous) {
    scripted_world scene;
    operation_record& record = scene.add(operation_kind::upsert);
    scene.connect(1);
    scene.send(record, 1, 256);
    scene.all.net.link(0).requests.push_back({256, 40});
    scene.all.checks.requests.on_link_end(0, 40);
    EXPECT_TRUE(record.last.is_unsent);
    scene.end(record, errc::request_canceled, true);
    EXPECT_TRUE(scene.has(checker::ambiguity));
}

TEST(checks, a_repeated_write_is_found_unless_the_server_did_nothing) {
    for (const bool is_answered : {true, false}) {
        scripted_world scene;
        operation_record& record = scene.add(operation_kind::upsert);
        scene.connect(1);
        scene.send(record, 1, 256);
        if (is_answered) {
            scene.answer(256, wire::status::etmpfail);
        }
        record.retries = 1;
        scene.send(record, 1, 257);
        EXPECT_EQ(scene.has(checker::repetition), !is_answered);
    }
}

TEST(checks, an_opaque_used_twice_and_a_third_request_on_a_credit_of_two_are_found) {
    scripted_world scene;
    scene.connect(1);
    operation_record& record = scene.add(operation_kind::noop);
    scene.send(record, 1, 256);
    scene.answer(256, wire::status::etmpfail);
    record.retries = 1;
    scene.send(record, 1, 257);
    EXPECT_TRUE(scene.is_clean());
    record.retries = 2;
    record.last.is_decided = true;
    scene.send(record, 1, 257);
    EXPECT_TRUE(scene.has(checker::opaque));
    EXPECT_FALSE(scene.has(checker::credit));
    record.retries = 3;
    scene.send(record, 1, 258);
    EXPECT_TRUE(scene.has(checker::credit));
}

TEST(checks, RH_12_a_delay_that_differs_from_the_ladder_is_found) {
    for (const duration delay : {1ms, 10ms}) {
        scripted_world scene;
        operation_record& record = scene.add(operation_kind::noop);
        scene.connect(1);
        scene.send(record, 1, 256);
        scene.answer(256, wire::status::not_my_vbucket);
        scene.decide(
            retry_reason::kv_not_my_vbucket, attempt_stage::response, true, delay,
            wire::status::not_my_vbucket);
        EXPECT_EQ(scene.has(checker::delay), delay != 1ms);
        EXPECT_EQ(scene.is_clean(), delay == 1ms);
    }
}

TEST(checks, a_decision_without_a_question_is_found) {
    scripted_world scene;
    scene.add(operation_kind::noop);
    scene.decide(retry_reason::node_not_available, attempt_stage::dispatch, true, duration{1ms});
    EXPECT_TRUE(scene.has(checker::strategy));
}

TEST(checks, a_question_about_an_always_retried_reason_is_found) {
    for (const retry_reason reason :
         {retry_reason::kv_not_my_vbucket, retry_reason::kv_temporary_failure}) {
        scripted_world scene;
        operation_record& record = scene.add(operation_kind::noop);
        scene.connect(1);
        scene.send(record, 1, 256);
        scene.answer(256, wire::status::etmpfail);
        couchbase::request_snapshot request;
        request.operation = "noop";
        request.is_idempotent = true;
        request.status = static_cast<std::uint16_t>(wire::status::etmpfail);
        driver::retry_question asked = question_about(request, reason);
        asked.at.now = scene.all.now;
        asked.deadline = record.deadline;
        scene.all.checks.decisions.on_asked(0, asked);
        EXPECT_EQ(scene.is_clean(), reason == retry_reason::kv_temporary_failure);
        EXPECT_EQ(scene.has(checker::strategy), reason == retry_reason::kv_not_my_vbucket);
    }
}

TEST(checks, RH_25_a_terminal_reason_without_its_cause_is_found) {
    for (const bool is_refused : {true, false}) {
        scripted_world scene;
        operation_record& record = scene.add(operation_kind::noop);
        scene.connect(1);
        if (is_refused) {
            sim_link::answer_mark mark;
            mark.opaque = 3;
            mark.op = wire::opcode::sasl_auth;
            mark.status = static_cast<std::uint16_t>(wire::status::auth_error);
            scene.all.checks.requests.on_answer(0, mark);
        }
        couchbase::request_snapshot request;
        request.operation = "noop";
        request.is_idempotent = true;
        driver::retry_question asked = question_about(request, retry_reason::authentication_error);
        asked.at.now = scene.all.now;
        asked.deadline = record.deadline;
        scene.all.checks.decisions.on_asked(0, asked);
        EXPECT_EQ(scene.has(checker::terminal), !is_refused);
    }
}

TEST(checks, a_budget_that_does_not_add_up_is_found) {
    scripted_world scene;
    scene.all.checks.after_engine_run(0);
    EXPECT_TRUE(scene.is_clean());
    EXPECT_TRUE(scene.all.clients[0]->bucket->try_take(1000).paid);
    scene.all.checks.after_engine_run(0);
    EXPECT_TRUE(scene.has(checker::budget));
}

TEST(checks, RH_30_a_history_that_lacks_a_decision_is_found) {
    scripted_world scene;
    operation_record& record = scene.add(operation_kind::noop);
    record.decisions.emplace_back();
    scene.end(record, errc::request_canceled);
    EXPECT_TRUE(scene.has(checker::history));
}

}  // namespace reprise::sim
