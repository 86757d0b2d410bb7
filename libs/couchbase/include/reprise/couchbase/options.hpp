#pragma once

/// Options of operations and of requests to the HTTP services. They are plain structs for
/// designated initialisers:
/// ```
///     auto replaced = airlines.replace(
///         "airline_10", airline{"Reprise Air"}, {.timeout = 500ms, .cas = seen, .expiry = 24h});
/// ```
/// Every options struct of the client has the four fields of
/// common_options, and fields with the same name always mean the same and come in the same order.
/// The concept operation_options checks it.
///
/// The timeout of a request to an HTTP service runs until the last row has arrived. A field that
/// you leave out is not sent, and the server decides.

#include <any>
#include <chrono>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include <reprise/couchbase/codec.hpp>
#include <reprise/couchbase/results.hpp>
#include <reprise/couchbase/retry_strategy.hpp>
#include <reprise/couchbase_types/document_request.hpp>
#include <reprise/retry/driver/admission.hpp>
#include <reprise/retry/time.hpp>

namespace reprise::couchbase {

/// The options that every operation has. Operations without further options use it as it is.
struct common_options {
    /// The operation ends after this time, whatever happens. Absent: the cluster's timeout for this
    /// kind of operation.
    std::optional<duration> timeout{};
    /// Replaces the cluster's retry strategy for this operation. Null: the cluster's.
    std::shared_ptr<driver::retry_strategy> strategy{};
    /// Passed to the strategy with every question (`question.at.user_data_as<T>()`).
    std::shared_ptr<const std::any> user_data{};
    /// The allowance of an enclosing reprise::retry. Retries of this operation are taken from it.
    /// It must live until the operation has completed.
    driver::retry_allowance* outer_allowance = nullptr;
};

namespace detail {

/// The fields of mutations stand between `timeout` and `strategy`, in this order: cas, expiry,
/// preserve_expiry, durability. GCC refuses designators in another order than the fields; Clang
/// only warns, so this check is GCC's.
template <class Options>
concept orders_mutation_fields =
    (!requires(Options with) { with.cas; } ||
     requires { Options{.timeout = {}, .cas = {}, .durability = {}, .strategy = {}}; }) &&
    (!requires(Options with) { with.cas, with.expiry; } ||
     requires { Options{.cas = {}, .expiry = {}}; }) &&
    (!requires(Options with) { with.expiry; } ||
     requires { Options{.timeout = {}, .expiry = {}, .durability = {}, .strategy = {}}; }) &&
    (!requires(Options with) { with.expiry, with.preserve_expiry; } ||
     requires { Options{.expiry = {}, .preserve_expiry = {}, .durability = {}}; });

}  // namespace detail

/// An options struct of the client: an aggregate that has the fields of common_options, with these
/// types and in this order. `timeout` comes first; the fields of the operation itself stand between
/// `timeout` and `strategy`.
template <class Options>
concept operation_options =
    std::is_aggregate_v<Options> && std::default_initializable<Options> && requires(Options with) {
        { with.timeout } -> std::same_as<std::optional<duration>&>;
        { with.strategy } -> std::same_as<std::shared_ptr<driver::retry_strategy>&>;
        { with.user_data } -> std::same_as<std::shared_ptr<const std::any>&>;
        { with.outer_allowance } -> std::same_as<driver::retry_allowance*&>;
        Options{.timeout = {}, .strategy = {}, .user_data = {}, .outer_allowance = {}};
    } && detail::orders_mutation_fields<Options>;

/// When a document expires: never (the default), after a time, or at a point in time. A duration
/// counts from the call and may be of any length; zero means never. Time points in 1970 or after
/// 2106 and negative durations fail with errc::invalid_argument.
class expiry {
public:
    constexpr expiry() noexcept = default;
    /// Converts from any duration of whole seconds: `.expiry = 10min`.
    template <class Rep, class Period>
        requires std::convertible_to<std::chrono::duration<Rep, Period>, std::chrono::seconds>
    constexpr expiry(std::chrono::duration<Rep, Period> after) noexcept
        : when_(std::chrono::seconds{after}) {}
    constexpr expiry(std::chrono::system_clock::time_point at) noexcept
        : when_(std::chrono::floor<std::chrono::seconds>(at)) {}

