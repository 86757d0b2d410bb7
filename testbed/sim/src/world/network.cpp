#include "world/network.hpp"

#include <algorithm>
#include <utility>

#include <reprise/base/bytes.hpp>
#include <reprise/wire/frame_reader.hpp>

#include "world/world.hpp"

namespace reprise::sim {
namespace {

using engine::close_reason;
using engine::connect_failure;

wire::frame_limits requests_limits() noexcept {
    wire::frame_limits limits;
    limits.direction = wire::frame_direction::to_server;
    return limits;
}

wire::frame_limits answers_limits() noexcept {
    wire::frame_limits limits;
    limits.direction = wire::frame_direction::to_client;
    return limits;
}

std::string link_name(const sim_link& link) {
    std::string name = "client " + std::to_string(link.client) + " connection " +
                       std::to_string(link.id.value) + " node " + std::to_string(link.node.value);
    if (link.http) {
        name += " ";
        name += wire::to_string(link.http->service);
    }
    return name;
}

// Copies the first `size` bytes of the parts to an empty buffer.
void take_first(std::vector<std::byte>& to, base::byte_views parts, std::size_t size) {
    to.reserve(size);
    for (const base::byte_view part : parts) {
        const base::byte_view taken = part.first(std::min(part.size(), size - to.size()));
        to.insert(to.end(), taken.begin(), taken.end());
    }
}

bool has_server(const sim_link& link) noexcept {
    return link.server || link.hostile || (link.http && link.http->server);
}

}  // namespace

network::network(world& owner)
    : world_(owner),
      node_count_(owner.plan.node_slots()),
      paths_(owner.plan.clients.size() * owner.plan.node_slots()),
      by_connection_(owner.plan.clients.size()),
      services_(owner, *this) {}

duration network::random_latency(sim_link& link) {
    const planned_network& options = world_.plan.network;
    duration time = options.latency + link.random.between(duration::zero(), options.jitter);
    if (link.random.per_mille(options.tail)) {
        time *= 10;
    }
    if (path(link.client, link.node.value).slow > 0) {
        time = time * 30 + std::chrono::milliseconds{20};
    }
    return time;
}

std::uint32_t network::find(std::uint32_t client, std::uint64_t connection) const noexcept {
    const auto& known = by_connection_[client];
    return connection < known.size() ? known[connection] : no_link;
}

std::size_t network::open_count(std::uint32_t client) const noexcept {
    return static_cast<std::size_t>(std::ranges::count_if(links_, [client](const auto& link) {
        return link->client == client && link->state == link_state::open;
    }));
}

bool network::is_connecting(std::uint32_t client) const noexcept {
    return std::ranges::any_of(links_, [client](const auto& link) {
        return link->client == client && link->state == link_state::connecting;
    });
}

// A client whose thread is stalled receives nothing; the event is repeated when it continues.
bool network::is_postponed(std::uint32_t index, event_kind kind) {
    const time_point until = world_.clients[links_[index]->client]->stalled_until;
    if (until <= world_.now) {
        return false;
    }
    world_.queue.push(until, kind, index);
    return true;
}

void network::connect(std::uint32_t client, const engine::connect_action& action) {
    auto made = std::make_unique<sim_link>();
    made->client = client;
    made->begun = world_.now;
    made->id = action.connection;
    made->is_tls = action.transport == wire::transport::tls;
    made->random = random_stream(
        world_.plan.seed ^ 0x6c696e6bU, client * 1'000'003ULL + action.connection.value);
    find_host(*made, action);
    if (const auto service = service_at(action.port, action.transport)) {
        made->http = std::make_unique<service_side>();
        made->http->service = *service;
        made->http->is_address_known = world_.checks.calls.on_connect(client, action);
    }
    const auto index = static_cast<std::uint32_t>(links_.size());
    auto& known = by_connection_[client];
    known.resize(std::max<std::size_t>(known.size(), action.connection.value + 1), no_link);
    known[action.connection.value] = index;
    if (world_.record.is_tracing()) {
        world_.record.line("connect: " + link_name(*made));
    }
    const duration trips = random_latency(*made) * (made->is_tls ? 4 : 2);
    links_.push_back(std::move(made));
    world_.queue.push(world_.now + trips, event_kind::connect_done, index);
}

std::optional<connect_failure> network::accept(std::uint32_t index) {
    sim_link& link = *links_[index];
    if (link.is_tls && !link.is_name_valid) {
        return connect_failure::tls_wrong_host;
    }
    sandbox::accept_options options;
    options.over = link.is_tls ? wire::transport::tls : wire::transport::plain;
    const planned_client& by = world_.clients[link.client]->plan();
    if (!by.uses_scram && !by.uses_bearer) {
        options.certificate_user = user_name;
    }
    auto accepted = world_.cluster.accept(link.node, options);
    if (accepted) {
        link.server.emplace(std::move(*accepted));
        by_server_.resize(
            std::max<std::size_t>(by_server_.size(), link.server->id().value + 1), no_link);
        by_server_[link.server->id().value] = index;
        return std::nullopt;
    }
    // The certificate contains no known user.
    return accepted.error() == sandbox::cluster_errc::unknown_user && link.is_tls
               ? connect_failure::tls_alert
               : connect_failure::refused;
}

void network::on_connect_done(std::uint32_t index) {
    sim_link& link = *links_[index];
    if (link.state != link_state::connecting || is_postponed(index, event_kind::connect_done)) {
        return;
    }
    const path_trouble& trouble = path(link.client, link.node.value);
    if (trouble.ignore > 0 || trouble.blocked_up > 0 || trouble.blocked_down > 0) {
        return;  // until the client gives up
    }
    std::optional<connect_failure> failure;
    if (trouble.no_name > 0) {
        failure = connect_failure::name_not_found;
    } else if (trouble.refuse > 0) {
        failure = connect_failure::refused;
    } else if (trouble.tls > 0) {
        failure = link.is_tls ? trouble.tls_kind : connect_failure::reset;
    } else {
        failure = world_.plan.is_hostile(link.node.value) ? accept_hostile(index)
                  : link.http                             ? services_.accept(index)
                                                          : accept(index);
    }
    sim_client& client = *world_.clients[link.client];
    world_.record.mix(failure ? 1U + static_cast<unsigned>(*failure) : 0U);
    if (failure) {
        link.state = link_state::closed;
        if (world_.record.is_tracing()) {
            world_.record.line(
                "connect failed: " + link_name(link) + ", " +
                std::string(engine::to_string(*failure)));
        }
        world_.checks.views.on_connect_failed(index, *failure);
        client.loops().of(link.id).on_connect_failed(link.id, *failure, {}, world_.now);
    } else {
        link.state = link_state::open;
        link.opened = world_.now;
        if (world_.record.is_tracing()) {
            world_.record.line("connected: " + link_name(link));
        }
        client.loops().of(link.id).on_connected(
            link.id, "10.0.0." + std::to_string(link.node.value), world_.now);
    }
    client.run_engine();
}

void network::close(std::uint32_t client, engine::connection_id id) {
    const std::uint32_t index = find(client, id.value);
    if (index == no_link || links_[index]->state == link_state::closed) {
        return;
    }
    sim_link& link = *links_[index];
    if (world_.record.is_tracing()) {
        world_.record.line("closed by the client: " + link_name(link));
    }
    end_client_side(index, close_reason::requested);
    if (has_server(link)) {
        send_up(index, {}, true);
    }
}

// The client's end is closed; a separate event reports it to the client.
void network::end_client_side(std::uint32_t index, close_reason reason) {
    sim_link& link = *links_[index];
    const bool was_open = link.state == link_state::open;
    link.state = link_state::closed;
    if (was_open) {
        link.closing = reason;
    }
    for (packet& dropped : link.down) {
        buffers_.give(std::move(dropped.bytes));
    }
    link.down.clear();
    if (link.http) {
        link.http->in_flight_down = 0;
    }
    world_.queue.push(world_.now, event_kind::report_closed, index);
}

void network::on_report_closed(std::uint32_t index) {
    if (is_postponed(index, event_kind::report_closed)) {
        return;
    }
    sim_link& link = *links_[index];
    sim_client& client = *world_.clients[link.client];
    if (!link.closing) {
        client.loops().of(link.id).on_connect_failed(
            link.id, connect_failure::canceled, {}, world_.now);
        return client.run_engine();
    }
    // With TLS, the content of the last record is unknown.
    const std::uint64_t left = link.is_tls ? 0 : link.handed - link.taken;
    if (world_.record.is_tracing()) {
        world_.record.line(
            "connection ended: " + link_name(link) + ", " +
            std::string(engine::to_string(*link.closing)) + ", " + std::to_string(left) +
            " bytes not sent");
    }
    world_.record.mix(left);
    if (*link.closing == close_reason::tls_alert) {
        world_.checks.views.on_tls_alert(index);
    }
    world_.checks.on_link_end(link, index, link.handed - left);
    client.loops().of(link.id).on_closed(link.id, *link.closing, left, world_.now);
    client.run_engine();
}

void network::flush(std::uint32_t client, engine::connection_id id) {
    const std::uint32_t index = find(client, id.value);
    if (index != no_link && links_[index]->state == link_state::open &&
        !links_[index]->is_writing) {
        write(index);
    }
}

void sim_link::mark_requests(base::byte_view bytes) {
    std::uint64_t offset = handed;
    requests.clear();
    handed += bytes.size();
    while (!bytes.empty()) {
        const auto scan = wire::scan_frame(bytes, requests_limits());
        if (!scan || !scan->frame) {
            break;
        }
        requests.push_back({scan->frame->opaque(), offset});
        offset += scan->size;
        bytes = bytes.subspan(scan->size);
    }
}

// `parts` are a complete new write.
void network::mark_write(std::uint32_t index, base::byte_views parts) {
    sim_link& link = *links_[index];
    const auto joined = parts.size() == 1 ? std::vector<std::byte>() : base::join(parts);
    const base::byte_view bytes = parts.size() == 1 ? parts.front() : base::byte_view(joined);
    link.http ? services_.mark_call(index, bytes) : link.mark_requests(bytes);
}

void network::write(std::uint32_t index) {
    sim_link& link = *links_[index];
    engine::client_engine& engine = world_.clients[link.client]->loops().of(link.id);
    const planned_network& options = world_.plan.network;
    for (int round = 0; round < 64; ++round) {
        link.is_writing = false;
        const base::byte_views parts = engine.begin_write(link.id, world_.now);
        const std::size_t left = base::total_size(parts);
        if (left == 0) {
            return;
        }
        if (link.taken == link.handed) {
            mark_write(index, parts);
        }
        const bool is_tiny = path(link.client, link.node.value).tiny_writes > 0;
        const std::size_t room =
            options.send_room > link.in_flight_up ? options.send_room - link.in_flight_up : 0;
        const std::size_t size = std::min({left, room, is_tiny ? 1 + link.random.below(40) : left});
        if (size == 0) {
            link.is_writing = true;  // continues once something has arrived
            return;
        }
        std::vector<std::byte> copy = buffers_.take();
        take_first(copy, parts, size);
        link.taken += size;
        link.in_flight_up += size;
        send_up(index, std::move(copy), false);
        if (is_tiny || link.random.percent(options.slow_report)) {
            link.is_writing = true;
            link.unreported = size;
            world_.queue.push(world_.now + random_latency(link), event_kind::report_written, index);
            return;
        }
        engine.on_written(link.id, size, world_.now);
    }
}

void network::on_report_written(std::uint32_t index) {
    sim_link& link = *links_[index];
    if (link.state != link_state::open || is_postponed(index, event_kind::report_written)) {
        return;
    }
    sim_client& client = *world_.clients[link.client];
    client.loops().of(link.id).on_written(link.id, std::exchange(link.unreported, 0), world_.now);
    write(index);
    client.run_engine();
}

void network::on_write_more(std::uint32_t index) {
    sim_link& link = *links_[index];
    if (link.state != link_state::open || !link.is_writing || link.unreported != 0 ||
        is_postponed(index, event_kind::write_more)) {
        return;
    }
    write(index);
    world_.clients[link.client]->run_engine();
}

void network::send_up(std::uint32_t index, std::vector<std::byte>&& bytes, bool is_end) {
    sim_link& link = *links_[index];
    link.up_last = std::max(link.up_last, world_.now + random_latency(link));
    link.up.push_back({link.up_last, std::move(bytes), is_end});
    world_.queue.push(link.up_last, event_kind::deliver_up, index);
}

void network::send_down(std::uint32_t index, std::vector<std::byte>&& bytes, bool is_end) {
    sim_link& link = *links_[index];
    link.down_last = std::max(link.down_last, world_.now + random_latency(link));
    link.down.push_back({link.down_last, std::move(bytes), is_end});
    world_.queue.push(link.down_last, event_kind::deliver_down, index);
}

void network::on_deliver_up(std::uint32_t index) {
    sim_link& link = *links_[index];
    while (!link.up.empty() && link.up.front().due <= world_.now &&
           path(link.client, link.node.value).blocked_up == 0 && !services_.is_frozen(link)) {
        packet next = std::move(link.up.front());
        link.up.pop_front();
        link.in_flight_up -= next.bytes.size();
        world_.record.mix(next.bytes.size());
        if (has_server(link) && next.is_end) {
            drop_server(index);
        } else if (link.hostile) {
            serve_hostile(index, next.bytes);
        } else if (link.http) {
            services_.serve(index, next.bytes);
        } else if (link.server) {
            std::vector<std::byte> out = buffers_.take();
            link.server->on_bytes(world_.server_now(), next.bytes, out);
            after_server(index, std::move(out));
        }
        buffers_.give(std::move(next.bytes));
        if (link.is_writing && link.unreported == 0) {
            world_.queue.push(world_.now, event_kind::write_more, index);
        }
    }
    pump_wakeups();
}

void sim_link::mark_answers(base::byte_view bytes) {
    std::uint64_t end = sent_down - unread.size();
    sent_down += bytes.size();
    if (!is_readable) {
        return;
    }
    std::vector<std::byte> joined;
    if (!unread.empty()) {
        joined = std::exchange(unread, {});
        joined.insert(joined.end(), bytes.begin(), bytes.end());
        bytes = joined;
    }
    while (!bytes.empty()) {
        const auto scan = wire::scan_frame(bytes, answers_limits());
        if (!scan) {
            is_readable = false;
            return;
        }
        if (!scan->frame) {
            unread.assign(bytes.begin(), bytes.end());
            return;
        }
        bytes = bytes.subspan(scan->size);
        end += scan->size;
        if (!scan->frame->is_server_push()) {
            answers.push_back(
                {end, scan->frame->opaque(), static_cast<std::uint16_t>(scan->frame->status()),
                 scan->frame->op(), scan->frame->cas()});
        }
    }
}

// The server has sent something, or has nothing more to send.
void network::after_server(std::uint32_t index, std::vector<std::byte>&& out) {
    sim_link& link = *links_[index];
    link.mark_answers(out);
    if (!out.empty() && link.state != link_state::closed) {
        send_down(index, std::move(out), false);
    } else {
        buffers_.give(std::move(out));
    }
    if (link.server->is_closing()) {
        drop_server(index);
        return;
    }
    if (const auto due = link.server->next_due()) {
        const time_point at = std::max(world_.now, world_.now + (*due - world_.server_now()));
        if (link.server_due != at) {
            link.server_due = at;
            world_.queue.push(at, event_kind::server_timer, index);
        }
    }
}

void network::drop_server(std::uint32_t index) {
    sim_link& link = *links_[index];
    link.server.reset();
    link.hostile.reset();
    if (link.http) {
        link.http->server.reset();
    }
    if (link.state != link_state::closed) {
        send_down(index, {}, true);
    }
}

void network::on_server_timer(std::uint32_t index) {
    sim_link& link = *links_[index];
    if (!has_server(link) || link.server_due != world_.now) {
        return;
    }
    link.server_due.reset();
    if (link.http) {
        return services_.on_timer(index);
    }
    std::vector<std::byte> out = buffers_.take();
    link.server->on_time(world_.server_now(), out);
    after_server(index, std::move(out));
    pump_wakeups();
}

void network::pump_wakeups() {
    while (world_.cluster.has_wakeups()) {
        woken_.clear();
        world_.cluster.take_wakeups(woken_);
        for (const sandbox::connection_id id : woken_) {
            const std::uint32_t index =
                id.value < by_server_.size() ? by_server_[id.value] : no_link;
            if (index == no_link || !links_[index]->server) {
                continue;
            }
            std::vector<std::byte> out = buffers_.take();
            links_[index]->server->on_time(world_.server_now(), out);
            after_server(index, std::move(out));
        }
    }
}

void network::on_deliver_down(std::uint32_t index) {
    sim_link& link = *links_[index];
    if (link.down.empty() || link.state != link_state::open ||
        is_postponed(index, event_kind::deliver_down)) {
        return;
    }
    while (!link.down.empty() && link.down.front().due <= world_.now &&
           link.state == link_state::open && path(link.client, link.node.value).blocked_down == 0 &&
           !(link.http && link.http->is_paused)) {
        packet next = std::move(link.down.front());
        link.down.pop_front();
        world_.record.mix(next.bytes.size());
        if (next.is_end) {
            end_client_side(
                index, link.random.percent(50) ? close_reason::end_of_stream : close_reason::reset);
        } else {
            if (link.http) {
                link.http->in_flight_down -= next.bytes.size();
            }
            deliver(index, next.bytes);
            buffers_.give(std::move(next.bytes));
        }
    }
    if (link.http && link.http->server) {
        std::vector<std::byte> out = buffers_.take();
        services_.after_server(index, out);
        buffers_.give(std::move(out));
    }
}

// Notifies the checkers of the answers that the client is about to receive, then delivers the bytes
// to the client, in one or two pieces.
void network::deliver(std::uint32_t index, std::vector<std::byte>& bytes) {
    sim_link& link = *links_[index];
    sim_client& client = *world_.clients[link.client];
    base::byte_view rest(bytes);
    const bool is_split = rest.size() > 1 && link.random.percent(world_.plan.network.split);
    std::size_t size = is_split ? 1 + link.random.below(rest.size() - 1) : rest.size();
    while (!rest.empty() && link.state == link_state::open) {
        size = std::min(size, rest.size());
        if (link.http) {
            services_.note_left_over(
                link, std::span(bytes).subspan(bytes.size() - rest.size(), size));
        }
        link.got_down += size;
        link.received_last = world_.now;
        world_.checks.views.on_bytes(index);
        while (!link.answers.empty() && link.answers.front().end <= link.got_down) {
            const sim_link::answer_mark answer = link.answers.front();
            link.answers.pop_front();
            world_.checks.on_answer(link, index, answer);
        }
        client.loops().of(link.id).on_bytes(link.id, rest.first(size), world_.now);
        client.run_engine();
        if (link.http) {
            world_.checks.calls.after_bytes(index);
        }
        rest = rest.subspan(size);
        size = rest.size();
    }
}

void network::resume(std::uint32_t client, std::uint32_t node) {
    for (std::uint32_t index = 0; index < links_.size(); ++index) {
        const sim_link& link = *links_[index];
        if (link.client == client && link.node.value == node) {
            world_.queue.push(world_.now, event_kind::deliver_up, index);
            world_.queue.push(world_.now, event_kind::deliver_down, index);
        }
    }
}

// The connection breaks. What the client has sent reaches the server first, or never.
void network::reset(std::uint32_t client, std::uint32_t node, bool is_lossy) {
    for (std::uint32_t index = 0; index < links_.size(); ++index) {
        sim_link& link = *links_[index];
        if (link.client != client || link.node.value != node || link.state != link_state::open) {
            continue;
        }
        end_client_side(
            index,
            link.is_tls && link.random.percent(5) ? close_reason::tls_alert : close_reason::reset);
        if (is_lossy) {
            link.server.reset();
            link.hostile.reset();
            if (link.http) {
                link.http->server.reset();
            }
            link.up.clear();
            link.in_flight_up = 0;
        } else if (has_server(link)) {
            send_up(index, {}, true);
        }
    }
}

// Bytes that cannot be the start of a frame.
void network::send_garbage(std::uint32_t client, std::uint32_t node, std::uint64_t detail) {
    for (std::uint32_t index = 0; index < links_.size(); ++index) {
        sim_link& link = *links_[index];
        if (link.client == client && link.node.value == node && link.state == link_state::open &&
            has_server(link) && !link.hostile && link.unread.empty()) {
            std::vector<std::byte> bytes(24 + detail % 40, static_cast<std::byte>(detail | 0xe0U));
            if (link.http) {
                services_.send_garbage(index, std::move(bytes));
                continue;
            }
            link.mark_answers(bytes);
            send_down(index, std::move(bytes), false);
        }
    }
}

}  // namespace reprise::sim
