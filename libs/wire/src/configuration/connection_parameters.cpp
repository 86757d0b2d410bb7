#include "configuration/connection_parameters.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <utility>
#include <variant>
#include <vector>

#include <reprise/base/closest_name.hpp>
#include <reprise/base/duration_text.hpp>
#include <reprise/base/hex.hpp>
#include <reprise/base/percent_encoding.hpp>

namespace reprise::wire {

namespace {

using parameters = connection_parameters;
using duration_member = connection_parameters::duration parameters::*;
using count_member = std::optional<std::uint32_t> parameters::*;
using flag_member = std::optional<bool> parameters::*;
using text_member = std::optional<std::string> parameters::*;

struct parameter_row {
    std::string_view name;
    // For a service, the target is its timeout.
    std::variant<duration_member, count_member, flag_member, text_member, service> target;
};

// Name and target. The type of the target determines how the text is parsed.
constexpr auto fixed_parameters = std::to_array<parameter_row>({
    {"kv_connect_timeout", &parameters::kv_connect_timeout},
    {"kv_timeout", &parameters::kv_timeout},
    {"kv_durable_timeout", &parameters::kv_durable_timeout},
    {"config_poll_interval", &parameters::config_poll_interval},
    {"config_poll_floor", &parameters::config_poll_floor},
    {"revision_delay_max", &parameters::revision_delay_max},
    {"missing_bucket_patience", &parameters::missing_bucket_patience},
    {"config_idle_redial_timeout", &parameters::config_idle_redial_timeout},
    {"idle_http_connection_timeout", &parameters::idle_http_connection_timeout},
    {"tcp_keepalive_time", &parameters::tcp_keepalive_time},
    {"seed_silence_max", &parameters::seed_silence_max},
    {"num_kv_connections", &parameters::num_kv_connections},
    {"max_http_connections", &parameters::max_http_connections},
    {"scram_iterations_max", &parameters::scram_iterations_max},
    {"enable_tcp_keepalives", &parameters::enable_tcp_keepalives},
    {"enable_mutation_tokens", &parameters::enable_mutation_tokens},
    {"enable_dns_srv", &parameters::enable_dns_srv},
    {"trust_srv_targets", &parameters::trust_srv_targets},
    {"force_ipv4", &parameters::force_ipv4},
    {"allow_plain_without_tls", &parameters::allow_plain_without_tls},
    {"hello_after_authentication", &parameters::hello_after_authentication},
    {"allow_plain_http", &parameters::allow_plain_http},
    {"tls_verify", &parameters::tls_verify},
    {"network", &parameters::network},
    {"preferred_server_group", &parameters::preferred_server_group},
    {"trust_certificate", &parameters::trust_certificate},
});

constexpr std::size_t http_service_count =
    static_cast<std::size_t>(std::ranges::count_if(service_table, is_http_service));

// The parameters above and the timeout of each HTTP service.
consteval auto make_parameter_table() {
    std::array<parameter_row, fixed_parameters.size() + http_service_count> table{};
    auto next = std::ranges::copy(fixed_parameters, table.begin()).out;
    for (const service_facts& facts : service_table) {
        if (is_http_service(facts)) {
            *next++ = {facts.timeout_name, facts.which};
        }
    }
    return table;
}

constexpr auto parameter_table = make_parameter_table();

constexpr std::uint32_t kv_connections_max = 64;

// Sets one parameter from its text. Returns an empty text on success, and otherwise what is wrong
// with the value.
class value_setter {
public:
    value_setter(parameters& target, std::string_view name, const std::string& text)
        : target_(target), name_(name), text_(text) {}

    std::string_view operator()(duration_member member) const {
        target_.*member = parse_duration(text_);
        return target_.*member ? "" : not_a_duration;
    }
    std::string_view operator()(service which) const {
        auto& timeout = target_.service_timeouts[static_cast<std::size_t>(which)];
        timeout = parse_duration(text_);
        return timeout ? "" : not_a_duration;
    }
    std::string_view operator()(count_member member) const {
        std::uint32_t count = 0;
        const auto result = std::from_chars(text_.data(), text_.data() + text_.size(), count);
        if (text_.empty() || result.ec != std::errc{} ||
            result.ptr != text_.data() + text_.size()) {
            return "not a whole number";
        }
        if (name_ == "num_kv_connections" && (count == 0 || count > kv_connections_max)) {
            return "not a number from 1 to 64";
        }
        target_.*member = count;
        return "";
    }
    std::string_view operator()(flag_member member) const {
        const bool is_verify = name_ == "tls_verify";
        if (text_ == "true" || text_ == "1" || (is_verify && text_ == "peer")) {
            target_.*member = true;
        } else if (text_ == "false" || text_ == "0" || (is_verify && text_ == "none")) {
            target_.*member = false;
        } else {
            return is_verify ? "neither none nor peer" : "neither true nor false";
        }
        return "";
    }
    std::string_view operator()(text_member member) const {
        if (text_.empty()) {
            return "empty";
        }
        target_.*member = text_;
        return "";
    }

private:
    static constexpr std::string_view not_a_duration = "not a duration such as 2500, 2.5s or 100ms";

