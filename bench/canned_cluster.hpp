#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <poll.h>
#include <unistd.h>

#include <reprise/base/bytes.hpp>
#include <reprise/wire/frame_reader.hpp>

#include "loopback.hpp"

// The key-value side of a server with prepared answers, so that a measurement shows mainly the
// client. It has one bucket named "bench", accepts any user and has every collection "c<number>".

namespace bench {

using reply_bytes = std::vector<std::byte>;

struct canned_peer {
    int socket = -1;
    bool has_bucket = false;
    reprise::wire::frame_reader reader{{.body_size_max_bytes = 4096}};
};

// Ports of a node; 0 for a service that it does not have.
struct node_ports {
    std::uint16_t kv = 0;
    std::uint16_t kv_tls = 0;
    std::uint16_t query = 0;
};

class canned_cluster {
public:
    explicit canned_cluster(node_ports only_node) : canned_cluster(std::vector{only_node}) {}
    // The vbuckets are dealt out to the nodes in turn.
    explicit canned_cluster(const std::vector<node_ports>& nodes, std::size_t vbucket_count = 1024);

    // Appends the answer to a request that is not a measured operation. It may be slow.
    void answer(const reprise::wire::frame_view& frame, canned_peer& from, reply_bytes& out) const;

private:
    std::string bucket_text_;  // configuration
    std::string global_text_;
};

// Answers what has arrived with `answer(frame, peer, out)`. Returns false if the peer is gone or
// sends invalid frames.
template <class Answer>
bool serve_peer(canned_peer& from, const Answer& answer, reply_bytes& in, reply_bytes& out) {
    const auto size = ::recv(from.socket, in.data(), in.size(), 0);
    if (size <= 0) {
        return false;
    }
    from.reader.feed(reprise::base::byte_view(in).first(static_cast<std::size_t>(size)));
    out.clear();
    auto next = from.reader.next();
    for (; next && *next; next = from.reader.next()) {
        answer(**next, from, out);
    }
    // Blocks while the peer does not read. The peer of a benchmark does.
    return next && ::send(from.socket, out.data(), out.size(), MSG_NOSIGNAL) >= 0;
}

// Serves all connections on this thread until the program is terminated.
template <class Answer>
void serve_peers(int listener, const Answer& answer) {
    std::vector<pollfd> waiting{{listener, POLLIN, 0}};
    std::vector<canned_peer> peers(1);  // by index in `waiting`; the first is the listener
    reply_bytes in(std::size_t{64} * 1024);
    reply_bytes out;
    while (::poll(waiting.data(), waiting.size(), -1) > 0) {
        for (std::size_t at = waiting.size() - 1; at > 0; --at) {
            if (waiting[at].revents != 0 && !serve_peer(peers[at], answer, in, out)) {
                ::close(std::exchange(peers[at], std::move(peers.back())).socket);
                waiting[at] = waiting.back();
                peers.pop_back();
                waiting.pop_back();
            }
        }
        if (waiting[0].revents != 0) {
            peers.emplace_back().socket = accept_from(listener);
            waiting.push_back({peers.back().socket, POLLIN, 0});
        }
    }
}

}  // namespace bench
