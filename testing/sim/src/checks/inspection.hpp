#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <reprise/couchbase_types/attempt_observer.hpp>
#include <reprise/couchbase_types/log_sink.hpp>
#include <reprise/engine/driver_action.hpp>
#include <reprise/engine/http_operation.hpp>
#include <reprise/engine/operation_result.hpp>
#include <reprise/engine/reason_table.hpp>
#include <reprise/sandbox/audit_log.hpp>
#include <reprise/sandbox/ledger.hpp>
#include <reprise/sandbox/service_audit.hpp>
#include <reprise/sim/finding.hpp>
#include <reprise/wire/cluster_configuration.hpp>

#include "world/network.hpp"
#include "world/operation_records.hpp"

namespace reprise::sim {

// Not-my-vbucket: a newer map always ends an operation's wait early this many times; after that,
// the client may wait this long if maps closely follow each other.
inline constexpr std::uint32_t hurry_count_free = 3;
inline constexpr duration hurry_distance = std::chrono::milliseconds{100};
// In the long run a request follows not-my-vbucket no faster than this, whichever map it uses.
inline constexpr duration redirect_pause = hurry_distance / 2;

// What a client pays for a retry, in milli-units; see sim_client::make_options.
inline constexpr std::int64_t price_of_retry = 5000;

// Rejected because too many operations wait: the reason is that of the previous retry (RH-32),
// which had a different stage.
[[nodiscard]] inline bool carries_earlier_reason(
    const couchbase::decision_record& record) noexcept {
    return record.refusal == refusal_reason::queue_full &&
           record.stage == attempt_stage::dispatch &&
           engine::detail::stage_of(record.reason) != attempt_stage::dispatch;
}

class world;

// Maximum number of keys in one collection.
inline constexpr std::size_t document_key_count = 512;

// The checkers. They see what a user, a server and the network see. They know the client's rules
// from its documentation, and nothing of its implementation. Each rule is deliberately stated here
// a second time.
class inspection {
public:
    explicit inspection(world& owner);

    // checks_decision.cpp
    void on_asked(std::uint32_t operation, const retry_question& asked);
    void on_strategy_answer(std::uint32_t operation, const retry_sink& sink);
    void on_late_answer(std::uint32_t operation, std::optional<retry_action> action);
    void on_decision(std::uint32_t client, const couchbase::decision_record& record);
    void on_success_reported(std::uint32_t operation);

    // checks_request.cpp
    void on_request(std::uint32_t client, const couchbase::attempt_record& record);
    void on_answer(std::uint32_t link, const sim_link::answer_mark& answer);
    void on_link_end(std::uint32_t link, std::uint64_t sent_end);
    void on_audit(const sandbox::audit_entry& entry);
    void on_connect_failed(std::uint32_t link, engine::connect_failure failure);
    void on_tls_alert(std::uint32_t link);
    void on_bytes(std::uint32_t link);

    // checks_hostile.cpp: servers that have not proved that they know the password. A client did
    // something that it may do only for a trusted server.
    void on_trusted(std::uint32_t link, std::string_view what);
    void on_hostile_login(std::uint32_t link);
    // The last answer of a login is about to reach the client.
    void on_hostile_answer(std::uint32_t link, const sim_link::answer_mark& answer);

    // checks_names.cpp: name servers that lie. A client asks for an SRV record; gets this answer;
    // connects to a key-value port of a host.
    void on_name_query(std::uint32_t client);
    void on_names(std::uint32_t client, const std::vector<std::string>& targets);
    void on_host(std::uint32_t client, const engine::connect_action& action, host_kind host);

    // checks_call.cpp: operations of the HTTP services. A client connects to a port that is not a
    // key-value port; returns false if the address was never announced to it.
    bool on_connect(std::uint32_t client, const engine::connect_action& action);
    void on_composed(std::uint32_t operation, const engine::http_call& call);
    void on_judged(
        std::uint32_t operation, const engine::http_answer& answer,
        const engine::exchange_result& verdict);
    // A complete request is sent; `operation` is the number it carries.
    void on_call_sent(
        std::uint32_t link, std::optional<std::uint32_t> operation, std::string_view line);
    void on_call_answered(std::uint32_t link, const sim_link::answer_mark& answer);
    void on_call_link_end(std::uint32_t link, std::uint64_t sent_end);
    void on_service_audit(std::uint32_t link, const sandbox::service_audit_entry& entry);
    // The following bytes on the connection are unreadable.
    void on_corrupted(std::uint32_t link);
    // The client has read bytes of an HTTP service and reacted to them.
    void after_http_bytes(std::uint32_t link);
    void on_rows_reported(operation_record& record);
    void on_rows(operation_record& record, const engine::row_batch& rows);

