#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include <reprise/wire/cluster_configuration.hpp>
#include <reprise/wire/ids.hpp>

#include "connections/connect_gate.hpp"
#include "engine_timer.hpp"
#include "intrusive_list.hpp"
#include "topology/endpoint_table.hpp"

// The client's view of the cluster, as plain data: links, collections and buckets. Endpoints have
// their own table.

namespace reprise::engine {

struct bucket_state;
struct operation_slot;
class kv_connection;

using wait_list = intrusive_list<operation_slot>;

// A connection that the client maintains: number `ordinal` of a bucket to an endpoint. It
// reconnects until it is retired.
struct node_link : engine_timer, connect_request {
    node_link(bucket_state& owner, endpoint_record& to, std::size_t number) noexcept
        : engine_timer(timer_kind::link),
          connect_request(kind::link),
          bucket(&owner),
          endpoint(&to),
          ordinal(number) {}

    bucket_state* bucket;
    endpoint_record* endpoint;
    std::size_t ordinal;
    kv_connection* connection = nullptr;  // from connecting until it is dropped
    wait_list waiters;                    // woken when the connection is open
    std::string problem;                  // why there is no connection, if known
    std::uint32_t failures = 0;           // in a row; determines the reconnect delay
    bool is_retired = false;              // no longer in the topology; drains
    bool has_failed = false;              // the last attempt to connect failed
    bool was_open = false;                // has been open at least once
    bool skip_error_map = false;          // the next connection does not ask for it
    bool skip_collections = false;        // the same for collections
    bool is_bucket_missing = false;       // answered 0x01 to select bucket
    bool is_slow = false;                 // has been connecting for long; see terminal_state.cpp
    bool is_silent = false;               // a seed that has not answered for seed_silence_max
    bool is_owner = false;                // the vbucket map names it as an active node
    std::uint32_t missing_answers = 0;    // number of 0x01 answers, one for each connection
    time_point begun{};                   // when the last attempt to connect was asked for
    bool has_old_identity = false;        // failed with credentials that have been replaced since
    std::uint32_t sync_number = 0;        // of the last topology that named it
    time_point opened{};
};

enum class collection_state : std::uint8_t {
    unknown,  // asked for when an operation needs it
    asking,   // the request is pending
    stale,    // an outdated node answered; asked again later
    known,
};

// A collection of a bucket. The default one is known from the start, with the id 0 that every
// server gives it, and is looked up like any other once a server has reported it as unknown.
struct collection_entry : engine_timer {
    collection_entry() noexcept : engine_timer(timer_kind::collection) {}

    bucket_state* bucket = nullptr;
    std::uint32_t index = 0;
    std::string path;  // "scope.collection"
    bool is_default = false;
    collection_state state = collection_state::unknown;
    wire::collection_id id = wire::default_collection;
    std::uint32_t stale_answers = 0;
    wait_list waiters;
    kv_connection* asked = nullptr;  // while asking
    std::uint32_t opaque = 0;
};

// The newest configuration of a bucket that a server sent unasked and that has not been applied
// yet. Servers decide how many they send, and large ones take long to parse, so the client applies
// one in each turn and skips those that were overtaken.
struct pushed_configuration : engine_timer {
    explicit pushed_configuration(bucket_state& owner) noexcept
        : engine_timer(timer_kind::configuration), bucket(&owner) {}

    bucket_state* bucket;
    wire::configuration_revision announced{};
    std::string bytes;  // as received
    bool is_compressed = false;
    std::string source_host;
};

// Ends the wait for a node that has the bucket; see terminal_state.hpp.
struct missing_bucket_timer : engine_timer {
    explicit missing_bucket_timer(bucket_state& of) noexcept
        : engine_timer(timer_kind::missing_bucket), bucket(&of) {}
    bucket_state* bucket;
};

// A bucket, or the cluster itself if the name is empty. Its timer is the configuration poll.
struct bucket_state : engine_timer {
    explicit bucket_state(std::string given) noexcept
        : engine_timer(timer_kind::bucket), name(std::move(given)) {}

    std::string name;
    bool is_open = false;  // in use: its links are kept connected
    wire::cluster_configuration_ptr configuration;
    pushed_configuration pushed{*this};
    std::vector<std::unique_ptr<node_link>> links;
    std::unordered_map<std::uint64_t, node_link*> link_index;  // lookup by endpoint and ordinal
    std::uint32_t sync_number = 0;  // counts how often the links were updated
    bool has_seed_links = false;    // has links beyond those of the configuration
    // Indexed by the configuration's node index, with kv_connections_per_node entries for each
    // node. Null if the node has no address.
    std::vector<node_link*> routes;
    // When the configuration was installed, and whether that was long after the previous one.
    std::optional<time_point> configured_last;
    bool is_configured_slowly = true;
    wait_list not_my_vbucket_waiters;  // woken by a new configuration
    wait_list topology_waiters;  // no configuration, or no owner in it; also woken by a new one
    std::vector<std::unique_ptr<collection_entry>> collections;
    std::uint64_t manifest_uid_max = 0;
    // Before the first configuration, a refusal by one seed waits once for the other seeds. Set
    // when all of them have answered, failed, or been silent for too long.
    bool is_seed_refusal_final = false;
    // Terminal states. All loops of the client share the first. The next two are set if any node
    // linked to this bucket has them.
    std::shared_ptr<bucket_terminal_state> terminal = std::make_shared<bucket_terminal_state>();
    bool is_auth_refused = false;
    bool is_tls_failed = false;
    // Since when every node that can be asked has answered nothing but 0x01, and whether that has
    // lasted long enough.
    std::optional<time_point> missing_since;
    bool is_missing_agreed = false;
    bool is_missing_everywhere = false;
    missing_bucket_timer missing_timer{*this};
    std::string configuration_problem;  // why there is no newer configuration, if known
    std::shared_ptr<poll_pace> polls = std::make_shared<poll_pace>();  // of all loops
    std::shared_ptr<newest_configuration> newest =
        std::make_shared<newest_configuration>();  // likewise
    bool is_poll_wanted = false;                   // requested by something other than the timer
    std::uint32_t poll_retries = 0;
    std::uint32_t polls_without_owners = 0;  // in a row
    std::size_t noop_next = 0;               // the link to ask next what any node can answer
};

struct keyspace_entry {
    bucket_state* bucket = nullptr;
    std::string scope;
    std::string collection;
    collection_entry* entry = nullptr;  // never null once added
};

}  // namespace reprise::engine
