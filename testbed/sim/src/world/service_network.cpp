#include "world/service_network.hpp"

#include <algorithm>
#include <charconv>
#include <utility>

#include <reprise/sandbox/services.hpp>

#include "world/world.hpp"

namespace reprise::sim {

namespace {

// How far a body may be ahead of its reader. Bytes.
constexpr std::size_t body_ahead_max_bytes = std::size_t{32} * 1024;
// The largest piece that is delivered at once. Bytes.
constexpr std::size_t segment_size_max_bytes = 4096;

// The number in the field that every request of a call carries; empty if there is none.
std::optional<std::uint32_t> number_in(std::string_view head) {
    const std::size_t at = head.find(call_number_field);
    if (at == std::string_view::npos) {
        return std::nullopt;
    }
    const std::string_view rest = head.substr(at + call_number_field.size() + 2);
    std::uint32_t number = 0;
    const auto read = std::from_chars(rest.data(), rest.data() + rest.size(), number);
    return read.ec == std::errc{} ? std::optional(number) : std::nullopt;
}

// Whether the effect makes an answer unreadable.
bool corrupts_answer(const sandbox::service_fault_effect& effect) noexcept {
    const auto* wrong = std::get_if<sandbox::service_fault_wrong_length>(&effect);
    return (wrong != nullptr && wrong->difference < 0) ||
           std::holds_alternative<sandbox::service_fault_bad_chunk>(effect) ||
           std::holds_alternative<sandbox::service_fault_unasked_encoding>(effect);
}

bool is_corrupted_by(sandbox::cluster& cluster, std::uint64_t rule) {
    const auto& rules = cluster.services().faults().entries();
    const auto found = std::ranges::find(rules, rule, &sandbox::service_fault_list::entry::id);
    return found != rules.end() && corrupts_answer(found->rule.effect);
}

}  // namespace

service_network::service_network(world& owner, network& net)
    : world_(owner), net_(net), serving_(no_link) {}

std::optional<engine::connect_failure> service_network::accept(std::uint32_t index) {
    sim_link& link = net_.link(index);
    const bool is_up = world_.cluster.topology().state_of(link.node) == sandbox::node_state::up;
    if (!is_up || !link.http->is_address_known) {
        return engine::connect_failure::refused;
    }
    sandbox::service_accept_options options;
    options.node = link.node;
    options.service = link.http->service;
    const planned_client& by = world_.clients[link.client]->plan();
    if (!by.uses_scram && !by.uses_bearer) {
        options.certificate_user = user_name;
        if (link.is_tls && world_.cluster.accounts().find_user(user_name) == nullptr) {
            return engine::connect_failure::tls_alert;  // the certificate contains no known user
        }
    }
    link.http->server.emplace(world_.cluster, std::move(options));
    return std::nullopt;
}

bool service_network::is_frozen(const sim_link& link) const {
    return link.http && world_.cluster.disturbances().of(link.node).is_silent();
}

void service_network::set_reading(std::uint32_t client, engine::connection_id id, bool is_paused) {
    const std::uint32_t index = net_.find(client, id.value);
    if (index == no_link || !net_.link(index).http) {
        return;
    }
    net_.link(index).http->is_paused = is_paused;
    if (!is_paused) {
        world_.queue.push(world_.now, event_kind::deliver_down, index);
    }
}

void service_network::mark_call(std::uint32_t index, base::byte_view bytes) {
    sim_link& link = net_.link(index);
    const std::string_view text = base::as_text(bytes);
    const std::string_view head = text.substr(0, text.find("\r\n\r\n"));
    link.http->offset = link.handed;
    link.handed += bytes.size();
    world_.checks.calls.on_sent(index, number_in(head), head.substr(0, head.find("\r\n")));
}

void service_network::serve(std::uint32_t index, base::byte_view bytes) {
    sim_link& link = net_.link(index);
    if (!link.http->server) {
        return;
    }
    std::vector<std::byte> out = net_.buffers_.take();
    serving_ = index;
    link.http->server->on_bytes(world_.server_now(), bytes, out);
    serving_ = no_link;
    after_server(index, out);
    net_.buffers_.give(std::move(out));
}

void service_network::on_audit(const sandbox::service_audit_entry& entry) {
    if (serving_ == no_link) {
        return;
    }
    service_side& side = *net_.link(serving_).http;
    side.is_being_sent = true;
    side.parser = http::response_parser();
    if (entry.fault_id != 0 && is_corrupted_by(world_.cluster, entry.fault_id)) {
        side.is_corrupt = true;
    }
    world_.checks.calls.on_audit(serving_, entry);
}

bool service_network::mark_answer(std::uint32_t index, base::byte_view bytes) {
    sim_link& link = net_.link(index);
    service_side& side = *link.http;
    link.sent_down += bytes.size();
    if (!side.is_being_sent || bytes.empty()) {
        return false;
    }
    side.parser.feed(bytes);
    auto event = side.parser.next();
    while (event && *event != http::response_event::need_more &&
           *event != http::response_event::complete) {
        event = side.parser.next();
    }
    if (!event) {
        side.is_being_sent = false;
        side.is_corrupt = true;
        world_.checks.calls.on_corrupted(index);
        return false;
    }
    const bool is_complete = *event == http::response_event::complete;
    if (is_complete) {
        side.is_being_sent = false;
        sim_link::answer_mark whole;
        whole.end = link.sent_down;
        whole.opaque = side.owner;
        whole.status = static_cast<std::uint16_t>(side.parser.head().status);
        link.answers.push_back(whole);
    }
    return is_complete;
}

void service_network::after_server(std::uint32_t index, std::vector<std::byte>& out) {
    sim_link& link = net_.link(index);
    service_side& side = *link.http;
    while (side.server->has_more() && !is_frozen(link) && link.state != link_state::closed &&
           side.in_flight_down + out.size() < body_ahead_max_bytes) {
        side.server->on_time(world_.server_now(), out);
    }
    if (mark_answer(index, out)) {
        add_left_over(index, out);
    }
    for (base::byte_view rest(out); !rest.empty() && link.state != link_state::closed;) {
        const base::byte_view piece = rest.first(std::min(rest.size(), segment_size_max_bytes));
        side.in_flight_down += piece.size();
        net_.send_down(index, {piece.begin(), piece.end()}, false);
        rest = rest.subspan(piece.size());
    }
    send_late_left_over(index);
    const std::optional<sandbox::time_point> due = side.server->next_due();
    if (side.server->is_closing()) {
        net_.drop_server(index);
    } else if (due) {
        const time_point at = std::max(world_.now, world_.now + (*due - world_.server_now()));
        if (link.server_due != at) {
            link.server_due = at;
            world_.queue.push(at, event_kind::server_timer, index);
        }
    }
}

void service_network::on_timer(std::uint32_t index) {
    sim_link& link = net_.link(index);
    if (is_frozen(link)) {
        return;  // repeated when the node is released
    }
    std::vector<std::byte> out = net_.buffers_.take();
    serving_ = index;  // a request that waited for the answer is handled here
    link.http->server->on_time(world_.server_now(), out);
    serving_ = no_link;
    after_server(index, out);
    net_.buffers_.give(std::move(out));
}

void service_network::refresh() {
    for (std::uint32_t index = 0; index < net_.link_count(); ++index) {
        sim_link& link = net_.link(index);
        if (!link.http || !link.http->server) {
            continue;
        }
        if (world_.cluster.topology().state_of(link.node) != sandbox::node_state::up) {
            net_.drop_server(index);
        } else if (!is_frozen(link)) {
            link.server_due = world_.now;
            world_.queue.push(world_.now, event_kind::deliver_up, index);
            world_.queue.push(world_.now, event_kind::server_timer, index);
        }
    }
}

void service_network::send_garbage(std::uint32_t index, std::vector<std::byte>&& bytes) {
    sim_link& link = net_.link(index);
    link.http->is_corrupt = true;
    link.http->in_flight_down += bytes.size();
    link.sent_down += bytes.size();
    world_.checks.calls.on_corrupted(index);
    net_.send_down(index, std::move(bytes), false);
}

}  // namespace reprise::sim
