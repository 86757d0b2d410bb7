#pragma once

#include <chrono>
#include <cstdint>
#include <expected>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <reprise/couchbase/detail/service_work.hpp>
#include <reprise/couchbase/error.hpp>
#include <reprise/couchbase/results.hpp>
#include <reprise/couchbase/service_options.hpp>

// Buckets, scopes, collections and query indexes. All calls block; for the asynchronous form use
// cluster::async_management_request and async_query. Reading calls may be sent again, the others
// are sent a second time only if the first surely did nothing.

namespace reprise::couchbase {

enum class bucket_kind : std::uint8_t { couchbase, ephemeral, memcached };

// What a bucket is, or is to be. Members left empty are the server's choice.
struct bucket_settings {
    std::string name{};
    bucket_kind kind = bucket_kind::couchbase;
    std::uint64_t ram_quota_mb = 100;  // for each node
    std::optional<std::uint32_t> replica_count{};
    std::optional<bool> is_flush_enabled{};
    std::optional<std::chrono::seconds> expiry_max{};  // of documents; 0: none
    // The words of the server: "fullEviction", "active", "majority", "couchstore", ...
    std::string eviction_policy{};
    std::string compression_mode{};
    std::string durability_min_level{};
    std::string storage_backend{};
};

// A change that was made, and how it went on its way.
struct change_result {
    operation_trace trace{};
};

struct bucket_result {
    bucket_settings bucket{};
    operation_trace trace{};
};

struct bucket_list_result {
    std::vector<bucket_settings> buckets{};
    operation_trace trace{};
};

// A handle, as all of these: cheap to copy, usable from any thread.
class bucket_manager {
public:
    // Made by cluster::buckets.
    explicit bucket_manager(std::shared_ptr<detail::session> client) noexcept
        : client_(std::move(client)) {}

    // Returns when the server has begun; bucket::wait_until_ready waits until it can be used.
    // errc::bucket_exists.
    [[nodiscard]] std::expected<change_result, error> create(
        const bucket_settings& bucket, const management_options& options = {}) const;
    // Sets everything that may change later. errc::bucket_not_found.
    [[nodiscard]] std::expected<change_result, error> update(
        const bucket_settings& bucket, const management_options& options = {}) const;
    [[nodiscard]] std::expected<change_result, error> drop(
        std::string_view name, const management_options& options = {}) const;
    // Removes all documents. errc::bucket_not_flushable unless it was allowed.
    [[nodiscard]] std::expected<change_result, error> flush(
        std::string_view name, const management_options& options = {}) const;
    [[nodiscard]] std::expected<bucket_result, error> get(
        std::string_view name, const management_options& options = {}) const;
    [[nodiscard]] std::expected<bucket_list_result, error> list(
        const management_options& options = {}) const;

private:
    std::shared_ptr<detail::session> client_;
};

// A collection, as it is or is to be.
struct collection_settings {
    std::string scope{};
    std::string name{};
    // Absent: the bucket's. -1: documents never expire.
    std::optional<std::chrono::seconds> expiry_max{};
    std::optional<bool> has_history{};
};

struct scope_settings {
    std::string name{};
    std::vector<collection_settings> collections{};
};

struct scope_list_result {
    std::vector<scope_settings> scopes{};
    operation_trace trace{};
};

// Scopes and collections of one bucket.
class collection_manager {
public:
    // Made by bucket::collections.
    collection_manager(std::shared_ptr<detail::session> client, std::string bucket) noexcept
        : client_(std::move(client)), bucket_(std::move(bucket)) {}

    // errc::scope_exists.
    [[nodiscard]] std::expected<change_result, error> create_scope(
        std::string_view name, const management_options& options = {}) const;
    // With all its collections. errc::scope_not_found.
    [[nodiscard]] std::expected<change_result, error> drop_scope(
        std::string_view name, const management_options& options = {}) const;
    // errc::scope_not_found, errc::collection_exists.
    [[nodiscard]] std::expected<change_result, error> create_collection(
        const collection_settings& collection, const management_options& options = {}) const;
    // errc::scope_not_found, errc::collection_not_found.
    [[nodiscard]] std::expected<change_result, error> drop_collection(
        std::string_view scope, std::string_view name,
        const management_options& options = {}) const;
    [[nodiscard]] std::expected<scope_list_result, error> list(
        const management_options& options = {}) const;

private:
    std::shared_ptr<detail::session> client_;
    std::string bucket_;
};

// What an index is on. Without scope and collection: the bucket's default collection.
struct index_target {
    std::string bucket{};
    std::string scope{};
    std::string collection{};
};

// An index, as it is or is to be.
struct query_index {
    index_target on{};
    // Empty: the primary index, under its usual name.
    std::string name{};
    bool is_primary = false;
    std::vector<std::string> keys{};  // expressions; not for a primary index
    std::string condition{};          // WHERE; empty: all documents
    bool is_deferred = false;         // built later, by `build`
    std::optional<std::uint32_t> replica_count{};
    std::string state{};  // told by `list`: "online", "deferred", "building", ...
};

struct query_index_list_result {
    std::vector<query_index> indexes{};
    operation_trace trace{};
};

// Indexes of the query service, managed by statements: names are quoted, expressions and conditions
// go in as they are.
class query_index_manager {
public:
    // Made by cluster::query_indexes.
    explicit query_index_manager(std::shared_ptr<detail::session> client) noexcept
        : client_(std::move(client)) {}

    // errc::index_exists.
    [[nodiscard]] std::expected<change_result, error> create(
        const query_index& index, const query_options& options = {}) const;
    // Empty name: the primary index. errc::index_not_found.
    [[nodiscard]] std::expected<change_result, error> drop(
        const index_target& on, std::string_view name, const query_options& options = {}) const;
    // Begins to build these deferred ones.
    [[nodiscard]] std::expected<change_result, error> build(
        const index_target& on, const std::vector<std::string>& names,
        const query_options& options = {}) const;
    // Primary first, then by name.
    [[nodiscard]] std::expected<query_index_list_result, error> list(
        const index_target& on, const query_options& options = {}) const;

private:
    std::shared_ptr<detail::session> client_;
};

}  // namespace reprise::couchbase
