#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <reprise/services/http_exchange.hpp>
#include <reprise/services/prepared_cache.hpp>

namespace reprise::services {

enum class scan_consistency : std::uint8_t {
    server_default,  ///< nothing is sent
    not_bounded,     ///< whatever the indexes contain now
    request_plus,    ///< every write that completed before the request
    at_plus          ///< the writes in query_request::consistent_with; query only
};

enum class query_profile : std::uint8_t { off, phases, timings };

/// All options of a query request. A member that you do not set is not sent. make_query_call checks
/// the values.
struct query_request {
    /// Set either a statement or the name of a prepared one.
    std::string statement{};
    std::string prepared_name{};
    /// Only with prepared_name, for servers without enhanced prepared statements.
    std::string encoded_plan{};
    /// The statement is a PREPARE that the server executes immediately (enhanced prepared
    /// statements).
    bool is_auto_execute = false;

    /// Use a new one for each request. The answer repeats it.
    std::string client_context_id{};
    /// The limit on the server; see server_timeout().
    std::optional<std::chrono::milliseconds> timeout{};
    /// The server rejects writes. This makes the request idempotent.
    bool is_readonly = false;

    std::vector<std::string> args{};       ///< positional parameters, each a JSON value
    std::vector<named_json> parameters{};  ///< named parameters; `$` is added to names that lack it

    scan_consistency consistency = scan_consistency::server_default;
    /// Required with at_plus, not allowed without.
    std::vector<mutation_mark> consistent_with{};
    std::optional<std::chrono::milliseconds> scan_wait{};  ///< only with request_plus and at_plus

    std::optional<std::uint64_t> scan_cap{};         ///< rows between index and fetch
    std::optional<std::uint64_t> pipeline_cap{};     ///< rows an operator may hold
    std::optional<std::uint64_t> pipeline_batch{};   ///< rows fetched together
    std::optional<std::uint64_t> max_parallelism{};  ///< cores for one request

    std::optional<query_profile> profile{};
    std::optional<bool> metrics{};
    std::string query_context{};  ///< see make_query_context()
    bool use_search_index = false;
    bool preserve_expiry = false;
    std::optional<bool> use_replica{};
    std::vector<named_json> raw{};  ///< members that this struct does not have
};

/// POST /query/service. Rows are in "results". Idempotent if readonly.
///
/// Fails with text_missing (neither statement nor prepared name), option_out_of_place (both of
/// them, a plan without a name, auto execute with a name, marks without at_plus or at_plus without
/// marks, or scan_wait without a consistency that waits), value_not_json, text_not_utf8, or
/// name_repeated (a raw or named member that already exists).
service_call_result make_query_call(const query_request& request);

/// Returns the statement that prepares `statement`, for example "PREPARE SELECT 1".
std::string make_prepare_statement(std::string_view statement);

std::string_view to_string(scan_consistency consistency) noexcept;
std::string_view to_string(query_profile profile) noexcept;

/// How a statement is run.
struct query_plan {
    /// Null: the statement is sent as text. Otherwise it is prepared once, then run by its name,
    /// and prepared again if the service no longer knows it. Used on the engine's thread only.
    std::shared_ptr<prepared_cache> cache{};
    /// Prepares and runs the statement in one request if the cluster supports it. False: never
    /// does.
    bool may_be_enhanced = true;
};

/// Fails like make_query_call().
[[nodiscard]] service_operation_result make_query_operation(
    query_request asked, query_plan plan = {});

}  // namespace reprise::services
