#include <utility>

#include <reprise/json/parse.hpp>
#include <reprise/json/write.hpp>

#include "http_texts.hpp"
#include "service_state.hpp"

// What the management port answers beside handle_management: buckets, flush, design documents and
// users as a client's administration calls want them.

namespace reprise::sandbox::detail {

namespace {

service_response error_response(int status, std::string_view field, std::string_view text) {
    return make_service_response(
        status, json::serialize(json::object{{"errors", json::object{{field, text}}}}));
}

service_response no_such_resource() {
    return make_service_response(404, "Requested resource not found.\r\n", "text/plain");
}

bool is_administrator(const service_exchange& with) {
    return with.user->buckets.empty();
}

service_response pass_on(service_exchange& with, std::string_view target) {
    management_response answer = handle_management(
        with.cluster, with.node,
        {.method = with.request.method,
         .target = std::string(target),
         .authorization =
             std::string(find_header(with.request.headers, "Authorization").value_or("")),
         .body = with.request.body,
         .certificate_user = with.request.certificate_user});
    service_response response =
        make_service_response(answer.status, std::move(answer.body), answer.content_type);
    response.continues = std::move(answer.continues);
    if (answer.status == 401) {
        response.headers.push_back({"WWW-Authenticate", "Basic realm=\"sandbox\""});
    }
    with.audit.is_applied = !with.is("GET") && answer.status < 300;
    return response;
}

// The nodes as /pools/default shows them: terse configurations tell less.
json::value shown_nodes(service_exchange& with) {
    const service_response pool = pass_on(with, "/pools/default");
    const auto parsed = json::parse(pool.body);
    const json::value* nodes = parsed ? parsed->root.find("nodes") : nullptr;
    return nodes == nullptr ? json::value(json::array{}) : *nodes;
}

// The configuration of a bucket, and what administration calls read of it.
json::value shown_bucket(service_exchange& with, const std::string& name) {
    const auto text = with.cluster.configuration_text(with.node, name);
    auto parsed = json::parse(text.value_or("{}"));
    json::value shown = parsed ? std::move(parsed->root) : json::value(json::object{});
    json::object* members = shown.as_object();
    if (members == nullptr) {
        return shown;
    }
    const bucket_record* record = with.services.cluster.find_bucket(name);
    const bucket_settings& settings = with.services.buckets[name];
    const std::uint64_t quota_bytes = settings.ram_quota_mb * 1024 * 1024;
    const std::string path = "/pools/default/buckets/" + name;
    const bool is_ephemeral = record->options.type == bucket_type::ephemeral;
    json::object controllers{{"compactAll", path + "/controller/compactBucket"}};
    if (settings.is_flush_enabled) {
        controllers.set("flush", path + "/controller/doFlush");
    }
    members->set("nodes", shown_nodes(with));
    members->set("name", name);
    members->set("uuid", record->uuid);
    members->set("bucketType", is_ephemeral ? "ephemeral" : "membase");
    members->set("quota", json::object{{"ram", quota_bytes}, {"rawRAM", quota_bytes}});
    members->set("replicaNumber", record->replica_count);
    members->set("replicaIndex", false);
    members->set("maxTTL", 0);
    members->set("compressionMode", "passive");
    members->set("conflictResolutionType", "seqno");
    members->set("evictionPolicy", is_ephemeral ? "noEviction" : "valueOnly");
    members->set("durabilityMinLevel", "none");
    if (!is_ephemeral) {
        members->set("storageBackend", "couchstore");
    }
    members->set("controllers", std::move(controllers));
    return shown;
}

// Settings that POST can give: what is not there stays. The name of a malformed one, or nothing.
std::string_view read_settings(const form_fields& form, bucket_settings& into) {
    if (const std::string_view quota = form.find("ramQuotaMB"); !quota.empty()) {
        const auto number = parse_int32(quota);
        if (!number || *number < 1) {
            return "ramQuota";
        }
        into.ram_quota_mb = static_cast<std::uint64_t>(*number);
    }
    if (const std::string_view flush = form.find("flushEnabled"); !flush.empty()) {
        if (flush != "0" && flush != "1") {
            return "flushEnabled";
        }
        into.is_flush_enabled = flush == "1";
    }
    return {};
}

service_response create_bucket(service_exchange& with) {
    const form_fields form = parse_form(with.request.body);
    bucket_options wanted;
    wanted.name = form.find("name");
    if (form.find("bucketType") == "ephemeral") {
        wanted.type = bucket_type::ephemeral;
    }
    if (const std::string_view text = form.find("replicaNumber"); !text.empty()) {
        const auto number = parse_int32(text);
        if (!number || *number < 0 || *number > 3) {
            return error_response(
                400, "replicaNumber", "The replica number must be specified and must be 0..3.");
        }
        wanted.replica_count = static_cast<std::size_t>(*number);
    }
    bucket_settings settings;
    if (const std::string_view wrong = read_settings(form, settings); !wrong.empty()) {
        return error_response(400, wrong, "The value is not valid.");
    }
    const auto made = with.cluster.create_bucket(wanted);
    if (!made && made.error() == cluster_errc::already_exists) {
        return error_response(400, "name", "Bucket with given name already exists");
    }
    if (!made) {
        return error_response(
            400, "name",
            "Bucket name can only contain characters in range A-Z, a-z, 0-9 as well as "
            "underscore, period, dash & percent.");
    }
    with.services.buckets.insert_or_assign(wanted.name, settings);
    with.audit.is_applied = true;
    return make_service_response(202, "");
}

service_response flush_bucket(service_exchange& with, const std::string& name) {
    if (!with.services.buckets[name].is_flush_enabled) {
        return make_service_response(
            400, json::serialize(json::object{{"_", "Flush is disabled for the bucket"}}));
    }
    flush_documents(with.services.cluster, name);
    with.audit.is_applied = true;
    return make_service_response(200, "");
}

service_response list_design_documents(service_exchange& with, const std::string& bucket) {
    json::array rows;
    for (const auto& [key, document] : with.services.design_documents) {
        if (key.first == bucket) {
            rows.emplace_back(json::object{
                {"doc",
                 json::object{
                     {"meta", json::object{{"id", "_design/" + key.second}, {"rev", "1-00000000"}}},
                     {"json", document.text}}}});
        }
    }
    return make_service_response(200, json::serialize(json::object{{"rows", std::move(rows)}}));
}

// "/pools/default/buckets/<name>": without scopes, which handle_management has.
service_response on_one_bucket(service_exchange& with) {
    const auto& parts = with.parts;
    const std::string& name = parts[3];
    if (!with.can_see(name)) {
        return make_service_response(403, "{\"message\":\"Forbidden\"}");
    }
    if (with.services.cluster.find_bucket(name) == nullptr) {
        return no_such_resource();
    }
    if (parts.size() == 6 && parts[4] == "controller" && parts[5] == "doFlush") {
        return with.is("POST") ? flush_bucket(with, name) : make_service_response(405, "");
    }
    if (parts.size() == 5 && parts[4] == "ddocs") {
        return with.is("GET") ? list_design_documents(with, name) : make_service_response(405, "");
    }
    if (parts.size() != 4) {
        return no_such_resource();
    }
    if (with.is("GET")) {
        return make_service_response(200, json::serialize(shown_bucket(with, name)));
    }
    if (with.is("POST")) {
        const std::string_view wrong =
            read_settings(parse_form(with.request.body), with.services.buckets[name]);
        with.audit.is_applied = wrong.empty();
        return wrong.empty() ? make_service_response(200, "")
                             : error_response(400, wrong, "The value is not valid.");
    }
    if (!with.is("DELETE") || !is_administrator(with)) {
        return make_service_response(with.is("DELETE") ? 403 : 405, "");
    }
    (void)with.cluster.drop_bucket(name);  // it was there a moment ago
    with.services.forget_bucket(name);
    with.audit.is_applied = true;
    return make_service_response(200, "");
}

service_response on_buckets(service_exchange& with) {
    if (with.is("GET")) {
        json::array shown;
        for (const std::string& name : with.cluster.buckets()) {
            if (with.can_see(name) && with.cluster.configuration_text(with.node, name)) {
                shown.push_back(shown_bucket(with, name));
            }
        }
        return make_service_response(200, json::serialize(shown));
    }
    if (!with.is("POST")) {
        return make_service_response(405, "");
    }
    return is_administrator(with) ? create_bucket(with) : make_service_response(403, "");
}

json::object shown_user(const user_options& user) {
    json::array roles;
    if (user.buckets.empty()) {
        roles.emplace_back(json::object{{"role", "admin"}});
    }
    for (const std::string& bucket : user.buckets) {
        roles.emplace_back(json::object{{"role", "bucket_full_access"}, {"bucket_name", bucket}});
    }
    return {{"id", user.name}, {"domain", "local"}, {"name", ""}, {"roles", std::move(roles)}};
}

// `roles=admin,bucket_full_access[travel]`: the buckets in brackets are what the user sees.
std::vector<std::string> buckets_of_roles(std::string_view roles) {
    std::vector<std::string> buckets;
    while (!roles.empty()) {
        const std::string_view role = roles.substr(0, roles.find(','));
        roles.remove_prefix(std::min(role.size() + 1, roles.size()));
        const std::size_t open = role.find('[');
        if (open == std::string_view::npos || role.substr(open) == "[*]") {
            return {};
        }
        buckets.emplace_back(role.substr(open + 1, role.find_first_of(":]", open) - open - 1));
    }
    return buckets;
}

service_response on_one_user(service_exchange& with, const std::string& name) {
    const user_options* known = with.cluster.find_user(name);
    if (with.is("PUT")) {
        const form_fields form = parse_form(with.request.body);
        user_options user = known != nullptr ? *known : user_options{};
        user.name = name;
        if (const std::string_view password = form.find("password"); !password.empty()) {
            user.password = password;
        }
        if (user.password.empty()) {
            return error_response(400, "password", "Password is required for new user.");
        }
        user.buckets = buckets_of_roles(form.find("roles"));
        with.cluster.put_user(std::move(user));
        with.audit.is_applied = true;
        return make_service_response(200, "");
    }
    if (known == nullptr) {
        return make_service_response(404, "\"Unknown user.\"");
    }
    if (with.is("GET")) {
        return make_service_response(200, json::serialize(shown_user(*known)));
    }
    if (with.is("DELETE")) {
        (void)with.cluster.drop_user(name);  // known
        with.audit.is_applied = true;
        return make_service_response(200, "");
    }
    return make_service_response(405, "");
}

service_response on_users(service_exchange& with) {
    const auto& parts = with.parts;
    if (!is_administrator(with)) {
        return make_service_response(403, "{\"message\":\"Forbidden\"}");
    }
    if (parts.size() == 5 && parts[3] == "local") {
        return on_one_user(with, parts[4]);
    }
    if (parts.size() > 4 || (parts.size() == 4 && parts[3] != "local")) {
        return no_such_resource();
    }
    if (!with.is("GET")) {
        return make_service_response(405, "");
    }
    json::array shown;
    for (const std::string& name : with.cluster.users()) {
        shown.emplace_back(shown_user(*with.cluster.find_user(name)));
    }
    return make_service_response(200, json::serialize(shown));
}

}  // namespace

service_response answer_management_port(service_exchange& with) {
    const auto& parts = with.parts;
    if (with.user == nullptr || parts.empty()) {
        return pass_on(with, with.request.target);  // it says who may not, and what is open to all
    }
    const bool is_buckets =
        parts.size() >= 3 && parts[0] == "pools" && parts[1] == "default" && parts[2] == "buckets";
    if (is_buckets && parts.size() == 3) {
        return on_buckets(with);
    }
    if (is_buckets && !(parts.size() > 4 && parts[4] == "scopes")) {
        return on_one_bucket(with);
    }
    if (parts.size() >= 3 && parts[0] == "settings" && parts[1] == "rbac" && parts[2] == "users") {
        return on_users(with);
    }
    return pass_on(with, with.request.target);
}

}  // namespace reprise::sandbox::detail
