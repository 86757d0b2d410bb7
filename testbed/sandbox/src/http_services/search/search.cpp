#include <algorithm>
#include <array>
#include <tuple>
#include <utility>

#include <reprise/json/parse.hpp>
#include <reprise/json/write.hpp>

#include "http_services/missing_paths.hpp"
#include "http_services/query/language.hpp"
#include "http_services/routes.hpp"
#include "http_services/search/search_query.hpp"
#include "http_services/service_handlers.hpp"

// The search port: index definitions, and queries over whole documents. All hits have the same
// score.

namespace reprise::sandbox {

namespace detail {

namespace {

constexpr std::uint64_t hit_count_default = 10;

service_response search_error(const std::string& index, int status, std::string_view text) {
    return make_service_response(
        status,
        json::serialize(json::object{
            {"error", "rest_index: Query, indexName: " + index + ", err: " + std::string(text)},
            {"status", "fail"}}));
}

service_response definition_error(int status, const std::string& text) {
    return make_service_response(
        status, json::serialize(json::object{{"error", text}, {"status", "fail"}}));
}

service_response search_ok(json::object members = {}) {
    json::object body{{"status", "ok"}};
    for (json::member& each : members) {
        body.set(each.name, std::move(each.content));
    }
    return make_service_response(200, json::serialize(body));
}

std::vector<searched_document> searched_documents(
    service_exchange& with, const search_index& index) {
    std::vector<searched_document> all;
    for (const keyspace& each : keyspaces_of(with.services.cluster, index.bucket)) {
        if (!index.scope.empty() && each.scope != index.scope) {
            continue;
        }
        for (const std::string& id : document_ids(with.services.cluster, each, with.now)) {
            auto found = read_document(with.services.cluster, each, id, with.now);
            auto parsed = found && found->is_json ? json::parse(found->value)
                                                  : std::unexpected(json::parse_error{});
            if (parsed) {
                all.push_back({id, std::move(parsed->root), each.collection});
            }
        }
    }
    std::ranges::sort(all, [](const searched_document& left, const searched_document& right) {
        return std::tie(left.id, left.collection) < std::tie(right.id, right.collection);
    });
    return all;
}

std::uint64_t count_member(const json::value& of, std::string_view name, std::uint64_t otherwise) {
    const json::value* found = of.find(name);
    return found == nullptr ? otherwise : found->as_uint64().value_or(otherwise);
}

// Members of real requests that the sandbox does not support. Others that it does not read are
// ignored, as by servers.
constexpr std::array<std::string_view, 10> missing_request_members{
    "facets",       "fields", "highlight",        "explain",      "knn",
    "knn_operator", "sort",   "includeLocations", "search_after", "search_before"};

std::optional<std::string> find_request_problem(const json::value& request) {
    for (const json::member& each : *request.as_object()) {
        const bool is_unset = each.content.is_null() || each.content.as_bool() == false;
        if (is_unset) {
            continue;
        }
        if (std::ranges::find(missing_request_members, each.name) !=
            missing_request_members.end()) {
            return not_in_sandbox_text("\"" + each.name + "\" of a search request");
        }
        const bool is_count = each.name == "from" || each.name == "size";
        if ((is_count && !each.content.as_uint64()) ||
            (each.name == "collections" && each.content.as_array() == nullptr) ||
            (each.name == "ctl" && each.content.as_object() == nullptr)) {
            return "cannot unmarshal the value of " + each.name;
        }
    }
    return std::nullopt;
}

// Every search sees every write, so the consistency is only checked.
std::optional<std::string> find_consistency_problem(const json::value& request) {
    const json::value* control = request.find("ctl");
    const json::value* given = control == nullptr ? nullptr : control->find("consistency");
    const json::value* level = given == nullptr ? nullptr : given->find("level");
    const std::string_view text = level == nullptr ? "" : level->as_string().value_or("?");
    return text.empty() || text == "not_bounded" || text == "at_plus"
               ? std::nullopt
               : std::optional("unsupported consistency level: " + std::string(text));
}

// Whether the request includes the document's collection.
bool is_wanted(const json::value& request, const searched_document& document) {
    const json::value* given = request.find("collections");
    const json::array* names = given == nullptr ? nullptr : given->as_array();
    return names == nullptr || names->empty() ||
           std::ranges::find(*names, json::value(document.collection)) != names->end();
}

// The requested page of hits in the format of the answer.
json::array shown_hits(
    const json::value& request, const std::string& name, const search_index& index,
    const std::vector<const searched_document*>& hits) {
    const std::uint64_t from = count_member(request, "from", 0);
    const std::uint64_t size = count_member(request, "size", hit_count_default);
    json::array shown;
    for (std::uint64_t i = from; i < hits.size() && shown.size() < size; ++i) {
        shown.emplace_back(json::object{
            {"index", name + "_" + index.uuid + "_0"},
            {"id", hits[i]->id},
            {"score", 1.0},
            {"sort", json::array{"_score"}},
            {"fields", json::object{{"_$c", hits[i]->collection}}}});
    }
    return shown;
}

service_response run_search(
    service_exchange& with, const std::string& name, const search_index& index) {
    const auto parsed = json::parse(with.request.body);
    const json::value* query = parsed ? parsed->root.find("query") : nullptr;
    if (query == nullptr) {
        return search_error(name, 400, "bleve: QueryBleve parsing searchRequest: no query");
    }
    auto problem = find_request_problem(parsed->root);
    problem = problem ? problem : find_consistency_problem(parsed->root);
    problem = problem ? problem : find_search_problem(*query);
    if (problem) {
        return search_error(name, 400, "bleve: QueryBleve parsing query: " + *problem);
    }
    const auto documents = searched_documents(with, index);
    std::vector<const searched_document*> hits;
    for (const searched_document& each : documents) {
        if (is_wanted(parsed->root, each) && fits_search(*query, each)) {
            hits.push_back(&each);
        }
    }
    json::object body{{"status", json::object{{"total", 1}, {"failed", 0}, {"successful", 1}}}};
    const json::value* show = parsed->root.find("showrequest");
    if (show != nullptr && show->as_bool() == true) {
        body.set("request", parsed->root);
    }
    body.set("hits", shown_hits(parsed->root, name, index, hits));
    body.set("total_hits", hits.size());
    body.set("cost", 0);
    body.set("max_score", hits.empty() ? 0.0 : 1.0);
    const std::chrono::nanoseconds took = with.services.cluster.options.server_duration;
    body.set("took", took.count());
    body.set("facets", nullptr);
    return make_service_response(200, json::serialize(body));
}

json::object shown_definition(const std::string& name, const search_index& index) {
    json::object shown = index.definition;
    shown.set("type", "fulltext-index");
    shown.set("name", name);
    shown.set("uuid", index.uuid);
    shown.set("sourceType", "gocbcore");
    shown.set("sourceName", index.bucket);
    return shown;
}

service_response list_definitions(service_exchange& with) {
    json::object shown;
    for (const auto& [name, index] : with.services.search_indexes) {
        if (with.can_see(index.bucket, privilege::search_read)) {
            shown.set(name, shown_definition(name, index));
        }
    }
    return search_ok(
        {{"indexDefs",
          json::object{{"uuid", "1"}, {"indexDefs", std::move(shown)}, {"implVersion", "5.7.0"}}}});
}

// Finds a part of a definition that an index of the sandbox would not implement.
std::optional<std::string> find_definition_problem(const json::object& definition) {
    const auto text = [&definition](std::string_view name) {
        const json::value* found = definition.find(name);
        return found == nullptr ? std::string_view() : found->as_string().value_or("");
    };
    if (const auto type = text("type"); !type.empty() && type != "fulltext-index") {
        return not_in_sandbox_text("A search index of type " + std::string(type));
    }
    if (const auto source = text("sourceType");
        !source.empty() && source != "couchbase" && source != "gocbcore") {
        return not_in_sandbox_text("A search index over " + std::string(source));
    }
    const json::value* params = definition.find("params");
    const json::value* mapping = params == nullptr ? nullptr : params->find("mapping");
    if (mapping == nullptr) {
        return std::nullopt;
    }
    const json::value* own = mapping->find("types");
    if (own != nullptr && own->as_object() != nullptr && !own->as_object()->empty()) {
        return not_in_sandbox_text("A search index with mappings of types");
    }
    const json::value* usual = mapping->find("default_mapping");
    for (const std::string_view name : {"enabled", "dynamic"}) {
        const json::value* flag = usual == nullptr ? nullptr : usual->find(name);
        if (flag != nullptr && flag->as_bool() == false) {
            return not_in_sandbox_text("A search index whose default mapping is not dynamic");
        }
    }
    const json::value* fields = usual == nullptr ? nullptr : usual->find("properties");
    if (fields != nullptr && fields->as_object() != nullptr && !fields->as_object()->empty()) {
        return not_in_sandbox_text("A search index with mappings of fields");
    }
    return std::nullopt;
}

service_response put_definition(
    service_exchange& with, const std::string& name, const std::string& scope) {
    const auto parsed = json::parse(with.request.body);
    const json::object* members = parsed ? parsed->root.as_object() : nullptr;
    const json::value* source = members == nullptr ? nullptr : members->find("sourceName");
    const std::string bucket(source == nullptr ? "" : source->as_string().value_or(""));
    if (members != nullptr && with.can_see(bucket) &&
        !with.can_see(bucket, privilege::search_write)) {
        return definition_error(403, "Forbidden");
    }
    if (members == nullptr || !with.can_see(bucket) ||
        with.services.cluster.find_bucket(bucket) == nullptr) {
        return definition_error(
            400, "rest_create_index: error creating index: " + name + ", err: bucket not found");
    }
    if (const auto problem = find_definition_problem(*members)) {
        return definition_error(
            400, "rest_create_index: error creating index: " + name + ", err: " + *problem);
    }
    auto& indexes = with.services.search_indexes;
    const json::value* uuid = members->find("uuid");
    const std::string_view given = uuid == nullptr ? "" : uuid->as_string().value_or("");
    const auto found = indexes.find(name);
    if (found != indexes.end() && given != found->second.uuid) {
        return definition_error(
            400, "rest_create_index: error creating index: " + name +
                     ", err: manager_api: cannot create index because an index with the same name "
                     "already exists: " +
                     name);
    }
    if (found == indexes.end() && indexes.size() >= definition_count_max) {
        return definition_error(
            400, "rest_create_index: error creating index: " + name + ", err: num_fts_indexes");
    }
    search_index made{with.services.random_hex(16), bucket, scope, *members};
    std::string made_uuid = made.uuid;
    indexes.insert_or_assign(name, std::move(made));
    with.audit.is_applied = true;
    return search_ok({{"name", name}, {"uuid", std::move(made_uuid)}});
}

// The index in a path: `/api/bucket/<b>/scope/<s>` may precede `/index/<i>`.
struct index_place {
    std::string name;   // its key in the map of indexes
    std::string scope;  // empty: an index over the whole bucket
};

index_place index_of_path(const service_exchange& with) {
    const auto& parts = with.parts;
    const bool is_scoped = parts[1] == "bucket";
    return is_scoped ? index_place{parts[2] + "." + parts[4] + "." + parts[6], parts[4]}
                     : index_place{parts[2], {}};
}

service_response ping_search(service_exchange&) {
    return make_service_response(200, "");
}

service_response put_index(service_exchange& with) {
    const index_place place = index_of_path(with);
    return put_definition(with, place.name, place.scope);
}

// Calls `use` with the index if it exists and the user has the privilege.
template <class Use>
service_response with_index(
    service_exchange& with, privilege needs, bool is_query, const Use& use) {
    const std::string name = index_of_path(with).name;
    auto& indexes = with.services.search_indexes;
    const auto found = indexes.find(name);
    if (found == indexes.end()) {
        return is_query ? search_error(name, 400, "index not found")
                        : definition_error(400, "rest_auth: preparePerms, err: index not found");
    }
    return with.can_see(found->second.bucket, needs) ? use(name, found)
                                                     : definition_error(403, "Forbidden");
}

service_response get_index(service_exchange& with) {
    return with_index(
        with, privilege::search_read, false, [](const std::string& name, const auto& found) {
            return search_ok({{"indexDef", shown_definition(name, found->second)}});
        });
}

service_response remove_index(service_exchange& with) {
    return with_index(
        with, privilege::search_write, false, [&with](const std::string&, const auto& found) {
            with.services.search_indexes.erase(found);
            with.audit.is_applied = true;
            return search_ok();
        });
}

service_response count_index(service_exchange& with) {
    return with_index(
        with, privilege::search_read, false, [&with](const std::string&, const auto& found) {
            return search_ok({{"count", searched_documents(with, found->second).size()}});
        });
}

service_response search_by_index(service_exchange& with) {
    return with_index(
        with, privilege::search_read, true, [&with](const std::string& name, const auto& found) {
            const node_record* node = with.services.cluster.find_node(with.node);
            if (node != nullptr && with.now < node->absent_until) {
                return search_error(name, 400, "pindex not available");
            }
            return run_search(with, name, found->second);
        });
}

constexpr privilege may_search = privilege::search_read;
constexpr privilege may_define = privilege::search_write;

constexpr service_route search_table[] = {
    {"GET", "/api/ping", ping_search, privilege::none, "answers; requires no login"},
    {"GET", "/api/index", list_definitions, may_search, "all index definitions"},
    {"GET", "/api/index/{index}", get_index, may_search, "one index definition"},
    {"PUT", "/api/index/{index}", put_index, may_define, "creates or changes an index"},
    {"DELETE", "/api/index/{index}", remove_index, may_define, "drops an index"},
    {"GET", "/api/index/{index}/count", count_index, may_search, "counts documents"},
    {"POST", "/api/index/{index}/query", search_by_index, may_search, "runs a query"},
    {"GET", "/api/bucket/{bucket}/scope/{scope}/index", list_definitions, may_search,
     "all index definitions"},
    {"GET", "/api/bucket/{bucket}/scope/{scope}/index/{index}", get_index, may_search,
     "one index definition"},
    {"PUT", "/api/bucket/{bucket}/scope/{scope}/index/{index}", put_index, may_define,
     "creates or changes an index"},
    {"DELETE", "/api/bucket/{bucket}/scope/{scope}/index/{index}", remove_index, may_define,
     "drops an index"},
    {"GET", "/api/bucket/{bucket}/scope/{scope}/index/{index}/count", count_index, may_search,
     "counts documents"},
    {"POST", "/api/bucket/{bucket}/scope/{scope}/index/{index}/query", search_by_index, may_search,
     "runs a query"},
};

}  // namespace

std::span<const std::string_view> missing_search_members() noexcept {
    return missing_request_members;
}

std::span<const service_route> search_routes() noexcept {
    return search_table;
}

service_response answer_search(service_exchange& with) {
    const route_match found = find_route(search_table, with);
    const bool is_open = found.route != nullptr && found.route->needs == privilege::none;
    if (with.user == nullptr && !is_open) {
        return definition_error(401, "Unauthorized");
    }
    if (found.route != nullptr) {
        return found.route->answer(with);
    }
    if (auto refused = refuse_missing_path(with)) {
        return *std::move(refused);
    }
    return found.is_path ? definition_error(405, "Method not allowed")
                         : make_service_response(404, "404 page not found\n", "text/plain");
}

}  // namespace detail

std::expected<void, cluster_errc> service_host::create_search_index(
    std::string_view name, std::string_view bucket) {
    if (state_->cluster.find_bucket(bucket) == nullptr) {
        return std::unexpected(cluster_errc::unknown_bucket);
    }
    if (name.empty() || name.contains('/')) {
        return std::unexpected(cluster_errc::name_invalid);
    }
    if (state_->search_indexes.contains(name)) {
        return std::unexpected(cluster_errc::already_exists);
    }
    state_->search_indexes.emplace(
        name, detail::search_index{state_->random_hex(16), std::string(bucket), {}, {}});
    return {};
}

}  // namespace reprise::sandbox
