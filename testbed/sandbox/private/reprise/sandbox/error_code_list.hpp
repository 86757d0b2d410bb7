#pragma once

#include <array>
#include <cstdint>
#include <expected>
#include <string>
#include <string_view>
#include <vector>

#include <reprise/sandbox/cluster_errc.hpp>
#include <reprise/wire/error_map.hpp>

namespace reprise::sandbox {

/// The error map that the nodes of a cluster send. Each change increases its revision. Connections
/// learn of it when they next request the map.
class error_code_list {
public:
    explicit error_code_list(wire::error_map map);

    /// Adds a code or replaces it. Use a fault_status rule to make nodes answer with the code.
    void put(wire::error_map_entry entry);
    /// Error: unknown_code.
    std::expected<void, cluster_errc> drop(std::uint16_t code);
    [[nodiscard]] const wire::error_map& map() const noexcept { return map_; }
    /// The text for clients that support this version of the format.
    [[nodiscard]] std::string_view text(std::uint16_t version_max) const noexcept {
        return texts_[version_max >= 2 ? 1 : 0];
    }

private:
    void replace(std::vector<wire::error_map_entry> entries);
    [[nodiscard]] std::vector<wire::error_map_entry> entries_without(std::uint16_t code) const;

    wire::error_map map_;
    std::array<std::string, 2> texts_;  // versions 1 and 2
};

}  // namespace reprise::sandbox
