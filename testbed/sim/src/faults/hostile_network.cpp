#include <utility>

#include <reprise/base/byte_writer.hpp>
#include <reprise/wire/frame.hpp>

#include "world/host_names.hpp"
#include "world/network.hpp"
#include "world/world.hpp"

// The network's part of servers that lie: connections of the hostile seed, answers of the cluster
// with wrong lengths, and configurations that were not published.

namespace reprise::sim {

std::optional<engine::connect_failure> network::accept_hostile(std::uint32_t index) {
    sim_link& link = *links_[index];
    if (link.host != host_kind::of_cluster) {
        return accept_at_foreign_host(index);
    }
    if (link.is_tls) {
        return engine::connect_failure::tls_untrusted;  // its certificate has no trusted signature
    }
    if (link.http) {
        world_.checks.trust.on_trusted(index, "connects to an HTTP service that only it announces");
        return engine::connect_failure::refused;
    }
    link.hostile = std::make_unique<hostile_peer>(
        random_stream(link.random.next()), host_of(world_.plan, link.node.value));
    return std::nullopt;
}

void network::serve_hostile(std::uint32_t index, base::byte_view bytes) {
    sim_link& link = *links_[index];
    const std::uint32_t logins = link.hostile->login_count();
    std::vector<std::byte> out = buffers_.take();
    link.hostile->on_bytes(bytes, out);
    if (link.hostile->login_count() != logins) {
        world_.checks.trust.on_hostile_login(index);
    }
    if (link.hostile->has_seen_password()) {
        world_.checks.trust.on_trusted(index, "sends the password to it in clear text");
    }
    if (link.hostile->is_trusted()) {
        world_.checks.trust.on_trusted(index, "continues although it has not proved anything");
    }
    link.mark_answers(out);
    if (!out.empty() && link.state != link_state::closed) {
        send_down(index, std::move(out), false);
    } else {
        buffers_.give(std::move(out));
    }
    if (link.hostile->is_closing()) {
        drop_server(index);
    }
}

// The claimed length is larger than any frame, or covers the following bytes, which then count as
// its body.
void network::lie_about_length(std::uint32_t client, std::uint32_t node, std::uint64_t detail) {
    for (std::uint32_t index = 0; index < links_.size(); ++index) {
        sim_link& link = *links_[index];
        if (link.client != client || link.node.value != node || link.state != link_state::open ||
            !link.server || !link.unread.empty()) {
            continue;
        }
        std::vector<std::byte> bytes;
        base::byte_writer writer(bytes);
        wire::frame_parts parts;
        parts.magic = wire::magic::response;
        parts.opaque = 0x7fff'ff00U + static_cast<std::uint32_t>(detail % 256);
        (void)wire::encode_frame(writer, parts);
        const std::uint32_t claimed =
            detail % 3 == 0 ? 0xffff'ffffU : 1 + static_cast<std::uint32_t>(detail % 2000);
        for (std::size_t byte = 0; byte < 4; ++byte) {
            bytes[8 + byte] = static_cast<std::byte>(claimed >> (24U - 8U * byte));
        }
        link.mark_answers(bytes);
        send_down(index, std::move(bytes), false);
    }
}

std::size_t network::push_configuration(std::uint32_t node, const std::vector<std::byte>& bytes) {
    std::size_t count = 0;
    for (std::uint32_t index = 0; index < links_.size(); ++index) {
        sim_link& link = *links_[index];
        if (link.node.value == node && link.state == link_state::open && link.server &&
            link.unread.empty() && world_.checks.views.is_bootstrapped(index) &&
            world_.clients[link.client]->loops().configuration(bucket_name) != nullptr) {
            link.mark_answers(bytes);
            send_down(index, std::vector<std::byte>(bytes), false);
            ++count;
        }
    }
    return count;
}

}  // namespace reprise::sim
