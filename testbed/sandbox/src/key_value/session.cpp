#include "key_value/session.hpp"

#include <algorithm>
#include <utility>

#include <reprise/wire/frame_reader.hpp>

#include "key_value/dispatcher.hpp"

namespace reprise::sandbox::detail {

namespace {

using wire::hello_feature;

constexpr wire::frame_limits request_limits{
    .body_size_max_bytes = 21u * 1024u * 1024u,
    .direction = wire::frame_direction::to_server,
};

}  // namespace

session::session(
    cluster_state& cluster, node_record& node, connection_id id, const accept_options& options)
    : cluster_(cluster), node_(node), id_(id), peer_(options.peer), pushes_(node_, conversation_) {
    conversation_.over = options.over;
    if (!options.certificate_user.empty()) {
        const user_options& user = *cluster.accounts.find_user(options.certificate_user);
        conversation_.is_certificate_login = true;
        conversation_.user = cluster.identity_of(user);
    }
    cluster_.sessions.emplace(id.value, this);
}

session::~session() {
    cluster_.sessions.erase(id_.value);
}

std::string_view session::bucket_name() const noexcept {
    return conversation_.bucket == nullptr ? std::string_view()
                                           : std::string_view(conversation_.bucket->options.name);
}

void session::close() noexcept {
    is_closing_ = true;
    has_backlog_ = false;
    held_.clear();
    delayed_.clear();
    awaited_.clear();
}

void session::close_from_cluster() {
    conversation_.bucket = nullptr;
    conversation_.local = nullptr;
    close();
    cluster_.wake(*this);
}

void session::abort_from_cluster() {
    is_aborted_ = true;
    close_from_cluster();
}

void session::resume() {
    if (!is_closing_) {
        cluster_.wake(*this);
    }
}

bool session::mark_woken() noexcept {
    return !std::exchange(is_woken_, true);
}

void session::on_bytes(time_point now, base::byte_view bytes, std::vector<std::byte>& out) {
    cluster_.on_time(now);
    if (is_closing_) {
        return;
    }
    if (node_.disturbance.is_silent()) {
        return hold(bytes);
    }
    send_due(now, out);
    send_pushes(out);
    if (held_.empty()) {
        const std::size_t handled = process(now, bytes, out);
        if (!is_closing_) {
            hold(bytes.subspan(handled));
        }
        return;
    }
    hold(bytes);
    process_held(now, out);
}

void session::on_time(time_point now, std::vector<std::byte>& out) {
    cluster_.on_time(now);
    if (is_closing_ || node_.disturbance.is_silent()) {
        return;
    }
    send_due(now, out);
    send_pushes(out);
    // Requests wait for the peer to read, for a pending write, or for a frozen node.
    if (!held_.empty()) {
        process_held(now, out);
    }
}

void session::hold(base::byte_view bytes) {
    if (held_.size() + bytes.size() > connection::held_size_max_bytes) {
        return close();
    }
    held_.insert(held_.end(), bytes.begin(), bytes.end());
}

void session::process_held(time_point now, std::vector<std::byte>& out) {
    if (is_closing_) {
        return;
    }
    // Handlers may close the session, which clears `held_`, so move the bytes out first.
    std::vector<std::byte> bytes = std::move(held_);
    held_.clear();
    const std::size_t handled = process(now, bytes, out);
    if (!is_closing_) {
        bytes.erase(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(handled));
        held_ = std::move(bytes);
    }
}

std::size_t session::process(time_point now, base::byte_view bytes, std::vector<std::byte>& out) {
    std::size_t handled = 0;
    has_backlog_ = false;
    while (!is_closing_) {
        const auto scan = wire::scan_frame(bytes.subspan(handled), request_limits);
        if (!scan) {
            // There is no way to find the next frame.
            close();
            break;
        }
        if (!scan->frame) {
            break;
        }
        if (out.size() >= connection::output_pause_bytes) {
            has_backlog_ = true;
            break;
        }
        if (!awaited_.empty() && must_wait(scan->frame->op())) {
            break;
        }
        on_frame(now, *scan->frame, out);
        handled += scan->size;
    }
    return handled;
}

void session::describe(time_point now, const wire::frame_view& frame, audit_entry& entry) const {
    entry.time = now;
    entry.node = node_.id;
    entry.connection = id_;
    entry.client_id = conversation_.agent.client_id;
    entry.client_connection_id = conversation_.agent.connection_id;
    entry.opaque = frame.opaque();
    entry.op = frame.op();
    entry.bucket.assign(bucket_name());
    entry.vbucket = frame.vbucket();
    std::string_view key = base::as_text(frame.key());
    if (wire::opcode_info(frame.op()).has_document_key) {
        const auto decoded = wire::decode_document_key(frame.key(), conversation_.key_form());
        if (decoded) {
            entry.collection = decoded->collection;
            key = decoded->key;
        }
        // Only for documents: the values of SASL messages are secrets.
        const std::string_view value = base::as_text(frame.value());
        entry.value_start.assign(value.substr(0, audit_value_start_size_max));
    }
    entry.key.assign(key);
}

const fault_list::entry* session::find_fault(const audit_entry& entry) {
    if (cluster_.faults.empty()) {
        return nullptr;
    }
    return cluster_.faults.decide({entry.op, entry.key, entry.node, entry.bucket});
}

void session::on_frame(time_point now, const wire::frame_view& frame, std::vector<std::byte>& out) {
    if (frame.magic() == wire::magic::server_response) {
        return;
    }
    audit_entry& entry = cluster_.audit.begin();
    describe(now, frame, entry);
    const fault_list::entry* fault = find_fault(entry);
    const fault_effect* effect = nullptr;
    if (fault != nullptr) {
        entry.fault_id = fault->id;
        effect = &fault->rule.effect;
    }
    const std::size_t start = out.size();
    if (effect != nullptr && std::holds_alternative<fault_close_before>(*effect)) {
        entry.fate = answer_fate::closed;
        close();
        return cluster_.audit.commit(entry);
    }
    conversation_.has_commands_in_flight = !delayed_.empty() || !awaited_.empty();
    request current(cluster_, node_, conversation_, frame, now, entry, out);
    if (const auto* status = effect ? std::get_if<fault_status>(effect) : nullptr) {
        current.answer_fault(*status);
    } else {
        // The rule list changes only between requests, so `effect` stays valid.
        dispatch(current);
    }
    if (current.pending_id != 0) {
        entry.fate = answer_fate::pending;
        await_answer(current, effect, start, out);
    } else if (effect != nullptr) {
        const answer_shape shape = shape_answer(*effect, start, entry.fate, out);
        settle_answer(now, shape, start, entry, out);
    } else if (!delayed_.empty()) {
        settle_answer(now, {}, start, entry, out);
    }
    if (current.is_closing()) {
        close();
    }
    cluster_.audit.commit(entry);
}

bool session::is_reorderable(wire::opcode op) const noexcept {
    return conversation_.has(hello_feature::unordered_execution) &&
           wire::opcode_info(op).is_reorderable;
}

void session::settle_answer(
    time_point now, const answer_shape& shape, std::size_t start, audit_entry& entry,
    std::vector<std::byte>& out) {
    const bool may_overtake = is_reorderable(entry.op);
    const time_point due = delayed_.due_in_order(now + shape.delay, may_overtake);
    const bool leaves_now =
        due <= now && !delayed_.is_inside_frame() && shape.interval == std::chrono::nanoseconds{0};
    if (leaves_now || out.size() == start) {
        if (shape.closes) {
            close();
        }
        return;
    }
    if (entry.fate == answer_fate::sent) {
        entry.fate = answer_fate::delayed;
    }
    const auto first = out.begin() + static_cast<std::ptrdiff_t>(start);
    delayed_answer later{due, shape, may_overtake, std::vector<std::byte>(first, out.end())};
    out.resize(start);
    queue_answer(std::move(later));
    send_due(now, out);
}

void session::queue_answer(delayed_answer later) {
    if (!delayed_.push(std::move(later))) {
        close();
    }
}

void session::send_due(time_point now, std::vector<std::byte>& out) {
    if (!delayed_.send_due(now, out)) {
        close();
    }
}

std::optional<time_point> session::next_due() const noexcept {
    if (node_.disturbance.is_silent()) {
        return std::nullopt;
    }
    time_point due = delayed_.next_due().value_or(time_point::max());
    if (!awaited_.empty()) {
        due = std::min(due, cluster_.pending_due);
    }
    return due == time_point::max() ? std::nullopt : std::optional(due);
}

void session::on_configuration() {
    if (!is_closing_ && pushes_.is_due()) {
        cluster_.wake(*this);
    }
}

void session::replay_configuration() {
    if (!is_closing_ && pushes_.is_subscribed()) {
        pushes_.replay();
        cluster_.wake(*this);
    }
}

void session::send_pushes(std::vector<std::byte>& out) {
    if (!delayed_.is_inside_frame()) {
        pushes_.send(out);
    }
}

}  // namespace reprise::sandbox::detail
