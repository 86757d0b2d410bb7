#include <algorithm>
#include <array>

#include <reprise/lab/scenario.hpp>

#include "embedded.hpp"

namespace reprise::lab {

std::span<const gallery_entry> gallery() {
    static const std::array all{
        gallery_entry{"outage", embedded::gallery_outage()},
        gallery_entry{"metastable", embedded::gallery_metastable()},
        gallery_entry{"budgets", embedded::gallery_budgets()},
        gallery_entry{"slow_down", embedded::gallery_slow_down()},
        gallery_entry{"layers", embedded::gallery_layers()},
        gallery_entry{"cold_fleet", embedded::gallery_cold_fleet()},
        gallery_entry{"deploy", embedded::gallery_deploy()},
        gallery_entry{"bad_node", embedded::gallery_bad_node()},
        gallery_entry{"hedging", embedded::gallery_hedging()},
        gallery_entry{"jitter_herd", embedded::gallery_jitter_herd()},
        gallery_entry{"rebalance", embedded::gallery_rebalance()},
    };
    return all;
}

const gallery_entry* find_gallery_entry(std::string_view name) {
    const auto all = gallery();
    const auto found = std::ranges::find(all, name, &gallery_entry::name);
    return found == all.end() ? nullptr : &*found;
}

std::string_view new_scenario() {
    return embedded::gallery_new();
}

}  // namespace reprise::lab
