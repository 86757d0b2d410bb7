#include "http_services/views/view_design.hpp"

#include <algorithm>
#include <array>

#include "http_services/query/language.hpp"

namespace reprise::sandbox::detail {

namespace {

// The function that clients send for "all documents": the text that a server's console suggests.
constexpr std::string_view suggested = "function(doc,meta){emit(meta.id,null);}";

std::string without_blanks(std::string_view text) {
    std::string kept(text);
    std::erase_if(kept, [](char c) { return c == ' ' || c == '\n' || c == '\r' || c == '\t'; });
    return kept;
}

// Other members would be stored without effect, so they are refused.
constexpr std::array<std::string_view, 4> design_members{"views", "language", "_id", "_rev"};

constexpr view_parameter known_parameters[] = {
    {"key", "", "rows with this key"},
    {"keys", "", "rows with these keys, in their order; also in the body of a POST"},
    {"startkey", "start_key", "the first key"},
    {"endkey", "end_key", "the last key"},
    {"startkey_docid", "start_key_doc_id", "the first id among rows with the first key"},
    {"endkey_docid", "end_key_doc_id", "the last id among rows with the last key"},
    {"inclusive_end", "", "whether rows with the last key are included"},
    {"descending", "", "backwards"},
    {"skip", "", "number of rows to skip"},
    {"limit", "", "largest number of rows"},
    {"reduce", "", "accepted only as false"},
    {"stale", "", "accepted: a view is always up to date"},
    {"update_seq", "", "accepted only as false"},
    {"debug", "", "accepted only as false"},
    {"on_error", "", "accepted: there are no partial failures"},
    {"full_set", "", "accepted: development views see all documents"},
    {"connection_timeout", "", "accepted: nothing takes time"},
};

// Returns what is malformed or not in the sandbox; empty: the view can be stored.
std::string find_view_problem(const json::value& given) {
    const json::object* members = given.as_object();
    const json::value* map = members == nullptr ? nullptr : members->find("map");
    if (map == nullptr || !map->as_string()) {
        return "it has no map function";
    }
    for (const json::member& each : *members) {
        const bool is_unset =
            each.name == "reduce" && each.content.as_string().value_or("").empty();
        if (each.name != "map" && !is_unset) {
            return not_in_sandbox_text("The member " + each.name);
        }
    }
    const bool is_known =
        map->as_string() == map_by_id || without_blanks(*map->as_string()) == suggested;
    return is_known ? "" : not_in_sandbox_text("A map function other than _by_id");
}

}  // namespace

std::span<const view_parameter> view_parameters() noexcept {
    return known_parameters;
}

std::expected<design_document, std::string> read_design_document(json::object text) {
    design_document made;
    for (const json::member& each : text) {
        if (std::ranges::find(design_members, each.name) == design_members.end()) {
            return std::unexpected(
                not_in_sandbox_text("The member " + each.name + " of a design document"));
        }
    }
    const json::value* language = text.find("language");
    if (language != nullptr && language->as_string() != "javascript") {
        return std::unexpected(not_in_sandbox_text("A language other than javascript"));
    }
    const json::value* views = text.find("views");
    if (views != nullptr && views->as_object() == nullptr) {
        return std::unexpected("The views must be an object");
    }
    if (views != nullptr) {
        for (const json::member& each : *views->as_object()) {
            if (const std::string problem = find_view_problem(each.content); !problem.empty()) {
                return std::unexpected("View " + each.name + ": " + problem);
            }
            made.views.insert(each.name);
        }
    }
    made.text = std::move(text);
    return made;
}

}  // namespace reprise::sandbox::detail
