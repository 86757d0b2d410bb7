#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <reprise/wire/cluster_configuration_encode.hpp>
#include <reprise/wire/configuration_revision.hpp>

namespace reprise::sandbox::detail {

struct cluster_state;
struct bucket_record;
struct node_record;

using configuration_description_ptr =
    std::shared_ptr<const wire::cluster_configuration_description>;

// One node's version of a configuration, with the bytes it sends, which are created on first use.
// Nodes share the description; the texts differ in the mark of the node that answers.
class known_configuration {
public:
    bool is_known() const noexcept { return description_ != nullptr; }
    // Requires a known configuration.
    const wire::configuration_revision& revision() const noexcept { return description_->revision; }

    // Returns false if this description was known already.
    bool set(const configuration_description_ptr& description, std::size_t this_node);

    // Empty while no configuration is known.
    const std::string& text() const;
    const std::vector<std::byte>& compressed() const;

    // The previous configuration; not known if there was none.
    known_configuration older() const;

private:
    configuration_description_ptr description_;
    configuration_description_ptr older_description_;
    std::size_t this_node_ = 0;
    mutable std::string text_;
    mutable std::vector<std::byte> compressed_;
};

// The text of a node with corrupt configurations. It is not valid JSON.
inline std::string_view corrupted(std::string_view text) noexcept {
    return text.substr(0, text.size() / 2);
}

// The nodes of the configuration in its order: members, then joining nodes, each by number.
std::vector<const node_record*> configured_nodes(const cluster_state& cluster);

// The next configuration of a bucket, or of the cluster, at the cluster's revision.
configuration_description_ptr describe_bucket(
    const cluster_state& cluster, const bucket_record& bucket);
configuration_description_ptr describe_cluster(const cluster_state& cluster);

}  // namespace reprise::sandbox::detail
