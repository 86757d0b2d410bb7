#include "management/bucket_settings.hpp"

#include <algorithm>
#include <array>
#include <charconv>

#include "http_services/query/language.hpp"

namespace reprise::sandbox::detail {

namespace {

constexpr std::array<std::string_view, 4> durability_words{
    "none", "majority", "majorityAndPersistActive", "persistToMajority"};

constexpr std::uint64_t ram_quota_min_mb = 100;

std::optional<std::uint64_t> read_number(std::string_view text, std::uint64_t most) noexcept {
    std::uint64_t number = 0;
    const char* end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(text.data(), end, number);
    return error == std::errc{} && stop == end && number <= most ? std::optional(number)
                                                                 : std::nullopt;
}

bool read_switch(std::string_view text, bool& into) {
    into = text == "1" || text == "true";
    return into || text == "0" || text == "false";
}

bool read_word(
    std::string_view text, std::initializer_list<std::string_view> allowed, std::string& into) {
    into = text;
    return std::ranges::find(allowed, text) != allowed.end();
}

bool read_type(std::string_view text, bucket_options& into) {
    into.type = text == "ephemeral" ? bucket_type::ephemeral : bucket_type::couchbase;
    return text == "ephemeral" || text == "couchbase" || text == "membase";
}

bool read_quota(std::string_view text, bucket_options& into) {
    const auto number = read_number(text, UINT32_MAX);
    into.settings.ram_quota_mb = static_cast<std::uint32_t>(number.value_or(0));
    return number && *number >= ram_quota_min_mb;
}

bool read_replicas(std::string_view text, bucket_options& into) {
    const auto number = read_number(text, 3);
    into.replica_count = number.value_or(0);
    return number.has_value();
}

bool read_replica_index(std::string_view text, bucket_options& into) {
    return read_switch(text, into.settings.has_replica_index);
}

bool read_flush(std::string_view text, bucket_options& into) {
    return read_switch(text, into.settings.is_flush_enabled);
}

bool read_ttl(std::string_view text, bucket_options& into) {
    const auto number = read_number(text, 0x7fff'ffff);
    into.settings.max_ttl = std::chrono::seconds(number.value_or(0));
    return number.has_value();
}

bool read_compression(std::string_view text, bucket_options& into) {
    return read_word(text, {"off", "passive", "active"}, into.settings.compression_mode);
}

bool read_conflicts(std::string_view text, bucket_options& into) {
    return read_word(text, {"seqno", "lww", "custom"}, into.settings.conflict_resolution);
}

bool read_eviction(std::string_view text, bucket_options& into) {
    return read_word(
        text, {"valueOnly", "fullEviction", "noEviction", "nruEviction"},
        into.settings.eviction_policy);
}

bool read_backend(std::string_view text, bucket_options& into) {
    return read_word(text, {"couchstore", "magma"}, into.settings.storage_backend);
}

bool read_durability(std::string_view text, bucket_options& into) {
    const auto* found = std::ranges::find(durability_words, text);
    const auto level = static_cast<std::uint8_t>(found - durability_words.begin());
    into.settings.durability_min =
        level == 0 ? std::nullopt : std::optional(static_cast<wire::durability_level>(level));
    return found != durability_words.end();
}

bool read_history_seconds(std::string_view text, bucket_options& into) {
    const auto number = read_number(text, UINT32_MAX);
    into.settings.history_retention = std::chrono::seconds(number.value_or(0));
    return number.has_value();
}

bool read_history_bytes(std::string_view text, bucket_options& into) {
    const auto number = read_number(text, UINT64_MAX);
    into.settings.history_retention_bytes = number.value_or(0);
    return number.has_value();
}

bool read_history_default(std::string_view text, bucket_options& into) {
    return read_switch(text, into.settings.keeps_history);
}

constexpr std::string_view shown_only = "stored and returned, no effect";

constexpr setting_facts settings[] = {
    {"name", "a bucket's name", "the name", nullptr},
    {"bucketType", "couchbase, membase, ephemeral", "ephemeral refuses levels that persist",
     read_type},
    {"ramQuotaMB", "100 or more; all buckets have 8192", shown_only, read_quota,
     "RAM quota cannot be less than 100 MiB"},
    {"ramQuota", "the same", shown_only, read_quota, "RAM quota cannot be less than 100 MiB"},
    {"replicaNumber", "0 to 3", "copies of every vbucket; cannot be changed later", read_replicas,
     "Replica number larger than 3 is not supported."},
    {"replicaIndex", "0, 1", shown_only, read_replica_index},
    {"flushEnabled", "0, 1", "whether doFlush is allowed", read_flush},
    {"maxTTL", "0 to 2147483647 s", "the longest lifetime of documents", read_ttl,
     "Max TTL must be an integer between 0 and 2147483647"},
    {"durabilityMinLevel", "none, majority, majorityAndPersistActive, persistToMajority",
     "weaker writes are raised to it", read_durability},
    {"evictionPolicy", "valueOnly, fullEviction; ephemeral: noEviction, nruEviction", shown_only,
     read_eviction},
    {"compressionMode", "off, passive, active", shown_only, read_compression},
    {"conflictResolutionType", "seqno, lww, custom",
     "stored and returned, no effect; cannot be changed later", read_conflicts},
    {"storageBackend", "couchstore, magma",
     "stored and returned, no effect; cannot be changed later", read_backend},
    {"historyRetentionSeconds", "a number; magma only", shown_only, read_history_seconds},
    {"historyRetentionBytes", "a number; magma only", shown_only, read_history_bytes},
    {"historyRetentionCollectionDefault", "true, false; magma only", shown_only,
     read_history_default},
};

bool is_ephemeral_policy(std::string_view policy) noexcept {
    return policy == "noEviction" || policy == "nruEviction";
}

// Finds fields that contradict each other.
std::optional<setting_problem> find_contradiction(const bucket_options& of) {
    const bucket_settings& set = of.settings;
    const bool is_ephemeral = of.type == bucket_type::ephemeral;
    if (!set.eviction_policy.empty() && is_ephemeral_policy(set.eviction_policy) != is_ephemeral) {
        return setting_problem{
            "evictionPolicy", is_ephemeral
                                  ? "Eviction policy must be either 'noEviction' or 'nruEviction' "
                                    "for ephemeral buckets"
                                  : "Eviction policy must be either 'valueOnly' or "
                                    "'fullEviction' for couchbase buckets"};
    }
    if (is_ephemeral && set.durability_min &&
        *set.durability_min != wire::durability_level::majority) {
        return setting_problem{
            "durability_min_level",
            "Durability minimum level must be either 'none' or 'majority' for ephemeral buckets"};
    }
    const bool has_history = set.history_retention.count() != 0 || set.history_retention_bytes != 0;
    if (has_history && set.storage_backend != "magma") {
        return setting_problem{
            "historyRetentionSeconds", "History Retention can only used with Magma buckets"};
    }
    return std::nullopt;
}

}  // namespace

std::span<const setting_facts> bucket_setting_table() noexcept {
    return settings;
}

std::optional<setting_problem> read_bucket_form(const form_fields& form, bucket_options& into) {
    for (const auto& [name, text] : form.fields) {
        const auto* known = std::ranges::find(settings, name, &setting_facts::name);
        if (known == std::end(settings)) {
            return setting_problem{name, not_in_sandbox_text("The bucket setting " + name)};
        }
        if (known->read == nullptr) {
            continue;
        }
        if (name == "bucketType" && text == "memcached") {
            return setting_problem{name, not_in_sandbox_text("A bucket of type memcached")};
        }
        if (!known->read(text, into)) {
            return setting_problem{
                name == "ramQuotaMB" ? "ramQuota" : name,
                known->problem.empty()
                    ? "The value of " + name + " must be one of: " + std::string(known->values)
                    : std::string(known->problem)};
        }
    }
    return find_contradiction(into);
}

std::optional<setting_problem> find_forbidden_change(
    const bucket_options& before, const bucket_options& after) {
    if (before.type != after.type) {
        return setting_problem{"bucketType", "Cannot change bucket type."};
    }
    if (before.settings.conflict_resolution != after.settings.conflict_resolution) {
        return setting_problem{
            "conflictResolutionType", "Conflict resolution type not allowed in update bucket"};
    }
    if (before.settings.storage_backend != after.settings.storage_backend) {
        return setting_problem{"storageBackend", "Storage backend not allowed in update bucket"};
    }
    if (before.replica_count != after.replica_count) {
        return setting_problem{
            "replicaNumber", not_in_sandbox_text("Changing the number of replicas")};
    }
    return std::nullopt;
}

void show_bucket_settings(json::object& into, const bucket_options& bucket) {
    const bucket_settings& set = bucket.settings;
    const bool is_ephemeral = bucket.type == bucket_type::ephemeral;
    const std::uint64_t quota_bytes = std::uint64_t{set.ram_quota_mb} * 1024 * 1024;
    const std::string_view eviction = is_ephemeral ? "noEviction" : "valueOnly";
    const auto level = set.durability_min ? static_cast<std::size_t>(*set.durability_min) : 0;
    into.set("bucketType", is_ephemeral ? "ephemeral" : "membase");
    into.set("quota", json::object{{"ram", quota_bytes}, {"rawRAM", quota_bytes}});
    into.set("replicaIndex", set.has_replica_index);
    into.set("maxTTL", set.max_ttl.count());
    into.set("compressionMode", set.compression_mode);
    into.set("conflictResolutionType", set.conflict_resolution);
    into.set(
        "evictionPolicy",
        set.eviction_policy.empty() ? eviction : std::string_view(set.eviction_policy));
    into.set("durabilityMinLevel", durability_words[level]);
    if (!is_ephemeral) {
        into.set("storageBackend", set.storage_backend);
    }
    if (!is_ephemeral && set.storage_backend == "magma") {
        into.set("historyRetentionSeconds", set.history_retention.count());
        into.set("historyRetentionBytes", set.history_retention_bytes);
        into.set("historyRetentionCollectionDefault", set.keeps_history);
    }
}

}  // namespace reprise::sandbox::detail
