#include <reprise/wire/cluster_configuration.hpp>

#include <algorithm>
#include <utility>

#include <reprise/base/enum_table.hpp>
#include <reprise/json/parse.hpp>

#include "configuration/configuration_reader.hpp"
#include "located_text.hpp"

namespace reprise::wire {

namespace {

// Real configurations nest six levels. The rest is headroom for members that we ignore.
constexpr std::size_t configuration_depth_max = 32;

}  // namespace

std::string_view to_string(configuration_errc code) noexcept {
    static constexpr base::enumerator_texts<configuration_errc> texts({
        {configuration_errc::too_large, "configuration too large"},
        {configuration_errc::not_json, "not JSON"},
        {configuration_errc::missing_member, "member missing"},
        {configuration_errc::wrong_type, "wrong type"},
        {configuration_errc::revision_invalid, "invalid revision"},
        {configuration_errc::locator_unknown, "unknown node locator"},
        {configuration_errc::host_invalid, "invalid host or port"},
        {configuration_errc::too_many_nodes, "too many nodes"},
        {configuration_errc::node_list_too_short, "node list too short"},
        {configuration_errc::vbucket_map_too_long, "vbucket map too long"},
        {configuration_errc::row_too_wide, "too many replicas"},
        {configuration_errc::node_out_of_range, "index out of range"},
        {configuration_errc::forward_map_mismatch, "forward map does not fit the map"},
    });
    return texts[code];
}

std::string to_string(const configuration_error& error) {
    return located_text(error.path, to_string(error.code), error.detail);
}

cluster_configuration::cluster_configuration(
    facts given, flat_map current, flat_map forward) noexcept
    : facts_(std::move(given)),
      current_(std::move(current)),
      forward_(std::move(forward)),
      vbucket_count_(current_.row_count()) {}

bool cluster_configuration::has_owners() const noexcept {
    for (std::size_t row = 0; row < current_.entries.size(); row += current_.width) {
        if (current_.entries[row] >= 0) {
            return true;
        }
    }
    return false;
}

bool cluster_configuration::has_bucket_capability(std::string_view name) const noexcept {
    return std::ranges::find(facts_.bucket_capabilities, name) != facts_.bucket_capabilities.end();
}

bool cluster_configuration::has_cluster_capability(
    std::string_view service_name, std::string_view name) const noexcept {
    return std::ranges::any_of(facts_.cluster_capabilities, [&](std::string_view each) {
        return each.size() == service_name.size() + 1 + name.size() &&
               each.starts_with(service_name) && each[service_name.size()] == '.' &&
               each.ends_with(name);
    });
}

std::expected<cluster_configuration_ptr, configuration_error> parse_cluster_configuration(
    std::string_view text, const parse_configuration_options& options) {
    json::parse_options limits;
    limits.size_max_bytes = options.size_max_bytes;
    limits.depth_max = configuration_depth_max;
    const auto document = json::parse(text, limits);
    if (!document) {
        const json::parse_error& error = document.error();
        const bool is_size = error.code == json::parse_errc::too_large;
        return std::unexpected(configuration_error{
            is_size ? configuration_errc::too_large : configuration_errc::not_json, "",
            is_size ? error.detail : to_string(error)});
    }
    detail::configuration_reader reader(document->root, options);
    if (!reader.read()) {
        return std::unexpected(reader.error());
    }
    return reader.take_configuration();
}

}  // namespace reprise::wire
