#include <algorithm>
#include <set>
#include <tuple>
#include <utility>

#include <reprise/json/parse.hpp>
#include <reprise/json/write.hpp>

#include "service_state.hpp"

// The search port: index definitions, and queries over whole documents. Nothing is analysed beyond
// lower-case words of ASCII letters and digits, and every hit scores alike.

namespace reprise::sandbox {

namespace detail {

namespace {

constexpr std::size_t query_depth_max = 32;
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

std::set<std::string> words_of(std::string_view text) {
    std::set<std::string> words;
    std::string word;
    for (const char c : text) {
        const bool is_upper = c >= 'A' && c <= 'Z';
        const bool is_part = is_upper || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') ||
                             static_cast<unsigned char>(c) >= 0x80;
        if (is_part) {
            word += is_upper ? static_cast<char>(c + 32) : c;
        } else if (!word.empty()) {
            words.insert(std::exchange(word, {}));
        }
    }
    if (!word.empty()) {
        words.insert(std::move(word));
    }
    return words;
}

// Calls `visit` with every string below `from`; documents are at most as deep as the parser lets
// them be.
template <class Visit>
void visit_strings(const json::value& from, const Visit& visit) {
    if (const auto text = from.as_string()) {
        visit(*text);
    } else if (const json::array* elements = from.as_array()) {
        for (const json::value& each : *elements) {
            visit_strings(each, visit);
        }
    } else if (const json::object* members = from.as_object()) {
        for (const json::member& each : *members) {
            visit_strings(each.content, visit);
        }
    }
}

const json::value* find_dotted(const json::value& in, std::string_view path) {
    const json::value* at = &in;
    while (at != nullptr && !path.empty()) {
        const std::string_view name = path.substr(0, path.find('.'));
        path.remove_prefix(std::min(name.size() + 1, path.size()));
        at = at->find(name);
    }
    return at;
}

struct searched_document {
    std::string id;
    json::value content;
    std::string collection;
};

// Whether a document fits a query; empty: the query is of no kind that is known.
class search_matcher {
public:
    explicit search_matcher(const searched_document& in) : in_(in) {}

    std::optional<bool> fits(const json::value& query, std::size_t depth = 0) const {
        if (depth >= query_depth_max) {
            return std::nullopt;
        }
        if (query.find("match_all") != nullptr) {
            return true;
        }
        if (query.find("match_none") != nullptr) {
            return false;
        }
        if (const json::value* ids = query.find("ids"); ids != nullptr && ids->as_array()) {
            return std::ranges::find(*ids->as_array(), json::value(in_.id)) !=
                   ids->as_array()->end();
        }
        for (const char* kind : {"conjuncts", "disjuncts"}) {
            if (const json::value* parts = query.find(kind);
                parts != nullptr && parts->as_array()) {
                return fits_parts(*parts->as_array(), *kind == 'c', depth);
            }
        }
        return fits_text(query);
    }

private:
    std::optional<bool> fits_parts(
        const json::array& parts, bool is_every, std::size_t depth) const {
        bool is_fitting = is_every;
        for (const json::value& each : parts) {
            const auto one = fits(each, depth + 1);
            if (!one) {
                return std::nullopt;
            }
            is_fitting = is_every ? is_fitting && *one : is_fitting || *one;
        }
        return is_fitting;
    }

    // match and query: any of the words; term: this word; prefix: a word that begins so.
    std::optional<bool> fits_text(const json::value& query) const {
        for (const std::string_view kind : {"match", "query", "term", "prefix"}) {
            const json::value* found = query.find(kind);
            const auto text = found == nullptr ? std::nullopt : found->as_string();
            if (!text) {
                continue;
            }
            const json::value* field = query.find("field");
            const auto name = field == nullptr ? std::nullopt : field->as_string();
            const json::value* below = name ? find_dotted(in_.content, *name) : &in_.content;
            bool is_fitting = false;
            if (below != nullptr) {
                const std::set<std::string> wanted =
                    kind == "term" ? std::set<std::string>{std::string(*text)} : words_of(*text);
                visit_strings(*below, [&](std::string_view given) {
                    is_fitting = is_fitting || has_word(words_of(given), wanted, kind == "prefix");
                });
            }
            return is_fitting;
        }
        return std::nullopt;
    }

    static bool has_word(
        const std::set<std::string>& given, const std::set<std::string>& wanted, bool is_prefix) {
        return std::ranges::any_of(wanted, [&](const std::string& word) {
            if (!is_prefix) {
                return given.contains(word);
            }
            const auto at = given.lower_bound(word);
            return at != given.end() && at->starts_with(word);
        });
    }

