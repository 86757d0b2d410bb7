#include "session.hpp"

#include <algorithm>
#include <utility>

#include <reprise/base/byte_writer.hpp>
#include <reprise/wire/cluster_messages.hpp>
#include <reprise/wire/frame_reader.hpp>

#include "dispatcher.hpp"

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
        const user_options& user = cluster.users.find(options.certificate_user)->second.options;
        conversation_.is_certificate_login = true;
        conversation_.user = identity{user.name, user.buckets, user.can_access_system_xattrs};
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
}

void session::close_from_cluster() {
    conversation_.bucket = nullptr;
    conversation_.local = nullptr;
    close();
    cluster_.wake(*this);
}

bool session::mark_woken() noexcept {
    return !std::exchange(is_woken_, true);
}

void session::on_bytes(time_point now, base::byte_view bytes, std::vector<std::byte>& out) {
    if (is_closing_) {
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
    if (is_closing_) {
        return;
    }
    send_due(now, out);
    send_pushes(out);
    if (has_backlog_) {
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
    // Handlers may close, which clears `held_`: look at the bytes from a place of their own.
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
            // No way to find the next frame.
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
        // Only of documents: the values of SASL messages are secrets.
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
    conversation_.has_commands_in_flight = !delayed_.empty();
    request current(cluster_, node_, conversation_, frame, now, entry, out);
    std::chrono::nanoseconds delay{0};
    if (const auto* status = effect ? std::get_if<fault_status>(effect) : nullptr) {
        current.answer_fault(*status);
    } else {
        if (const auto* delaying = effect ? std::get_if<fault_delay>(effect) : nullptr) {
            delay = delaying->delay;
        }
        // The rule list may change only between requests, so `effect` stays valid.
        dispatch(current);
    }
    if (effect != nullptr && std::holds_alternative<fault_no_answer>(*effect)) {
        out.resize(start);
        entry.fate = answer_fate::withheld;
    } else if (effect != nullptr && std::holds_alternative<fault_close_after>(*effect)) {
        out.resize(start);
        entry.fate = answer_fate::closed;
        close();
    } else {
        settle_answer(now, delay, start, entry, out);
    }
    if (current.is_closing()) {
        close();
    }
    cluster_.audit.commit(entry);
}

void session::settle_answer(
    time_point now, std::chrono::nanoseconds delay, std::size_t start, audit_entry& entry,
    std::vector<std::byte>& out) {
    const bool is_reorderable = conversation_.has(hello_feature::unordered_execution) &&
                                wire::opcode_info(entry.op).is_reorderable;
    time_point due = now + delay;
    // In order: behind everything that waits. Out of order: only behind what must stay in order.
    for (const delayed_answer& waiting : delayed_) {
        if (!is_reorderable || !waiting.is_reorderable) {
            due = std::max(due, waiting.due);
        }
    }
    if (due <= now || out.size() == start) {
        return;
    }
    entry.fate = answer_fate::delayed;
    const auto first = out.begin() + static_cast<std::ptrdiff_t>(start);
    delayed_answer later{due, is_reorderable, std::vector<std::byte>(first, out.end())};
    out.resize(start);
    delayed_size_ += later.bytes.size();
    if (delayed_size_ > connection::held_size_max_bytes) {
        close();
        return;
    }
    // Sorted by due time; equal times keep the order of the requests.
    const auto at = std::ranges::upper_bound(delayed_, due, {}, &delayed_answer::due);
    delayed_.insert(at, std::move(later));
}

void session::send_due(time_point now, std::vector<std::byte>& out) {
    while (!delayed_.empty() && delayed_.front().due <= now) {
        const auto& bytes = delayed_.front().bytes;
        out.insert(out.end(), bytes.begin(), bytes.end());
        delayed_size_ -= bytes.size();
        delayed_.pop_front();
    }
}

std::optional<time_point> session::next_due() const noexcept {
    return delayed_.empty() ? std::nullopt : std::optional(delayed_.front().due);
}

bool session::wants_push(
    const known_configuration& configuration,
    const configuration_progress& progress) const noexcept {
    const bool is_subscribed =
        conversation_.has(hello_feature::clustermap_change_notification) ||
        conversation_.has(hello_feature::clustermap_change_notification_brief);
    return is_subscribed && conversation_.user && configuration.is_known() &&
           progress.told < configuration.revision();
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
    wire::cluster_map_change_notification message;
    message.epoch = configuration.revision().epoch;
    message.rev = configuration.revision().rev;
    message.bucket = bucket;
    progress.told = configuration.revision();
    if (!conversation_.has(hello_feature::clustermap_change_notification_brief)) {
        const bool is_compressed = conversation_.has(hello_feature::snappy_everywhere);
        message.config = is_compressed ? base::byte_view(configuration.compressed())
                                       : base::as_bytes(configuration.text());
        message.datatype = is_compressed ? wire::datatype::snappy : wire::datatype::raw;
        if (conversation_.has(hello_feature::json)) {
            message.datatype = message.datatype | wire::datatype::json;
        }
        progress.sent = configuration.revision();
    }
    base::byte_writer writer(out);
    (void)message.encode(writer);
}

void session::send_pushes(std::vector<std::byte>& out) {
    if (conversation_.local != nullptr) {
        push(conversation_.local->configuration, bucket_name(), conversation_.bucket_progress, out);
    }
    push(node_.global_configuration, {}, conversation_.global_progress, out);
}

}  // namespace reprise::sandbox::detail
