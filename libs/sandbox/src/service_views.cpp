#include <algorithm>
#include <utility>

#include <reprise/json/parse.hpp>
#include <reprise/json/write.hpp>

#include "http_texts.hpp"
#include "service_state.hpp"

// The views port: design documents, and views over all documents of a bucket's default collection.
// Map functions are kept but not run: every view gives (id, null).

namespace reprise::sandbox {

namespace detail {

namespace {

service_response view_error(int status, std::string_view error, std::string_view reason) {
    return make_service_response(
        status, json::serialize(json::object{{"error", error}, {"reason", reason}}));
}

// What a view request asks for. Bounds are in the direction of reading.
struct view_query {
    std::optional<json::value> start;
    std::optional<json::value> end;
    std::string start_id;
    std::string end_id;
    std::optional<json::array> keys;
    std::uint64_t skip = 0;
    std::optional<std::uint64_t> limit;
    bool is_descending = false;
    bool is_end_inclusive = true;
    bool is_reduced = true;
    bool is_grouped = false;
    std::string problem;  // the parameter that is malformed
};

// The value under the first of the names that is there.
std::string_view find_either(
    const form_fields& form, std::string_view name, std::string_view other) {
    const std::string_view found = form.find(name);
    return found.empty() ? form.find(other) : found;
}

std::optional<json::value> read_json(
    view_query& query, std::string_view name, std::string_view text) {
    if (text.empty()) {
        return std::nullopt;
    }
    auto parsed = json::parse(text);
    if (!parsed) {
        query.problem = name;
        return std::nullopt;
    }
    return std::move(parsed->root);
}

std::optional<std::uint64_t> read_count(
    view_query& query, std::string_view name, std::string_view text) {
    const auto number = parse_int32(text);
    if (!text.empty() && (!number || *number < 0)) {
        query.problem = name;
    }
    return number && *number >= 0 ? std::optional(static_cast<std::uint64_t>(*number))
                                  : std::nullopt;
}

view_query read_view_query(const service_request& request) {
    const std::size_t mark = request.target.find('?');
    const form_fields form = parse_form(
        mark == std::string::npos ? "" : std::string_view(request.target).substr(mark + 1));
    view_query query;
    query.start = read_json(query, "startkey", find_either(form, "startkey", "start_key"));
    query.end = read_json(query, "endkey", find_either(form, "endkey", "end_key"));
    query.start_id = find_either(form, "startkey_docid", "start_key_doc_id");
    query.end_id = find_either(form, "endkey_docid", "end_key_doc_id");
    query.skip = read_count(query, "skip", form.find("skip")).value_or(0);
    query.limit = read_count(query, "limit", form.find("limit"));
    query.is_descending = form.find("descending") == "true";
    query.is_end_inclusive = form.find("inclusive_end") != "false";
    query.is_reduced = form.find("reduce") != "false";
    query.is_grouped = form.find("group") == "true" || !form.find("group_level").empty();
    if (auto key = read_json(query, "key", form.find("key"))) {
        query.keys = json::array{*std::move(key)};
    }
    auto keys = read_json(query, "keys", form.find("keys"));
    if (!keys && request.method == "POST" && !request.body.empty()) {
        auto body = read_json(query, "keys", request.body);
        const json::value* member = body ? body->find("keys") : nullptr;
        keys = member == nullptr ? std::nullopt : std::optional(*member);
    }
    if (keys && keys->as_array() != nullptr) {
        query.keys = *keys->as_array();
    } else if (keys) {
        query.problem = "keys";
    }
    return query;
}

// Before (negative), at or behind a bound in the direction of reading.
int compare_to_bound(
    const view_query& query, const std::string& id, const json::value& bound,
    const std::string& bound_id) {
    int sign = collate(id, bound);
    // Key and id are the same here, so the id decides only where the bound names another one.
    if (sign == 0 && !bound_id.empty()) {
        sign = id < bound_id ? -1 : (bound_id < id ? 1 : 0);
    }
    return query.is_descending ? -sign : sign;
}

std::vector<std::string> chosen_rows(const view_query& query, std::vector<std::string> ids) {
    if (query.is_descending) {
        std::ranges::reverse(ids);
    }
    std::vector<std::string> chosen;
    if (query.keys) {
        // In the order of the keys.
        for (const json::value& key : *query.keys) {
            const auto id = key.as_string();
            if (id && std::ranges::find(ids, *id) != ids.end()) {
                chosen.emplace_back(*id);
            }
        }
    } else {
        std::ranges::copy_if(ids, std::back_inserter(chosen), [&query](const std::string& id) {
            const bool is_late =
                !query.start || compare_to_bound(query, id, *query.start, query.start_id) >= 0;
            const int end = query.end ? compare_to_bound(query, id, *query.end, query.end_id) : -1;
            return is_late && (end < 0 || (end == 0 && query.is_end_inclusive));
        });
    }
    return chosen;
}

void cut_view_rows(const view_query& query, std::vector<std::string>& ids) {
    const auto skipped = std::min<std::uint64_t>(query.skip, ids.size());
    ids.erase(ids.begin(), ids.begin() + static_cast<std::ptrdiff_t>(skipped));
    if (query.limit && *query.limit < ids.size()) {
        ids.resize(*query.limit);
    }
}

// Only `_count` is known.
bool is_counting(const json::value& view) {
    const json::value* reduce = view.find("reduce");
    return reduce != nullptr && reduce->as_string() == "_count";
}

service_response run_view(
    service_exchange& with, const std::string& bucket, const json::value& view) {
    const view_query query = read_view_query(with.request);
    if (!query.problem.empty()) {
        return view_error(400, "query_parse_error", "Invalid value for " + query.problem);
    }
    const auto on = find_keyspace(with.services.cluster, bucket);
    std::vector<std::string> ids =
        on ? document_ids(with.services.cluster, *on, with.now) : std::vector<std::string>();
    const std::size_t total = ids.size();
    std::vector<std::string> chosen = chosen_rows(query, std::move(ids));
    std::string out;
    json::writer w(out);
    w.begin_object();
    const bool is_reduced = query.is_reduced && is_counting(view);
    if (!is_reduced) {
        w.member("total_rows", total);
    }
    w.key("rows").begin_array();
    if (is_reduced && !query.is_grouped) {
        w.begin_object().member("key", nullptr).member("value", chosen.size()).end_object();
    } else {
        cut_view_rows(query, chosen);
        for (const std::string& id : chosen) {
            w.begin_object();
            if (!is_reduced) {
                w.member("id", id);
            }
            w.member("key", id).key("value");
            if (is_reduced) {
                w.value(1);
            } else {
                w.value(nullptr);
            }
            w.end_object();
        }
    }
    w.end_array().end_object();
    return make_service_response(200, std::move(out));
}

service_response on_design_document(
    service_exchange& with, const std::string& bucket, const std::string& name) {
    auto& designs = with.services.design_documents;
    const std::pair key{bucket, name};
    if (with.is("PUT")) {
        auto parsed = json::parse(with.request.body);
        if (!parsed || parsed->root.as_object() == nullptr) {
            return view_error(400, "invalid_design_document", "Content is not json.");
        }
        if (!designs.contains(key) && designs.size() >= definition_count_max) {
            return view_error(400, "too_many", "Too many design documents");
        }
        designs.insert_or_assign(key, std::move(*parsed->root.as_object()));
        with.audit.is_applied = true;
        return make_service_response(
            201, json::serialize(json::object{{"ok", true}, {"id", "_design/" + name}}));
    }
    const auto found = designs.find(key);
    if (found == designs.end()) {
        return view_error(404, "not_found", "missing design document");
    }
    if (with.is("GET")) {
        return make_service_response(200, json::serialize(found->second));
    }
    if (with.is("DELETE")) {
        designs.erase(found);
        with.audit.is_applied = true;
        return make_service_response(
            200, json::serialize(json::object{{"ok", true}, {"id", "_design/" + name}}));
    }
    return view_error(405, "method_not_allowed", "Only GET, PUT, DELETE allowed");
}

service_response on_view(
    service_exchange& with, const std::string& bucket, const std::string& design,
    const std::string& name) {
    if (!with.is("GET") && !with.is("POST")) {
        return view_error(405, "method_not_allowed", "Only GET, POST allowed");
    }
    const auto found = with.services.design_documents.find({bucket, design});
    if (found == with.services.design_documents.end()) {
        return view_error(404, "not_found", "Design document _design/" + design + " not found");
    }
    const json::value* views = found->second.find("views");
    const json::value* view = views == nullptr ? nullptr : views->find(name);
    if (view == nullptr) {
        return view_error(404, "not_found", "view " + name + " is not in _design/" + design);
    }
    return run_view(with, bucket, *view);
}

}  // namespace

service_response answer_views(service_exchange& with) {
    const auto& parts = with.parts;
    if (parts.empty()) {
        return with.is("GET")
                   ? make_service_response(200, "{\"couchdb\":\"Welcome\",\"version\":\"sandbox\"}")
                   : view_error(405, "method_not_allowed", "Only GET allowed");
    }
    if (with.user == nullptr) {
        return view_error(401, "unauthorized", "You are not authorized to access this db.");
    }
    if (with.services.cluster.find_bucket(parts[0]) == nullptr || !with.can_see(parts[0])) {
        return view_error(404, "not_found", "no_db_file");
    }
    if (parts.size() == 3 && parts[1] == "_design") {
        return on_design_document(with, parts[0], parts[2]);
    }
    if (parts.size() == 5 && parts[1] == "_design" && parts[3] == "_view") {
        return on_view(with, parts[0], parts[2], parts[4]);
    }
    return view_error(404, "not_found", "no such path");
}

}  // namespace detail

std::expected<void, cluster_errc> service_host::put_view(
    std::string_view bucket, std::string_view design, std::string_view view) {
    if (state_->cluster.find_bucket(bucket) == nullptr) {
        return std::unexpected(cluster_errc::unknown_bucket);
    }
    if (design.empty() || view.empty() || design.contains('/') || view.contains('/')) {
        return std::unexpected(cluster_errc::name_invalid);
    }
    json::object& document = state_->design_documents[{std::string(bucket), std::string(design)}];
    json::value* views = document.find("views");
    if (views == nullptr || views->as_object() == nullptr) {
        views = &document.set("views", json::object{});
    }
    views->as_object()->set(
        view, json::object{{"map", "function (doc, meta) { emit(meta.id, null); }"}});
    return {};
}

}  // namespace reprise::sandbox