    const searched_document& in_;
};

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

// `fields`: names of fields, or "*" for all on the top.
json::object shown_fields(const json::value& wanted, const json::value& content) {
    json::object shown;
    for (const json::value& each : *wanted.as_array()) {
        const std::string_view name = each.as_string().value_or("");
        if (name == "*" && content.as_object() != nullptr) {
            for (const json::member& field : *content.as_object()) {
                shown.set(field.name, field.content);
            }
        } else if (const json::value* found = find_dotted(content, name)) {
            shown.set(name, *found);
        }
    }
    return shown;
}

std::uint64_t count_member(const json::value& of, std::string_view name, std::uint64_t otherwise) {
    const json::value* found = of.find(name);
    return found == nullptr ? otherwise : found->as_uint64().value_or(otherwise);
}

bool is_sorted_backwards(const json::value& request) {
    const json::value* sort = request.find("sort");
    const json::value* first = sort == nullptr ? nullptr : sort->at(0);
    return first != nullptr && first->as_string() == "-_id";
}

// The page of hits that the request wants, as the answer shows it.
json::array shown_hits(
    const json::value& request, const std::string& name, const search_index& index,
    const std::vector<const searched_document*>& hits) {
    const std::uint64_t from = count_member(request, "from", 0);
    const std::uint64_t size = count_member(request, "size", hit_count_default);
    const json::value* fields = request.find("fields");
    json::array shown;
    for (std::uint64_t i = from; i < hits.size() && shown.size() < size; ++i) {
        json::object hit{
            {"index", name + "_" + index.uuid + "_0"},
            {"id", hits[i]->id},
            {"score", 1.0},
            {"sort", json::array{"_score"}}};
        json::object shown_of_hit;
        if (fields != nullptr && fields->as_array() != nullptr) {
            shown_of_hit = shown_fields(*fields, hits[i]->content);
        }
        shown_of_hit.set("_$c", hits[i]->collection);
        hit.set("fields", std::move(shown_of_hit));
        shown.emplace_back(std::move(hit));
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
    const auto documents = searched_documents(with, index);
    std::vector<const searched_document*> hits;
    const searched_document nothing;
    // An unknown kind of query is refused also where there is no document.
    if (!search_matcher(nothing).fits(*query)) {
        return search_error(name, 400, "bleve: QueryBleve parsing query: unknown query type");
    }
    for (const searched_document& each : documents) {
        if (search_matcher(each).fits(*query).value_or(false)) {
            hits.push_back(&each);
        }
    }
    if (is_sorted_backwards(parsed->root)) {
        std::ranges::reverse(hits);
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
        if (with.can_see(index.bucket)) {
            shown.set(name, shown_definition(name, index));
        }
    }
    return search_ok(
        {{"indexDefs",
          json::object{{"uuid", "1"}, {"indexDefs", std::move(shown)}, {"implVersion", "5.7.0"}}}});
}

service_response put_definition(
    service_exchange& with, const std::string& name, const std::string& scope) {
    const auto parsed = json::parse(with.request.body);
    const json::object* members = parsed ? parsed->root.as_object() : nullptr;
    const json::value* source = members == nullptr ? nullptr : members->find("sourceName");
    const std::string bucket(source == nullptr ? "" : source->as_string().value_or(""));
    if (members == nullptr || !with.can_see(bucket) ||
        with.services.cluster.find_bucket(bucket) == nullptr) {
        return definition_error(
            400, "rest_create_index: error creating index: " + name + ", err: bucket not found");
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

// "<index>[/count|/query]" with the name under which it is kept.
service_response on_search_index(
    service_exchange& with, const std::string& name, const std::string& scope,
    std::string_view action) {
    if (action.empty() && with.is("PUT")) {
        return put_definition(with, name, scope);
    }
    auto& indexes = with.services.search_indexes;
    const auto found = indexes.find(name);
    if (found == indexes.end()) {
        return action == "query"
                   ? search_error(name, 400, "index not found")
                   : definition_error(400, "rest_auth: preparePerms, err: index not found");
    }
    if (!with.can_see(found->second.bucket)) {
        return definition_error(403, "Forbidden");
    }
    if (action == "query" && with.is("POST")) {
        return run_search(with, name, found->second);
    }
    if (action == "count" && with.is("GET")) {
        return search_ok({{"count", searched_documents(with, found->second).size()}});
    }
    if (action.empty() && with.is("GET")) {
        return search_ok({{"indexDef", shown_definition(name, found->second)}});
    }
    if (action.empty() && with.is("DELETE")) {
        indexes.erase(found);
        with.audit.is_applied = true;
        return search_ok();
    }
    return definition_error(405, "Method not allowed");
}

bool is_search_action(std::string_view text) noexcept {
    return text == "query" || text == "count";
}

}  // namespace

service_response answer_search(service_exchange& with) {
    const auto& parts = with.parts;
    if (parts.size() == 2 && parts[0] == "api" && parts[1] == "ping") {
        return with.is("GET") ? make_service_response(200, "") : make_service_response(405, "");
    }
    if (with.user == nullptr) {
        return definition_error(401, "Unauthorized");
    }
    // /api/bucket/<b>/scope/<s> may stand before /index.
    const bool is_scoped = parts.size() >= 6 && parts[1] == "bucket" && parts[3] == "scope";
    const std::size_t at = is_scoped ? 5 : 1;
    if (parts.size() <= at || parts[0] != "api" || parts[at] != "index") {
        return make_service_response(404, "404 page not found\n", "text/plain");
    }
    const std::size_t count = parts.size() - at - 1;  // what follows `index`
    const std::string prefix = is_scoped ? parts[2] + "." + parts[4] + "." : "";
    const std::string scope = is_scoped ? parts[4] : "";
    if (count == 0 && with.is("GET")) {
        return list_definitions(with);
    }
    if (count == 1) {
        return on_search_index(with, prefix + parts[at + 1], scope, "");
    }
    if (count == 2 && is_search_action(parts[at + 2])) {
        return on_search_index(with, prefix + parts[at + 1], scope, parts[at + 2]);
    }
    return make_service_response(404, "404 page not found\n", "text/plain");
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
