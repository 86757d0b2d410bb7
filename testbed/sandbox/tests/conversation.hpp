#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <reprise/base/byte_reader.hpp>
#include <reprise/base/byte_writer.hpp>
#include <reprise/sandbox/cluster.hpp>
#include <reprise/wire/cluster_messages.hpp>
#include <reprise/wire/document_messages.hpp>
#include <reprise/wire/frame_reader.hpp>
#include <reprise/wire/observe_messages.hpp>
#include <reprise/wire/sasl.hpp>
#include <reprise/wire/session_messages.hpp>
#include <reprise/wire/subdoc_messages.hpp>
#include <reprise/wire/vbucket.hpp>

// Talks to a cluster like a client: messages in, frames out.

namespace sandbox_testing {

namespace base = reprise::base;
namespace sandbox = reprise::sandbox;
namespace wire = reprise::wire;
using wire::hello_feature;
using wire::opcode;
using wire::status;

inline constexpr sandbox::time_point start_of_time{std::chrono::seconds(1'735'689'600)};

inline wire::hello_feature_set usual_features() {
    return {
        hello_feature::mutation_seqno,
        hello_feature::xattr,
        hello_feature::xerror,
        hello_feature::select_bucket,
        hello_feature::json,
        hello_feature::alt_request_support,
        hello_feature::sync_replication,
        hello_feature::collections,
        hello_feature::preserve_ttl,
        hello_feature::vattr,
        hello_feature::get_cluster_config_with_known_version,
    };
}

inline wire::hello_feature_set without(wire::hello_feature_set set, hello_feature feature) {
    set.erase(feature);
    return set;
}

inline wire::hello_feature_set with(wire::hello_feature_set set, hello_feature feature) {
    set.insert(feature);
    return set;
}

// A request of any shape, even one that the encoders refuse to write.
struct raw_request {
    wire::magic magic = wire::magic::request;
    opcode op = opcode::get;
    wire::datatype datatype = wire::datatype::raw;
    std::uint16_t vbucket = 0;
    std::uint64_t cas = 0;
    base::byte_view framing_extras{};
    base::byte_view extras{};
    base::byte_view key{};
    base::byte_view value{};
};

// A frame that owns its data.
struct reply {
    wire::magic magic{};
    opcode op{};
    wire::status status{};
    wire::datatype datatype{};
    std::uint32_t opaque = 0;
    std::uint64_t cas = 0;
    std::string framing;
    std::string extras;
    std::string key;
    std::string value;

    std::uint32_t u32(std::size_t at) const {
        return base::byte_reader(base::as_bytes(std::string_view(extras).substr(at))).read_u32();
    }
    std::uint64_t u64(std::size_t at) const {
        return base::byte_reader(base::as_bytes(std::string_view(extras).substr(at))).read_u64();
    }
};

inline std::vector<reply> cut_replies(base::byte_view bytes) {
    std::vector<reply> replies;
    wire::frame_reader reader({.direction = wire::frame_direction::to_client});
    reader.feed(bytes);
    for (auto frame = reader.next(); frame && *frame; frame = reader.next()) {
        const wire::frame_view& f = **frame;
        replies.push_back(
            {f.magic(), f.op(), f.status(), f.datatype(), f.opaque(), f.cas(),
             std::string(base::as_text(f.framing_extras())), std::string(base::as_text(f.extras())),
             std::string(base::as_text(f.key())), std::string(base::as_text(f.value()))});
    }
    EXPECT_TRUE(reader.is_at_boundary());
    return replies;
}

inline sandbox::cluster_options small_options(std::size_t node_count = 1) {
    sandbox::cluster_options options;
    options.node_count = node_count;
    options.vbucket_count = 16;
    options.scram_iterations = 16;
    options.buckets = {{.name = "travel", .scopes = {{"inventory", {"airline", "hotel"}}}}};
    options.users = {{.name = "app", .password = "secret", .bearer_token = "ey.J.x"}};
    return options;
}

inline sandbox::cluster make_cluster(sandbox::cluster_options options = small_options()) {
    auto made = sandbox::cluster::make(std::move(options));
    EXPECT_TRUE(made) << made.error();
    return std::move(*made);
}

// One connection and its current time.
class peer {
public:
    explicit peer(
        sandbox::cluster& cluster, std::uint32_t node = 0, sandbox::accept_options options = {})
        : connection_(std::move(cluster.accept(sandbox::node_id{node}, options).value())) {}

    sandbox::connection& connection() { return connection_; }
    sandbox::time_point now = start_of_time;

    // Sends bytes and returns all frames that were sent back.
    std::vector<reply> send(base::byte_view bytes) {
        std::vector<std::byte> out;
        connection_.on_bytes(now, bytes, out);
        return cut_replies(out);
    }
    std::vector<reply> tick(std::chrono::nanoseconds later = {}) {
        now += later;
        std::vector<std::byte> out;
        connection_.on_time(now, out);
        return cut_replies(out);
    }

    template <class Message>
    std::vector<std::byte> bytes_of(const Message& message, wire::request_header header = {}) {
        if (header.opaque == 0) {
            header.opaque = ++opaque_;
        }
        std::vector<std::byte> bytes;
        base::byte_writer writer(bytes);
        const auto encoded = message.encode(writer, header);
        EXPECT_TRUE(encoded) << to_string(encoded.error());
        return bytes;
    }
    // Sends one request and returns its single answer.
    template <class Message>
    reply ask(const Message& message, wire::request_header header = {}) {
        const auto replies = send(bytes_of(message, header));
        EXPECT_EQ(replies.size(), 1u);
        return replies.empty() ? reply{} : replies.front();
    }
    reply ask_raw(const raw_request& request) {
        wire::frame_parts parts;
        parts.magic = request.magic;
        parts.op = request.op;
        parts.datatype = request.datatype;
        parts.vbucket_or_status = request.vbucket;
        parts.opaque = ++opaque_;
        parts.cas = request.cas;
        parts.framing_extras = request.framing_extras;
        parts.extras = request.extras;
        parts.key = request.key;
        parts.value = request.value;
        std::vector<std::byte> bytes;
        base::byte_writer writer(bytes);
        EXPECT_TRUE(wire::encode_frame(writer, parts));
        const auto replies = send(bytes);
        EXPECT_EQ(replies.size(), 1u);
        return replies.empty() ? reply{} : replies.front();
    }

    reply hello(wire::hello_feature_set features, std::string_view agent = "test") {
        return ask(wire::hello_request{agent, features});
    }
    status login(
        std::string user = "app", std::string password = "secret",
        wire::sasl_mechanism mechanism = wire::sasl_mechanism::scram_sha512) {
        const bool is_bearer = mechanism == wire::sasl_mechanism::oauthbearer;
        wire::sasl_client client(
            mechanism, {user, password, is_bearer ? password : std::string()}, "66388cf5bfcf7522",
            {.iterations_min = 1});
        const std::string first = client.start().value();
        reply answer =
            ask(wire::sasl_request{opcode::sasl_auth, to_string(mechanism), base::as_bytes(first)});
        if (answer.status == status::auth_continue) {
            const auto salted = wire::derive_key(client.on_challenge(answer.value).value());
            const std::string proof = client.on_key(salted).value();
            answer = ask(
                wire::sasl_request{opcode::sasl_step, to_string(mechanism), base::as_bytes(proof)});
        }
        if (answer.status == status::success) {
            EXPECT_TRUE(client.on_success(answer.value));
        }
        return answer.status;
    }
    status select(std::string_view bucket = "travel") {
        return ask(wire::select_bucket_request{bucket}).status;
    }
    // Sends HELLO, logs in and selects the bucket.
    peer& ready(wire::hello_feature_set features = usual_features()) {
        form_ = features.contains(hello_feature::collections) ? wire::key_form::collection_prefixed
                                                              : wire::key_form::bare;
        EXPECT_EQ(hello(features).status, status::success);
        EXPECT_EQ(login(), status::success);
        EXPECT_EQ(select(), status::success);
        return *this;
    }

    wire::document_key key(std::string_view name, std::uint32_t collection = 0) const {
        return {wire::collection_id{collection}, name, form_};
    }
    reply get(std::string_view name) {
        return ask(wire::document_request{opcode::get, key(name)}, at(name));
    }
    reply set(std::string_view name, std::string_view value, std::uint64_t cas = 0) {
        return store(opcode::set, name, value, cas);
    }
    reply store(
        opcode op, std::string_view name, std::string_view value, std::uint64_t cas = 0,
        std::uint32_t flags = 0, std::uint32_t expiry = 0) {
        return ask(
            wire::store_request{op, key(name), flags, expiry, base::as_bytes(value)},
            at(name, cas));
    }
    // The header for a key in a cluster with 16 vbuckets.
    static wire::request_header at(std::string_view name, std::uint64_t cas = 0) {
        wire::request_header header;
        header.vbucket = wire::vbucket_of(name, 16);
        header.cas = cas;
        return header;
    }

private:
    sandbox::connection connection_;
    std::uint32_t opaque_ = 0;
    wire::key_form form_ = wire::key_form::collection_prefixed;
};

// A connection to this node, logged in with the bucket selected.
inline peer ready_on(sandbox::cluster& cluster, std::uint32_t node) {
    peer made(cluster, node);
    made.ready();
    return made;
}

// A cluster of one node with one connection.
struct one_peer {
    sandbox::cluster cluster = make_cluster();
    peer client{cluster};
};
// The same, logged in with the bucket selected.
struct ready_peer : one_peer {
    ready_peer() { client.ready(); }
};

// A key whose active copy is on `node`, in a bucket with 16 vbuckets.
inline std::string key_on(
    const sandbox::cluster& cluster, std::uint32_t node, std::string_view bucket = "travel") {
    for (int i = 0; i < 1000; ++i) {
        std::string name = "key_" + std::to_string(i);
        if (cluster.topology().active_node(bucket, wire::vbucket_of(name, 16)) ==
            sandbox::node_id{node}) {
            return name;
        }
    }
    ADD_FAILURE() << "no key for node " << node;
    return {};
}

}  // namespace sandbox_testing