    // checks_result.cpp
    void on_started(operation_record& record);
    void on_done(operation_record& record, const engine::operation_result& result);

    // checks_world.cpp
    void after_engine_run(std::uint32_t client);
    void after_settling();
    void at_end();
    void note_loss() noexcept { is_store_lossy_ = true; }
    // The default collection was dropped with its documents.
    void forget_default_documents();
    // Whether the connection belongs to the bucket and its bootstrap is complete.
    bool is_bootstrapped(std::uint32_t link) const noexcept {
        return link < is_up_.size() && is_up_[link] == link_progress::open;
    }
    const sandbox::ledger& writes() const noexcept { return ledger_; }
    std::uint64_t request_count() const noexcept { return request_count_; }
    std::uint64_t succeeded_count() const noexcept { return succeeded_count_; }
    std::uint64_t ambiguous_count() const noexcept { return ambiguous_count_; }
    std::uint64_t row_count() const noexcept { return row_count_; }

private:
    // A map of one client, with its node numbers by position.
    struct known_map {
        wire::cluster_configuration_ptr configuration;
        std::vector<std::int32_t> nodes;

        // -1: none.
        std::int32_t active(std::size_t vbucket) const;
        std::int32_t forward(std::size_t vbucket) const;
        std::int32_t replica(std::size_t vbucket) const;
        wire::configuration_revision revision() const { return configuration->revision(); }
    };
    // What the servers have sent to one client, and what it has received.
    struct client_view {
        std::vector<known_map> maps;  // all maps it ever had, newest last
        // The same for the cluster's own maps; kept for calls only.
        std::vector<wire::cluster_configuration_ptr> global_maps;
        bool is_map_new = false;        // since the last iteration
        time_point opened_last{};       // when one of its bootstraps was last completed ...
        std::int32_t opened_node = -1;  // ... and by which node
        std::vector<std::uint8_t> is_auth_refused;  // by node
        std::vector<std::uint8_t> is_tls_failed;
        std::vector<std::uint8_t> is_bucket_missing;  // how often the node reported it, up to 2
        // The same two for calls, which also depend on the cluster's own configuration; it may
        // arrive later than the bucket's.
        std::vector<std::uint8_t> has_refused_auth;
        std::vector<std::uint8_t> has_failed_tls;
        std::vector<std::uint8_t> is_service_tls_failed;  // by node and service
        std::uint64_t prepared_count = 0;                 // answers to PREPARE
        time_point terminal_last{};  // when a node or a service was last refused or not trusted
        bool is_access_denied = false;
        bool is_default_looked_up = false;     // a server did not know the default collection
        bool was_bucket_selected = false;      // by some node
        std::optional<time_point> unproved{};  // the hostile seed's signature was wrong
        time_point name_missing{};             // when a scope or a collection was reported missing
        std::int64_t budget_level = 0;         // after the last iteration; now at most this much
        std::vector<std::uint32_t> capped;     // operations that pay when they are woken
        // Since the last iteration, in milli-units. Returns are seen when an operation's end is
        // reported, which is later than they happen.
        std::int64_t charged = 0;
        std::int64_t returned = 0;
        std::int64_t perhaps_returned = 0;  // by capped retries that may have been woken
        std::uint64_t name_query_count = 0;
        std::map<std::string, std::uint64_t> other_hosts{};  // outside the cluster: its connects
        std::vector<std::uint32_t> waiting;   // operations that back off; may contain ended ones
        std::vector<std::uint32_t> answered;  // operations with deferred answers; may contain ended
                                              // ones
        time_point overdue_from = time_point::max();  // no retry is overdue before this time
    };
    // What the applied writes result in for one document.
    struct document_view {
        std::uint32_t collection = 0;
        bool exists = false;
        std::string text;
    };

