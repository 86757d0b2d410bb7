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
#include <reprise/wire/error_context.hpp>

#include "answer_mailbox.hpp"
#include "connections/connections.hpp"
#include "decision_log.hpp"
#include "engine_context.hpp"
#include "fail_fast_strategy.hpp"
#include "http_flow.hpp"
#include "response_decoding.hpp"
#include "retry_decider.hpp"
#include "status_mapping.hpp"
#include "topology/collections.hpp"
#include "topology/configuration_polls.hpp"
#include "topology/terminal_state.hpp"
#include "topology/topology.hpp"

namespace reprise::engine {

// Holds the parts of one engine and moves operations between them. What is decided is decided by
// the parts and their machines. Contracts: client_engine.hpp; the parts:
// docs/design/engine_rooms.md.
class engine_core final : public topology_listener, public own_request_judge {
public:
    engine_core(engine_options options, credentials identity, randomness random, time_point now);
    ~engine_core() override;
    engine_core(const engine_core&) = delete;
    engine_core& operator=(const engine_core&) = delete;

    keyspace_id keyspace(
        std::string_view bucket, std::string_view scope, std::string_view collection) {
        return topology_.keyspace(bucket, scope, collection);
    }
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
        resolution_id resolution, std::span<const wire::bootstrap_address> found, time_point now) {
        topology_.on_resolved(resolution, found, now);
    }
    void on_key_derived(derivation_id derivation, std::string&& key, time_point now) {
        connections_.on_key_derived(derivation, std::move(key), now);
    }
    void on_time(time_point now);
    void on_wake(time_point now);

    void take_actions(action_list& out);
    base::byte_view begin_write(connection_id connection, time_point now);
    std::optional<time_point> next_due() const noexcept { return wheel_.next_due(); }
    void set_wake_hook(std::function<void()> hook) { mailbox_->set_hook(std::move(hook)); }
    engine_statistics statistics() const noexcept;
    wire::cluster_configuration_ptr configuration(std::string_view bucket) const noexcept;
    engine_diagnostics diagnostics() const;

    // --- what connections ask of operations ---

    [[nodiscard]] operation_slot& slot(std::uint32_t index) noexcept {
        return operations_.at(index);
    }
    // The answer to the operation in this slot.
    void on_response(
        kv_connection& connection, std::uint32_t index, const wire::frame_view& frame,
        const frame_source& source, time_point now);
    // Their connection is gone. `sent_end`: the first byte of its stream that was surely not sent.
    void requeue(std::span<operation_slot* const> slots, std::uint64_t sent_end, time_point now);
    // Encodes the first of the ready list. False: nothing more can be sent now.
    [[nodiscard]] bool encode_next(
        kv_connection& connection, base::byte_writer& out, time_point now);

private:
    friend class http_flow;  // an activity in a class of its own

    // topology_listener
    void wake(wait_list& list, std::size_t count_max, time_point now) override;
    void on_configuration(bucket_state& bucket, std::size_t waiting_count, time_point now) override;
    void on_link_failed(node_link& link, time_point now) override;
    void on_link_retired(node_link& link, time_point now) override;
    void on_terminal_state(bucket_state& bucket, time_point now) override;
    void on_terminal_state_of_services(time_point now) override { http_.on_terminal_state(now); }
    void on_breaker_closed(time_point now) override { http_.wake_refused(now); }
    void on_collection_missing(
        collection_entry& entry, retry_reason reason, std::uint16_t status,
        time_point now) override;
    void on_collection_refused(
        collection_entry& entry, errc error, std::uint16_t status, time_point now) override;
    // own_request_judge
    std::optional<duration> decide(
        const own_failure& what, const retry_case& failed, time_point now) override;
    void report_retry(
        const own_failure& what, const failed_attempt& failed, duration delay,
        time_point now) override;

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
    void apply(operation_slot& slot, const retry_outcome& decided, time_point now);
    // One decision about one failed attempt, for the history and the log.
    struct decided_attempt {
        std::string_view operation;
        const failed_attempt& failed;
        const retry_outcome& decided;
        std::uint32_t attempts = 0;  // retries made before
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
    void wake_for_revision(bucket_state& bucket, time_point now);
    static bool may_hurry(operation_slot& slot, const bucket_state& bucket) noexcept;
    void wake_silent(wait_list& list, time_point now);
    void on_operation_due(operation_slot& slot, time_point now);
    wait_list& list_for(operation_slot& slot);
    node_link* link_of_route(const operation_slot& slot) const;
    retry_subject subject_of(operation_slot& slot);
    // What slots of different services call differently.
    struct subject_names {
        std::string_view operation;
        bool is_idempotent = false;
        wire::service service{};
        operation_id id{};
    };
    template <class Slot>
    retry_subject make_subject(Slot& slot, const subject_names& names);
    // The service's own; null: it draws from the client's.
    retry_budget* budget_of(wire::service service) noexcept;
    bucket_state& bucket_of(const operation_slot& slot) const;

