// If a configuration is accepted, every query of its map returns a node that it has.

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include <reprise/wire/cluster_configuration.hpp>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace reprise::wire;
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    const auto result = parse_cluster_configuration(text, {.revision_required = false});
    if (!result) {
        (void)to_string(result.error());
        return 0;
    }
    const cluster_configuration& configuration = **result;
    const auto check = [&](std::optional<node_index> node) {
        if (node && *node >= configuration.kv_node_count()) {
            std::abort();
        }
    };
    if (configuration.kv_node_count() > configuration.nodes().size()) {
        std::abort();
    }
    for (std::size_t vbucket = 0; vbucket <= configuration.vbucket_count(); ++vbucket) {
        check(configuration.active_node(vbucket));
        check(configuration.forward_node(vbucket));
        for (std::size_t replica = 0; replica <= replica_count_max + 1; ++replica) {
            check(configuration.replica_node(vbucket, replica));
        }
    }
    (void)select_network(configuration.nodes(), {}, transport::plain);
    return 0;
}
