#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include <reprise/engine/client_engine.hpp>
#include <reprise/retry/backoff.hpp>
#include <reprise/wire/error_context.hpp>

#include "answer_mailbox.hpp"
#include "cluster_state.hpp"
#include "decision_log.hpp"
#include "fail_fast_strategy.hpp"
#include "http_flow.hpp"
#include "key_derivations.hpp"
#include "kv_connection.hpp"
#include "orchestrator.hpp"
#include "random_source.hpp"
#include "response_decoding.hpp"
#include "status_mapping.hpp"

namespace reprise::engine {

// Wires the machines together: it owns the state and moves operations between them. What is decided
// is decided by the machines (bootstrap_fsm, route, status_mapping, orchestrator). One source file
// for each activity; the groups below name them. Contracts: client_engine.hpp.
class engine_core {
public:
    engine_core(engine_options options, credentials identity, randomness random, time_point now);
    ~engine_core();
    engine_core(const engine_core&) = delete;
    engine_core& operator=(const engine_core&) = delete;

    keyspace_id keyspace(
        std::string_view bucket, std::string_view scope, std::string_view collection);
    void open(std::string_view bucket, time_point now);
    operation_id start(operation_request&& request, completion&& done, time_point now);
    operation_id start_http(http_request&& request, completion&& done, time_point now) {
        return http_.start(std::move(request), std::move(done), now);
    }
    bool take_rows(operation_id operation, row_batch& out, time_point now) {
        return http_.take_rows(operation, out, now);
    }
    bool cancel(operation_id operation, time_point now);
    void close(time_point now);
    void replace_credentials(credentials identity);
    std::size_t drain_completions();
    bool has_completions() const noexcept { return !completed_.empty() || !notices_.empty(); }

    void on_connected(connection_id connection, std::string_view peer, time_point now);
    void on_connect_failed(
        connection_id connection, connect_failure failure, std::string_view text, time_point now);
    void on_bytes(
        connection_id connection, const base::block_ref* owner, base::byte_view bytes,
        time_point now);
    void on_written(connection_id connection, std::size_t size, time_point now);
    void on_closed(
        connection_id connection, close_reason reason, std::size_t unwritten_size, time_point now);
    void on_resolved(
        resolution_id resolution, std::span<const wire::bootstrap_address> found, time_point now);
    void on_key_derived(derivation_id derivation, std::string&& key, time_point now);
    void on_time(time_point now);
    void on_wake(time_point now);

    void take_actions(action_list& out);
    base::byte_view begin_write(connection_id connection, time_point now);
    std::optional<time_point> next_due() const noexcept { return wheel_.next_due(); }
    void set_wake_hook(std::function<void()> hook) { mailbox_->set_hook(std::move(hook)); }
    engine_statistics statistics() const noexcept;
    wire::cluster_configuration_ptr configuration(std::string_view bucket) const noexcept;
    engine_diagnostics diagnostics() const;

private:
    friend class http_flow;  // an activity in a class of its own

    struct finished_operation {
        completion done;
        operation_result result;
    };
    // What an error says beyond its code.
    struct failure_note {
        bool is_ambiguous = false;
        std::optional<std::uint16_t> status{};
        const wire::error_map_entry* entry = nullptr;
        wire::error_context context{};
        std::optional<std::uint8_t> failed_path{};
        std::string detail{};
    };

