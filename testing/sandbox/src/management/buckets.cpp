#include <algorithm>
#include <utility>

#include <reprise/base/hex.hpp>
#include <reprise/json/parse.hpp>
#include <reprise/json/write.hpp>

#include "management/bucket_settings.hpp"
#include "management/routes.hpp"
#include "services/http_texts.hpp"
#include "services/query/language.hpp"

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
    const auto text = with.cluster.configuration_text(with.node, name);
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
    members->set("nodes", shown_nodes(with));
    members->set("name", name);
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

service_response bucket_refusal(cluster_errc why) {
    switch (why) {
        case cluster_errc::already_exists:
            return management_error(400, "name", "Bucket with given name already exists");
        case cluster_errc::rebalance_running:
            return management_error(503, "_", "Cannot create or delete buckets during rebalance.");
        default:  // only the name is left to be refused
            return management_error(
                400, "name",
                "Bucket name can only contain characters in range A-Z, a-z, 0-9 as well as "
                "underscore, period, dash & percent. Consult the documentation.");
    }
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
                "Can only contain characters A-Z, a-z, 0-9 and the following symbols _ - %, and "
                "must not begin with _ or %");
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

// Refuses the first field of a form that is not in the list.
std::optional<service_response> refuse_other_fields(
    const form_fields& form, std::initializer_list<std::string_view> known) {
    for (const auto& [name, value] : form.fields) {
        if (std::ranges::find(known, name) == known.end()) {
            return management_error(400, name, not_in_sandbox_text("The field " + name));
        }
    }
    return std::nullopt;
}

bool can_change_scope(const service_exchange& with) {
    return has_all(
        with.rights.in_collection(with.parts[3], with.parts[5], ""), privilege::collections);
}

}  // namespace

service_response list_buckets(service_exchange& with) {
    json::array shown;
    for (const std::string& name : with.cluster.buckets()) {
        if (with.can_see(name) && with.cluster.configuration_text(with.node, name)) {
            shown.push_back(shown_bucket(with, name));
        }
    }
    return make_service_response(200, json::serialize(shown));
}

service_response make_bucket(service_exchange& with) {
    const form_fields form = parse_form(with.request.body);
    bucket_options wanted;
    wanted.name = form.find("name");
    if (const auto problem = read_bucket_form(form, wanted)) {
        return management_error(400, problem->first, problem->second);
    }
    if (const auto made = with.cluster.create_bucket(wanted); !made) {
        return bucket_refusal(made.error());
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
    if (problem) {
        return management_error(400, problem->first, problem->second);
    }
    (void)with.cluster.set_bucket_settings(with.parts[3],
                                           after.settings);  // the bucket exists
    with.audit.is_applied = true;
    return make_service_response(200, "");
}

service_response remove_bucket(service_exchange& with) {
    if (const auto dropped = with.cluster.drop_bucket(with.parts[3]); !dropped) {
        return bucket_refusal(dropped.error());
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
    return make_service_response(
        200,
        wire::encode_collections_manifest(*with.cluster.manifest_at(with.node, with.parts[3])));
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
    return scope_change(with, with.cluster.create_scope(with.parts[3], name), {name});
}

service_response remove_scope(service_exchange& with) {
    if (!can_change_scope(with)) {
        return forbidden();
    }
    const std::string& scope = with.parts[5];
    return scope_change(with, with.cluster.drop_scope(with.parts[3], scope), {scope});
}

service_response make_collection(service_exchange& with) {
    const form_fields form = parse_form(with.request.body);
    // No collection keeps a history here, so the field can only turn it off.
    if (auto refused = refuse_other_fields(form, {"name", "maxTTL", "history"})) {
        return *std::move(refused);
    }
    if (form.find("history") == "true") {
        return management_error(400, "history", not_in_sandbox_text("A collection's history"));
    }
    if (!can_change_scope(with)) {
        return forbidden();
    }
    const std::string_view ttl_text = form.find("maxTTL");
    const auto ttl = parse_int32(ttl_text);
    if (!ttl_text.empty() && (!ttl || *ttl < -1)) {
        return management_error(400, "maxTTL", "The value must be in range from -1 to 2147483647");
    }
    const std::string_view name = form.find("name");
    return scope_change(
        with, with.cluster.create_collection(with.parts[3], with.parts[5], name, ttl),
        {with.parts[5], name});
}

service_response remove_collection(service_exchange& with) {
    if (!can_change_scope(with)) {
        return forbidden();
    }
    return scope_change(
        with, with.cluster.drop_collection(with.parts[3], with.parts[5], with.parts[7]),
        {with.parts[5], with.parts[7]});
}

}  // namespace reprise::sandbox::detail
