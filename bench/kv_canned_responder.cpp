// A key-value server that answers every get with the same small document, without any lookup: what
// is left of a measurement is the client. Prints its port, then serves until it is ended.

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <poll.h>
#include <unistd.h>

#include <reprise/wire/cluster_configuration_encode.hpp>
#include <reprise/wire/document_messages.hpp>
#include <reprise/wire/frame_reader.hpp>
#include <reprise/wire/session_messages.hpp>

#include "loopback.hpp"

namespace {

namespace wire = reprise::wire;
namespace base = reprise::base;
using bytes = std::vector<std::byte>;

constexpr std::string_view error_map =
    R"({"version":1,"revision":1,"errors":{"1":{"name":"ENOENT","desc":"none","attrs":[]}}})";
constexpr std::string_view document =
    R"({"type":"airline","id":10,"name":"Example Air","iata":"XA","country":"Nowhere"})";
constexpr std::size_t opaque_at = 12;  // in a frame

struct peer {
    int socket = -1;
    bool has_bucket = false;
    wire::frame_reader reader{{.body_size_max_bytes = 4096}};
};

struct canned_answers {
    bytes document_frame;
    std::string bucket_text;  // configuration
    std::string global_text;
};

template <class Message>
void append(bytes& out, const wire::response_header& header, const Message& message) {
    base::byte_writer writer(out);
    (void)message.encode(writer, header);
}

canned_answers make_answers(std::uint16_t port) {
    canned_answers made;
    wire::response_header header;
    header.cas = 1;
    header.datatype = wire::datatype::json;
    const wire::document_response body{0x0200'0000, base::as_bytes(document), {}};
    append(made.document_frame, header, body);
    wire::cluster_configuration_description cluster;
    wire::cluster_node node;
    node.hostname = "127.0.0.1";
    node.ports.set(wire::service::key_value, wire::transport::plain, port);
    node.ports.set(wire::service::management, wire::transport::plain, 8091);
    cluster.nodes = {node};
    cluster.this_node = 0;
    made.global_text = wire::encode_cluster_configuration(cluster);
    cluster.bucket_name = "bench";
    cluster.bucket_uuid = std::string(32, 'b');
    cluster.bucket_capabilities = {"collections"};
    cluster.kv_node_count = 1;
    cluster.vbucket_map.assign(1024, {0});
    made.bucket_text = wire::encode_cluster_configuration(cluster);
    return made;
}

// Everything but a get: slow is fine. Any user is let in.
void answer_rest(
    const wire::frame_view& frame, const canned_answers& answers, peer& from, bytes& out) {
    using enum wire::hello_feature;
    wire::response_header header;
    header.op = frame.op();
    header.opaque = frame.opaque();
    const auto say = [&](std::string_view text) {
        append(out, header, wire::value_response{base::as_bytes(text)});
    };
    switch (frame.op()) {
        case wire::opcode::hello:
            return append(out, header, wire::hello_response{{xerror, json, collections}});
        case wire::opcode::get_error_map:
            return say(error_map);
        case wire::opcode::sasl_list_mechanisms:
            return say("PLAIN");
        case wire::opcode::get_cluster_config:
            return say(from.has_bucket ? answers.bucket_text : answers.global_text);
        case wire::opcode::select_bucket:
            from.has_bucket = true;
            [[fallthrough]];
        default:  // sasl_auth, noop
            return say({});
    }
}

// Answers what has come; false when the peer is gone or talks nonsense.
bool serve(peer& from, const canned_answers& answers, bytes& in, bytes& out) {
    const auto size = ::recv(from.socket, in.data(), in.size(), 0);
    if (size <= 0) {
        return false;
    }
    from.reader.feed(base::byte_view(in).first(static_cast<std::size_t>(size)));
    out.clear();
    auto next = from.reader.next();
    for (; next && *next; next = from.reader.next()) {
        const wire::frame_view& frame = **next;
        if (frame.op() != wire::opcode::get) {
            answer_rest(frame, answers, from, out);
            continue;
        }
        const auto at = out.size();
        out.insert(out.end(), answers.document_frame.begin(), answers.document_frame.end());
        base::store_big_endian(out.data() + at + opaque_at, frame.opaque());
    }
    // Blocks while the peer does not read; a benchmark's peer does.
    return next && ::send(from.socket, out.data(), out.size(), MSG_NOSIGNAL) >= 0;
}

}  // namespace

int main() {
    std::uint16_t port = 0;
    const int listener = bench::listen_on(port);
    std::printf("%d\n", port);
    std::fflush(stdout);
    const canned_answers answers = make_answers(port);
    std::vector<pollfd> waiting{{listener, POLLIN, 0}};
    std::vector<peer> peers(1);  // by index in `waiting`; the first is the listener
    bytes in(std::size_t{64} * 1024);
    bytes out;
    while (::poll(waiting.data(), waiting.size(), -1) > 0) {
        for (std::size_t at = waiting.size() - 1; at > 0; --at) {
            if (waiting[at].revents != 0 && !serve(peers[at], answers, in, out)) {
                ::close(std::exchange(peers[at], std::move(peers.back())).socket);
                waiting[at] = waiting.back();
                peers.pop_back();
                waiting.pop_back();
            }
        }
        if (waiting[0].revents != 0) {
            peers.emplace_back().socket = bench::accept_from(listener);
            waiting.push_back({peers.back().socket, POLLIN, 0});
        }
    }
}
