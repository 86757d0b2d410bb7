#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <reprise/services/service_call.hpp>

namespace reprise::services {

// What the typed queries below have in common.
struct search_query_options {
    std::string field{};                       // empty: all fields
    std::optional<double> boost{};             // weight of this part
    std::optional<std::uint32_t> fuzziness{};  // match and term: edits allowed
    std::string analyzer{};                    // match only; empty: the field's own
};

// Queries as JSON, for search_request::query. Whatever these do not offer can be written by hand.
std::string make_match_query(std::string_view text, const search_query_options& options = {});
std::string make_term_query(std::string_view term, const search_query_options& options = {});
// The query language of the service: "+name:x -name:y". Takes no field, fuzziness or analyzer.
std::string make_query_string_query(std::string_view text, std::optional<double> boost = {});
std::string make_match_all_query();

enum class highlight_style : std::uint8_t { server_default, html, ansi };

// Which fragments of a hit are marked.
struct search_highlight {
    highlight_style style = highlight_style::server_default;
    std::vector<std::string> fields{};  // empty: all
};

// Everything a search can say; a member left alone is not sent.
struct search_request {
    std::string index{};
    // Both or neither: a scoped index.
    std::string bucket{};
    std::string scope{};
    // A JSON object. May be left out if there is `knn`.
    std::string query{};

    // The server's own limit; see server_timeout().
    std::optional<std::chrono::milliseconds> timeout{};
    // Wait until the index has these writes.
    std::vector<mutation_mark> consistent_with{};

    std::optional<std::uint64_t> size{};  // hits at most
    std::optional<std::uint64_t> from{};  // hits left out before
    bool is_explained = false;
    bool is_unscored = false;
    bool has_locations = false;
    std::optional<bool> shows_request{};  // the answer repeats the request
    std::vector<std::string> fields{};    // stored fields to return; "*" is all
    std::optional<search_highlight> highlight{};
    std::vector<std::string> sort{};  // each a JSON value: a field's name in quotes, or an object
    std::vector<named_json> facets{};
    std::vector<std::string> collections{};  // of the index's scope
    std::string knn{};                       // a JSON array of vector queries
    std::string knn_operator{};              // "and" or "or"
    std::vector<named_json> raw{};           // members this list does not know
};

// POST /api/index/<index>/query, or the scoped path; rows are in "hits". Always idempotent.
//
// Errors: text_missing (index, query), option_out_of_place (bucket without scope or the other way),
// value_not_json, text_not_utf8, name_repeated.
service_call_result make_search_call(const search_request& request);

}  // namespace reprise::services
