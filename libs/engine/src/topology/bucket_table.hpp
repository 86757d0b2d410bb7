#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include <reprise/wire/cluster_configuration.hpp>

#include "engine_context.hpp"
#include "topology/cluster_state.hpp"

namespace reprise::engine {

// Owns the buckets and the keyspaces that callers have named. Neither is ever removed, so their
// addresses and numbers stay valid as long as the engine.
class bucket_table {
public:
    explicit bucket_table(engine_context& context) noexcept : context_(context) {}

    // Returns the state of the bucket. Creates it if necessary. An empty name means the cluster.
    [[nodiscard]] bucket_state& at(std::string_view name);
    // Null if the bucket has not been used yet.
    [[nodiscard]] const bucket_state* find(std::string_view name) const noexcept;
    [[nodiscard]] auto begin() const noexcept { return buckets_.begin(); }
    [[nodiscard]] auto end() const noexcept { return buckets_.end(); }
    // Calls `visit(bucket)` for every bucket. `visit` may add buckets, which iterators would not
    // survive: operations that end run code of the user.
    template <class Visit>
    void for_each(Visit&& visit) const {
        for (std::size_t index = 0; index < buckets_.size(); ++index) {
            visit(*buckets_[index]);
        }
    }

    [[nodiscard]] keyspace_id keyspace(
        std::string_view bucket, std::string_view scope, std::string_view collection);
    [[nodiscard]] const keyspace_entry& operator[](keyspace_id id) const noexcept {
        return keyspaces_[id.value];
    }
    // The collection of a keyspace.
    [[nodiscard]] collection_entry& collection(keyspace_id id) const noexcept {
        return *collections_[id.value];
    }
    [[nodiscard]] bool contains(keyspace_id id) const noexcept {
        return id.value < collections_.size();
    }

    // The newest configuration that lists the services of this bucket, or of the cluster if the
    // name is empty. Null if none is known.
    [[nodiscard]] const wire::cluster_configuration* services_of(
        std::string_view bucket) const noexcept;
    // Whether key-value has refused access to the bucket and there is no configuration of it.
    [[nodiscard]] bool is_closed_to_key_value(std::string_view bucket) const noexcept;

private:
    engine_context& context_;
    std::vector<std::unique_ptr<bucket_state>> buckets_;
    std::vector<keyspace_entry> keyspaces_;
    std::vector<collection_entry*> collections_;  // by keyspace
};

}  // namespace reprise::engine