    void report(checker what, const operation_record& record, std::string text);
    // Adds the client's newest map to its view.
    client_view& refresh(std::uint32_t client);
    static void forget_left(client_view& view);
    // Whether a node or a service refused a login or could not be trusted.
    static bool has_terminal_state(const client_view& view);

    void check_allowed(
        operation_record& record, const couchbase::decision_record& decision, duration left);
    void check_always(
        operation_record& record, const couchbase::decision_record& decision, duration left);
    void check_asked(
        operation_record& record, const couchbase::decision_record& decision, duration left);
    void check_refused(operation_record& record, const couchbase::decision_record& decision);
    void check_queue_full(const operation_record& record);
    bool brings_budget(const operation_record& record) const;
    bool is_paid_by_client(const operation_record& record) const;
    // Whether a retry may have been too expensive.
    bool can_be_poor(const operation_record& record) const;
    bool is_refused_when_woken(
        const operation_record& record, const couchbase::decision_record& decision) const;
    void take_charge(operation_record& record);
    void return_charge(const operation_record& record);
    void check_stage(
        operation_record& record, couchbase::retry_reason reason, attempt_stage stage,
        std::uint16_t code);
    bool is_bucket_gone(std::uint32_t client);
    bool is_node_open(std::uint32_t client, std::int32_t node);
    void check_terminal(const operation_record& record, couchbase::retry_reason reason);
    // Whether a seed that is being asked may still answer (RH-48).
    bool may_seed_answer(std::uint32_t client) const;
    bool is_refusal_proven(std::uint32_t client) const;
    // Whether not-my-vbucket must be followed at once; empty if both are correct.
    std::optional<bool> is_at_once(const operation_record& record);
    void take_retry(operation_record& record, const couchbase::decision_record& decision);

    void check_route(operation_record& record, const sim_link& link);
    void check_repetition(const operation_record& record);
    void check_not_early(operation_record& record);
    void on_bootstrap_answer(std::uint32_t link, const sim_link::answer_mark& answer);

    void check_time(const operation_record& record, const engine::operation_result& result);
    void check_ambiguity(const operation_record& record, const engine::operation_result& result);
    void check_history(const operation_record& record, const engine::operation_result& result);
    void check_answer(const operation_record& record, const engine::operation_result& result);
    void check_final_round(const operation_record& record, const engine::operation_result& result);
    void settle(const operation_record& record, const engine::operation_result& result);

    void check_call_request(
        const operation_record& record, const sim_link& link, std::string_view line);
    void check_call_repetition(const operation_record& record);
    void note_situation(const operation_record& record, const engine::http_answer& answer);
    void check_row(operation_record& record, std::string_view row);
    void check_call(operation_record& record, const engine::operation_result& result);
    void check_call_ambiguity(
        const operation_record& record, const engine::operation_result& result);
    void check_call_rows(operation_record& record, const engine::operation_result& result);
    void check_call_documents();

    void check_wake_ups(std::uint32_t client, bool is_new_map, bool is_new_connection);
    void check_budget(std::uint32_t client);
    void check_late_answers(std::uint32_t client);
    // Whether every node of the map is connected and would accept a request at once.
    bool is_idle(std::uint32_t client);
    void check_documents();
    void apply(operation_record& record, const sandbox::audit_entry& entry);

    world& world_;
    std::vector<client_view> views_;
    std::vector<document_view> documents_;  // by collection and key
    // The progress of a connection's bootstrap.
    enum class link_progress : std::uint8_t { begun, of_bucket, open, of_cluster };
    std::vector<link_progress> is_up_;  // by link
    // The last writer of each document written by statements, by key; absent: removed.
    std::map<std::uint16_t, std::optional<std::uint32_t>> call_documents_;
    sandbox::ledger ledger_;
    bool is_store_lossy_ = false;
    std::uint64_t request_count_ = 0;
    std::uint64_t succeeded_count_ = 0;
    std::uint64_t ambiguous_count_ = 0;
    std::uint64_t row_count_ = 0;
};

}  // namespace reprise::sim