    // operation_flow.cpp: from start to the ready list, parking and waking, retries.
    void dispatch(operation_slot& slot, bool is_woken, time_point now);
    void dispatch_noop(operation_slot& slot, bucket_state& bucket, time_point now);
    void fail_without_vbuckets(operation_slot& slot, time_point now);
    void submit(operation_slot& slot, node_link& link, bool is_woken, time_point now);
    void wait_for_topology(operation_slot& slot, bucket_state& bucket, time_point now);
    void breaker_refused(operation_slot& slot, time_point now);
    bool is_dispatchable(const operation_slot& slot) const noexcept;
    std::size_t route_place(const operation_slot& slot) const noexcept;
    void dispatch_failed(operation_slot& slot, retry_reason reason, time_point now);
    void make_ready(operation_slot& slot, kv_connection& connection);
    void retry(operation_slot& slot, const retry_case& failed, time_point now);
    void apply(operation_slot& slot, const verdict& decided, time_point now);
    // One decision about one failed attempt, for the history and the log.
    struct decided_attempt {
        std::string_view operation;
        const failed_attempt& failed;
        const verdict& decided;
        std::uint32_t attempts = 0;
        time_point started{};
        std::int32_t endpoint = -1;
        std::string_view key{};
        operation_id id{};
    };
    void record(operation_history& history, const decided_attempt& what, time_point now);
    void tell(const decided_attempt& what, time_point now);
    void fail_unclassified(
        operation_slot& slot, std::error_code code, failure_note&& note, time_point now);
    void park(operation_slot& slot, wait_list& list, time_point due);
    void park_silently(operation_slot& slot, wait_list& list, time_point now);
    void leave_place(operation_slot& slot);
    void wake(wait_list& list, time_point now, std::size_t count_max = SIZE_MAX);
    void wake_for_revision(bucket_state& bucket, time_point now);
    static bool may_hurry(operation_slot& slot, const bucket_state& bucket) noexcept;
    void wake_silent(wait_list& list, time_point now);
    void on_operation_due(operation_slot& slot, time_point now);
    wait_list& list_for(operation_slot& slot);
    node_link* link_of_route(const operation_slot& slot) const;
    node_link* find_link(const bucket_state& bucket, std::uint32_t endpoint) const;
    retry_subject subject_of(operation_slot& slot);
    // What slots of different services call differently.
    struct subject_names {
        std::string_view operation;
        bool is_idempotent = false;
        wire::service service{};
        operation_id id{};
    };
    template <class Slot>
    retry_subject make_subject(const Slot& slot, const subject_names& names);
    // The service's own; null: it draws from the client's.
    bucket_budget* budget_of(wire::service service) noexcept;
    bucket_state& bucket_of(const operation_slot& slot) const;

    // operation_end.cpp: how an operation ends.
    void complete(operation_slot& slot, operation_result&& result, time_point now);
    void complete_error(
        operation_slot& slot, std::error_code code, failure_note&& note, time_point now);
    void time_out(operation_slot& slot, time_point now);
    std::shared_ptr<const retry_history> history_of(
        const operation_slot& slot, bool with_problems) const;

    // cause_flow.cpp: why things are waited for, in words.
    std::string link_cause(const node_link& link) const;
    std::string bucket_cause(const bucket_state& bucket) const;
    std::string terminal_cause(const bucket_state& bucket, retry_reason reason) const;
    std::string dispatch_cause(const operation_slot& slot) const;
    std::string wait_cause(const operation_slot& slot) const;

    // connection_flow.cpp: the life of a connection.
    kv_connection* find(connection_id id) noexcept;
    bootstrap_options bootstrap_options_for(const node_link& link, connection_id id);
    void on_frame(
        kv_connection& connection, const wire::frame_view& frame, const frame_source& source,
        time_point now);
    void on_bootstrap_step(kv_connection& connection, time_point now);
    void on_bootstrap_failed(kv_connection& connection, time_point now);
    void on_open(kv_connection& connection, time_point now);
    void fail_connection(kv_connection& connection, std::string_view why, time_point now);
    void finish_connection(
        kv_connection& connection, std::uint64_t sent_end, bool has_failed, time_point now);
    void requeue(std::span<operation_slot* const> slots, std::uint64_t sent_end, time_point now);
    void request_write(kv_connection& connection);
    bool encode_next(kv_connection& connection, base::byte_writer& out, time_point now);
    void on_connection_due(kv_connection& connection, time_point now);
    void probe(kv_connection& connection, time_point now);

    // login_flow.cpp: what a login that succeeded or failed means for its node.
    void on_authenticated(kv_connection& connection, time_point now);
    void pace_logins(endpoint_record& endpoint, time_point now);
    bool may_log_in(node_link& link, time_point now);
    std::string fresh_nonce() const;
    void want_key(kv_connection& connection, time_point now);

