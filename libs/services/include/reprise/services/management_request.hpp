#pragma once

#include <chrono>
#include <cstdint>
#include <expected>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <reprise/services/service_call.hpp>
#include <reprise/services/service_outcome.hpp>

// Requests to the cluster manager: buckets, scopes, collections, and anything else by path. A GET
// is idempotent, nothing else is.

namespace reprise::services {

enum class managed_bucket_type : std::uint8_t { couchbase, ephemeral, memcached };

// What a bucket is made with. Members left empty are the server's choice and are not sent.
struct bucket_definition {
    std::string name{};
    managed_bucket_type type = managed_bucket_type::couchbase;
    std::uint64_t ram_quota_mb = 100;  // for each node
    std::optional<std::uint32_t> replica_count{};
    std::optional<bool> is_flush_enabled{};
    std::optional<bool> has_replica_index{};
    std::optional<std::chrono::seconds> expiry_max{};  // of documents; 0: none
    // The words of the server: "fullEviction", "active", "majority", "seqno", "couchstore", ...
    std::string eviction_policy{};
    std::string compression_mode{};
    std::string durability_min_level{};
    std::string conflict_resolution{};
    std::string storage_backend{};

    friend bool operator==(const bucket_definition&, const bucket_definition&) = default;
};

// Errors of all of these: text_missing for a name that is empty, dot_segment for `.` and `..` in
// the path.

// POST /pools/default/buckets; 202 when it has begun.
service_call_result make_create_bucket_call(const bucket_definition& bucket);
// POST /pools/default/buckets/<bucket>: sends everything that may change later.
service_call_result make_update_bucket_call(const bucket_definition& bucket);
// DELETE /pools/default/buckets/<bucket>
service_call_result make_drop_bucket_call(std::string_view bucket);
// POST /pools/default/buckets/<bucket>/controller/doFlush
service_call_result make_flush_bucket_call(std::string_view bucket);
// GET /pools/default/buckets/<bucket>
service_call_result make_get_bucket_call(std::string_view bucket);
// GET /pools/default/buckets
service_call make_list_buckets_call();

// What a new collection is made with.
struct collection_definition {
    std::string scope{};
    std::string name{};
    // Empty: the bucket's. 0: none, or the bucket's on old servers; -1: documents never expire.
    std::optional<std::chrono::seconds> expiry_max{};
    std::optional<bool> has_history{};
};

// The answers of all but the list are {"uid":"<manifest uid>"}: parse_manifest_uid().
service_call_result make_create_scope_call(std::string_view bucket, std::string_view scope);
service_call_result make_drop_scope_call(std::string_view bucket, std::string_view scope);
service_call_result make_create_collection_call(
    std::string_view bucket, const collection_definition& collection);
service_call_result make_drop_collection_call(
    std::string_view bucket, std::string_view scope, std::string_view collection);
// GET .../scopes; the answer is a manifest: parse_collections_manifest().
service_call_result make_list_scopes_call(std::string_view bucket);

// Any request to any service. `target` is taken as it is: begins with `/`, percent-encoded.
struct raw_service_request {
    wire::service service = wire::service::management;
    std::string method = "GET";
    std::string target{};
    std::string content_type{};
    std::string body{};
    std::vector<std::pair<std::string, std::string>> headers{};
};

// Errors: text_missing (method), target_invalid, dot_segment (percent-encoded ones, too).
service_call_result make_raw_call(raw_service_request request);

// "a=1&b=x%20y": the body of a POST to the cluster manager.
std::string encode_form(const std::vector<std::pair<std::string, std::string>>& fields);

// Bounds what a cluster manager may send in these two.
inline constexpr std::size_t bucket_list_size_max_bytes = std::size_t{16} * 1024 * 1024;

// One bucket, as GET .../buckets/<bucket> answers. Members of the answer that are missing stay as
// in bucket_definition.
std::expected<bucket_definition, outcome_error> parse_bucket(std::string_view body);
std::expected<std::vector<bucket_definition>, outcome_error> parse_bucket_list(
    std::string_view body);
// The uid of the manifest from which on a change of scopes or collections is visible.
std::expected<std::uint64_t, outcome_error> parse_manifest_uid(std::string_view body);

// What the answer of the cluster manager (or a design document request) means; `target` is that of
// the request, since 404 alone does not say what is missing. None of these is ever retried because
// of the answer. 2xx is success; other 4xx that are not listed are invalid_argument.
std::optional<errc> classify_management(
    int http_status, std::string_view target, std::string_view body) noexcept;

}  // namespace reprise::services
