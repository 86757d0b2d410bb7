#include "management/routes.hpp"

#include <algorithm>
#include <utility>

#include <reprise/json/write.hpp>
#include <reprise/sandbox/management.hpp>

#include "http_services/http_texts.hpp"
#include "http_services/login.hpp"
#include "http_services/missing_paths.hpp"
#include "http_services/query/language.hpp"
#include "http_services/service_handlers.hpp"

namespace reprise::sandbox {

namespace detail {

namespace {

using can = privilege;

constexpr service_route management_table[] = {
    {"GET", "/", get_welcome, can::none, "a text; requires no login"},
    {"GET", "/whoami", get_who_am_i, can::none, "the user and its roles"},
    {"GET", "/pools", get_pools, can::none, "the version, and links"},
    {"GET", "/pools/default", get_default_pool, can::none, "the cluster and its nodes"},
    {"GET", "/pools/default/tasks", list_tasks, can::none, "the last or current rebalance"},
    {"GET", "/pools/default/rebalanceProgress", get_rebalance_progress, can::none,
     "whether a rebalance runs"},
    {"GET", "/pools/default/terseClusterInfo", get_terse_cluster, can::none,
     "the cluster's uuid and version"},
    {"GET", "/versions", get_versions, can::none, "the version"},
    {"GET", "/pools/nodes", get_nodes, can::none, "the nodes"},
    {"GET", "/nodes/self", get_own_node, can::none, "the node that answers"},
    {"GET", "/pools/default/nodeServices", get_global_configuration, can::none,
     "the global configuration"},
    {"GET", "/pools/default/nodeServicesStreaming", stream_global_configuration, can::none,
     "the same, and every later one"},
    {"GET", "/pools/default/b/{bucket}", get_bucket_configuration, can::none,
     "a bucket's configuration"},
    {"GET", "/pools/default/bs/{bucket}", stream_bucket_configuration, can::none,
     "the same, and every later one"},
    {"GET", "/pools/default/bucketsStreaming/{bucket}", stream_bucket_configuration, can::none,
     "the same, and every later one"},
    {"GET", "/pools/default/buckets", list_buckets, can::none, "buckets that the user can see"},
    {"POST", "/pools/default/buckets", make_bucket, can::create_bucket, "creates a bucket"},
    {"GET", "/pools/default/buckets/{bucket}", get_bucket, can::none,
     "a bucket's configuration, settings and basic statistics"},
    {"POST", "/pools/default/buckets/{bucket}", change_bucket, can::bucket_change,
     "changes a bucket's settings"},
    {"DELETE", "/pools/default/buckets/{bucket}", remove_bucket, can::bucket_change,
     "drops a bucket"},
    {"POST", "/pools/default/buckets/{bucket}/controller/doFlush", flush_bucket, can::bucket_flush,
     "removes all documents if `flushEnabled` is set"},
    {"GET", "/pools/default/buckets/{bucket}/ddocs", list_design_documents, can::view_read,
     "design documents of a bucket"},
    {"GET", "/pools/default/buckets/{bucket}/scopes", get_scopes, can::none,
     "the collections manifest"},
    {"POST", "/pools/default/buckets/{bucket}/scopes", make_scope, can::collections,
     "creates a scope: `name`"},
    {"DELETE", "/pools/default/buckets/{bucket}/scopes/{scope}", remove_scope, can::collections,
     "drops a scope"},
    {"POST", "/pools/default/buckets/{bucket}/scopes/{scope}/collections", make_collection,
     can::collections, "creates a collection: `name`, `maxTTL`"},
    {"DELETE", "/pools/default/buckets/{bucket}/scopes/{scope}/collections/{collection}",
     remove_collection, can::collections, "drops a collection"},
    {"PATCH", "/pools/default/buckets/{bucket}/scopes/{scope}/collections/{collection}",
     change_collection, can::collections, "changes a collection: `maxTTL`"},
    {"GET", "/settings/rbac/users", list_users, can::read_users, "all users"},
    {"GET", "/settings/rbac/users/local", list_users, can::read_users, "all users"},
    {"GET", "/settings/rbac/users/external", list_external_users, can::read_users,
     "an empty list: there are only local users"},
    {"GET", "/settings/rbac/users/local/{user}", get_user, can::read_users, "one user"},
    {"PUT", "/settings/rbac/users/local/{user}", set_user, can::write_users,
     "creates or changes a user: `password`, `roles`, `groups`, `name`"},
    {"DELETE", "/settings/rbac/users/local/{user}", remove_user, can::write_users, "drops a user"},
    {"POST", "/controller/changePassword", change_password, can::none,
     "changes the user's own password: `password`"},
    {"GET", "/settings/rbac/roles", list_roles, can::read_users, "the roles"},
    {"GET", "/settings/rbac/groups", list_groups, can::read_users, "all groups"},
    {"GET", "/settings/rbac/groups/{group}", get_group, can::read_users, "one group"},
    {"PUT", "/settings/rbac/groups/{group}", set_group, can::write_users,
     "creates or changes a group: `description`, `roles`, `ldap_group_ref`"},
    {"DELETE", "/settings/rbac/groups/{group}", remove_group, can::write_users, "drops a group"},
};

// Returns a response if the bucket in the path is not available to this user on this node.
std::optional<service_response> check_bucket(service_exchange& with, privilege needs) {
    const std::string& bucket = with.parts[3];
    if (!with.can_see(bucket)) {
        return forbidden();
    }
    if (with.cluster.buckets().manifest_at(with.node, bucket) == nullptr) {
        return no_such_resource();
    }
    return has_all(with.rights.somewhere_in(bucket), needs) ? std::nullopt
                                                            : std::optional(forbidden());
}

service_response unauthorized() {
    service_response response = make_service_response(401, "", "text/plain");
    response.headers.push_back(
        {"WWW-Authenticate", "Basic realm=\"Couchbase Server Admin / REST\""});
    return response;
}

service_response follow(const service_route& route, service_exchange& with) {
    if (route.path != "/" && with.user == nullptr) {
        return unauthorized();
    }
    if (route.path.contains("{bucket}")) {
        if (auto refused = check_bucket(with, route.needs)) {
            return *std::move(refused);
        }
    } else if (!has_all(with.rights.in_cluster(), route.needs)) {
        return forbidden();
    }
    return route.answer(with);
}

}  // namespace

std::span<const service_route> management_routes() noexcept {
    return management_table;
}

service_response management_error(int status, std::string_view field, std::string_view text) {
    return make_service_response(
        status, json::serialize(json::object{{"errors", json::object{{field, text}}}}));
}

std::optional<service_response> refuse_other_fields(
    const form_fields& form, std::initializer_list<std::string_view> known) {
    for (const auto& [name, value] : form.fields) {
        if (std::ranges::find(known, name) == known.end()) {
            return management_error(400, name, not_in_sandbox_text("The field " + name));
        }
    }
    return std::nullopt;
}

service_response no_such_resource() {
    return make_service_response(404, "Requested resource not found.\r\n", "text/plain");
}

service_response forbidden() {
    return make_service_response(
        403, json::serialize(json::object{
                 {"message", "Forbidden. User needs a role that permits this."},
                 {"permissions", json::array{}}}));
}

service_response answer_management_port(service_exchange& with) {
    const route_match found = find_route(management_table, with);
    if (found.route != nullptr) {
        return follow(*found.route, with);
    }
    if (with.user == nullptr) {
        return unauthorized();
    }
    if (auto refused = refuse_missing_path(with)) {
        return *std::move(refused);
    }
    return found.is_path ? make_service_response(405, "Method Not Allowed", "text/plain")
                         : make_service_response(404, "Not found.", "text/plain");
}

}  // namespace detail

management_response handle_management(
    cluster& target, node_id node, const management_request& request) {
    service_request asked;
    asked.service = wire::service::management;
    asked.method = request.method;
    asked.target = request.target;
    asked.body = request.body;
    service_audit_entry entry;
    detail::service_exchange with{
        target.services().state(),
        target,
        node,
        asked,
        {},
        detail::target_parts(request.target),
        nullptr,
        {},
        nullptr,
        entry};
    if (!target.disturbances().of(node).rejects_credentials) {
        with.log_in(detail::find_login(target, request.authorization, request.certificate_user));
    }
    service_response answer = detail::answer_management_port(with);
    management_response response;
    response.status = answer.status;
    response.content_type = find_header(answer.headers, "Content-Type").value_or("");
    response.body = std::move(answer.body);
    response.continues = std::move(answer.continues);
    return response;
}

std::optional<std::string> next_stream_document(
    const cluster& from, node_id node, management_response::stream& stream) {
    const auto revision = from.topology().configuration_revision(node, stream.bucket);
    if (!revision || *revision <= stream.sent) {
        return std::nullopt;
    }
    stream.sent = *revision;
    auto text = from.topology().configuration_text(node, stream.bucket);
    return *text + std::string(stream_separator);
}

}  // namespace reprise::sandbox
