#include <algorithm>
#include <utility>

#include <reprise/base/hex.hpp>
#include <reprise/json/parse.hpp>
#include <reprise/json/write.hpp>

#include "http_services/http_texts.hpp"
#include "http_services/query/language.hpp"
#include "management/bucket_settings.hpp"
#include "management/routes.hpp"

// Buckets, scopes and collections.

namespace reprise::sandbox::detail {

namespace {

std::uint64_t count_documents(service_exchange& with, const std::string& bucket) {
    std::uint64_t count = 0;
    for (const keyspace& each : keyspaces_of(with.services.cluster, bucket)) {
        count += document_ids(with.services.cluster, each, with.now).size();
    }
    return count;
}

// The configuration of a bucket with the members that management requests read.
json::value shown_bucket(service_exchange& with, const std::string& name) {
    const auto text = with.cluster.topology().configuration_text(with.node, name);
    auto parsed = json::parse(text.value_or("{}"));
    json::value shown = parsed ? std::move(parsed->root) : json::value(json::object{});
    json::object* members = shown.as_object();
    if (members == nullptr) {
        return shown;
    }
    const bucket_record* record = with.services.cluster.find_bucket(name);
    const std::string path = "/pools/default/buckets/" + name;
    json::object controllers{
        {"compactAll", path + "/controller/compactBucket"},
        {"purgeDeletes", path + "/controller/unsafePurgeBucket"}};
    if (record->options.settings.is_flush_enabled) {
        controllers.set("flush", path + "/controller/doFlush");
    }
    // These are members of the configuration only.
    for (const std::string_view each :
         {"rev", "revEpoch", "nodesExt", "clusterCapabilities", "clusterCapabilitiesVer",
          "clusterName", "clusterUUID"}) {
        members->erase(each);
    }
    members->set("nodes", shown_nodes(with));
    members->set("name", name);
    members->set("numVBuckets", record->rows.size());
    members->set("ddocs", json::object{{"uri", path + "/ddocs"}});
    members->set("uuid", record->uuid);
    members->set("authType", "sasl");
    members->set("autoCompactionSettings", false);
    members->set("replicaNumber", record->replica_count);
    members->set("threadsNumber", 3);
    show_bucket_settings(*members, record->options);
    members->set(
        "basicStats", json::object{
                          {"quotaPercentUsed", 0.0},
                          {"opsPerSec", 0},
                          {"diskFetches", 0},
                          {"itemCount", count_documents(with, name)},
                          {"diskUsed", 0},
                          {"dataUsed", 0},
                          {"memUsed", 0},
                          {"vbActiveNumNonResident", 0}});
    members->set("controllers", std::move(controllers));
    return shown;
}

std::uint64_t quota_of_others(const service_exchange& with, std::string_view name) {
    std::uint64_t sum = 0;
    for (const std::string& each : with.cluster.buckets().names()) {
        sum += each == name
                   ? 0
                   : with.services.cluster.find_bucket(each)->options.settings.ram_quota_mb;
    }
    return sum;
}

// Refusals of bucket forms contain the memory and the disk space that a bucket could have.
service_response form_refusal(
    const service_exchange& with, const bucket_options& wanted, const setting_problem& problem) {
    constexpr std::int64_t mega = std::int64_t{1024} * 1024;
    const auto others = static_cast<std::int64_t>(quota_of_others(with, wanted.name)) * mega;
    const std::int64_t own = std::int64_t{wanted.settings.ram_quota_mb} * mega;
    const std::int64_t total = static_cast<std::int64_t>(memory_quota_mb) * mega;
    return make_service_response(
        400, json::serialize(json::object{
                 {"errors", json::object{{problem.first, problem.second}}},
                 {"summaries", json::object{
                                   {"ramSummary",
                                    json::object{
                                        {"total", total},
                                        {"otherBuckets", others},
                                        {"nodesCount", with.cluster.topology().nodes().size()},
                                        {"perNodeMegs", wanted.settings.ram_quota_mb},
                                        {"thisAlloc", own},
                                        {"thisUsed", 0},
                                        {"free", total - others - own}}},
                                   {"hddSummary", json::object{
                                                      {"total", total},
                                                      {"otherData", 0},
                                                      {"otherBuckets", 0},
                                                      {"thisUsed", 0},
                                                      {"free", total}}}}}}));
}

service_response bucket_refusal(
    const service_exchange& with, const bucket_options& wanted, cluster_errc why) {
    switch (why) {
        case cluster_errc::already_exists:
            return form_refusal(with, wanted, {"name", "Bucket with given name already exists"});
        case cluster_errc::rebalance_running:
            return management_error(503, "_", "Cannot create or delete buckets during rebalance.");
        default:  // only the name is left to be refused
            return form_refusal(
                with, wanted,
                {"name",
                 "Bucket name can only contain characters in range A-Z, a-z, 0-9 as well as "
                 "underscore, period, dash & percent. Consult the documentation."});
    }
}

std::optional<setting_problem> find_quota_problem(
    const service_exchange& with, const bucket_options& wanted) {
    const std::uint64_t all = quota_of_others(with, wanted.name) + wanted.settings.ram_quota_mb;
    return all <= memory_quota_mb
               ? std::nullopt
               : std::optional<setting_problem>(
                     {"ramQuota",
                      "RAM quota specified is too large to be provisioned into this cluster."});
}

// The rule that a scope's or a collection's name breaks.
std::string name_problem(std::string_view name) {
    if (name.empty() || name.size() > wire::collection_name_size_max) {
        return "Name length (" + std::to_string(name.size()) +
               ") must be in the range from 1 to 251, inclusive";
    }
    if (name.starts_with('_') || name.starts_with('%')) {
        return "First character must not be _ or %";
    }
    return "Can only contain characters A-Z, a-z, 0-9 and the following symbols _ - %";
}

// The scope and the collection of a request, for messages.
struct named_place {
    std::string_view scope;
    std::string_view collection{};

