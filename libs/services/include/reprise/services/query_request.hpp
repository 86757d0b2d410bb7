#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <reprise/services/service_call.hpp>

namespace reprise::services {

enum class scan_consistency : std::uint8_t {
    server_default,  // nothing is sent
    not_bounded,     // whatever the indexes have now
    request_plus,    // every write that was done before the request
    at_plus          // the writes named in query_request::consistent_with; query only
};

enum class query_profile : std::uint8_t { off, phases, timings };

// Everything a query request can say; a member left alone is not sent. Plain values, checked when
// the call is made.
struct query_request {
    // Either a statement or the name of a prepared one.
    std::string statement{};
    std::string prepared_name{};
    // Only beside prepared_name, for servers without enhanced prepared statements.
    std::string encoded_plan{};
    // The statement is a PREPARE that shall be executed at once (enhanced prepared statements).
    bool is_auto_execute = false;

    // One for each request; the answer repeats it.
    std::string client_context_id{};
    // The server's own limit; see server_timeout().
    std::optional<std::chrono::milliseconds> timeout{};
    // The server refuses to write; makes the request idempotent.
    bool is_readonly = false;

    std::vector<std::string> args{};       // positional parameters, each a JSON value
    std::vector<named_json> parameters{};  // named ones; `$` is added to names that lack it

    scan_consistency consistency = scan_consistency::server_default;
    std::vector<mutation_mark> consistent_with{};          // with at_plus, and only then
    std::optional<std::chrono::milliseconds> scan_wait{};  // only with request_plus and at_plus

    std::optional<std::uint64_t> scan_cap{};         // rows between index and fetch
    std::optional<std::uint64_t> pipeline_cap{};     // rows an operator may hold
    std::optional<std::uint64_t> pipeline_batch{};   // rows fetched together
    std::optional<std::uint64_t> max_parallelism{};  // cores for one request

    std::optional<query_profile> profile{};
    std::optional<bool> metrics{};
    std::string query_context{};  // see make_query_context()
    bool use_search_index = false;
    bool preserve_expiry = false;
    std::optional<bool> use_replica{};
    std::vector<named_json> raw{};  // members this list does not know
};

// POST /query/service; rows are in "results". Idempotent if readonly.
//
// Errors: text_missing (neither statement nor prepared name), option_out_of_place (both; a plan
// without a name; auto execute with one; marks without at_plus or the other way; scan_wait without
// a consistency that waits), value_not_json, text_not_utf8, name_repeated (a raw or named member
// that is there already).
service_call_result make_query_call(const query_request& request);

// "PREPARE SELECT 1": the text that prepares a statement.
std::string make_prepare_statement(std::string_view statement);

std::string_view to_string(scan_consistency consistency) noexcept;
std::string_view to_string(query_profile profile) noexcept;

}  // namespace reprise::services
