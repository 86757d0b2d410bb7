#include "canned_cluster.hpp"

#include <charconv>
#include <string_view>

#include <reprise/wire/cluster_configuration_encode.hpp>
#include <reprise/wire/cluster_messages.hpp>
#include <reprise/wire/document_messages.hpp>
#include <reprise/wire/session_messages.hpp>

namespace bench {

namespace wire = reprise::wire;
namespace base = reprise::base;

namespace {

constexpr std::string_view error_map =
    R"({"version":1,"revision":1,"errors":{"1":{"name":"ENOENT","desc":"none","attrs":[]}}})";

template <class Message>
void append(reply_bytes& out, const wire::response_header& header, const Message& message) {
    base::byte_writer writer(out);
    (void)message.encode(writer, header);
}

// The id of the collection "<scope>.c<number>".
wire::collection_id collection_of(const wire::frame_view& frame) {
    constexpr std::uint32_t first_id = 8;
    const auto asked = wire::get_collection_id_request::decode(frame);
    std::uint32_t number = 0;
    if (asked) {
        const std::string_view digits = asked->path.substr(asked->path.rfind('c') + 1);
        (void)std::from_chars(digits.data(), digits.data() + digits.size(), number);
    }
    return wire::collection_id{first_id + number};
}

}  // namespace

canned_cluster::canned_cluster(const std::vector<node_ports>& nodes, std::size_t vbucket_count) {
    wire::cluster_configuration_description cluster;
    for (const node_ports& ports : nodes) {
        wire::cluster_node& node = cluster.nodes.emplace_back();
        node.hostname = "127.0.0.1";
        node.ports.set(wire::service::key_value, wire::transport::plain, ports.kv);
        node.ports.set(wire::service::management, wire::transport::plain, 8091);
        if (ports.kv_tls != 0) {
            node.ports.set(wire::service::key_value, wire::transport::tls, ports.kv_tls);
            node.ports.set(wire::service::management, wire::transport::tls, 18091);
        }
        if (ports.query != 0) {
            node.ports.set(wire::service::query, wire::transport::plain, ports.query);
        }
    }
    cluster.this_node = 0;
    global_text_ = wire::encode_cluster_configuration(cluster);
    cluster.bucket_name = "bench";
    cluster.bucket_uuid = std::string(32, 'b');
    cluster.bucket_capabilities = {"collections"};
    cluster.kv_node_count = nodes.size();
    for (std::size_t vbucket = 0; vbucket < vbucket_count; ++vbucket) {
        cluster.vbucket_map.push_back({static_cast<std::int16_t>(vbucket % nodes.size())});
    }
    bucket_text_ = wire::encode_cluster_configuration(cluster);
}

void canned_cluster::answer(
    const wire::frame_view& frame, canned_peer& from, reply_bytes& out) const {
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
            return say(from.has_bucket ? bucket_text_ : global_text_);
        case wire::opcode::get_collection_id:
            return append(out, header, wire::collection_id_response{1, collection_of(frame)});
        case wire::opcode::select_bucket:
            from.has_bucket = true;
            [[fallthrough]];
        default:  // sasl_auth, noop
            return say({});
    }
}

}  // namespace bench
