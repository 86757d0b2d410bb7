#pragma once

/// Types that users and the HTTP services exchange: the options of requests, what the managers
/// manage, and what a service reports in addition to rows. The requests are composed from these
/// structs.

#include <any>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <reprise/couchbase_types/document_request.hpp>
#include <reprise/retry/call_options.hpp>
#include <reprise/retry/driver/admission.hpp>
#include <reprise/retry/driver/retry_strategy.hpp>
#include <reprise/retry/time.hpp>

namespace reprise::couchbase {

/// A named value. The value converts from null, numbers, text (which is quoted), json_text (which
/// is sent as it is), and any type whose codec makes JSON.
using named_value = std::pair<std::string, json_fragment>;

/// The consistency of a query.
enum class scan_consistency : std::uint8_t {
    server_default,  ///< The server decides.
    not_bounded,     ///< Whatever the indexes have now.
    request_plus     ///< Every write that completed before the request.
};

/// The detail in which the server reports the execution of a query.
enum class query_profile : std::uint8_t { off, phases, timings };

/// Limit for calls that return all rows at once. A larger result fails with an error;
/// use a stream instead.
inline constexpr std::size_t result_size_max_bytes_default = std::size_t{256} * 1024 * 1024;
/// The number of bytes that a stream keeps ahead of its reader. Above it the client stops reading
/// from the network.
inline constexpr std::size_t stream_size_max_bytes_default = std::size_t{1024} * 1024;

/// Options of query and query_stream of a cluster or scope.
struct query_options {
    std::optional<duration> timeout{};
    /// Makes the server refuse to write. A read-only statement is retried after its connection
    /// broke; any other statement is retried only if it certainly did not start.
    bool readonly = false;
    /// False: the statement is prepared once and then run by its name; see
    /// cluster_options::prepared_statement_count_max.
    bool adhoc = true;
    /// Values of $1, $2, ... or of each `?`.
    std::vector<json_fragment> positional{};
    /// Values of $name. You may write the name with or without `$`.
    std::vector<named_value> named{};
    scan_consistency consistency = scan_consistency::server_default;
    /// It cannot be combined with `consistency`.
    mutation_state consistent_with{};
    /// The time that the service may wait for its indexes. Needs one of the two fields above.
    std::optional<std::chrono::milliseconds> scan_wait{};
    std::optional<std::uint64_t> scan_cap{};         ///< Rows between index and fetch.
    std::optional<std::uint64_t> pipeline_cap{};     ///< Rows that an operator may hold.
    std::optional<std::uint64_t> pipeline_batch{};   ///< Rows fetched together.
    std::optional<std::uint64_t> max_parallelism{};  ///< Cores for one request.
    std::optional<query_profile> profile{};
    /// Asks for query_metadata::metrics.
    bool metrics = false;
    /// Names the request in the server's logs. Use each name once. Empty: the client makes one.
    std::string client_context_id{};
    bool use_search_index = false;
    /// Keeps the expiry of the documents that the statement changes.
    bool preserve_expiry = false;
    std::optional<bool> use_replica{};
    /// Further members of the request.
    std::vector<named_value> raw{};
    /// For `query` the limit of all rows together, for `query_stream` what the stream keeps ahead.
    /// Absent: the defaults above.
    std::optional<std::size_t> rows_size_max_bytes{};
    std::shared_ptr<driver::retry_strategy> strategy{};
    std::shared_ptr<const std::any> user_data{};
    /// Shared, or `borrowed(outer.allowance)`, which must live until the call has completed. That
    /// of a stream must live until the stream is destroyed, but until the client is destroyed if
    /// the client runs on an executor of yours or the stream is destroyed in one of its handlers.
    std::shared_ptr<driver::retry_allowance> outer_allowance{};
};

/// Options of analytics_query and analytics_stream of a cluster or scope. Fields mean the same as
/// in query_options.
struct analytics_options {
    std::optional<duration> timeout{};
    bool readonly = false;
    /// Runs the request before those without priority.
    bool has_priority = false;
    std::vector<json_fragment> positional{};
    std::vector<named_value> named{};
    scan_consistency consistency = scan_consistency::server_default;
    std::string client_context_id{};
    std::vector<named_value> raw{};
    std::optional<std::size_t> rows_size_max_bytes{};
    std::shared_ptr<driver::retry_strategy> strategy{};
    std::shared_ptr<const std::any> user_data{};
    std::shared_ptr<driver::retry_allowance> outer_allowance{};
};

/// A search query. You can write any query of the service as JSON.
struct search_query {
    search_query() = default;
    explicit search_query(std::string given) noexcept : json(std::move(given)) {}