    // response_flow.cpp: what answers mean for operations.
    void on_response(
        kv_connection& connection, const wire::frame_view& frame, const frame_source& source,
        time_point now);
    void on_operation_response(
        kv_connection& connection, operation_slot& slot, const wire::frame_view& frame,
        const frame_source& source, time_point now);
    void on_success(
        kv_connection& connection, operation_slot& slot, const wire::frame_view& frame,
        const frame_source& source, time_point now);
    void on_retryable(
        operation_slot& slot, const wire::frame_view& frame, std::string_view host,
        const response_outcome& outcome, time_point now);
    void on_push(kv_connection& connection, const wire::frame_view& frame, time_point now);

    // link_flow.cpp: links, reconnecting, terminal states.
    void open_bucket(bucket_state& bucket, time_point now);
    void add_seed_links(bucket_state& bucket, time_point now);
    node_link& link_to(
        bucket_state& bucket, std::string_view host, std::uint16_t port, std::size_t ordinal,
        time_point now);
    void connect(node_link& link, time_point now);
    bool begin_connect(node_link& link, time_point now);
    void open_waiting(time_point now);
    void end_opening(bool& is_opening, time_point now);
    void reconnect_later(node_link& link, bool has_failed, time_point now);
    void on_link_failed(node_link& link, time_point now);
    void on_bucket_missing(node_link& link, time_point now);
    void retire(std::span<node_link* const> links, time_point now);
    void reap(bucket_state& bucket);
    void close_drained(kv_connection& connection, time_point now);
    kv_connection* any_open(bucket_state& bucket, std::size_t& turn) const noexcept;
    std::optional<retry_reason> terminal_reason(const bucket_state& bucket) const noexcept;
    void refresh_terminal_states() noexcept;
    void refresh_terminal_state(bucket_state& bucket) noexcept;
    static bool may_wait_for_seeds(const bucket_state& bucket) noexcept;
    void on_bucket_due(bucket_state& bucket, time_point now);
    void on_terminal_state(bucket_state* bucket, time_point now);
    void wake_for_terminal_state(wait_list& list, time_point now);
    void wake_if_stuck(wait_list& list, const bucket_state& bucket, time_point now);
    endpoint_record& endpoint(std::string_view host, std::uint16_t port);
    void take_error_map(
        endpoint_record& endpoint, const std::shared_ptr<const wire::error_map>& map);
    void clear_bucket_state(bucket_state& bucket) noexcept;
    void drop_error_map(kv_connection& connection);

    // configuration_flow.cpp: configurations and polls.
    enum class configuration_effect : std::uint8_t {
        applied,     // it is newer than what we had
        refused,     // older, or of another bucket
        unreadable,  // not a configuration
    };
    configuration_effect apply_configuration(
        bucket_state& bucket, std::string_view text, std::string_view source_host, time_point now);
    void install(
        bucket_state& bucket, wire::cluster_configuration_ptr configuration, time_point now);
    void sync_links(bucket_state& bucket, time_point now);
    void sync_cluster_links(bucket_state& bucket, time_point now);
    void retire_others(bucket_state& bucket, time_point now);
    void want_configuration(bucket_state& bucket, time_point now);
    void poll(bucket_state& bucket, time_point now);
    void poll_soon(bucket_state& bucket, time_point now);
    void on_poll_answer(kv_connection& connection, const wire::frame_view& frame, time_point now);
    void on_poll_unreadable(bucket_state& bucket, const endpoint_record& asked, time_point now);
    void on_poll_failed(
        bucket_state& bucket, const endpoint_record& asked, const retry_case& failed,
        time_point now);

    // collection_flow.cpp: collection ids.
    void await_collection(operation_slot& slot, collection_entry& entry, time_point now);
    void ask(collection_entry& entry, kv_connection& connection, time_point now);
    void on_collection_answer(
        collection_entry& entry, kv_connection& connection, const wire::frame_view& frame,
        time_point now);
    void ask_later(
        collection_entry& entry, const endpoint_record& asked, const wire::frame_view& frame,
        time_point now);
    void on_collection_missing(
        collection_entry& entry, retry_reason reason, std::uint16_t status, time_point now);
    void on_collection_due(collection_entry& entry, time_point now);
    void forget_question(collection_entry& entry, time_point now);

