#pragma once

#include <any>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <reprise/couchbase/json_fragment.hpp>
#include <reprise/couchbase/results.hpp>
#include <reprise/couchbase/retry_strategy.hpp>
#include <reprise/retry/allowance.hpp>
#include <reprise/retry/time.hpp>

// What can be set for one call of an HTTP service. `timeout`, `strategy`, `user_data` and
// `outer_allowance` are as in operation_options.hpp; the timeout runs until the last row has come.
// A member left alone is not sent: the server decides.

namespace reprise::couchbase {

// A value under a name. The value is a json_fragment: null, numbers, text (quoted), json_text (as
// it is), or any type whose codec makes JSON.
using named_value = std::pair<std::string, json_fragment>;

// Writes that a query or search must see.
struct mutation_state {
    std::vector<mutation_token> tokens{};

    // Of a mutation_result; nothing is added if it brought no token.
    void add(const std::optional<mutation_token>& token) {
        if (token) {
            tokens.push_back(*token);
        }
    }
};

enum class scan_consistency : std::uint8_t {
    server_default,  // nothing is sent
    not_bounded,     // whatever the indexes have now
    request_plus     // every write that was done before the request
};

enum class query_profile : std::uint8_t { off, phases, timings };

// Bounds of the forms that keep all rows; a larger result is an error that says so: use the stream.
inline constexpr std::size_t result_size_max_bytes_default = std::size_t{256} * 1024 * 1024;
// Bytes a stream keeps ahead of its reader. Reading from the network stops above it.
inline constexpr std::size_t stream_size_max_bytes_default = std::size_t{1024} * 1024;

// cluster::query, scope::query and their streams.
struct query_options {
    std::optional<duration> timeout{};
    // The server refuses to write, and so the request may be sent again after a broken connection.
    // Without it a statement is sent a second time only if it surely was not begun.
    bool readonly = false;
    // False: the statement is prepared once and run by its name from then on; see
    // cluster_options::prepared_statement_count_max.
    bool adhoc = true;
    std::vector<json_fragment> positional{};  // $1, $2, ... or ?
    std::vector<named_value> named{};         // $name, with or without the `$` here
    scan_consistency consistency = scan_consistency::server_default;
    // Not together with `consistency`.
    mutation_state consistent_with{};
    // How long the service may wait for its indexes; only with one of the two above.
    std::optional<std::chrono::milliseconds> scan_wait{};
    std::optional<std::uint64_t> scan_cap{};         // rows between index and fetch
    std::optional<std::uint64_t> pipeline_cap{};     // rows an operator may hold
    std::optional<std::uint64_t> pipeline_batch{};   // rows fetched together
    std::optional<std::uint64_t> max_parallelism{};  // cores for one request
    std::optional<query_profile> profile{};
    bool metrics = false;
    // Names the request in the server's logs; empty: one is made. Use it once.
    std::string client_context_id{};
    bool use_search_index = false;
    bool preserve_expiry = false;  // of documents that the statement changes
    std::optional<bool> use_replica{};
    std::vector<named_value> raw{};  // members this list does not know
    // All rows together, for `query`; what a stream keeps ahead, for `query_stream`. Absent: the
    // defaults above.
    std::optional<std::size_t> rows_size_max_bytes{};
    std::shared_ptr<retry_strategy> strategy{};
    std::shared_ptr<const std::any> user_data{};
    retry_allowance* outer_allowance = nullptr;
};

// cluster::analytics_query, scope::analytics_query and their streams. As in query_options.
struct analytics_options {
    std::optional<duration> timeout{};
    bool readonly = false;
    // Before the requests that have none.
    bool has_priority = false;
    std::vector<json_fragment> positional{};
    std::vector<named_value> named{};
    scan_consistency consistency = scan_consistency::server_default;
    std::string client_context_id{};
    std::vector<named_value> raw{};
    std::optional<std::size_t> rows_size_max_bytes{};
    std::shared_ptr<retry_strategy> strategy{};
    std::shared_ptr<const std::any> user_data{};
    retry_allowance* outer_allowance = nullptr;
};

// What is searched for. Any query of the service can be written as JSON.
struct search_query {
    search_query() = default;
    explicit search_query(std::string given) noexcept : json(std::move(given)) {}

