#include "key_value/session.hpp"

#include <algorithm>
#include <utility>

#include <reprise/base/byte_writer.hpp>
#include <reprise/wire/cluster_messages.hpp>
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
    : cluster_(cluster), node_(node), id_(id), peer_(options.peer) {
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
    delayed_size_ = 0;
    trickling_.reset();
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
        hold(bytes);
        return;
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
        close();
        return;
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

const fault_entry* session::find_fault(const audit_entry& entry) {
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
    const fault_entry* fault = find_fault(entry);
    const fault_effect* effect = nullptr;
    if (fault != nullptr) {
        entry.fault_id = fault->id;
        effect = &fault->rule.effect;
    }
    const std::size_t start = out.size();
    if (effect != nullptr && std::holds_alternative<fault_close_before>(*effect)) {
        entry.fate = answer_fate::closed;
        close();
        cluster_.audit.commit(entry);
        return;
    }
    conversation_.has_commands_in_flight =
        !delayed_.empty() || trickling_.has_value() || !awaited_.empty();
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
    } else if (!delayed_.empty() || trickling_) {
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

time_point session::due_in_order(time_point due, bool is_reorderable) const noexcept {
    // An ordered answer goes after everything that waits, an unordered one only after ordered
    // answers.
    for (const delayed_answer& waiting : delayed_) {
        if (!is_reorderable || !waiting.is_reorderable) {
            due = std::max(due, waiting.due);
        }
    }
    return due;
}

void session::settle_answer(
    time_point now, const answer_shape& shape, std::size_t start, audit_entry& entry,
    std::vector<std::byte>& out) {
    const bool may_overtake = is_reorderable(entry.op);
    const time_point due = due_in_order(now + shape.delay, may_overtake);
    const bool leaves_now =
        due <= now && !trickling_.has_value() && shape.interval == std::chrono::nanoseconds{0};
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
    delayed_size_ += later.bytes.size();
    if (delayed_size_ > connection::held_size_max_bytes) {
        close();
        return;
    }
    // Sorted by due time; equal times keep the order of the requests.
    const auto at = std::ranges::upper_bound(delayed_, later.due, {}, &delayed_answer::due);
    delayed_.insert(at, std::move(later));
}

void session::send_due(time_point now, std::vector<std::byte>& out) {
    while (!is_closing_) {
        if (!trickling_) {
            if (delayed_.empty() || delayed_.front().due > now) {
                return;
            }
            trickling_ = std::move(delayed_.front());
            delayed_.pop_front();
        }
        delayed_answer& next = *trickling_;
        const bool is_whole = next.shape.interval == std::chrono::nanoseconds{0};
        const std::size_t size = is_whole ? next.bytes.size() : std::size_t{1};
        while (next.sent_size < next.bytes.size() && next.due <= now) {
            const auto at = next.bytes.begin() + static_cast<std::ptrdiff_t>(next.sent_size);
            out.insert(out.end(), at, at + static_cast<std::ptrdiff_t>(size));
            next.sent_size += size;
            next.due += next.shape.interval;
        }
        if (next.sent_size < next.bytes.size()) {
            return;
        }
        const bool closes = next.shape.closes;
        delayed_size_ -= next.bytes.size();
        trickling_.reset();
        if (closes) {
            close();
        }
    }
}

std::optional<time_point> session::next_due() const noexcept {
    if (node_.disturbance.is_silent()) {
        return std::nullopt;
    }
    time_point due = time_point::max();
    if (trickling_) {
        due = trickling_->due;
    } else if (!delayed_.empty()) {
        due = delayed_.front().due;
    }
    if (!awaited_.empty()) {
        due = std::min(due, cluster_.pending_due);
    }
    return due == time_point::max() ? std::nullopt : std::optional(due);
}

bool session::is_subscribed() const noexcept {
    return conversation_.user &&
           (conversation_.has(hello_feature::clustermap_change_notification) ||
            conversation_.has(hello_feature::clustermap_change_notification_brief));
}

bool session::wants_push(
    const known_configuration& configuration,
    const configuration_progress& progress) const noexcept {
    return is_subscribed() && configuration.is_known() &&
           progress.announced < configuration.revision();
}

void session::on_configuration() {
    if (is_closing_) {
        return;
    }
    const bool is_due =
        wants_push(node_.global_configuration, conversation_.global_progress) ||
        (conversation_.local != nullptr &&
         wants_push(conversation_.local->configuration, conversation_.bucket_progress));
    if (is_due) {
        cluster_.wake(*this);
    }
}

void session::push(
    const known_configuration& configuration, std::string_view bucket,
    configuration_progress& progress, std::vector<std::byte>& out) {
    if (!wants_push(configuration, progress)) {
        return;
    }
    progress.announced = configuration.revision();
    if (!conversation_.has(hello_feature::clustermap_change_notification_brief)) {
        progress.sent = configuration.revision();
    }
    write_push(configuration, bucket, out);
}

void session::write_push(
    const known_configuration& configuration, std::string_view bucket,
    std::vector<std::byte>& out) const {
    wire::cluster_map_change_notification message;
    message.epoch = configuration.revision().epoch;
    message.rev = configuration.revision().rev;
    message.bucket = bucket;
    if (!conversation_.has(hello_feature::clustermap_change_notification_brief)) {
        const bool is_corrupt = node_.disturbance.is_configuration_corrupt;
        const bool is_compressed =
            conversation_.has(hello_feature::snappy_everywhere) && !is_corrupt;
        const std::string_view text =
            is_corrupt ? corrupted(configuration.text()) : std::string_view(configuration.text());
        message.config =
            is_compressed ? base::byte_view(configuration.compressed()) : base::as_bytes(text);
        message.datatype = is_compressed ? wire::datatype::snappy : wire::datatype::raw;
        if (conversation_.has(hello_feature::json)) {
            message.datatype = message.datatype | wire::datatype::json;
        }
    }
    base::byte_writer writer(out);
    (void)message.encode(writer);
}

void session::replay_configuration() {
    if (!is_closing_ && is_subscribed()) {
        is_replay_due_ = true;
        cluster_.wake(*this);
    }
}

void session::send_pushes(std::vector<std::byte>& out) {
    if (trickling_ || !is_subscribed()) {
        return;  // in the middle of a frame, or not subscribed
    }
    // A peer that reads slowly gets the newest configuration later instead of all of them.
    is_push_delayed_ = out.size() >= connection::push_pause_bytes;
    if (is_push_delayed_) {
        return;
    }
    if (std::exchange(is_replay_due_, false)) {
        const known_configuration older_global = node_.global_configuration.older();
        if (older_global.is_known()) {
            write_push(older_global, {}, out);
        }
        const known_configuration older = conversation_.local != nullptr
                                              ? conversation_.local->configuration.older()
                                              : known_configuration();
        if (older.is_known()) {
            write_push(older, bucket_name(), out);
        }
    }
    if (conversation_.local != nullptr) {
        push(conversation_.local->configuration, bucket_name(), conversation_.bucket_progress, out);
    }
    push(node_.global_configuration, {}, conversation_.global_progress, out);
}

}  // namespace reprise::sandbox::detail