    using value_type = std::variant<std::chrono::seconds, std::chrono::sys_seconds>;
    [[nodiscard]] constexpr const value_type& value() const noexcept { return when_; }
    [[nodiscard]] constexpr bool is_never() const noexcept {
        const auto* const after = std::get_if<std::chrono::seconds>(&when_);
        return after != nullptr && *after == std::chrono::seconds::zero();
    }

private:
    value_type when_ = std::chrono::seconds{0};
};

using exists_options = common_options;         ///< Options of collection::exists.
using get_and_touch_options = common_options;  ///< Options of collection::get_and_touch.
using get_and_lock_options = common_options;   ///< Options of collection::get_and_lock.
using unlock_options = common_options;         ///< Options of collection::unlock.
using touch_options = common_options;          ///< Options of collection::touch.

/// Options of collection::get.
struct get_options {
    std::optional<duration> timeout{};
    /// Also reads when the document expires: get_result::expiry().
    bool with_expiry = false;
    /// Reads only these paths, written as in lookup_spec. The result has the members that the paths
    /// lead to and those around them; paths that the document lacks are left out, and of an array
    /// only the elements that are named remain. Empty: the whole document.
    std::vector<std::string> project{};
    std::shared_ptr<driver::retry_strategy> strategy{};
    std::shared_ptr<const std::any> user_data{};
    driver::retry_allowance* outer_allowance = nullptr;
};

/// Options of the gets from replicas.
struct get_replica_options {
    std::optional<duration> timeout{};
    read_preference preference = read_preference::no_preference;
    std::shared_ptr<driver::retry_strategy> strategy{};
    std::shared_ptr<const std::any> user_data{};
    driver::retry_allowance* outer_allowance = nullptr;
};

/// Options of collection::upsert.
struct upsert_options {
    std::optional<duration> timeout{};
    couchbase::expiry expiry{};
    /// Keeps the expiry of an existing document; `expiry` then applies to a new one only.
    bool preserve_expiry = false;
    durability_level durability = durability_level::none;
    std::shared_ptr<driver::retry_strategy> strategy{};
    std::shared_ptr<const std::any> user_data{};
    driver::retry_allowance* outer_allowance = nullptr;
};

/// Options of collection::insert.
struct insert_options {
    std::optional<duration> timeout{};
    couchbase::expiry expiry{};
    durability_level durability = durability_level::none;
    std::shared_ptr<driver::retry_strategy> strategy{};
    std::shared_ptr<const std::any> user_data{};
    driver::retry_allowance* outer_allowance = nullptr;
};

/// Options of collection::replace.
struct replace_options {
    std::optional<duration> timeout{};
    /// Replaces only this version; another one fails with errc::cas_mismatch. Zero: any version.
    couchbase::cas cas{};
    couchbase::expiry expiry{};
    /// Keeps the expiry of the document. It cannot be combined with `expiry`.
    bool preserve_expiry = false;
    durability_level durability = durability_level::none;
    std::shared_ptr<driver::retry_strategy> strategy{};
    std::shared_ptr<const std::any> user_data{};
    driver::retry_allowance* outer_allowance = nullptr;
};

/// Options of collection::remove, append and prepend.
struct change_options {
    std::optional<duration> timeout{};
    /// Changes only this version; another one fails with errc::cas_mismatch. Zero: any version.
    couchbase::cas cas{};
    durability_level durability = durability_level::none;
    std::shared_ptr<driver::retry_strategy> strategy{};
    std::shared_ptr<const std::any> user_data{};
    driver::retry_allowance* outer_allowance = nullptr;
};

using remove_options = change_options;   ///< Options of collection::remove.
using append_options = change_options;   ///< Options of collection::append.
using prepend_options = change_options;  ///< Options of collection::prepend.

/// Options of collection::increment and decrement.
struct counter_options {
    std::optional<duration> timeout{};
    /// How much is added or subtracted.
    std::uint64_t delta = 1;
    /// A counter that does not exist is created with this value, without `delta`. Absent: the
    /// operation fails with errc::document_not_found.
    std::optional<std::uint64_t> initial{};
    /// Applies to a counter that is created.
    couchbase::expiry expiry{};
    durability_level durability = durability_level::none;
    std::shared_ptr<driver::retry_strategy> strategy{};
    std::shared_ptr<const std::any> user_data{};
    driver::retry_allowance* outer_allowance = nullptr;
};

/// Options of collection::lookup_in.
struct lookup_in_options {
    std::optional<duration> timeout{};
    /// Also reads a removed document, as long as the server remembers it.
    bool access_deleted = false;
    std::shared_ptr<driver::retry_strategy> strategy{};
    std::shared_ptr<const std::any> user_data{};
    driver::retry_allowance* outer_allowance = nullptr;
};

using lookup_in_replica_options = get_replica_options;  ///< Options of the lookups from replicas.

/// Options of collection::mutate_in.
struct mutate_in_options {
    std::optional<duration> timeout{};
    store_semantics store = store_semantics::replace;
    /// Changes only this version; another one fails with errc::cas_mismatch. Zero: any version. It
    /// cannot be combined with store_semantics::insert.
    couchbase::cas cas{};
    couchbase::expiry expiry{};
    /// Keeps the expiry of the document. It cannot be combined with `expiry`.
    bool preserve_expiry = false;
    durability_level durability = durability_level::none;
    /// Also changes attributes of a removed document.
    bool access_deleted = false;
    std::shared_ptr<driver::retry_strategy> strategy{};
    std::shared_ptr<const std::any> user_data{};
    driver::retry_allowance* outer_allowance = nullptr;
};

static_assert(operation_options<common_options>);
static_assert(operation_options<get_options>);
static_assert(operation_options<get_replica_options>);
static_assert(operation_options<upsert_options>);
static_assert(operation_options<insert_options>);
static_assert(operation_options<replace_options>);
static_assert(operation_options<change_options>);
static_assert(operation_options<counter_options>);
static_assert(operation_options<lookup_in_options>);
static_assert(operation_options<mutate_in_options>);

/// A named value. The value converts from null, numbers, text (which is quoted), json_text (which
/// is sent as it is), and any type whose codec makes JSON.
using named_value = std::pair<std::string, json_fragment>;

/// Mutations that a query or search must see.
struct mutation_state {
    std::vector<mutation_token> tokens{};

