#include <reprise/sandbox/cluster_options.hpp>

#include <bit>
#include <set>

#include <reprise/wire/collections_manifest.hpp>

namespace reprise::sandbox {

namespace {

bool is_bucket_name(std::string_view name) noexcept {
    constexpr std::string_view legal =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.-%";
    return !name.empty() && name.size() <= 100 && !name.starts_with('.') &&
           name.find_first_not_of(legal) == std::string_view::npos;
}

}  // namespace

std::optional<std::string> find_problem(const bucket_options& bucket) {
    if (!is_bucket_name(bucket.name)) {
        return "'" + bucket.name + "' is not a valid bucket name";
    }
    if (bucket.replica_count.value_or(0) > 3) {
        return "bucket '" + bucket.name + "': at most 3 replicas";
    }
    if (!bucket.has_collections && !bucket.scopes.empty()) {
        return "bucket '" + bucket.name + "': scopes require collections";
    }
    std::set<std::string_view> scopes;
    for (const scope_options& scope : bucket.scopes) {
        if (!wire::is_valid_collection_name(scope.name, wire::name_origin::user) ||
            !scopes.insert(scope.name).second) {
            return "bucket '" + bucket.name + "': invalid or duplicate scope '" + scope.name + "'";
        }
        std::set<std::string_view> names;
        for (const std::string& name : scope.collections) {
            if (!wire::is_valid_collection_name(name, wire::name_origin::user) ||
                !names.insert(name).second) {
                return "bucket '" + bucket.name + "': invalid or duplicate collection '" + name +
                       "'";
            }
        }
    }
    return std::nullopt;
}

std::optional<std::string> find_problem(const cluster_options& options) {
    if (options.node_count < 1 || options.node_count > 256) {
        return "node_count must be 1..256";
    }
    if (options.replica_count > 3) {
        return "replica_count must be 0..3";
    }
    if (!std::has_single_bit(options.vbucket_count) || options.vbucket_count > 32768) {
        return "vbucket_count must be a power of two, at most 32768";
    }
    if (options.scram_iterations < 1 || options.scram_iterations > 1'000'000) {
        return "scram_iterations must be 1..1000000";
    }
    if (options.lock_time_default.count() < 1 ||
        options.lock_time_default > options.lock_time_max) {
        return "lock_time_default must be at least 1 s and not exceed lock_time_max";
    }
    if (options.value_size_max_bytes > std::size_t{20} * 1024 * 1024) {
        return "value_size_max_bytes must not exceed 20 MiB";
    }
    if (options.replication_delay.count() < 0 || options.recommit_delay.count() < 0) {
        return "replication_delay and recommit_delay must not be negative";
    }
    if (options.audit_entry_count_max < 1) {
        return "audit_entry_count_max must be at least 1";
    }
    std::set<std::string_view> names;
    for (const bucket_options& bucket : options.buckets) {
        if (auto problem = find_problem(bucket)) {
            return problem;
        }
        if (!names.insert(bucket.name).second) {
            return "bucket '" + bucket.name + "' is defined twice";
        }
    }
    names.clear();
    for (const user_options& user : options.users) {
        if (user.name.empty() || !names.insert(user.name).second) {
            return "user '" + user.name + "' has no name or is defined twice";
        }
    }
    return std::nullopt;
}

}  // namespace reprise::sandbox
