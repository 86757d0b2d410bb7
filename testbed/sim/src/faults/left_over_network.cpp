#include <algorithm>
#include <chrono>
#include <span>
#include <string>
#include <utility>

#include "world/network.hpp"
#include "world/world.hpp"

// Left-over bytes: what follows an HTTP answer and belongs to no answer.

namespace reprise::sim {
namespace {

using namespace std::chrono_literals;

// A complete answer that nobody asked for. The field shows the checkers where it came from.
std::string unasked_answer() {
    const std::string body = R"({"results":[],"status":"success"})";
    return "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n" + std::string(left_over_field) +
           ": yes\r\nContent-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body;
}

std::vector<std::byte> bytes_of(std::string_view text) {
    const base::byte_view view = base::as_bytes(text);
    return {view.begin(), view.end()};
}

}  // namespace

// `out` ends with a complete answer. Adds bytes to it, or sends them later.
void service_network::add_left_over(std::uint32_t index, std::vector<std::byte>& out) {
    sim_link& link = net_.link(index);
    service_side& side = *link.http;
    if (net_.path(link.client, link.node.value).left_over <= 0 || side.left_over ||
        link.random.percent(50)) {
        return;
    }
    std::string text = link.random.percent(70) ? unasked_answer() : "\r\n";
    // Some of it is sent at once, the rest a little later.
    std::size_t now_size = text.size();
    if (link.random.percent(60)) {
        now_size = link.random.percent(50) ? 0 : link.random.below(text.size());
    }
    side.left_over = link.sent_down;
    side.is_corrupt = true;  // whatever comes next may be taken for an answer
    link.sent_down += text.size();
    const std::vector<std::byte> head = bytes_of(std::string_view(text).substr(0, now_size));
    out.insert(out.end(), head.begin(), head.end());
    side.late = bytes_of(std::string_view(text).substr(now_size));
}

// Sends what was kept back. It arrives while the connection is idle, or instead of an answer.
void service_network::send_late_left_over(std::uint32_t index) {
    sim_link& link = net_.link(index);
    std::vector<std::byte> late = std::exchange(link.http->late, {});
    if (late.empty() || link.state == link_state::closed) {
        return;
    }
    link.http->in_flight_down += late.size();
    link.down_last = std::max(link.down_last, world_.now + net_.random_latency(link)) +
                     link.random.between(duration{0}, duration{20ms});
    link.down.push_back({link.down_last, std::move(late), false});
    world_.queue.push(link.down_last, event_kind::deliver_down, index);
}

void service_network::note_left_over(const sim_link& link, std::span<std::byte> bytes) {
    const std::optional<std::uint64_t>& begin = link.http->left_over;
    if (!begin || *begin < link.got_down || *begin >= link.got_down + bytes.size()) {
        return;
    }
    const bool is_behind = *begin > link.got_down;
    if (!is_behind && link.http->is_awaited) {
        bytes[0] = std::byte{'\r'};
        bytes[bytes.size() > 1 ? 1 : 0] = std::byte{'\n'};
    }
    world_.situations.note(
        is_behind               ? situation::bytes_behind_answer
        : link.http->is_awaited ? situation::bytes_instead_of_answer
                                : situation::bytes_while_idle);
}

}  // namespace reprise::sim
