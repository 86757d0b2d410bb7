#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <reprise/services/service_call.hpp>

namespace reprise::services {

// Queries as JSON, for search_request::query. Whatever these do not offer can be written by hand.
// An empty field means all fields.
std::string make_match_query(std::string_view text, std::string_view field = {});
std::string make_term_query(std::string_view term, std::string_view field = {});
// The query language of the service: "+name:x -name:y".
std::string make_query_string_query(std::string_view text);
std::string make_match_all_query();

// Everything a search can say; a member left alone is not sent.
struct search_request {
    std::string index{};
    // Both or neither: a scoped index.
    std::string bucket{};
    std::string scope{};
    // A JSON object.
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
    std::vector<std::string> fields{};  // stored fields to return; "*" is all
    std::vector<std::string> sort{};    // each a JSON value: a field's name in quotes, or an object
    std::vector<named_json> facets{};
    std::vector<std::string> collections{};  // of the index's scope
    std::vector<named_json> raw{};           // members this list does not know
};

// POST /api/index/<index>/query, or the scoped path; rows are in "hits". Always idempotent.
//
// Errors: text_missing (index, query), option_out_of_place (bucket without scope or the other way),
// value_not_json, text_not_utf8, name_repeated.
service_call_result make_search_call(const search_request& request);

}  // namespace reprise::services
