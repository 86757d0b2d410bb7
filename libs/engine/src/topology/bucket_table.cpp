#include "topology/bucket_table.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "topology/terminal_state.hpp"

namespace reprise::engine {

keyspace_id bucket_table::keyspace(
    std::string_view bucket_name, std::string_view scope, std::string_view collection) {
    const std::string_view real_scope = scope.empty() ? "_default" : scope;
    const std::string_view real_collection = collection.empty() ? "_default" : collection;
    bucket_state& owner = at(bucket_name);
    for (std::size_t index = 0; index < keyspaces_.size(); ++index) {
        const keyspace_entry& known = keyspaces_[index];
        if (known.bucket == &owner && known.scope == real_scope &&
            known.collection == real_collection) {
            return keyspace_id{static_cast<std::uint32_t>(index)};
        }
    }
    keyspace_entry added{&owner, std::string(real_scope), std::string(real_collection), nullptr};
    auto entry = std::make_unique<collection_entry>();
    entry->bucket = &owner;
    entry->index = static_cast<std::uint32_t>(owner.collections.size());
    entry->path = added.scope + "." + added.collection;
    entry->is_default = real_scope == "_default" && real_collection == "_default";
    if (entry->is_default) {
        entry->state = collection_state::known;
    }
    added.entry = entry.get();
    owner.collections.push_back(std::move(entry));
    collections_.push_back(added.entry);
    keyspaces_.push_back(std::move(added));
    return keyspace_id{static_cast<std::uint32_t>(keyspaces_.size() - 1)};
}

bucket_state& bucket_table::at(std::string_view name) {
    for (const auto& known : buckets_) {
        if (known->name == name) {
            return *known;
        }
    }
    buckets_.push_back(std::make_unique<bucket_state>(std::string(name)));
    buckets_.back()->terminal = context_.client.terminal.of_bucket(name);
    buckets_.back()->polls = context_.client.polls.find(name);
    buckets_.back()->newest = context_.client.configurations.find(name);
    return *buckets_.back();
}

const bucket_state* bucket_table::find(std::string_view name) const noexcept {
    const auto known =
        std::ranges::find_if(buckets_, [&](const auto& bucket) { return bucket->name == name; });
    return known == buckets_.end() ? nullptr : known->get();
}

// Access to a bucket through key-value does not determine access to its views. Only the view
// service can decide that.
bool bucket_table::is_closed_to_key_value(std::string_view name) const noexcept {
    const bucket_state* bucket = find(name);
    return bucket != nullptr && !bucket->configuration &&
           (bucket->terminal->is_access_denied || is_missing(*bucket));
}

const wire::cluster_configuration* bucket_table::services_of(std::string_view name) const noexcept {
    const wire::cluster_configuration* newest = nullptr;
    const bool is_any = name.empty() || is_closed_to_key_value(name);
    for (const auto& bucket : buckets_) {
        const bool is_right = is_any || bucket->name == name;
        if (is_right && bucket->configuration &&
            (newest == nullptr || bucket->configuration->revision() > newest->revision())) {
            newest = bucket->configuration.get();
        }
    }
    return newest;
}

}  // namespace reprise::engine