    /// Adds the token of a mutation_result, if it has one.
    void add(const std::optional<mutation_token>& token) {
        if (token) {
            tokens.push_back(*token);
        }
    }
};

/// The consistency of a query.
enum class scan_consistency : std::uint8_t {
    server_default,  ///< The server decides.
    not_bounded,     ///< Whatever the indexes have now.
    request_plus     ///< Every write that completed before the request.
};

/// How much the server reports about the execution of a query.
enum class query_profile : std::uint8_t { off, phases, timings };

/// Limit for calls that return all rows at once. A larger result fails with an error;
/// use a stream instead.
inline constexpr std::size_t result_size_max_bytes_default = std::size_t{256} * 1024 * 1024;
/// How many bytes a stream keeps ahead of its reader. Above it the client stops reading from the
/// network.
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
    /// How long the service may wait for its indexes. Needs one of the two fields above.
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
    driver::retry_allowance* outer_allowance = nullptr;
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
    driver::retry_allowance* outer_allowance = nullptr;
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
    driver::retry_allowance* outer_allowance = nullptr;
};

/// How old a view's answer may be.
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
    driver::retry_allowance* outer_allowance = nullptr;
};

/// Options of bucket_manager, collection_manager and cluster::management_request.
using management_options = common_options;

static_assert(operation_options<query_options>);
static_assert(operation_options<analytics_options>);
static_assert(operation_options<search_options>);
static_assert(operation_options<view_options>);

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

}  // namespace reprise::couchbase
