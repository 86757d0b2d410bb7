#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <expected>
#include <memory>
#include <optional>
#include <string_view>
#include <thread>
#include <type_traits>
#include <vector>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/ssl/context.hpp>

#include <reprise/engine/client_engine.hpp>
#include <reprise/net/client.hpp>

#include "cancelable_operations.hpp"
#include "connection_table.hpp"
#include "context_gate.hpp"
#include "context_watch.hpp"
#include "handler_memory.hpp"
#include "key_worker.hpp"
#include "loop_shift.hpp"
#include "name_resolver.hpp"
#include "serial_executor.hpp"
#include "submission_queue.hpp"

namespace reprise::net {

// One engine on one executor, of which it runs one handler at a time. Every handler ends with an
// iteration: submit what is queued, carry out the engine's actions, call completions, arm the
// timer.
//
// The client and the pending handlers own it. After `stop` and the last handler nothing owns it any
// more. If the caller's context is destroyed before that, the driver completes its operations, lets
// go of everything that belongs to the context, and refuses all calls.
class driver final : public context_user, public std::enable_shared_from_this<driver> {
public:
    // `first`: the first loop of the client if this is another one, made before any of them runs.
    [[nodiscard]] static std::expected<std::shared_ptr<driver>, setup_error> make(
        const boost::asio::any_io_executor& executor, engine::engine_options options,
        context_owner owner = context_owner::client, const driver* first = nullptr);
    // Completes the remaining operations with request_canceled.
    ~driver();

    // --- any thread ---

    // `cancel_with` is 0 if the operation cannot be canceled.
    [[nodiscard]] refusal start(
        keyspace_number where, engine::operation_request&& request, engine::completion&& done,
        ticket cancel_with);
    // Inline because each operation that a handler starts passes here.
    [[nodiscard]] [[gnu::always_inline]] refusal start(
        keyspace_number where, engine::document_call&& call, engine::completion&& done,
        ticket cancel_with) {
        if (cancel_with != 0 || !can_start_now(where)) [[unlikely]] {
            return start_otherwise(where, std::move(call), std::move(done), cancel_with);
        }
        engine_->start(keyspaces_[where], std::move(call), std::move(done), now_);
        return refusal::none;
    }
    [[nodiscard]] refusal start_http(http_submission&& operation);
    // Starts the operation immediately and runs an iteration. Only for the thread that runs the
    // loop, outside an iteration.
    template <class Source>
    void start_here(keyspace_number where, Source&& source, engine::completion&& done) {
        read_clock();
        // Earlier submissions go first, inside the iteration: what they start must not wait behind
        // what cancels it.
        running_thread_.store(std::this_thread::get_id(), std::memory_order_relaxed);
        take_submissions();
        if constexpr (std::is_same_v<Source, engine::document_call>) {
            engine_->start(keyspaces_[where], std::forward<Source>(source), std::move(done), now_);
        } else {
            start_now(where, std::forward<Source>(source), std::move(done), 0);
        }
        run_engine();
    }
    // The loop has a thread, and `shift` decides who runs it. Set before the loop runs.
    void set_shift(loop_shift* shift) noexcept { shift_ = shift; }
    // As `start_here`, if nothing else is open or waiting. Until `take_back`, the loop takes
    // nothing from the queue, so that nothing else completes on this thread.
    template <class Source>
    [[nodiscard]] bool try_start_lent(
        keyspace_number where, Source&& source, engine::completion&& done) {
        if (!queue_.empty() || engine_->open_count() != 0 || engine_->has_completions()) {
            return false;
        }
        is_lent_ = true;
        start_here(where, std::forward<Source>(source), std::move(done));
        return true;
    }
    // For the loop's thread, when its turn begins.
    void take_back() {
        is_lent_ = false;
        if (std::exchange(has_missed_queue_, false)) {
            wake_loop();
        }
    }
    // Runs `task` on the loop, in the order of the starts. The task must not own the driver,
    // because the driver owns the task. Returns false, and drops the task, if the caller's context
    // is gone.
    bool run(task_submission&& task);
    // True while this thread is inside an iteration.
    [[nodiscard]] bool is_running() const noexcept {
        return running_thread_.load(std::memory_order_relaxed) == std::this_thread::get_id();
    }

    // Whether this thread runs the executor's context.
    [[nodiscard]] bool is_run_by_this_thread() const;
    [[nodiscard]] bool is_context_gone() const { return !gate_.enter(); }

    // --- the loop ---

    void add_keyspace(std::string_view bucket, std::string_view scope, std::string_view collection);
    void cancel(ticket operations);
    // Returns the rows that are waiting, or nothing if no operation with this ticket is running.
    [[nodiscard]] std::optional<engine::row_batch> take_rows(
        ticket operation, engine::row_batch&& spare);
    void close();
    // Closes, and stops all name lookups, so that the loop runs out of work.
    void stop();
    [[nodiscard]] const engine::client_engine& engine() const noexcept { return *engine_; }
    [[nodiscard]] client_report describe() const;

    // --- the loop, for the driver's connections ---

    [[nodiscard]] const serial_executor& executor() const noexcept { return executor_; }
    [[nodiscard]] engine::client_engine& engine() noexcept { return *engine_; }
    [[nodiscard]] time_point now() const noexcept { return now_; }
    void read_clock() noexcept { now_ = std::chrono::steady_clock::now(); }
    // Reads the clock and processes what is due.
    void begin_event();
    // Runs an iteration.
    void run_engine();

    // --- the end of the caller's context ---

    void on_context_gone() noexcept override;

private:
    driver(
        const serial_executor& executor, engine::engine_options&& options,
        std::shared_ptr<boost::asio::ssl::context> tls, std::unique_ptr<name_resolver> resolver,
        context_owner owner, const driver* first);

    void wake_loop();
    void cancel_all();
    void take_submissions();
    [[nodiscard]] refusal submit(submission&& next);
    // Starts a call that can be canceled, or that another thread must start.
    [[nodiscard]] refusal start_otherwise(
        keyspace_number where, engine::document_call&& call, engine::completion&& done,
        ticket cancel_with);
    // Only in the loop, and if the keyspace is registered.
    [[nodiscard]] bool can_start_now(keyspace_number where) const noexcept {
        return is_running() && where < keyspaces_.size();
    }
    void start_now(
        keyspace_number where, engine::operation_request&& request, engine::completion&& done,
        ticket cancel_with);
    void start_now(http_submission&& operation);
    void perform(engine::driver_action& action);
    void resolve_srv(const engine::resolve_srv_action& action);
    void start_derivation(engine::derive_key_action&& action);
    void arm_timer();

    context_gate gate_;
    serial_executor executor_;
    engine::engine_options options_;
    connection_table connections_;
    std::optional<steady_timer> timer_;  // empty once the context is gone
    time_point armed_for_ =
        reprise::driver::no_deadline;  // the timer; not later than the engine needs it
    time_point now_{};
    std::unique_ptr<engine::client_engine> engine_;
    engine::action_list actions_;
    std::vector<engine::keyspace_id> keyspaces_;
    cancelable_operations cancelable_;
    bool is_stopping_ = false;
    bool has_missed_queue_ = false;  // while the loop was lent
    bool is_lent_ = false;           // to a caller that waits for its operation
    loop_shift* shift_ = nullptr;    // null: the loop has no thread of ours
    std::vector<submission> taken_;
    std::shared_ptr<submission_places> places_;
    submission_queue queue_;
    handler_memory wake_memory_;
    std::atomic<std::thread::id> running_thread_{};
    std::optional<key_worker> key_worker_;  // likewise
};

}  // namespace reprise::net