    // breaker_flow.cpp: circuit breakers of endpoints.
    void note_outcome(endpoint_record& endpoint, const std::error_code& outcome, time_point now);
    void on_breaker_due(endpoint_record& endpoint, time_point now);
    void on_canary_lost(endpoint_record& endpoint, time_point now);
    void close_breaker(endpoint_record& endpoint, time_point now);
    void forget_breaker(endpoint_record& endpoint);
    void arm_breaker(endpoint_record& endpoint);

    template <class Message>
    std::optional<std::uint32_t> send_own(
        kv_connection& connection, waiter_kind kind, wire::opcode op, std::uint32_t target,
        const Message& message);
    bucket_state& bucket_named(std::string_view name);
    void log(log_level level, std::string_view text) const;
    // What http_flow needs of the rest.
    void authorize(http::header_list& headers) const;
    bool may_authorize(std::string_view peer) const noexcept;
    void notify(const std::function<void()>& hook) { notices_.push_back(hook); }
    bool has_given_up(const bucket_state& bucket) const noexcept;
    std::optional<retry_reason> terminal_reason_for_http() const noexcept;

    engine_options options_;
    credentials identity_;
    std::uint32_t identity_number_ = 1;  // counts replacements
    random_source random_;
    std::function<bool(std::span<std::byte>)> entropy_;
    std::uint64_t client_number_;  // said in HELLO
    bool is_closed_ = false;
    std::shared_ptr<answer_mailbox> mailbox_;
    orchestrator orchestrator_;
    fail_fast_strategy own_requests_;
    decision_log decisions_;
    engine_timer log_timer_{timer_kind::log};
    base::timer_wheel wheel_;
    key_derivations keys_;

    operation_pool operations_;
    std::size_t parked_count_ = 0;
    wait_list backoff_waiters_;    // waiting for nothing but time
    base::block_pool value_pool_;  // results of users may outlive it
    std::vector<finished_operation> completed_;
    std::vector<finished_operation> draining_;
    action_list actions_;

    connect_gate gate_;
    std::vector<std::unique_ptr<endpoint_record>> endpoints_;
    std::unordered_map<std::string, endpoint_record*> endpoint_index_;  // the same by name
    std::vector<std::unique_ptr<bucket_state>> buckets_;
    std::vector<keyspace_entry> keyspaces_;
    std::unordered_map<connection_id, std::unique_ptr<kv_connection>> connections_;
    std::uint64_t next_connection_ = 1;
    std::vector<wire::bootstrap_address> seeds_;  // empty until the name service answered
    std::optional<resolution_id> resolving_;
    std::string network_;  // empty until chosen
    exponential_backoff reconnect_backoff_;
    engine_statistics counters_;
    std::vector<std::function<void()>> notices_;  // rows wait
    http_flow http_{*this};
};

template <class Slot>
retry_subject engine_core::make_subject(const Slot& slot, const subject_names& names) {
    retry_subject subject;
    subject.operation = names.operation;
    subject.is_idempotent = names.is_idempotent;
    subject.attempts = slot.attempts;
    subject.reasons = slot.reasons;
    subject.deadline = slot.deadline;
    subject.user_data = slot.request.user_data;
    subject.strategy = slot.request.strategy.get();
    subject.allowance = slot.request.outer_allowance;
    subject.budget = budget_of(names.service);
    subject.ticket = {names.id.value, slot.decision};
    subject.memory = slot.memory;
    return subject;
}

template <class Message>
std::optional<std::uint32_t> engine_core::send_own(
    kv_connection& connection, waiter_kind kind, wire::opcode op, std::uint32_t target,
    const Message& message) {
    const auto opaque = connection.waiting.insert(kind, op, target);
    if (!opaque) {
        return std::nullopt;
    }
    wire::request_header header;
    header.opaque = *opaque;
    base::byte_writer writer(connection.control);
    if (!message.encode(writer, header)) {
        connection.waiting.erase(*connection.waiting.find(*opaque));
        return std::nullopt;
    }
    request_write(connection);
    return opaque;
}

}  // namespace reprise::engine