    parameters& target_;
    std::string_view name_;
    const std::string& text_;
};

std::unexpected<connection_string_error> refuse_parameter(
    connection_string_errc code, std::size_t position, std::string_view name, std::string detail) {
    return std::unexpected(
        connection_string_error{code, position, std::string(name), std::move(detail), {}});
}

// Rejects unknown names, because a typo would otherwise silently leave a default in place.
std::unexpected<connection_string_error> refuse_unknown(
    std::size_t position, std::string_view name) {
    std::vector<std::string_view> names;
    names.reserve(parameter_table.size());
    for (const parameter_row& row : parameter_table) {
        names.push_back(row.name);
    }
    return std::unexpected(connection_string_error{
        connection_string_errc::parameter_unknown, position, std::string(name), "",
        std::string(base::closest_name(name, names))});
}

constexpr std::int64_t duration_max_ms = std::numeric_limits<std::int32_t>::max();

// Accepts four decimal numbers up to 255.
bool is_ipv4(std::string_view host) noexcept {
    for (int part = 0; part < 4; ++part) {
        const std::size_t digits = std::min(host.find_first_not_of("0123456789"), host.size());
        std::uint8_t number = 0;
        const auto result = std::from_chars(host.data(), host.data() + digits, number);
        if (digits == 0 || digits > 3 || result.ec != std::errc{}) {
            return false;
        }
        host.remove_prefix(digits);
        if (part < 3) {
            if (!host.starts_with('.')) {
                return false;
            }
            host.remove_prefix(1);
        }
    }
    return host.empty();
}

// Accepts groups of up to four hexadecimal digits, one `::`, an IPv4 suffix, and a zone after `%`.
bool is_ipv6(std::string_view host) noexcept {
    host = host.substr(0, host.find('%'));
    std::size_t groups = 0;
    bool has_gap = false;
    if (host.starts_with("::")) {
        has_gap = true;
        host.remove_prefix(2);
    }
    while (!host.empty()) {
        const std::size_t size = std::min(host.find(':'), host.size());
        const std::string_view group = host.substr(0, size);
        if (size == host.size() && group.find('.') != std::string_view::npos) {
            groups += 2;
            return is_ipv4(group) && (has_gap ? groups < 8 : groups == 8);
        }
        if (group.empty() || group.size() > 4 || !std::ranges::all_of(group, [](char each) {
                return base::parse_hex_digit(each).has_value();
            })) {
            return false;
        }
        ++groups;
        host.remove_prefix(size);
        if (host.starts_with("::")) {
            if (has_gap) {
                return false;
            }
            has_gap = true;
            host.remove_prefix(2);
        } else if (!host.empty()) {
            host.remove_prefix(1);
            if (host.empty()) {
                return false;
            }
        }
    }
    return has_gap ? groups < 8 : groups == 8;
}

}  // namespace

namespace detail {

std::optional<std::string> decode_name(std::string_view text) {
    return text.find("%00") == std::string_view::npos ? base::percent_decode(text) : std::nullopt;
}

std::expected<connection_parameters, connection_string_error> read_parameters(
    std::string_view query, std::size_t position) {
    connection_parameters result;
    std::array<bool, parameter_table.size()> is_given{};
    while (!query.empty()) {
        const std::string_view pair = query.substr(0, query.find('&'));
        const std::size_t equals = pair.find('=');
        const std::string_view name = pair.substr(0, equals);
        const auto row = std::ranges::find(parameter_table, name, &parameter_row::name);
        if (row == parameter_table.end()) {
            return refuse_unknown(position, name);
        }
        const auto slot = static_cast<std::size_t>(row - parameter_table.begin());
        if (std::exchange(is_given[slot], true)) {
            return refuse_parameter(
                connection_string_errc::parameter_repeated, position, name, "given twice");
        }
        const std::size_t value_position = position + std::min(name.size() + 1, pair.size());
        const auto text = equals == std::string_view::npos ? std::optional<std::string>("")
                                                           : decode_name(pair.substr(equals + 1));
        if (!text) {
            return refuse_parameter(
                connection_string_errc::parameter_invalid, value_position, name,
                "invalid percent escape");
        }
        const std::string_view complaint =
            std::visit(value_setter(result, name, *text), row->target);
        if (!complaint.empty()) {
            return refuse_parameter(
                connection_string_errc::parameter_invalid, value_position, name,
                "'" + *text + "' is " + std::string(complaint));
        }
        const std::size_t step = std::min(pair.size() + 1, query.size());
        query.remove_prefix(step);
        position += step;
    }
    return result;
}

}  // namespace detail

std::optional<std::chrono::milliseconds> parse_duration(std::string_view text) noexcept {
    if (!text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos) {
        std::int64_t bare = 0;
        const auto result = std::from_chars(text.data(), text.data() + text.size(), bare);
        if (result.ec != std::errc{} || bare > duration_max_ms) {
            return std::nullopt;
        }
        return std::chrono::milliseconds(bare);
    }
    const auto nanoseconds = base::parse_duration_text(text);
    if (!nanoseconds) {
        return std::nullopt;
    }
    const double milliseconds = static_cast<double>(nanoseconds->count()) / 1e6;
    if (milliseconds > static_cast<double>(duration_max_ms) ||
        (milliseconds > 0 && milliseconds < 1)) {
        return std::nullopt;
    }
    return std::chrono::milliseconds(std::llround(milliseconds));
}

bool is_ip_address(std::string_view host) noexcept {
    return host.find(':') == std::string_view::npos ? is_ipv4(host) : is_ipv6(host);
}

}  // namespace reprise::wire
