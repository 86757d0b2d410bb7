#pragma once

#include <cstdint>
#include <expected>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cluster_state.hpp"

namespace reprise::sandbox::detail {

// The documents of a collection as the services see them: always the active copies.
struct keyspace {
    std::string bucket;
    std::string scope;
    std::string collection;
    std::uint32_t collection_id = 0;

    bool is_default() const noexcept { return scope == "_default" && collection == "_default"; }
    // `default:b` or `default:b.s.c`, for messages.
    std::string path() const;
};

enum class keyspace_errc : std::uint8_t { unknown_bucket, unknown_scope, unknown_collection };

std::expected<keyspace, keyspace_errc> find_keyspace(
    const cluster_state& cluster, std::string_view bucket, std::string_view scope = "_default",
    std::string_view collection = "_default");
// Every collection of a bucket.
std::vector<keyspace> keyspaces_of(const cluster_state& cluster, std::string_view bucket);

struct found_document {
    std::string id;
    std::string value;  // uncompressed
    std::uint64_t cas = 0;
    std::uint32_t flags = 0;
    std::uint32_t expiry = 0;
    bool is_json = false;
};

// Whether a node that is up is responsible for the key. Also true if the keyspace no longer exists.
bool is_reachable(cluster_state& cluster, const keyspace& in, std::string_view id);
// Empty if there is no such document or its node is not up.
std::optional<found_document> read_document(
    cluster_state& cluster, const keyspace& in, std::string_view id, time_point now);
// The ids of all living documents on nodes that are up, sorted.
std::vector<std::string> document_ids(cluster_state& cluster, const keyspace& in, time_point now);

enum class write_rule : std::uint8_t {
    insert,  // only a new document
    upsert,  // any
    replace  // only one that exists
};

enum class write_result : std::uint8_t {
    done,
    exists,       // refused by write_rule::insert
    missing,      // nothing to replace or remove
    locked,       // by get-and-lock, or a durable write of the key is pending
    too_large,    // value over cluster_options::value_size_max_bytes, or key empty or over 250
                  // bytes
    unavailable,  // no node that is up is responsible
    bucket_gone   // dropped in the meantime
};

struct document_write {
    std::string_view id;
    std::string_view value;
    write_rule rule = write_rule::upsert;
    // Same format as in key-value requests.
    std::uint32_t expiry = 0;
    // If `expiry` is 0, an existing document keeps its expiry.
    bool keeps_expiry = false;
};

write_result write_document(
    cluster_state& cluster, const keyspace& in, const document_write& change, time_point now);
write_result remove_document(
    cluster_state& cluster, const keyspace& in, std::string_view id, time_point now);
// Removes every document of every collection of a bucket, without tombstones. The vbuckets start a
// new history.
void flush_documents(cluster_state& cluster, std::string_view bucket);

}  // namespace reprise::sandbox::detail