    std::string json{};

    /// An empty `field` means all fields.
    [[nodiscard]] static search_query match(std::string_view text, std::string_view field = {});
    [[nodiscard]] static search_query term(std::string_view term, std::string_view field = {});
    /// In the service's query language: "+name:x -name:y".
    [[nodiscard]] static search_query query_string(std::string_view text);
    [[nodiscard]] static search_query match_all();
};

/// Options of search and search_stream of a cluster or scope. Searches are always safe to retry.
struct search_options {
    std::optional<duration> timeout{};
    std::optional<std::uint64_t> limit{};  ///< Hits at most.
    std::optional<std::uint64_t> skip{};   ///< Hits to leave out at the start.
    bool explain = false;
    bool disable_scoring = false;
    bool include_locations = false;
    std::vector<std::string> fields{};       ///< Stored fields to return; "*" means all.
    std::vector<json_fragment> sort{};       ///< Names of fields, or objects as json_text.
    std::vector<named_value> facets{};       ///< Objects, as json_text.
    std::vector<std::string> collections{};  ///< Collections of the index's scope.
    mutation_state consistent_with{};
    std::vector<named_value> raw{};
    std::optional<std::size_t> rows_size_max_bytes{};
    std::shared_ptr<driver::retry_strategy> strategy{};
    std::shared_ptr<const std::any> user_data{};
    std::shared_ptr<driver::retry_allowance> outer_allowance{};
};

/// The permitted age of a view's answer.
enum class view_stale : std::uint8_t {
    ok,            ///< The index answers as it is.
    update_after,  ///< The index answers as it is and is updated afterwards.
    no             ///< The index is updated first.
};

/// Behaviour of a view when a part of it fails.
enum class view_on_error : std::uint8_t { keep_going, stop };

/// Options of bucket::view_query and view_stream. View queries are always safe to retry.
struct view_options {
    std::optional<duration> timeout{};
    bool is_development = false;  ///< Uses the `dev_` design document.
    std::optional<std::uint64_t> limit{};
    std::optional<std::uint64_t> skip{};
    std::optional<view_stale> stale{};
    std::optional<json_fragment> key{};  ///< Only rows with this key.
    std::vector<json_fragment> keys{};   ///< Only rows with these keys.
    std::optional<json_fragment> start_key{};
    std::optional<json_fragment> end_key{};
    std::string start_key_doc_id{};  ///< Among rows with the same key.
    std::string end_key_doc_id{};
    std::optional<bool> inclusive_end{};
    std::optional<bool> reduce{};
    std::optional<bool> group{};
    std::optional<std::uint32_t> group_level{};
    std::optional<bool> descending{};
    std::optional<view_on_error> on_error{};
    bool debug = false;
    bool full_set = false;  ///< Runs a development view over all documents.
    std::optional<std::size_t> rows_size_max_bytes{};
    std::shared_ptr<driver::retry_strategy> strategy{};
    std::shared_ptr<const std::any> user_data{};
    std::shared_ptr<driver::retry_allowance> outer_allowance{};
};

/// The services of a node.
enum class service_kind : std::uint8_t { key_value, management, views, query, search, analytics };

/// One request to any node that offers the service. The client adds the credentials and sends the
/// rest as it is. Only GET and HEAD are safe to retry.
struct management_request {
    service_kind service = service_kind::management;  ///< Not key_value: it has no HTTP.
    std::string method = "GET";
    std::string target{};  ///< Path and query, percent-encoded.
    std::string content_type{};
    std::string body{};
};

/// The place in which a bucket keeps its documents.
enum class bucket_kind : std::uint8_t { couchbase, ephemeral, memcached };

/// The settings of a bucket, as they are or should be. The server decides about empty fields.
struct bucket_settings {
    std::string name{};
    bucket_kind kind = bucket_kind::couchbase;
    std::uint64_t ram_quota_mb = 100;  ///< On each node.
    std::optional<std::uint32_t> replica_count{};
    std::optional<bool> is_flush_enabled{};
    std::optional<bool> has_replica_index{};           ///< Cannot be changed later.
    std::optional<std::chrono::seconds> expiry_max{};  ///< Limit for documents; 0 means none.
    /// Values of the server: "fullEviction", "active", "majority", "seqno", "couchstore", ...
    std::string eviction_policy{};
    std::string compression_mode{};
    std::string durability_min_level{};
    std::string conflict_resolution{};  ///< Cannot be changed later.
    std::string storage_backend{};