    // operation_end.cpp: how an operation ends.
    void complete(operation_slot& slot, operation_result&& result, time_point now);
    void complete_error(
        operation_slot& slot, std::error_code code, failure_note&& note, time_point now);
    void time_out(operation_slot& slot, time_point now);
    std::shared_ptr<const retry_history> history_of(
        const operation_slot& slot, bool with_problems) const;

    // cause_flow.cpp: why things are waited for, in words.
    std::string dispatch_cause(const operation_slot& slot) const;
    std::string wait_cause(const operation_slot& slot) const;

    // response_flow.cpp: what answers mean for operations.
    void on_success(
        kv_connection& connection, operation_slot& slot, const wire::frame_view& frame,
        const frame_source& source, time_point now);
    void on_retryable(
        operation_slot& slot, const wire::frame_view& frame, std::string_view host,
        const response_outcome& outcome, time_point now);

    void await_collection(operation_slot& slot, collection_entry& entry, time_point now);
    void wake_for_terminal_state(wait_list& list, time_point now);
    void wake_if_stuck(wait_list& list, const bucket_state& bucket, time_point now);

    // Short names of what the parts offer.
    void open_bucket(bucket_state& bucket, time_point now) { topology_.open(bucket, now); }
    kv_connection* any_open(bucket_state& bucket, std::size_t& next) const noexcept {
        return topology_.any_open(bucket, next);
    }
    node_link* find_link(const bucket_state& bucket, std::uint32_t endpoint) const {
        return topology_.find_link(bucket, endpoint);
    }
    void request_write(kv_connection& connection) { connection.request_write(context_.actions); }
    void note_outcome(endpoint_record& endpoint, const std::error_code& outcome, time_point now) {
        breakers_.on_outcome(endpoint, outcome, now);
    }
    void fail_connection(kv_connection& connection, std::string_view why, time_point now) {
        connections_.fail(connection, why, now);
    }
    // What http_flow needs of the rest.
    void authorize(http::header_list& headers) const;
    bool may_authorize(std::string_view peer) const noexcept;
    void notify(const std::function<void()>& hook) { notices_.push_back(hook); }

    engine_context context_;
    std::shared_ptr<answer_mailbox> mailbox_;
    retry_decider decider_;
    fail_fast_strategy own_requests_;
    decision_log decisions_;
    engine_timer log_timer_{timer_kind::log};

    operation_pool operations_;
    wait_list backoff_waiters_;  // waiting for nothing but time
    std::vector<finished_operation> completed_;
    std::vector<finished_operation> draining_;
    std::vector<std::function<void()>> notices_;  // rows wait

    endpoint_table endpoints_{context_};
    breakers breakers_{context_};
    topology topology_{context_, endpoints_, breakers_, *this};
    configuration_polls polls_{context_, topology_, *this};
    collections collections_{context_, *this, *this};
    connections connections_{context_, {topology_, breakers_, polls_, collections_, *this}};

    engine_options& options_ = context_.options;
    random_generator& random_ = context_.random;
    base::timer_wheel& wheel_ = context_.wheel;
    std::size_t& parked_count_ = context_.parked_count;
    engine_statistics& counters_ = context_.counters;
    bool& is_closed_ = context_.is_closed;
    const std::vector<keyspace_entry>& keyspaces_ = topology_.keyspaces();
    http_flow http_{*this};
};

template <class Slot>
retry_subject engine_core::make_subject(Slot& slot, const subject_names& names) {
    retry_subject subject;
    subject.operation = names.operation;
    subject.is_idempotent = names.is_idempotent;
    subject.reasons = slot.reasons;
    subject.deadline = slot.deadline;
    subject.user_data = slot.request.user_data.get();
    subject.strategy = slot.request.strategy.get();
    subject.allowance = slot.request.outer_allowance;
    subject.budget = budget_of(names.service);
    subject.ticket = {names.id.value, slot.decision};
    subject.progress = &slot.progress;
    return subject;
}

}  // namespace reprise::engine
