#pragma once

// A cluster for tests that plays the servers of one client_engine in virtual time. It answers the
// bootstrap, keeps documents in a map, and lets the test replace any answer. There are no sockets
// and no sleeps: time passes only in `advance`.

#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <reprise/engine/client_engine.hpp>
#include <reprise/engine/vocabulary.hpp>
#include <reprise/wire/cluster_configuration_encode.hpp>
#include <reprise/wire/cluster_messages.hpp>
#include <reprise/wire/document_messages.hpp>
#include <reprise/wire/error_context.hpp>
#include <reprise/wire/error_map.hpp>
#include <reprise/wire/frame_reader.hpp>
#include <reprise/wire/sasl.hpp>
#include <reprise/wire/session_messages.hpp>
#include <reprise/wire/vbucket.hpp>

#include "scripted_http.hpp"

namespace reprise::engine::testing {

using namespace std::chrono_literals;
using wire::opcode;
using wire::status;

// The state of one node, and its faults. Tests may change the fields at any time.
struct scripted_node {
    std::string host;
    std::uint16_t port = 11210;
    bool refuses_connections = false;
    bool ignores_connections = false;
    std::optional<connect_failure> connect_failure_kind;
    // The same, for its HTTP services only.
    bool ignores_http_connections = false;
    std::optional<connect_failure> http_connect_failure_kind;
    std::string mechanisms = "SCRAM-SHA512 SCRAM-SHA256 SCRAM-SHA1 PLAIN";
    std::optional<wire::status> sasl_status;  // answer to AUTH that replaces the login
    std::optional<wire::status> select_status;
    bool refuses_collections = false;  // answers 0x83 to select bucket if they were negotiated
    std::optional<wire::status> hello_status;
    std::optional<wire::status> config_status;
    std::optional<wire::status> error_map_status;
    std::string error_map_text;  // empty: a small valid one
    bool is_error_map_empty = false;
    wire::hello_feature_set withheld;  // never granted
    // The configuration that it sends. Empty: the cluster's.
    std::string configuration_text;
    bool is_silent = false;        // reads, but never answers
    wire::service_ports services;  // offered in addition to key-value and management
};

struct seen_request {
    std::size_t node = 0;
    connection_id connection{};
    wire::opcode op{};
    std::uint32_t opaque = 0;
    std::string key;
    std::string value;
    std::string extras;
    std::uint16_t vbucket = 0;
    std::uint64_t cas = 0;
    time_point at{};
    wire::magic magic{};
};

// The bytes of an answer.
template <class Message>
std::vector<std::byte> encoded(const Message& message, const wire::response_header& header) {
    std::vector<std::byte> bytes;
    base::byte_writer writer(bytes);
    EXPECT_TRUE(message.encode(writer, header).has_value());
    return bytes;
}

inline wire::response_header header_for(std::uint32_t opaque, wire::opcode op = wire::opcode::get) {
    wire::response_header header;
    header.op = op;
    header.opaque = opaque;
    return header;
}

class scripted_cluster {
public:
    explicit scripted_cluster(std::size_t node_count, std::size_t vbucket_count = 4) {
        for (std::size_t index = 0; index < node_count; ++index) {
            scripted_node node;
            node.host = "node" + std::to_string(index + 1);
            nodes.push_back(std::move(node));
        }
        for (std::size_t row = 0; row < vbucket_count; ++row) {
            map.push_back({static_cast<std::int16_t>(row % node_count)});
        }
    }

    // A test's answer to a request. Empty: the usual answer.
    struct scripted_answer {
        bool is_silent = false;  // no answer at all
        bool closes = false;     // closes instead of answering
        bool applies = false;    // applies the request before it closes or stays silent
        wire::status status = wire::status::success;
        std::string value{};
        wire::datatype datatype = wire::datatype::raw;
        std::string raw{};  // if not empty, these bytes replace the frame, also before it closes
        int copies = 1;     // how often it is sent
        std::optional<std::uint32_t> opaque{};
    };
    using hook = std::function<std::optional<scripted_answer>(const seen_request&)>;

