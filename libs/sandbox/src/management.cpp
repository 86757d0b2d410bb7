#include <algorithm>
#include <utility>
#include <vector>

#include <reprise/json/write.hpp>
#include <reprise/sandbox/management.hpp>

#include "http_texts.hpp"
#include "service_login.hpp"

namespace reprise::sandbox {

namespace {

constexpr std::string_view version_text = "7.6.0-sandbox";

management_response problem(int status, std::string_view text) {
    management_response response;
    response.status = status;
    json::writer w(response.body);
    w.begin_object().member("errors", text).end_object();
    return response;
}

// Names that a change of scopes and collections is about, as messages show them.
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

// Clients tell the cases apart by these texts.
management_response refusal(cluster_errc code, const named_place& place) {
    switch (code) {
        case cluster_errc::already_exists:
            return problem(400, place.text() + " already exists");
        case cluster_errc::name_invalid:
            return problem(400, to_string(code));
        case cluster_errc::unknown_scope:
            return problem(404, place.scope_text() + " is not found");
        case cluster_errc::unknown_collection:
            return problem(404, place.text() + " is not found");
        default:
            return problem(404, to_string(code));
    }
}

management_response json_body(std::string body) {
    management_response response;
    response.body = std::move(body);
    return response;
}

// One request while it is answered.
struct exchange {
    sandbox::cluster& cluster;
    node_id node;
    const management_request& request;
    std::vector<std::string> parts;
    const user_options* user = nullptr;

