#include "services/views/view_design.hpp"

#include <algorithm>
#include <array>

#include "services/query/language.hpp"

namespace reprise::sandbox::detail {

namespace {

constexpr std::array<reduce_name, 3> known_reduces{{
    {"_count", view_reduce::count},
    {"_sum", view_reduce::sum},
    {"_stats", view_reduce::stats},
}};

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
    {"reduce", "", "whether the reduce function runs"},
    {"group", "", "reduce by key"},
    {"group_level", "", "reduce by the first elements of the key"},
    {"stale", "", "accepted: a view is always up to date"},
    {"update_seq", "", "accepted only as false"},
    {"debug", "", "accepted only as false"},
    {"on_error", "", "accepted: there are no partial failures"},
    {"full_set", "", "accepted: development views see all documents"},
    {"connection_timeout", "", "accepted: nothing takes time"},
};

std::expected<view_definition, std::string> read_view(
    const std::string& name, const json::value& given) {
    const json::object* members = given.as_object();
    const json::value* map = members == nullptr ? nullptr : members->find("map");
    if (map == nullptr || !map->as_string()) {
        return std::unexpected("View " + name + " has no map function");
    }
    for (const json::member& each : *members) {
        if (each.name != "map" && each.name != "reduce") {
            return std::unexpected(
                "View " + name + ": " + not_in_sandbox_text("The member " + each.name));
        }
    }
    auto function = map_function::parse(*map->as_string());
    if (!function) {
        return std::unexpected("View " + name + ": " + function.error());
    }
    view_definition made{*std::move(function), view_reduce::none};
    const json::value* reduce = members->find("reduce");
    const auto wanted = reduce == nullptr ? std::nullopt : reduce->as_string();
    if (wanted && !wanted->empty()) {
        const auto known = std::ranges::find(known_reduces, *wanted, &reduce_name::name);
        if (known == known_reduces.end()) {
            return std::unexpected(
                "View " + name + ": " +
                not_in_sandbox_text("A reduce function other than _count, _sum and _stats"));
        }
        made.reduce = known->what;
    }
    return made;
}

}  // namespace

std::span<const reduce_name> reduce_names() noexcept {
    return known_reduces;
}

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
            auto view = read_view(each.name, each.content);
            if (!view) {
                return std::unexpected(std::move(view.error()));
            }
            made.views.emplace(each.name, *std::move(view));
        }
    }
    made.text = std::move(text);
    return made;
}

}  // namespace reprise::sandbox::detail