    std::string scope_text() const { return "Scope with name \"" + std::string(scope) + "\""; }
    std::string text() const {
        return collection.empty() ? scope_text()
                                  : "Collection with name \"" + std::string(collection) +
                                        "\" in scope \"" + std::string(scope) + "\"";
    }
};

// Clients distinguish the cases by these texts.
service_response scope_refusal(cluster_errc code, const named_place& place) {
    switch (code) {
        case cluster_errc::already_exists:
            return management_error(400, "_", place.text() + " already exists");
        case cluster_errc::name_invalid:
            return management_error(
                400, "name",
                name_problem(place.collection.data() == nullptr ? place.scope : place.collection));
        case cluster_errc::unknown_scope:
            return management_error(404, "_", place.scope_text() + " is not found");
        case cluster_errc::unknown_collection:
            return management_error(404, "_", place.text() + " is not found");
        default:  // something else that the path names is not there
            return management_error(404, "_", to_string(code));
    }
}

service_response scope_change(
    service_exchange& with, std::expected<std::uint64_t, cluster_errc> uid,
    const named_place& place) {
    if (!uid) {
        return scope_refusal(uid.error(), place);
    }
    with.audit.is_applied = true;
    return make_service_response(
        200, json::serialize(json::object{{"uid", base::to_shortest_hex(*uid)}}));
}

bool can_change_scope(const service_exchange& with) {
    return has_all(
        with.rights.in_collection(with.parts[3], with.parts[5], ""), privilege::collections);
}

// Refuses a form that creates or changes a collection. No collection keeps a history here, so the
// field can only turn it off.
std::optional<service_response> check_collection_form(
    const service_exchange& with, const form_fields& form,
    std::initializer_list<std::string_view> known) {
    if (auto refused = refuse_other_fields(form, known)) {
        return refused;
    }
    if (form.find("history") == "true") {
        const bucket_record* bucket = with.services.cluster.find_bucket(with.parts[3]);
        const bool is_possible = bucket->options.settings.storage_backend == "magma";
        return management_error(
            400, "history",
            is_possible ? not_in_sandbox_text("A collection's history")
                        : "The value must be one of the following: [false]");
    }
    const std::string_view ttl_text = form.find("maxTTL");
    const auto ttl = parse_int32(ttl_text);
    if (!ttl_text.empty() && (!ttl || *ttl < -1)) {
        return management_error(400, "maxTTL", "The value must be in range from -1 to 2147483647");
    }
    return can_change_scope(with) ? std::nullopt : std::optional(forbidden());
}

}  // namespace

service_response list_buckets(service_exchange& with) {
    json::array shown;
    for (const std::string& name : with.cluster.buckets().names()) {
        if (with.can_see(name) && with.cluster.topology().configuration_text(with.node, name)) {
            shown.push_back(shown_bucket(with, name));
        }
    }
    return make_service_response(200, json::serialize(shown));
}

service_response make_bucket(service_exchange& with) {
    const form_fields form = parse_form(with.request.body);
    bucket_options wanted;
    wanted.name = form.find("name");
    auto problem = read_bucket_form(form, wanted);
    problem = problem ? problem : find_quota_problem(with, wanted);
    if (problem) {
        return form_refusal(with, wanted, *problem);
    }
    if (const auto made = with.cluster.buckets().create(wanted); !made) {
        return bucket_refusal(with, wanted, made.error());
    }
    with.audit.is_applied = true;
    return make_service_response(202, "");
}

service_response get_bucket(service_exchange& with) {
    return make_service_response(200, json::serialize(shown_bucket(with, with.parts[3])));
}

service_response change_bucket(service_exchange& with) {
    const bucket_record* record = with.services.cluster.find_bucket(with.parts[3]);
    bucket_options before = record->options;
    before.replica_count = record->replica_count;
    bucket_options after = before;
    const form_fields form = parse_form(with.request.body);
    auto problem = read_bucket_form(form, after);
    problem = problem ? problem : find_forbidden_change(before, after);
    problem = problem ? problem : find_quota_problem(with, after);
    if (problem) {
        return form_refusal(with, after, *problem);
    }
    (void)with.cluster.buckets().set_settings(with.parts[3],
                                              after.settings);  // the bucket exists
    with.audit.is_applied = true;
    return make_service_response(200, "");
}

service_response remove_bucket(service_exchange& with) {
    if (const auto dropped = with.cluster.buckets().drop(with.parts[3]); !dropped) {
        return bucket_refusal(with, {.name = with.parts[3]}, dropped.error());
    }
    with.services.forget_bucket(with.parts[3]);
    with.audit.is_applied = true;
    return make_service_response(200, "");
}

service_response flush_bucket(service_exchange& with) {
    const std::string& name = with.parts[3];
    if (!with.services.cluster.find_bucket(name)->options.settings.is_flush_enabled) {
        return make_service_response(
            400, json::serialize(json::object{{"_", "Flush is disabled for the bucket"}}));
    }
    flush_documents(with.services.cluster, name);
    with.audit.is_applied = true;
    return make_service_response(200, "");
}

service_response list_design_documents(service_exchange& with) {
    json::array rows;
    for (const auto& [key, document] : with.services.design_documents) {
        if (key.first == with.parts[3]) {
            rows.emplace_back(json::object{
                {"doc",
                 json::object{
                     {"meta", json::object{{"id", "_design/" + key.second}, {"rev", "1-00000000"}}},
                     {"json", document.text}}}});
        }
    }
    return make_service_response(200, json::serialize(json::object{{"rows", std::move(rows)}}));
}

service_response get_scopes(service_exchange& with) {
    wire::collections_manifest shown =
        *with.cluster.buckets().manifest_at(with.node, with.parts[3]);
    // Members that clusters show even where they have their defaults.
    for (wire::manifest_scope& scope : shown.scopes) {
        for (wire::manifest_collection& each : scope.collections) {
            each.max_ttl = each.max_ttl.value_or(0);
            if (each.id != wire::default_collection.value) {
                each.history = each.history.value_or(false);
            }
        }
    }
    return make_service_response(200, wire::encode_collections_manifest(shown));
}

service_response make_scope(service_exchange& with) {
    const form_fields form = parse_form(with.request.body);
    if (auto refused = refuse_other_fields(form, {"name"})) {
        return *std::move(refused);
    }
    if (!has_all(with.rights.in_bucket(with.parts[3]), privilege::collections)) {
        return forbidden();
    }
    const std::string_view name = form.find("name");
    return scope_change(with, with.cluster.buckets().create_scope(with.parts[3], name), {name});
}

service_response remove_scope(service_exchange& with) {
    if (!can_change_scope(with)) {
        return forbidden();
    }
    const std::string& scope = with.parts[5];
    return scope_change(with, with.cluster.buckets().drop_scope(with.parts[3], scope), {scope});
}

service_response make_collection(service_exchange& with) {
    const form_fields form = parse_form(with.request.body);
    if (auto refused = check_collection_form(with, form, {"name", "maxTTL", "history"})) {
        return *std::move(refused);
    }
    const std::string_view name = form.find("name");
    return scope_change(
        with,
        with.cluster.buckets().create_collection(
            with.parts[3], with.parts[5], name, parse_int32(form.find("maxTTL"))),
        {with.parts[5], name});
}

service_response change_collection(service_exchange& with) {
    const form_fields form = parse_form(with.request.body);
    if (auto refused = check_collection_form(with, form, {"maxTTL", "history"})) {
        return *std::move(refused);
    }
    return scope_change(
        with,
        with.cluster.buckets().set_collection_ttl(
            with.parts[3], with.parts[5], with.parts[7], parse_int32(form.find("maxTTL"))),
        {with.parts[5], with.parts[7]});
}

service_response remove_collection(service_exchange& with) {
    if (!can_change_scope(with)) {
        return forbidden();
    }
    return scope_change(
        with, with.cluster.buckets().drop_collection(with.parts[3], with.parts[5], with.parts[7]),
        {with.parts[5], with.parts[7]});
}

}  // namespace reprise::sandbox::detail
