#include <reprise/couchbase_types/cluster_options.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <utility>
#include <vector>

#include <reprise/base/closest_name.hpp>
#include <reprise/base/option_table.hpp>

namespace reprise::couchbase {

namespace {

using base::make_option;
using base::own_name;
using options = cluster_options;
using option_row = base::option_row<cluster_options>;
using std::chrono::milliseconds;
using std::chrono::seconds;

// One row for each option: its member, its name in connection strings, and its range unless that is
// the usual one of its type.
constexpr auto general_options = std::to_array<option_row>({
    make_option<&options::username>(),
    make_option<&options::password>(),
    make_option<&options::bearer_token>(),
    make_option<&options::tls, &tls_options::ca_file>({.parameter = "trust_certificate"}),
    make_option<&options::tls, &tls_options::ca_pem>(),
    make_option<&options::tls, &tls_options::certificate_file>(),
    make_option<&options::tls, &tls_options::key_file>(),
    make_option<&options::tls, &tls_options::is_verified>(
        {.parameter = "tls_verify", .true_word = "peer", .false_word = "none"}),
    make_option<&options::allow_plain_without_tls>({.parameter = own_name}),
    make_option<&options::allow_plain_http>({.parameter = own_name}),
    make_option<&options::trust_srv_targets>({.parameter = own_name}),
    make_option<&options::seed_silence_max>({.parameter = own_name}),
    make_option<&options::scram_iterations_max>(
        {.parameter = own_name, .min = 4096, .max = 10'000'000}),
    make_option<&options::hello_after_authentication>({.parameter = own_name}),
    make_option<&options::kv_durable_timeout>({.parameter = own_name}),
    make_option<&options::connect_timeout>({.parameter = "kv_connect_timeout"}),
    make_option<&options::config_poll_interval>({.parameter = own_name}),
    make_option<&options::config_poll_floor>({.parameter = own_name, .min = 0}),
    make_option<&options::not_my_vbucket_delay>({.min = 0}),
    make_option<&options::revision_delay_max>({.parameter = own_name, .min = 0}),
    make_option<&options::missing_bucket_patience>({.parameter = own_name, .min = 0}),
    make_option<&options::strategy>(),
    make_option<&options::retry_budget>(),
    make_option<&options::service_retry_budgets>(),
    make_option<&options::circuit_breaker>(),
    make_option<&options::is_breaker_failure>(),
    make_option<&options::log>(),
    make_option<&options::log_keys>(),
    make_option<&options::log_decisions_per_second_max>({.min = 0}),
    make_option<&options::operation_observers>(),
    make_option<&options::threads>(),
    make_option<&options::io_threads>({.parameter = own_name, .max = 64}),
    make_option<&options::kv_connections_per_node>({.parameter = "num_kv_connections", .max = 64}),
    make_option<&options::connecting_count_max>({.max = 65'536}),
    make_option<&options::http_connections_per_node_max>(
        {.parameter = "max_http_connections", .max = 1024, .zero_is_max = true}),
    make_option<&options::idle_http_connection_timeout>({.parameter = own_name}),
    make_option<&options::prepared_statement_count_max>({.max = 1'000'000}),
    make_option<&options::enhanced_prepared_statements>(),
    make_option<&options::parked_count_max>(),
    make_option<&options::submission_count_max>(),
    make_option<&options::enable_dns_srv>({.parameter = own_name}),
    make_option<&options::force_ipv4>({.parameter = own_name}),
    make_option<&options::enable_tcp_keepalives>({.parameter = own_name}),
    make_option<&options::tcp_keepalive_time>({.parameter = own_name, .min = seconds{1}}),
    make_option<&options::network>({.parameter = own_name, .min = 1}),
    make_option<&options::preferred_server_group>({.parameter = own_name}),
    make_option<&options::dns_servers>(),
    make_option<&options::dns_timeout>({.min = milliseconds{1}, .max = seconds{60}}),
    make_option<&options::enable_compression>(),
    make_option<&options::enable_mutation_tokens>({.parameter = own_name}),
});

// The timeouts of the services follow from the table of services.
constexpr auto option_table = []<std::size_t... Index>(std::index_sequence<Index...>) {
    std::array<option_row, general_options.size() + sizeof...(Index)> all{
        make_option<detail::used_services[Index].timeout>({.parameter = own_name})...};
    std::ranges::copy(general_options, all.begin() + sizeof...(Index));
    return all;
}(std::make_index_sequence<detail::used_services.size()>{});

static_assert(
    base::has_row_per_member<cluster_options>(option_table), "every option has exactly one row");
static_assert(base::has_row_per_member<tls_options>(option_table, "tls."));

// Parameters of other SDKs that this client does not implement. They are refused with a reason,
// because an operator who sets one would otherwise assume that it works.
constexpr std::string_view unsupported_parameters[] = {"config_idle_redial_timeout"};

const option_row* find_parameter(std::string_view name) noexcept {
    const auto* const row = std::ranges::find(option_table, name, &option_row::parameter);
    return row != option_table.end() && !name.empty() ? row : nullptr;
}

bool is_for_tls(const option_row& row) noexcept {
    return row.name.starts_with("tls.");
}

// A typo must not silently leave a default in place.
detail::parameter_refusal refuse_unknown(std::string_view name) {
    if (std::ranges::find(unsupported_parameters, name) != std::end(unsupported_parameters)) {
        return {true, "not supported by this client", ""};
    }
    std::vector<std::string_view> names;
    for (const option_row& row : option_table) {
        if (!row.parameter.empty()) {
            names.push_back(row.parameter);
        }
    }
    return {true, "", std::string(base::closest_name(name, names))};
}

}  // namespace

std::optional<driver::settings_error> check(const cluster_options& given) {
    for (const option_row& row : option_table) {
        if (std::string error = find_range_error(row, row.read(given)); !error.empty()) {
            return driver::settings_error{std::string(row.name), std::move(error)};
        }
    }
    if (given.config_poll_interval < given.config_poll_floor) {
        const auto floor = std::chrono::duration_cast<milliseconds>(given.config_poll_floor);
        return driver::settings_error{
            "config_poll_interval",
            "is below config_poll_floor (" + std::to_string(floor.count()) + " ms)"};
    }
    if (given.io_threads != 1 && given.threads == thread_mode::caller_drives) {
        return driver::settings_error{"io_threads", "must be 1 if callers drive the client"};
    }
    if (given.circuit_breaker) {
        if (auto error = driver::check(*given.circuit_breaker)) {
            error->field = "circuit_breaker." + error->field;
            return error;
        }
    }
    return std::nullopt;
}

namespace detail {

std::optional<parameter_refusal> set_parameter(
    cluster_options& to, std::string_view name, std::string_view text) {
    const option_row* const row = find_parameter(name);
    if (row == nullptr) {
        return refuse_unknown(name);
    }
    const auto value = base::parse_option(*row, text);
    if (!value) {
        return parameter_refusal{false, value.error(), ""};
    }
    row->write(to, *value);
    return std::nullopt;
}

std::optional<std::string_view> find_tls_option(const cluster_options& given) {
    const cluster_options defaults;
    for (const option_row& row : option_table) {
        if (is_for_tls(row) && row.read(given) != row.read(defaults)) {
            return row.name;
        }
    }
    return std::nullopt;
}

bool is_parameter_for_tls(std::string_view name) noexcept {
    const option_row* const row = find_parameter(name);
    return row != nullptr && is_for_tls(*row);
}

}  // namespace detail

}  // namespace reprise::couchbase
