#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <reprise/services/http_exchange.hpp>

namespace reprise::services {

/// Create JSON queries for search_request::query. You can write other kinds of queries by hand. An
/// empty field means all fields.
std::string make_match_query(std::string_view text, std::string_view field = {});
std::string make_term_query(std::string_view term, std::string_view field = {});
/// Uses the query language of the service: "+name:x -name:y".
std::string make_query_string_query(std::string_view text);
std::string make_match_all_query();

/// All options of a search. A member that you do not set is not sent.
struct search_request {
    std::string index{};
    /// Set both for a scoped index, or neither.
    std::string bucket{};
    std::string scope{};
    /// A JSON object.
    std::string query{};

    /// The limit on the server; see server_timeout().
    std::optional<std::chrono::milliseconds> timeout{};
    /// The service waits until the index contains these writes.
    std::vector<mutation_mark> consistent_with{};

    std::optional<std::uint64_t> size{};  ///< maximum number of hits
    std::optional<std::uint64_t> from{};  ///< number of hits to skip
    bool is_explained = false;
    bool is_unscored = false;
    bool has_locations = false;
    std::vector<std::string> fields{};  ///< stored fields to return; "*" means all
    std::vector<std::string> sort{};  ///< each a JSON value: a field's name in quotes, or an object
    std::vector<named_json> facets{};
    std::vector<std::string> collections{};  ///< collections of the index's scope
    std::vector<named_json> raw{};           ///< members that this struct does not have
};

/// POST /api/index/<index>/query, or the scoped path. Rows are in "hits". Always idempotent.
///
/// Fails with text_missing (index, query), option_out_of_place (only one of bucket and scope),
/// value_not_json, text_not_utf8 or name_repeated.
service_call_result make_search_call(const search_request& request);

/// Fails like make_search_call().
[[nodiscard]] service_operation_result make_search_operation(const search_request& request);

}  // namespace reprise::services