    friend bool operator==(const bucket_settings&, const bucket_settings&) = default;
};

/// The settings of a collection, as they are or should be.
struct collection_settings {
    std::string scope{};
    std::string name{};
    /// Limit for documents. Absent: the bucket's limit. -1: documents never expire.
    std::optional<std::chrono::seconds> expiry_max{};
    std::optional<bool> has_history{};
};

/// A scope with its collections.
struct scope_settings {
    std::string name{};
    std::vector<collection_settings> collections{};
};

/// The keyspace of an index. Without scope and collection it covers the bucket's default
/// collection.
struct index_target {
    std::string bucket{};
    std::string scope{};
    std::string collection{};
};

/// An index, as it is or should be.
struct query_index {
    index_target on{};
    /// Empty: the primary index, under its usual name.
    std::string name{};
    bool is_primary = false;
    std::vector<std::string> keys{};  ///< Expressions; a primary index has none.
    std::string condition{};          ///< What follows WHERE; empty: all documents.
    bool is_deferred = false;         ///< `build` builds it later.
    std::optional<std::uint32_t> replica_count{};
    std::string state{};  ///< Set by `list`: "online", "deferred", "building", ...
};

/// A warning of the service. The code is the service's own.
struct query_warning {
    std::int64_t code = 0;
    std::string message{};

    friend bool operator==(const query_warning&, const query_warning&) = default;
};

/// The server's figures about its work, if query_options::metrics requests them. A figure that the
/// server does not report is zero or absent.
struct query_metrics {
    std::optional<std::chrono::nanoseconds> elapsed_time{};
    std::optional<std::chrono::nanoseconds> execution_time{};
    std::uint64_t result_count = 0;  ///< Rows.
    std::uint64_t result_size = 0;   ///< Bytes.
    std::uint64_t sort_count = 0;
    std::uint64_t mutation_count = 0;
    std::uint64_t error_count = 0;
    std::uint64_t warning_count = 0;
    std::uint64_t processed_objects = 0;  ///< Reported by analytics only.

    friend bool operator==(const query_metrics&, const query_metrics&) = default;
};

/// The metadata of a query or an analytics query. It arrives after the last row.
struct query_metadata {
    std::string status{};             ///< "success", for example.
    std::string request_id{};         ///< The server's name for the request.
    std::string client_context_id{};  ///< The client's name for the request.
    std::string signature{};          ///< JSON; empty if the server sent none.
    std::string profile{};            ///< JSON; empty if the server sent none.
    std::optional<query_metrics> metrics{};
    std::vector<query_warning> warnings{};
};

/// The metadata of a search.
struct search_metadata {
    std::uint64_t total_hits = 0;  ///< Hits found; fewer may have been returned.
    double max_score = 0;
    std::chrono::nanoseconds took{0};
    std::uint64_t partition_count = 0;  ///< Partitions of the index that were searched.
    std::uint64_t successful_count = 0;
    std::uint64_t failed_count = 0;
    /// Pairs of a partition's name and the reason why it failed.
    std::vector<std::pair<std::string, std::string>> partition_errors{};
    std::string facets{};  ///< JSON; empty if the server sent none.

    /// True if some partitions did not answer: the hits are correct but not complete.
    [[nodiscard]] bool is_partial() const noexcept { return failed_count > 0; }
};

/// A node whose part of a view failed. Its rows are missing (view_on_error::keep_going).
struct view_problem {
    std::string from{};
    std::string reason{};

    friend bool operator==(const view_problem&, const view_problem&) = default;
};

/// The metadata of a view query.
struct view_metadata {
    std::optional<std::uint64_t> total_rows{};  ///< Absent if the view was reduced.
    std::vector<view_problem> errors{};
    std::string debug_info{};  ///< JSON; empty if the server sent none.
};

/// The parts of one row of a view, as JSON. A reduced row has no id.
struct view_row {
    std::string id{};
    std::string key{};
    std::string value{};

    friend bool operator==(const view_row&, const view_row&) = default;
};

}  // namespace reprise::couchbase
