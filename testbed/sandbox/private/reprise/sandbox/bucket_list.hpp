#pragma once

#include <cstdint>
#include <expected>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <reprise/sandbox/cluster_errc.hpp>
#include <reprise/sandbox/cluster_options.hpp>
#include <reprise/sandbox/ids.hpp>
#include <reprise/sandbox/node_disturbance.hpp>
#include <reprise/wire/collections_manifest.hpp>
#include <reprise/wire/ids.hpp>

namespace reprise::sandbox {

namespace detail {
struct cluster_state;
}

/// One document in one copy, for checkers and tests.
struct document_snapshot {
    std::string value{};   // uncompressed
    std::string xattrs{};  // a JSON object; empty if there are none
    std::uint32_t flags = 0;
    std::uint32_t expiry = 0;  // seconds since 1970; 0: never
    std::uint64_t cas = 0;
    std::uint64_t seqno = 0;
    std::uint64_t revision = 0;
    bool is_deleted = false;
    bool is_locked = false;
};

/// The buckets of a cluster with their scopes, collections and documents, and the disturbances of
/// each; see cluster::buckets().
class bucket_list {
public:
    std::vector<std::string> names() const;
    /// Fails with rebalance_running during a rebalance, as does drop.
    std::expected<void, cluster_errc> create(const bucket_options& bucket);
    /// Closes the connections that have selected the bucket.
    std::expected<void, cluster_errc> drop(std::string_view bucket);
    /// Null if there is no such bucket. Valid until the manifest's next change.
    const wire::collections_manifest* manifest(std::string_view bucket) const noexcept;
    /// The manifest as one node sees it (hide_collection). Also null for an unknown node.
    const wire::collections_manifest* manifest_at(
        node_id node, std::string_view bucket) const noexcept;
    /// All five return the manifest's new uid.
    std::expected<std::uint64_t, cluster_errc> create_scope(
        std::string_view bucket, std::string_view scope);
    std::expected<std::uint64_t, cluster_errc> drop_scope(
        std::string_view bucket, std::string_view scope);
    std::expected<std::uint64_t, cluster_errc> create_collection(
        std::string_view bucket, std::string_view scope, std::string_view collection,
        std::optional<std::int32_t> max_ttl = std::nullopt);
    /// Empty: the bucket's maximum. Applies to documents that are stored from now on.
    std::expected<std::uint64_t, cluster_errc> set_collection_ttl(
        std::string_view bucket, std::string_view scope, std::string_view collection,
        std::optional<std::int32_t> max_ttl);
    std::expected<std::uint64_t, cluster_errc> drop_collection(
        std::string_view bucket, std::string_view scope, std::string_view collection);

    /// Creates the default collection again, empty and with its old id, as a restored manifest
    /// does. Servers offer no other way. Errors: unknown_bucket, already_exists.
    std::expected<std::uint64_t, cluster_errc> restore_default_collection(std::string_view bucket);

    /// Drops the collection and creates one with the same name and expiry, but another id.
    std::expected<std::uint64_t, cluster_errc> recreate_collection(
        std::string_view bucket, std::string_view scope, std::string_view collection);

    /// Takes effect at once. Error: unknown_bucket.
    std::expected<void, cluster_errc> set_settings(
        std::string_view bucket, bucket_settings settings);

    /// The active copy of a document (including tombstones), or the copy on one node. Empty: none.
    std::optional<document_snapshot> find_document(
        std::string_view bucket, wire::collection_id collection, std::string_view key,
        time_point now, std::optional<node_id> on_node = std::nullopt) const;
    /// Increases when many documents are removed at once, together with a bucket, a collection or a
    /// node, or by a flush. A front compares it to know when to return memory to the system.
    std::uint64_t removal_generation() const noexcept;

    // --- disturbances ------------------------------------------------------------------------

    /// While denied, select_bucket is answered with 0x24, and HTTP requests with 403, for this user
    /// or, if the name is empty, for all users. Connections that have selected the bucket keep it.
    /// Errors: unknown_bucket, unknown_user.
    std::expected<void, cluster_errc> deny(
        std::string_view bucket, std::string_view user, bool is_denied);
    bool is_denied(std::string_view bucket, std::string_view user) const noexcept;
    /// `absent` closes the node's connections that have selected the bucket. Errors: unknown_node,
    /// unknown_bucket.
    std::expected<void, cluster_errc> set_presence(
        node_id node, std::string_view bucket, bucket_presence presence);
    /// Makes the node lag behind: it has a manifest from before the collection was created, with a
    /// lower uid. If several collections of a bucket are hidden on a node, the oldest determines
    /// the uid. Errors: unknown_node, unknown_bucket, unknown_scope, unknown_collection.
    std::expected<void, cluster_errc> hide_collection(
        node_id node, std::string_view bucket, std::string_view scope, std::string_view collection,
        bool is_hidden);

private:
    friend class cluster;
    explicit bucket_list(detail::cluster_state& state) noexcept : state_(&state) {}

    detail::cluster_state* state_;
};

}  // namespace reprise::sandbox
