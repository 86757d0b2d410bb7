#include <algorithm>
#include <utility>

#include <reprise/json/write.hpp>

#include "http_services/http_texts.hpp"
#include "http_services/query/language.hpp"
#include "management/routes.hpp"
#include "management/texts.hpp"

// Users, groups and roles.

namespace reprise::sandbox::detail {

namespace {

service_response json_answer(const json::value& body) {
    return make_service_response(200, json::serialize(body));
}

service_response done(service_exchange& with) {
    with.audit.is_applied = true;
    return make_service_response(200, "\"\"");
}

json::object origin_of(std::string_view group) {
    return group.empty() ? json::object{{"type", "user"}}
                         : json::object{{"type", "group"}, {"name", group}};
}

// Each role once, with all its origins: the user or groups.
json::array roles_with_origins(const service_exchange& with, const user_options& user) {
    std::vector<std::pair<role_grant, json::array>> known;
    const auto add = [&known](const role_grant& grant, std::string_view group) {
        auto found =
            std::ranges::find_if(known, [&grant](const auto& each) { return each.first == grant; });
        if (found == known.end()) {
            found = known.insert(known.end(), {grant, {}});
        }
        found->second.emplace_back(origin_of(group));
    };
    for (const role_grant& grant : own_roles(user)) {
        add(grant, "");
    }
    for (const std::string& name : user.groups) {
        if (const group_options* group = with.cluster.accounts().find_group(name)) {
            for (const role_grant& grant : group->roles) {
                add(grant, name);
            }
        }
    }
    json::array shown;
    for (auto& [grant, origins] : known) {
        json::object role = shown_role(grant);
        role.set("origins", std::move(origins));
        shown.emplace_back(std::move(role));
    }
    return shown;
}

json::object shown_user(const service_exchange& with, const user_options& user) {
    json::object shown{{"id", user.name}, {"domain", "local"}};
    if (!user.full_name.empty()) {
        shown.set("name", user.full_name);
    }
    shown.set("roles", roles_with_origins(with, user));
    shown.set("groups", json::array(user.groups.begin(), user.groups.end()));
    shown.set("external_groups", json::array{});
    return shown;
}

json::object shown_group(const group_options& group) {
    json::object shown{
        {"id", group.name},
        {"description", group.description},
        {"roles", shown_roles(group.roles)}};
    if (!group.ldap_group_ref.empty()) {
        shown.set("ldap_group_ref", group.ldap_group_ref);
    }
    return shown;
}

constexpr std::size_t password_size_min = 6;
constexpr std::string_view password_too_short = "The password must be at least 6 characters long.";

// Null for the built-in administrator, too.
const user_options* find_listed_user(const service_exchange& with, std::string_view name) {
    const user_options* found = with.cluster.accounts().find_user(name);
    return found == nullptr || is_built_in(*found) ? nullptr : found;
}

service_response unknown_user() {
    return make_service_response(404, "\"Unknown user.\"");
}

service_response unknown_group() {
    return make_service_response(404, "\"Unknown group.\"");
}

// Parses roles whose bucket, scope and collection must exist. The error is a message for people.
std::expected<std::vector<role_grant>, std::string> read_roles(
    const service_exchange& with, std::string_view text) {
    auto grants = parse_roles(text);
    if (!grants) {
        return grants;
    }
    for (const role_grant& each : *grants) {
        const wire::collections_manifest* names =
            each.bucket.empty() || each.bucket == "*"
                ? nullptr
                : with.cluster.buckets().manifest(each.bucket);
        const bool is_bucket = each.bucket.empty() || each.bucket == "*" || names != nullptr;
        const bool is_scope =
            each.scope.empty() || (names != nullptr && names->find_scope(each.scope) != nullptr);
        const bool is_collection =
            each.collection.empty() ||
            (names != nullptr && names->find_collection(each.scope, each.collection) != nullptr);
        if (!is_bucket || !is_scope || !is_collection) {
            std::string place = each.bucket;
            for (const std::string* part : {&each.scope, &each.collection}) {
                place += part->empty() ? "" : ":" + *part;
            }
            return std::unexpected(
                "Cannot assign roles to user because the following roles are unknown, malformed "
                "or role parameters are undefined: [" +
                each.role + "[" + place + "]]");
        }
    }
    return grants;
}

}  // namespace

json::object shown_role(const role_grant& grant) {
    json::object shown{{"role", grant.role}};
    const role_facts* facts = find_role(grant.role);
    const role_reach reach = facts == nullptr ? role_reach::cluster : facts->reach;
    if (reach != role_reach::cluster) {
        shown.set("bucket_name", grant.bucket);
    }
    if (reach == role_reach::scope || reach == role_reach::collection) {
        shown.set("scope_name", grant.scope.empty() ? "*" : std::string_view(grant.scope));
    }
    if (reach == role_reach::collection) {
        shown.set(
            "collection_name", grant.collection.empty() ? "*" : std::string_view(grant.collection));
    }
    return shown;
}

json::array shown_roles(const std::vector<role_grant>& grants) {
    json::array shown;
    shown.reserve(grants.size());
    for (const role_grant& each : grants) {
        shown.emplace_back(shown_role(each));
    }
    return shown;
}

service_response list_users(service_exchange& with) {
    json::array shown;
    for (const std::string& name : with.cluster.accounts().users()) {
        if (const user_options* user = find_listed_user(with, name)) {
            shown.emplace_back(shown_user(with, *user));
        }
    }
    const std::string& target = with.request.target;
    const std::size_t mark = std::min(target.find('?'), target.size() - 1);
    const auto size = parse_int32(parse_form(target.substr(mark + 1)).find("pageSize"));
    if (!size) {
        return json_answer(shown);
    }
    const std::size_t total = shown.size();
    if (*size < 0 || static_cast<std::size_t>(*size) < total) {
        return management_error(400, "pageSize", not_in_sandbox_text("A second page of users"));
    }
    return json_answer(json::object{
        {"total", total}, {"links", json::object{}}, {"skipped", 0}, {"users", std::move(shown)}});
}

service_response list_external_users(service_exchange&) {
    return json_answer(json::array{});
}

service_response get_user(service_exchange& with) {
    const user_options* user = find_listed_user(with, with.parts[4]);
    return user == nullptr ? unknown_user() : json_answer(shown_user(with, *user));
}

service_response set_user(service_exchange& with) {
    const form_fields form = parse_form(with.request.body);
    if (auto refused = refuse_other_fields(form, {"password", "roles", "groups", "name"})) {
        return *std::move(refused);
    }
    const user_options* known = with.cluster.accounts().find_user(with.parts[4]);
    user_options user = known != nullptr ? *known : user_options{};
    user.name = with.parts[4];
    if (const std::string_view password = form.find("password"); !password.empty()) {
        user.password = password;
    }
    if (!form.find("password").empty() && user.password.size() < password_size_min) {
        return management_error(400, "password", password_too_short);
    }
    if (user.password.empty()) {
        return management_error(400, "password", "Password is required for new user.");
    }
    auto roles = read_roles(with, form.find("roles"));
    if (!roles) {
        return management_error(400, "roles", roles.error());
    }
    std::vector<std::string> groups;
    for (std::string_view rest = form.find("groups"); !rest.empty();) {
        const std::string_view group = rest.substr(0, rest.find(','));
        rest.remove_prefix(std::min(group.size() + 1, rest.size()));
        if (with.cluster.accounts().find_group(group) == nullptr) {
            return management_error(400, "groups", "Groups do not exist: " + std::string(group));
        }
        groups.emplace_back(group);
    }
    user.buckets.clear();
    user.roles = *std::move(roles);
    user.groups = std::move(groups);
    user.full_name = form.find("name");
    with.cluster.accounts().put_user(std::move(user));
    return done(with);
}

service_response remove_user(service_exchange& with) {
    if (find_listed_user(with, with.parts[4]) == nullptr) {
        return make_service_response(404, "\"User was not found.\"");
    }
    (void)with.cluster.accounts().drop_user(with.parts[4]);  // it exists
    return done(with);
}

service_response change_password(service_exchange& with) {
    const std::string_view body = with.request.body;
    const form_fields form = parse_form(body);
    user_options user = *with.user;
    user.password = form.find("password");
    if (user.password.size() < password_size_min) {
        return management_error(400, "password", password_too_short);
    }
    with.cluster.accounts().put_user(std::move(user));
    return done(with);
}

service_response list_roles(service_exchange&) {
    json::array shown;
    for (const role_facts& facts : known_roles()) {
        json::object role = shown_role({std::string(facts.name), "*", {}, {}});
        role.set("name", facts.title);
        role.set("desc", "Allows: " + to_text(facts.privileges) + ".");
        shown.emplace_back(std::move(role));
    }
    return json_answer(shown);
}

service_response list_groups(service_exchange& with) {
    const std::vector<std::string> names = with.cluster.accounts().groups();
    json::array shown;
    shown.reserve(names.size());
    for (const std::string& name : names) {
        shown.emplace_back(shown_group(*with.cluster.accounts().find_group(name)));
    }
    return json_answer(shown);
}

service_response get_group(service_exchange& with) {
    const group_options* group = with.cluster.accounts().find_group(with.parts[3]);
    return group == nullptr ? unknown_group() : json_answer(shown_group(*group));
}

service_response set_group(service_exchange& with) {
    const form_fields form = parse_form(with.request.body);
    if (auto refused = refuse_other_fields(form, {"description", "roles", "ldap_group_ref"})) {
        return *std::move(refused);
    }
    auto roles = read_roles(with, form.find("roles"));
    if (!roles) {
        return management_error(400, "roles", roles.error());
    }
    with.cluster.accounts().put_group(
        {with.parts[3], std::string(form.find("description")), *std::move(roles),
         std::string(form.find("ldap_group_ref"))});
    return done(with);
}

service_response remove_group(service_exchange& with) {
    return with.cluster.accounts().drop_group(with.parts[3]) ? done(with) : unknown_group();
}

}  // namespace reprise::sandbox::detail