    bool is(std::string_view method) const noexcept { return request.method == method; }
    bool can_see(std::string_view bucket) const {
        return (user->buckets.empty() ||
                std::ranges::find(user->buckets, bucket) != user->buckets.end()) &&
               !cluster.is_denied(bucket, user->name);
    }
};

management_response get_pools(const exchange& with) {
    std::string out;
    json::writer w(out);
    w.begin_object();
    w.member("isAdminCreds", with.user->buckets.empty());
    w.member("implementationVersion", version_text).member("isEnterprise", true);
    w.key("pools").begin_array().begin_object();
    w.member("name", "default").member("uri", "/pools/default");
    w.member("streamingUri", "/poolsStreaming/default");
    w.end_object().end_array();
    w.end_object();
    return json_body(std::move(out));
}

std::string_view status_text(std::optional<node_state> state) noexcept {
    return state == node_state::up ? "healthy" : "unhealthy";
}

management_response get_default_pool(const exchange& with) {
    std::string out;
    json::writer w(out);
    w.begin_object();
    w.member("name", "default");
    w.member("clusterName", with.cluster.options().cluster_name);
    w.key("nodes").begin_array();
    for (const node_id id : with.cluster.nodes()) {
        const wire::cluster_node& at = *with.cluster.endpoints_of(id);
        w.begin_object();
        w.member(
            "hostname",
            wire::to_host_port(
                at.hostname, at.ports.port(wire::service::management, wire::transport::plain)));
        w.member("status", status_text(with.cluster.state_of(id)));
        w.member("clusterMembership", "active").member("version", version_text);
        w.member("thisNode", id == with.node);
        w.key("services").begin_array().value("kv");
        for (const wire::service each :
             {wire::service::query, wire::service::search, wire::service::analytics}) {
            if (at.ports.port(each, wire::transport::plain) != 0) {
                w.value(wire::port_member(each, wire::transport::plain));
            }
        }
        w.end_array();
        w.key("ports").begin_object();
        w.member("direct", at.ports.port(wire::service::key_value, wire::transport::plain));
        w.end_object().end_object();
    }
    w.end_array();
    w.key("buckets").begin_object().member("uri", "/pools/default/buckets").end_object();
    w.end_object();
    return json_body(std::move(out));
}

management_response get_configuration(
    const exchange& with, std::string_view bucket, bool is_stream) {
    auto text = with.cluster.configuration_text(with.node, bucket);
    if (!text) {
        return problem(404, "Requested resource not found.");
    }
    management_response response = json_body(std::move(*text));
    if (is_stream) {
        response.body += stream_separator;
        response.continues = management_response::stream{
            std::string(bucket), *with.cluster.configuration_revision(with.node, bucket)};
    }
    return response;
}

management_response get_buckets(const exchange& with) {
    std::string out;
    json::writer w(out);
    w.begin_array();
    for (const std::string& name : with.cluster.buckets()) {
        const auto text = with.cluster.configuration_text(with.node, name);
        if (with.can_see(name) && text) {
            w.raw(*text);
        }
    }
    w.end_array();
    return json_body(std::move(out));
}

management_response changed(
    std::expected<std::uint64_t, cluster_errc> uid, const named_place& place) {
    if (!uid) {
        return refusal(uid.error(), place);
    }
    std::string out;
    json::writer w(out);
    w.begin_object().member("uid", wire::to_uid_text(*uid)).end_object();
    return json_body(std::move(out));
}

// ".../scopes", ".../scopes/<s>", ".../scopes/<s>/collections[/<c>]" below a bucket.
management_response on_scopes(const exchange& with, const std::string& bucket) {
    const auto& parts = with.parts;
    const std::size_t count = parts.size();
    cluster& target = with.cluster;
    if (count == 5 && with.is("GET")) {
        return json_body(wire::encode_collections_manifest(*target.manifest_at(with.node, bucket)));
    }
    const auto form = detail::parse_form(with.request.body);
    if (count == 5 && with.is("POST")) {
        return changed(target.create_scope(bucket, form.find("name")), {form.find("name")});
    }
    if (count == 6 && with.is("DELETE")) {
        return changed(target.drop_scope(bucket, parts[5]), {parts[5]});
    }
    const bool is_collection = count >= 7 && parts[6] == "collections";
    if (count == 7 && is_collection && with.is("POST")) {
        const std::string_view ttl_text = form.find("maxTTL");
        const auto ttl = detail::parse_int32(ttl_text);
        if (!ttl_text.empty() && !ttl) {
            return problem(400, "maxTTL is no number");
        }
        return changed(
            target.create_collection(bucket, parts[5], form.find("name"), ttl),
            {parts[5], form.find("name")});
    }
    if (count == 8 && is_collection && with.is("DELETE")) {
        return changed(target.drop_collection(bucket, parts[5], parts[7]), {parts[5], parts[7]});
    }
    const bool is_path = count == 5 || count == 6 || (is_collection && count <= 8);
    return is_path ? problem(405, "Method not allowed")
                   : problem(404, "Requested resource not found.");
}

// "/pools/default/<kind>/<bucket>[/...]"
management_response on_bucket(const exchange& with) {
    const std::string& kind = with.parts[2];
    const std::string& bucket = with.parts[3];
    const bool is_stream = kind == "bs" || kind == "bucketsStreaming";
    if (!is_stream && kind != "b" && kind != "buckets") {
        return problem(404, "Requested resource not found.");
    }
    if (!with.can_see(bucket)) {
        return problem(403, "Forbidden. User needs the bucket's permission");
    }
    if (with.cluster.manifest_at(with.node, bucket) == nullptr) {
        return problem(404, "Requested resource not found.");
    }
    if (kind == "buckets" && with.parts.size() > 4 && with.parts[4] == "scopes") {
        return on_scopes(with, bucket);
    }
    if (with.parts.size() != 4) {
        return problem(404, "Requested resource not found.");
    }
    return with.is("GET") ? get_configuration(with, bucket, is_stream)
                          : problem(405, "Method not allowed");
}

management_response on_pool(const exchange& with) {
    if (!with.is("GET")) {
        return problem(405, "Method not allowed");
    }
    const auto& parts = with.parts;
    if (parts.size() == 1) {
        return get_pools(with);
    }
    if (parts.size() == 2) {
        return get_default_pool(with);
    }
    if (parts[2] == "nodeServices" || parts[2] == "nodeServicesStreaming") {
        return get_configuration(with, {}, parts[2] == "nodeServicesStreaming");
    }
    return parts[2] == "buckets" ? get_buckets(with)
                                 : problem(404, "Requested resource not found.");
}

}  // namespace

management_response handle_management(
    cluster& target, node_id node, const management_request& request) {
    exchange with{target, node, request, detail::target_parts(request.target)};
    const auto& parts = with.parts;
    if (parts.empty()) {
        management_response response;
        response.content_type = "text/plain";
        response.body = "sandbox\n";
        return with.is("GET") ? response : problem(405, "Method not allowed");
    }
    with.user = detail::find_login(target, request.authorization, request.certificate_user);
    if (with.user == nullptr || target.disturbance_of(node).rejects_credentials) {
        return problem(401, "Unauthorized");
    }
    if (parts[0] == "whoami" && parts.size() == 1) {
        std::string out;
        json::writer w(out);
        w.begin_object().member("id", with.user->name).member("domain", "local").end_object();
        return json_body(std::move(out));
    }
    if (parts[0] != "pools" || (parts.size() > 1 && parts[1] != "default")) {
        return problem(404, "Requested resource not found.");
    }
    return parts.size() <= 3 ? on_pool(with) : on_bucket(with);
}

std::optional<std::string> next_stream_document(
    const cluster& from, node_id node, management_response::stream& stream) {
    const auto revision = from.configuration_revision(node, stream.bucket);
    if (!revision || *revision <= stream.sent) {
        return std::nullopt;
    }
    stream.sent = *revision;
    auto text = from.configuration_text(node, stream.bucket);
    return *text + std::string(stream_separator);
}

}  // namespace reprise::sandbox
