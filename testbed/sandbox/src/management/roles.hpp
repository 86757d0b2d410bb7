#pragma once

#include <cstdint>
#include <expected>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <reprise/sandbox/cluster_options.hpp>

namespace reprise::sandbox::detail {

struct cluster_state;

// A user's privileges; a set of bits.
enum class privilege : std::uint32_t {
    none = 0,
    // Documents, through key-value.
    read = 1u << 0,
    insert = 1u << 1,  // a user who may upsert may insert
    upsert = 1u << 2,
    remove = 1u << 3,
    // Statements.
    query_select = 1u << 4,
    query_insert = 1u << 5,
    query_update = 1u << 6,
    query_delete = 1u << 7,
    query_index = 1u << 8,
    analytics = 1u << 9,
    // Views and search.
    view_read = 1u << 10,
    view_write = 1u << 11,
    search_read = 1u << 12,
    search_write = 1u << 13,
    // Administration of a bucket.
    bucket_flush = 1u << 14,
    bucket_change = 1u << 15,  // its settings, and dropping the bucket
    collections = 1u << 16,
    // Administration of the cluster.
    see_all = 1u << 17,  // names of all buckets, even of missing ones
    create_bucket = 1u << 18,
    read_users = 1u << 19,
    write_users = 1u << 20,
    everything = (1u << 21) - 1,
};

constexpr privilege operator|(privilege left, privilege right) noexcept {
    return static_cast<privilege>(
        static_cast<std::uint32_t>(left) | static_cast<std::uint32_t>(right));
}
constexpr privilege operator&(privilege left, privilege right) noexcept {
    return static_cast<privilege>(
        static_cast<std::uint32_t>(left) & static_cast<std::uint32_t>(right));
}
constexpr bool has_all(privilege given, privilege wanted) noexcept {
    return (given & wanted) == wanted;
}

// How far a role can be restricted.
enum class role_reach : std::uint8_t { cluster, bucket, scope, collection };

struct role_facts {
    std::string_view name;
    std::string_view title;  // readable name
    role_reach reach;
    privilege privileges;
};

std::span<const role_facts> known_roles() noexcept;
const role_facts* find_role(std::string_view name) noexcept;
// Roles of real servers for features that the sandbox does not have.
std::span<const std::string_view> roles_elsewhere() noexcept;

// Parses `data_reader[travel:inventory:airline]`. The error is a message for people.
std::expected<role_grant, std::string> parse_role(std::string_view text);
// Parses a list of roles, separated by commas.
std::expected<std::vector<role_grant>, std::string> parse_roles(std::string_view text);
// The bits as text, for the page that lists roles.
std::string to_text(privilege given);

// The privileges of a set of roles.
class rights {
public:
    rights() = default;
    explicit rights(std::vector<role_grant> grants) : grants_(std::move(grants)) {}

    // The privileges in the whole cluster, in a whole bucket, in one collection, or anywhere
    // in a bucket.
    privilege in_cluster() const noexcept;
    privilege in_bucket(std::string_view bucket) const noexcept;
    privilege in_collection(
        std::string_view bucket, std::string_view scope,
        std::string_view collection) const noexcept;
    privilege somewhere_in(std::string_view bucket) const noexcept;
    // Whether a role is restricted to a scope or a collection of the bucket.
    bool is_narrowed(std::string_view bucket) const noexcept;
    // Whether the user may select and see the bucket.
    bool can_see(std::string_view bucket) const noexcept {
        return somewhere_in(bucket) != privilege::none;
    }
    // Whether the user may learn that a bucket does not exist; others learn only that they have no
    // access.
    bool can_see_all() const noexcept { return has_all(in_cluster(), privilege::see_all); }

    const std::vector<role_grant>& grants() const noexcept { return grants_; }

private:
    template <class Test>
    privilege join(const Test& test) const noexcept;

    std::vector<role_grant> grants_;
};

// A user's roles without those of the groups: `user_options::roles`, or those that `buckets`
// grants.
std::vector<role_grant> own_roles(const user_options& user);
// Whether this is the administrator of the cluster itself, who is not among the users.
inline bool is_built_in(const user_options& user) noexcept {
    return !user.roles && user.buckets.empty();
}
// The rights of a user, including those of the groups.
rights rights_of(const cluster_state& cluster, const user_options& user);

}  // namespace reprise::sandbox::detail
