#include <utility>

#include <reprise/sandbox/error_code_list.hpp>

namespace reprise::sandbox {

error_code_list::error_code_list(wire::error_map map)
    : map_(std::move(map)),
      texts_{wire::encode_error_map(map_, 1), wire::encode_error_map(map_, 2)} {}

void error_code_list::put(wire::error_map_entry entry) {
    auto entries = entries_without(entry.code);
    entries.push_back(std::move(entry));
    replace(std::move(entries));
}

std::expected<void, cluster_errc> error_code_list::drop(std::uint16_t code) {
    auto entries = entries_without(code);
    if (entries.size() == map_.entries().size()) {
        return std::unexpected(cluster_errc::unknown_code);
    }
    replace(std::move(entries));
    return {};
}

// The map with other entries and the next revision.
void error_code_list::replace(std::vector<wire::error_map_entry> entries) {
    *this =
        error_code_list(wire::error_map(map_.version(), map_.revision() + 1, std::move(entries)));
}

std::vector<wire::error_map_entry> error_code_list::entries_without(std::uint16_t code) const {
    const auto all = map_.entries();
    std::vector<wire::error_map_entry> kept(all.begin(), all.end());
    std::erase_if(kept, [code](const wire::error_map_entry& entry) { return entry.code == code; });
    return kept;
}

}  // namespace reprise::sandbox
