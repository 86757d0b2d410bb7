#include <algorithm>
#include <utility>

#include <reprise/json/parse.hpp>
#include <reprise/json/write.hpp>

#include "http_services/http_texts.hpp"
#include "http_services/query/language.hpp"
#include "http_services/routes.hpp"
#include "http_services/service_handlers.hpp"

// The views port: design documents, and views over the documents of a bucket's default collection.

namespace reprise::sandbox {

namespace detail {

namespace {

service_response view_error(int status, std::string_view error, std::string_view reason) {
    return make_service_response(
        status, json::serialize(json::object{{"error", error}, {"reason", reason}}));
}

// A parsed view request. Bounds are in reading direction.
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
    std::string problem;  // what is wrong with a parameter
};

// The value of the first name that is present.
std::string_view find_either(
    const form_fields& form, std::string_view name, std::string_view other) {
    const std::string_view found = form.find(name);
    return found.empty() ? form.find(other) : found;
}

std::string invalid_value(std::string_view name) {
    return "Invalid value for " + std::string(name);
}

std::optional<bool> read_flag(view_query& query, std::string_view name, std::string_view text) {
    if (text.empty()) {
        return std::nullopt;
    }
    if (text != "true" && text != "false") {
        query.problem = invalid_value(name);
    }
    return text == "true";
}

// Refuses parameters that the sandbox would have to ignore.
void check_parameters(view_query& query, const form_fields& form) {
    for (const auto& [name, value] : form.fields) {
        const bool is_known =
            std::ranges::any_of(view_parameters(), [&given = name](const view_parameter& each) {
                return given == each.name || (!each.other_name.empty() && given == each.other_name);
            });
        const bool is_asked =
            (name == "debug" || name == "update_seq" || name == "reduce") && value != "false";
        if (!is_known || is_asked) {
            query.problem = not_in_sandbox_text("The view parameter " + name);
        }
    }
}

std::optional<json::value> read_json(
    view_query& query, std::string_view name, std::string_view text) {
    if (text.empty()) {
        return std::nullopt;
    }
    auto parsed = json::parse(text);
    if (!parsed) {
        query.problem = invalid_value(name);
        return std::nullopt;
    }
    return std::move(parsed->root);
}

std::optional<std::uint64_t> read_count(
    view_query& query, std::string_view name, std::string_view text) {
    const auto number = parse_int32(text);
    if (!text.empty() && (!number || *number < 0)) {
        query.problem = invalid_value(name);
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
    query.is_descending = read_flag(query, "descending", form.find("descending")).value_or(false);
    query.is_end_inclusive =
        read_flag(query, "inclusive_end", form.find("inclusive_end")).value_or(true);
    check_parameters(query, form);
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
        query.problem = invalid_value("keys");
    }
    return query;
}

// Returns whether the row is before (negative), at (zero) or after (positive) a bound, in reading
// direction.
int compare_to_bound(
    const view_query& query, const std::string& id, const json::value& bound,
    const std::string& bound_id) {
    int sign = collate(json::value(id), bound);
    if (sign == 0 && !bound_id.empty()) {
        sign = id < bound_id ? -1 : (bound_id < id ? 1 : 0);
    }
    return query.is_descending ? -sign : sign;
}

// The ids of all documents, which are the rows of every view, in reading order.
std::vector<std::string> view_rows(
    service_exchange& with, const std::string& bucket, const view_query& query) {
    const auto on = find_keyspace(with.services.cluster, bucket);
    std::vector<std::string> ids =
        on ? document_ids(with.services.cluster, *on, with.now) : std::vector<std::string>();
    std::ranges::sort(ids, [&query](const std::string& left, const std::string& right) {
        const int sign = collate(json::value(left), json::value(right));
        return query.is_descending ? sign > 0 : sign < 0;
    });
    return ids;
}

std::vector<std::string> chosen_rows(
    const view_query& query, const std::vector<std::string>& rows) {
    std::vector<std::string> chosen;
    if (query.keys) {
        // In the order of the keys.
        for (const json::value& key : *query.keys) {
            std::ranges::copy_if(rows, std::back_inserter(chosen), [&key](const std::string& id) {
                return collate(json::value(id), key) == 0;
            });
        }
        return chosen;
    }
    std::ranges::copy_if(rows, std::back_inserter(chosen), [&query](const std::string& id) {
        const bool is_late =
            !query.start || compare_to_bound(query, id, *query.start, query.start_id) >= 0;
        const int end = query.end ? compare_to_bound(query, id, *query.end, query.end_id) : -1;
        return is_late && (end < 0 || (end == 0 && query.is_end_inclusive));
    });
    return chosen;
}

void cut_view_rows(const view_query& query, std::vector<std::string>& rows) {
    const auto skipped = std::min<std::uint64_t>(query.skip, rows.size());
    rows.erase(rows.begin(), rows.begin() + static_cast<std::ptrdiff_t>(skipped));
    if (query.limit && *query.limit < rows.size()) {
        rows.resize(*query.limit);
    }
}

service_response run_view(service_exchange& with, const std::string& bucket) {
    const view_query query = read_view_query(with.request);
    if (!query.problem.empty()) {
        return view_error(400, "query_parse_error", query.problem);
    }
    const std::vector<std::string> all = view_rows(with, bucket, query);
    std::vector<std::string> rows = chosen_rows(query, all);
    cut_view_rows(query, rows);
    std::string out;
    json::writer w(out);
    w.begin_object().member("total_rows", all.size()).key("rows").begin_array();
    for (const std::string& id : rows) {
        w.begin_object().member("id", id).member("key", id).member("value", nullptr).end_object();
    }
    w.end_array().end_object();
    return make_service_response(200, std::move(out));
}

service_response missing_design_document(const service_exchange& with) {
    return view_error(404, "not_found", "Design document _design/" + with.parts[2] + " not found");
}

service_response put_design_document(service_exchange& with) {
    auto& designs = with.services.design_documents;
    const std::string& name = with.parts[2];
    const std::pair key{with.parts[0], name};
    auto parsed = json::parse(with.request.body);
    if (!parsed || parsed->root.as_object() == nullptr) {
        return view_error(400, "invalid_design_document", "Content is not json.");
    }
    if (!designs.contains(key) && designs.size() >= definition_count_max) {
        return view_error(400, "too_many", "Too many design documents");
    }
    auto design = read_design_document(std::move(*parsed->root.as_object()));
    if (!design) {
        return view_error(400, "invalid_design_document", design.error());
    }
    designs.insert_or_assign(key, *std::move(design));
    with.audit.is_applied = true;
    return make_service_response(
        201, json::serialize(json::object{{"ok", true}, {"id", "_design/" + name}}));
}

service_response get_design_document(service_exchange& with) {
    const auto found = with.services.design_documents.find({with.parts[0], with.parts[2]});
    return found == with.services.design_documents.end()
               ? missing_design_document(with)
               : make_service_response(200, json::serialize(found->second.text));
}

service_response remove_design_document(service_exchange& with) {
    if (with.services.design_documents.erase({with.parts[0], with.parts[2]}) == 0) {
        return missing_design_document(with);
    }
    with.audit.is_applied = true;
    return make_service_response(
        200, json::serialize(json::object{{"ok", true}, {"id", "_design/" + with.parts[2]}}));
}

service_response ask_view(service_exchange& with) {
    const auto found = with.services.design_documents.find({with.parts[0], with.parts[2]});
    if (found == with.services.design_documents.end()) {
        return missing_design_document(with);
    }
    if (!found->second.views.contains(with.parts[4])) {
        return view_error(
            404, "not_found", "view " + with.parts[4] + " is not in _design/" + with.parts[2]);
    }
    return run_view(with, with.parts[0]);
}

service_response welcome_views(service_exchange&) {
    return make_service_response(200, "{\"couchdb\":\"Welcome\",\"version\":\"sandbox\"}");
}

constexpr service_route views_table[] = {
    {"GET", "/", welcome_views, privilege::none, "answers; requires no login"},
    {"GET", "/{bucket}/_design/{design}", get_design_document, privilege::view_read,
     "a design document"},
    {"PUT", "/{bucket}/_design/{design}", put_design_document, privilege::view_write,
     "creates or changes a design document"},
    {"DELETE", "/{bucket}/_design/{design}", remove_design_document, privilege::view_write,
     "drops a design document"},
    {"GET", "/{bucket}/_design/{design}/_view/{view}", ask_view, privilege::view_read,
     "rows of a view"},
    {"POST", "/{bucket}/_design/{design}/_view/{view}", ask_view, privilege::view_read,
     "rows of a view, with keys in the body"},
};

}  // namespace

std::span<const service_route> views_routes() noexcept {
    return views_table;
}

service_response answer_views(service_exchange& with) {
    const route_match found = find_route(views_table, with);
    if (found.route != nullptr && found.route->needs == privilege::none) {
        return found.route->answer(with);
    }
    if (with.user == nullptr) {
        return view_error(401, "unauthorized", "You are not authorized to access this db.");
    }
    if (found.route == nullptr) {
        return found.is_path
                   ? view_error(405, "method_not_allowed", "Method not allowed for this path")
                   : view_error(404, "not_found", "no such path");
    }
    const std::string& bucket = with.parts[0];
    if (with.services.cluster.find_bucket(bucket) == nullptr || !with.can_see(bucket)) {
        return view_error(404, "not_found", "no_db_file");
    }
    return with.can_see(bucket, found.route->needs)
               ? found.route->answer(with)
               : view_error(403, "forbidden", "No role of the user permits this.");
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
    detail::design_document& document =
        state_->design_documents[{std::string(bucket), std::string(design)}];
    json::object text = document.text;
    json::value* views = text.find("views");
    if (views == nullptr) {
        views = &text.set("views", json::object{});
    }
    views->as_object()->set(view, json::object{{"map", "_by_id"}});
    document = detail::read_design_document(std::move(text)).value();
    return {};
}

}  // namespace reprise::sandbox