    std::string json{};

    // `field` empty: all fields.
    [[nodiscard]] static search_query match(std::string_view text, std::string_view field = {});
    [[nodiscard]] static search_query term(std::string_view term, std::string_view field = {});
    // The service's query language: "+name:x -name:y".
    [[nodiscard]] static search_query query_string(std::string_view text);
    [[nodiscard]] static search_query match_all();
};

// cluster::search, scope::search and their streams. Every search may be sent again.
struct search_options {
    std::optional<duration> timeout{};
    std::optional<std::uint64_t> limit{};  // hits at most
    std::optional<std::uint64_t> skip{};   // hits left out before
    bool explain = false;
    bool disable_scoring = false;
    bool include_locations = false;
    std::vector<std::string> fields{};       // stored fields to return; "*" is all
    std::vector<json_fragment> sort{};       // a field's name, or an object as json_text
    std::vector<named_value> facets{};       // objects, as json_text
    std::vector<std::string> collections{};  // of the index's scope
    mutation_state consistent_with{};
    std::vector<named_value> raw{};
    std::optional<std::size_t> rows_size_max_bytes{};
    std::shared_ptr<retry_strategy> strategy{};
    std::shared_ptr<const std::any> user_data{};
    retry_allowance* outer_allowance = nullptr;
};

// How old a view's answer may be.
enum class view_stale : std::uint8_t {
    ok,            // as the index is
    update_after,  // as the index is; it is brought up to date afterwards
    no             // the index is brought up to date first
};

// What a view does when a part of it fails.
enum class view_on_error : std::uint8_t { keep_going, stop };

// bucket::view_query and its stream. Every view query may be sent again.
struct view_options {
    std::optional<duration> timeout{};
    bool is_development = false;  // the `dev_` design document
    std::optional<std::uint64_t> limit{};
    std::optional<std::uint64_t> skip{};
    std::optional<view_stale> stale{};
    std::optional<json_fragment> key{};  // only rows of this key
    std::vector<json_fragment> keys{};   // only rows of these
    std::optional<json_fragment> start_key{};
    std::optional<json_fragment> end_key{};
    std::string start_key_doc_id{};  // among rows of the same key
    std::string end_key_doc_id{};
    std::optional<bool> inclusive_end{};
    std::optional<bool> reduce{};
    std::optional<bool> group{};
    std::optional<std::uint32_t> group_level{};
    std::optional<bool> descending{};
    std::optional<view_on_error> on_error{};
    bool debug = false;
    bool full_set = false;  // development views over all documents
    std::optional<std::size_t> rows_size_max_bytes{};
    std::shared_ptr<retry_strategy> strategy{};
    std::shared_ptr<const std::any> user_data{};
    retry_allowance* outer_allowance = nullptr;
};

// Calls of bucket_manager and collection_manager, and cluster::management_request.
struct management_options {
    std::optional<duration> timeout{};
    std::shared_ptr<retry_strategy> strategy{};
    std::shared_ptr<const std::any> user_data{};
    retry_allowance* outer_allowance = nullptr;
};

enum class service_kind : std::uint8_t { key_value, management, views, query, search, analytics };

// One request to any node that offers the service, as it is. Credentials are added; a GET or HEAD
// may be sent again, nothing else.
struct management_request {
    service_kind service = service_kind::management;  // key_value has no HTTP
    std::string method = "GET";
    std::string target{};  // path and query, percent-encoded
    std::string content_type{};
    std::string body{};
};

}  // namespace reprise::couchbase
