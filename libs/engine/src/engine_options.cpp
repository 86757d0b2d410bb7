#include <reprise/engine/engine_options.hpp>

#include <cmath>
#include <string>
#include <utility>

#include <reprise/base/option_table.hpp>

namespace reprise::engine {

namespace {

using base::make_option;
using options = engine_options;
using option_row = base::option_row<engine_options>;

// Options of the engine in addition to those of the user.
constexpr auto option_table = std::to_array<option_row>({
    make_option<&options::seeds>(),
    make_option<&options::dns_srv_name>(),
    make_option<&options::transport>(),
    make_option<&options::agent>({.max = 200}),
    make_option<&options::bootstrap_timeout>(),
    make_option<&options::reconnect_delay_min>(),
    make_option<&options::reconnect_delay_max>(),
    make_option<&options::internal_timeout>(),
    make_option<&options::probe_after>(),
    make_option<&options::probe_timeout>(),
    make_option<&options::pipeline_credit>({.max = 65'536}),
    make_option<&options::write_size_max_bytes>(),
    make_option<&options::large_value_size_min_bytes>(),
    make_option<&options::ready_count_max>(),
    make_option<&options::enable_error_map>(),
    make_option<&options::compression>(),
    make_option<&options::enable_unordered_execution>(),
    make_option<&options::enable_server_duration>(),
});

static_assert(base::has_row_per_member<engine_options>(option_table, "", 1));  // and its base

[[nodiscard]] wire::connection_string_error refuse_parameter(
    const wire::connection_parameter& given, couchbase::detail::parameter_refusal&& refused) {
    using enum wire::connection_string_errc;
    return {
        refused.is_unknown ? parameter_unknown : parameter_invalid,
        refused.is_unknown ? given.name_position : given.value_position, given.name,
        std::move(refused.text), std::move(refused.suggestion)};
}

}  // namespace

std::optional<driver::settings_error> check(const engine_options& given) {
    if (given.seeds.empty()) {
        return driver::settings_error{"seeds", "must name at least one node"};
    }
    if (auto error = couchbase::check(given)) {
        return error;
    }
    for (const option_row& row : option_table) {
        if (std::string error = find_range_error(row, row.read(given)); !error.empty()) {
            return driver::settings_error{std::string(row.name), std::move(error)};
        }
    }
    if (given.reconnect_delay_max < given.reconnect_delay_min) {
        return driver::settings_error{"reconnect_delay_max", "is below reconnect_delay_min"};
    }
    const double ratio = given.compression.ratio_max;
    if (!std::isfinite(ratio) || ratio <= 0.0 || ratio > 1.0) {
        return driver::settings_error{"compression.ratio_max", "must be above 0 and at most 1"};
    }
    return std::nullopt;
}

std::expected<void, wire::connection_string_error> apply(
    const wire::connection_string& given, engine_options& to) {
    to.seeds = given.hosts;
    to.transport = given.security;
    if (to.transport == wire::transport::tls) {
        // TLS sends records of 16 KiB. A value on its own takes one more, which costs more than to
        // copy a small one.
        to.large_value_size_min_bytes = std::size_t{64} * 1024;
    }
    for (const wire::connection_parameter& each : given.parameters) {
        auto refused = couchbase::detail::set_parameter(to, each.name, each.value);
        if (!refused && to.transport != wire::transport::tls &&
            couchbase::detail::is_parameter_for_tls(each.name)) {
            refused = {.text = "needs TLS: use couchbases://"};
        }
        if (refused) {
            return std::unexpected(refuse_parameter(each, std::move(*refused)));
        }
    }
    if (to.enable_dns_srv && given.is_dns_srv_eligible()) {
        to.dns_srv_name = given.dns_srv_name();
    }
    return {};
}

credentials take_credentials(engine_options& from) {
    return {
        std::exchange(from.username, {}), std::exchange(from.password, {}),
        std::exchange(from.bearer_token, {})};
}

}  // namespace reprise::engine
