#include "management/roles.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "cluster_state.hpp"
#include "http_services/query/language.hpp"

namespace reprise::sandbox::detail {

namespace {

using can = privilege;

constexpr can document_access = can::read | can::insert | can::upsert | can::remove;
constexpr can statement_access = can::query_select | can::query_insert | can::query_update |
                                 can::query_delete | can::query_index;
constexpr can view_access = can::view_read | can::view_write;
constexpr can search_access = can::search_read | can::search_write;
constexpr can bucket_administration = can::bucket_flush | can::bucket_change | can::collections;

constexpr role_facts role_table[] = {
    {"admin", "Full Admin", role_reach::cluster, can::everything},
    {"ro_admin", "Read-Only Admin", role_reach::cluster, can::see_all | can::read_users},
    {"cluster_admin", "Cluster Admin", role_reach::cluster,
     can::see_all | can::create_bucket | bucket_administration},
    {"security_admin", "Security Admin", role_reach::cluster,
     can::see_all | can::read_users | can::write_users},
    {"security_admin_local", "Local User Security Admin", role_reach::cluster,
     can::see_all | can::read_users | can::write_users},
    {"user_admin_local", "Local User Admin", role_reach::cluster,
     can::see_all | can::read_users | can::write_users},
    {"query_system_catalog", "Query System Catalog", role_reach::cluster, can::see_all},
    {"analytics_admin", "Analytics Admin", role_reach::cluster, can::analytics},
    {"analytics_reader", "Analytics Reader", role_reach::cluster, can::analytics},
    {"bucket_admin", "Bucket Admin", role_reach::bucket, bucket_administration},
    {"bucket_full_access", "Application Access", role_reach::bucket,
     document_access | statement_access | view_access | can::bucket_flush},
    {"scope_admin", "Manage Scopes", role_reach::scope, can::collections},
    {"data_reader", "Data Reader", role_reach::collection, can::read},
    {"data_writer", "Data Writer", role_reach::collection, can::insert | can::upsert | can::remove},
    {"data_dcp_reader", "Data DCP Reader", role_reach::collection, can::read},
    {"data_backup", "Data Backup & Restore", role_reach::bucket,
     document_access | view_access | search_access},
    {"views_admin", "Views Admin", role_reach::bucket, view_access | can::read | can::query_select},
    {"views_reader", "Views Reader", role_reach::bucket, can::view_read | can::read},
    {"fts_admin", "Search Admin", role_reach::bucket, search_access},
    {"fts_searcher", "Search Reader", role_reach::collection, can::search_read},
    {"query_select", "Query Select", role_reach::collection, can::query_select | can::read},
    {"query_insert", "Query Insert", role_reach::collection, can::query_insert | can::insert},
    {"query_update", "Query Update", role_reach::collection,
     can::query_update | can::upsert | can::insert},
    {"query_delete", "Query Delete", role_reach::collection, can::query_delete | can::remove},
    {"query_manage_index", "Query Manage Index", role_reach::collection, can::query_index},
    {"analytics_manager", "Analytics Manager", role_reach::bucket, can::analytics},
    {"analytics_select", "Analytics Select", role_reach::collection, can::analytics},
    {"mobile_sync_gateway", "Sync Gateway", role_reach::bucket,
     document_access | statement_access | view_access | can::bucket_flush},
};

constexpr std::array<std::string_view, 17> elsewhere{
    "backup_admin",
    "data_monitoring",
    "eventing_admin",
    "eventing_manage_functions",
    "external_stats_reader",
    "query_execute_external_functions",
    "query_execute_functions",
    "query_execute_global_external_functions",
    "query_execute_global_functions",
    "query_external_access",
    "query_list_index",
    "query_manage_functions",
    "query_manage_global_functions",
    "replication_admin",
    "replication_target",
    "security_admin_external",
    "user_admin_external",
};

constexpr std::pair<privilege, std::string_view> privilege_words[] = {
    {can::read, "read documents"},
    {can::insert, "insert"},
    {can::upsert, "upsert"},
    {can::remove, "remove"},
    {can::query_select, "SELECT"},
    {can::query_insert, "INSERT"},
    {can::query_update, "UPDATE"},
    {can::query_delete, "DELETE"},
    {can::query_index, "indexes"},
    {can::analytics, "analytics"},
    {can::view_read, "read views"},
    {can::view_write, "change views"},
    {can::search_read, "search"},
    {can::search_write, "change search indexes"},
    {can::bucket_flush, "flush"},
    {can::bucket_change, "change and drop the bucket"},
    {can::collections, "change collections"},
    {can::see_all, "see all buckets"},
    {can::create_bucket, "create buckets"},
    {can::read_users, "see users"},
    {can::write_users, "change users"},
};

// The roles that `user_options::buckets` grants in each bucket.
constexpr std::array<std::string_view, 3> bucket_user_roles{
    "bucket_full_access", "fts_admin", "analytics_manager"};

bool is_about(const role_grant& grant, std::string_view bucket) noexcept {
    return grant.bucket.empty() || grant.bucket == "*" || grant.bucket == bucket;
}

}  // namespace

std::span<const role_facts> known_roles() noexcept {
    return role_table;
}

const role_facts* find_role(std::string_view name) noexcept {
    const auto* found = std::ranges::find(role_table, name, &role_facts::name);
    return found == std::end(role_table) ? nullptr : found;
}

std::span<const std::string_view> roles_elsewhere() noexcept {
    return elsewhere;
}

std::string to_text(privilege given) {
    if (given == privilege::everything) {
        return "everything";
    }
    std::string text;
    for (const auto& [bit, word] : privilege_words) {
        if (has_all(given, bit)) {
            text += (text.empty() ? "" : ", ") + std::string(word);
        }
    }
    return text;
}

std::expected<role_grant, std::string> parse_role(std::string_view text) {
    const auto malformed = [text] {
        return std::unexpected(
            "Cannot assign roles to user because the following roles are unknown, malformed or "
            "role parameters are undefined: [" +
            std::string(text) + "]");
    };
    const std::size_t open = text.find('[');
    const std::string_view name = text.substr(0, open);
    if (std::ranges::find(elsewhere, name) != elsewhere.end()) {
        return std::unexpected(not_in_sandbox_text("The role " + std::string(name)));
    }
    const role_facts* facts = find_role(name);
    const bool has_place = open != std::string_view::npos;
    if (facts == nullptr || (has_place && !text.ends_with(']')) ||
        has_place != (facts->reach != role_reach::cluster)) {
        return malformed();
    }
    role_grant made{std::string(name), {}, {}, {}};
    std::string_view place = has_place ? text.substr(open + 1, text.size() - open - 2) : "";
    std::size_t depth = 0;
    for (std::string* part : {&made.bucket, &made.scope, &made.collection}) {
        if (place.empty()) {
            break;
        }
        const std::string_view word = place.substr(0, place.find(':'));
        place.remove_prefix(std::min(word.size() + 1, place.size()));
        *part = word;
        depth += word.empty() ? 0u : 1u;
    }
    if (!place.empty() || depth > static_cast<std::size_t>(facts->reach) ||
        (has_place && made.bucket.empty())) {
        return malformed();
    }
    // A missing name means the same.
    made.scope = made.scope == "*" ? "" : made.scope;
    made.collection = made.collection == "*" ? "" : made.collection;
    return made;
}

std::expected<std::vector<role_grant>, std::string> parse_roles(std::string_view text) {
    std::vector<role_grant> grants;
    while (!text.empty()) {
        const std::string_view one = text.substr(0, text.find(','));
        text.remove_prefix(std::min(one.size() + 1, text.size()));
        auto grant = parse_role(one);
        if (!grant) {
            return std::unexpected(std::move(grant.error()));
        }
        grants.push_back(*std::move(grant));
    }
    return grants;
}

template <class Test>
privilege rights::join(const Test& test) const noexcept {
    privilege all = privilege::none;
    for (const role_grant& each : grants_) {
        const role_facts* facts = find_role(each.role);
        if (facts != nullptr && test(*facts, each)) {
            all = all | facts->privileges;
        }
    }
    return all;
}

privilege rights::in_cluster() const noexcept {
    return join([](const role_facts& facts, const role_grant&) {
        return facts.reach == role_reach::cluster;
    });
}

privilege rights::in_bucket(std::string_view bucket) const noexcept {
    return join([bucket](const role_facts&, const role_grant& grant) {
        return is_about(grant, bucket) && grant.scope.empty();
    });
}

privilege rights::in_collection(
    std::string_view bucket, std::string_view scope, std::string_view collection) const noexcept {
    return join([&](const role_facts&, const role_grant& grant) {
        return is_about(grant, bucket) && (grant.scope.empty() || grant.scope == scope) &&
               (grant.collection.empty() || grant.collection == collection);
    });
}

privilege rights::somewhere_in(std::string_view bucket) const noexcept {
    return join(
        [bucket](const role_facts&, const role_grant& grant) { return is_about(grant, bucket); });
}

bool rights::is_narrowed(std::string_view bucket) const noexcept {
    return std::ranges::any_of(grants_, [bucket](const role_grant& grant) {
        return is_about(grant, bucket) && !grant.scope.empty();
    });
}

std::vector<role_grant> own_roles(const user_options& user) {
    if (user.roles) {
        return *user.roles;
    }
    if (user.buckets.empty()) {
        return {{"admin", {}, {}, {}}};
    }
    std::vector<role_grant> grants;
    grants.reserve(user.buckets.size() * bucket_user_roles.size());
    for (const std::string& bucket : user.buckets) {
        for (const std::string_view role : bucket_user_roles) {
            grants.push_back({std::string(role), bucket, {}, {}});
        }
    }
    return grants;
}

rights rights_of(const cluster_state& cluster, const user_options& user) {
    std::vector<role_grant> grants = own_roles(user);
    for (const std::string& name : user.groups) {
        if (const group_options* group = cluster.accounts.find_group(name)) {
            grants.insert(grants.end(), group->roles.begin(), group->roles.end());
        }
    }
    return rights(std::move(grants));
}

}  // namespace reprise::sandbox::detail