    std::vector<scripted_node> nodes;
    std::string bucket = "travel";
    std::string password = "secret";
    wire::configuration_revision revision{1, 10};
    wire::vbucket_rows map;
    wire::vbucket_rows forward_map;
    std::size_t data_node_count = 0;  // 0: all nodes
    bool can_prepare_and_run = true;  // whether statements need only one request
    bool can_scan = true;             // whether the bucket has range scans
    bool has_collections = false;     // whether the bucket has them, according to the configuration
    std::map<std::string, std::uint32_t> collections{{"_default._default", 0}};
    std::uint64_t manifest_uid = 1;
    hook on_request;
    // Called for every HTTP request, whatever the service.
    std::function<scripted_http_answer(const seen_http_request&)> on_http;
    // Gives the same answer to all requests with these opcodes.
    void answer_all(std::set<wire::opcode> ops, const scripted_answer& with) {
        answer_where([ops](const seen_request& seen) { return ops.contains(seen.op); }, with);
    }
    void answer_all(wire::opcode op, const scripted_answer& with) {
        answer_all(std::set{op}, with);
    }
    // Gives the same answer to all requests that `is_meant` selects.
    template <class Predicate>
    void answer_where(Predicate is_meant, const scripted_answer& with) {
        on_request = [is_meant, with](const seen_request& seen) mutable {
            return is_meant(seen) ? std::optional(with) : std::nullopt;
        };
    }
    // Requests with this opcode get the answers that `hook` returns.
    void answer_each(wire::opcode op, hook answer_to) {
        on_request = [op, answer_to](const seen_request& seen) {
            return seen.op == op ? answer_to(seen) : std::nullopt;
        };
    }
    // Answers the first `count` requests with this opcode with `code`.
    void refuse(wire::opcode op, wire::status code, std::size_t count = std::size_t(-1)) {
        answer_where(
            [op, left = count](const seen_request& seen) mutable {
                const bool is_refused = seen.op == op && left > 0;
                left -= is_refused ? 1 : 0;
                return is_refused;
            },
            {.status = code});
    }
    // Gives the same answer to all HTTP requests.
    void answer_http(const scripted_http_answer& with) {
        on_http = [with](const seen_http_request&) { return with; };
    }
    std::vector<seen_http_request> http_requests;
    std::vector<seen_request> requests;  // all received requests, including the bootstrap

    std::string configuration_text(std::size_t this_node) const {
        wire::cluster_configuration_description configuration;
        configuration.revision = revision;
        configuration.bucket_name = bucket;
        configuration.bucket_uuid = "0123456789abcdef0123456789abcdef";
        configuration.collections_manifest_uid = manifest_uid;
        for (const scripted_node& node : nodes) {
            wire::cluster_node entry;
            entry.hostname = node.host;
            entry.ports = node.services;
            entry.ports.set(wire::service::key_value, wire::transport::plain, node.port);
            entry.ports.set(wire::service::key_value, wire::transport::tls, 11207);
            entry.ports.set(wire::service::management, wire::transport::plain, 8091);
            configuration.nodes.push_back(std::move(entry));
        }
        configuration.kv_node_count = data_node_count == 0 ? nodes.size() : data_node_count;
        configuration.vbucket_map = map;
        configuration.forward_map = forward_map;
        configuration.this_node = this_node;
        if (can_scan) {
            configuration.bucket_capabilities.emplace_back("rangeScan");
        }
        if (has_collections) {
            configuration.bucket_capabilities.emplace_back("collections");
        }
        if (can_prepare_and_run) {
            configuration.cluster_capabilities = {{"n1ql", "enhancedPreparedStatements"}};
        }
        return wire::encode_cluster_configuration(configuration);
    }

    std::size_t count(wire::opcode op) const {
        std::size_t result = 0;
        for (const seen_request& request : requests) {
            result += request.op == op ? 1U : 0U;
        }
        return result;
    }
    std::vector<seen_request> all(wire::opcode op) const {
        std::vector<seen_request> result;
        for (const seen_request& request : requests) {
            if (request.op == op) {
                result.push_back(request);
            }
        }
        return result;
    }

    struct stored_document {
        std::string value;
        std::uint32_t flags = 0;
        std::uint64_t cas = 0;
    };
    std::map<std::string, stored_document> documents;
    std::uint64_t next_cas = 1000;
};
using answer = scripted_cluster::scripted_answer;

}  // namespace reprise::engine::testing
