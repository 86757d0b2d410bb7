#pragma once

#include <cstddef>
#include <optional>
#include <string_view>
#include <vector>

#include <reprise/base/bytes.hpp>
#include <reprise/sandbox/cluster.hpp>
#include <reprise/sandbox/connection.hpp>

#include "cluster_state.hpp"
#include "key_value/answer_queue.hpp"
#include "key_value/configuration_pushes.hpp"
#include "key_value/request.hpp"

namespace reprise::sandbox::detail {

// One connection to one node: splits bytes into requests, applies fault rules and orders the
// answers. The handlers interpret the requests.
class session {
public:
    session(
        cluster_state& cluster, node_record& node, connection_id id, const accept_options& options);
    ~session();
    session(const session&) = delete;
    session& operator=(const session&) = delete;

    connection_id id() const noexcept { return id_; }
    node_id node() const noexcept { return node_.id; }
    std::string_view bucket_name() const noexcept;

    void on_bytes(time_point now, base::byte_view bytes, std::vector<std::byte>& out);
    void on_time(time_point now, std::vector<std::byte>& out);
    std::optional<time_point> next_due() const noexcept;
    bool has_backlog() const noexcept { return has_backlog_; }
    bool has_delayed_push() const noexcept { return pushes_.is_delayed(); }
    bool is_closing() const noexcept { return is_closing_; }
    bool is_aborted() const noexcept { return is_aborted_; }

    // The node has new configurations. Wakes up the connection if it is subscribed to one.
    void on_configuration();
    // The node or the bucket was removed.
    void close_from_cluster();
    // The node was killed.
    void abort_from_cluster();
    // The node may send again, if it could not before.
    void resume();
    // Pushes the node's previous configuration before the current one, if this connection is
    // subscribed.
    void replay_configuration();
    // Answers a pending durable write of this connection: it was applied, or its result is
    // ambiguous.
    void on_committed(time_point now, std::uint64_t pending_id, std::uint64_t seqno);
    void on_ambiguous(time_point now, std::uint64_t pending_id);
    // Returns false if it is already in the list of wake-ups.
    bool mark_woken() noexcept;
    void clear_woken() noexcept { is_woken_ = false; }

private:
    // The answer to a pending durable write.
    struct awaited_answer {
        std::uint64_t pending_id = 0;
        wire::opcode op{};
        std::uint32_t opaque = 0;
        std::optional<fault_effect> effect;
        std::vector<std::byte> bytes;  // the answer in case of success
    };

    // Handles complete frames at the start of `bytes` and returns their size.
    std::size_t process(time_point now, base::byte_view bytes, std::vector<std::byte>& out);
    void process_held(time_point now, std::vector<std::byte>& out);
    void hold(base::byte_view bytes);
    void on_frame(time_point now, const wire::frame_view& frame, std::vector<std::byte>& out);
    // Fills in what is known about a request before it is executed.
    void describe(time_point now, const wire::frame_view& frame, audit_entry& entry) const;
    const fault_list::entry* find_fault(const audit_entry& entry);
    // Applies a rule to the answer that begins at `start` of `out`.
    answer_shape shape_answer(
        const fault_effect& effect, std::size_t start, answer_fate& fate,
        std::vector<std::byte>& out);
    // If the answer that begins at `start` of `out` must wait, moves it to the waiting answers.
    void settle_answer(
        time_point now, const answer_shape& shape, std::size_t start, audit_entry& entry,
        std::vector<std::byte>& out);
    // Closes the connection if too much waits.
    void queue_answer(delayed_answer later);
    bool is_reorderable(wire::opcode op) const noexcept;
    // The answer at `start` belongs to a durable write that is pending.
    void await_answer(
        const request& current, const fault_effect* effect, std::size_t start,
        std::vector<std::byte>& out);
    std::optional<awaited_answer> take_awaited(std::uint64_t pending_id);
    void send_awaited(time_point now, awaited_answer& ready);
    // Whether a request must wait for pending writes before it is handled.
    bool must_wait(wire::opcode op) const noexcept;
    void send_due(time_point now, std::vector<std::byte>& out);
    void send_pushes(std::vector<std::byte>& out);
    void close() noexcept;

    cluster_state& cluster_;
    node_record& node_;
    connection_id id_;
    std::string peer_;
    conversation conversation_;
    std::vector<std::byte> held_;  // bytes of requests not yet handled
    configuration_pushes pushes_;
    answer_queue delayed_;
    std::vector<awaited_answer> awaited_;
    bool has_backlog_ = false;
    bool is_closing_ = false;
    bool is_aborted_ = false;
    bool is_woken_ = false;
};

}  // namespace reprise::sandbox::detail
