#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace reprise::wire {

/// The services of a cluster that configurations list. Other services are ignored. Each service has
/// a row in `service_table`, which holds its properties for client, test cluster and simulation.
enum class service : std::uint8_t {
    key_value,   ///< documents
    management,  ///< cluster administration, configurations over HTTP
    views,
    query,
    search,
    analytics,
    eventing,
    backup,
    index,
};

enum class transport : std::uint8_t { plain, tls };

/// Facts about one service.
struct service_facts {
    service which{};
    std::string_view name{};             ///< used in messages and on the command line
    std::string_view report_name{};      ///< used in diagnostics, as in all SDKs
    std::string_view port_member{};      ///< the name of its port in a configuration
    std::string_view port_member_tls{};  ///< the name of its TLS port in a configuration
    /// The default ports of a server. A client never assumes them: a node runs only the services
    /// that the configuration lists.
    std::uint16_t port = 0;
    std::uint16_t port_tls = 0;
    std::string_view health_path{};   ///< a GET succeeds if the service is healthy; HTTP only
    bool is_used = false;             ///< the client has operations for it
    bool is_on_every_node = false;    ///< every node runs it
    bool has_statements = false;      ///< takes statements and answers with a list of errors
    bool has_resource_paths = false;  ///< the path of a request determines what a 404 means
};

/// One row per service, in the order of the enumeration.
inline constexpr auto service_table = std::to_array<service_facts>({
    {.which = service::key_value,
     .name = "key_value",
     .report_name = "kv",
     .port_member = "kv",
     .port_member_tls = "kvSSL",
     .port = 11210,
     .port_tls = 11207,
     .is_used = true,
     .is_on_every_node = true},
    {.which = service::management,
     .name = "management",
     .report_name = "mgmt",
     .port_member = "mgmt",
     .port_member_tls = "mgmtSSL",
     .port = 8091,
     .port_tls = 18091,
     .health_path = "/pools",
     .is_used = true,
     .is_on_every_node = true,
     .has_resource_paths = true},
    {.which = service::views,
     .name = "views",
     .report_name = "views",
     .port_member = "capi",
     .port_member_tls = "capiSSL",
     .port = 8092,
     .port_tls = 18092,
     .health_path = "/",
     .is_used = true,
     .has_resource_paths = true},
    {.which = service::query,
     .name = "query",
     .report_name = "query",
     .port_member = "n1ql",
     .port_member_tls = "n1qlSSL",
     .port = 8093,
     .port_tls = 18093,
     .health_path = "/admin/ping",
     .is_used = true,
     .has_statements = true},
    {.which = service::search,
     .name = "search",
     .report_name = "search",
     .port_member = "fts",
     .port_member_tls = "ftsSSL",
     .port = 8094,
     .port_tls = 18094,
     .health_path = "/api/ping",
     .is_used = true},
    {.which = service::analytics,
     .name = "analytics",
     .report_name = "analytics",
     .port_member = "cbas",
     .port_member_tls = "cbasSSL",
     .port = 8095,
     .port_tls = 18095,
     .health_path = "/admin/ping",
     .is_used = true,
     .has_statements = true},
    {.which = service::eventing,
     .name = "eventing",
     .report_name = "eventing",
     .port_member = "eventingAdminPort",
     .port_member_tls = "eventingSSL",
     .port = 8096,
     .port_tls = 18096,
     .health_path = "/"},
    {.which = service::backup,
     .name = "backup",
     .report_name = "backup",
     .port_member = "backupAPI",
     .port_member_tls = "backupAPIHTTPS",
     .port = 8097,
     .port_tls = 18097,
     .health_path = "/"},
    {.which = service::index,
     .name = "index",
     .report_name = "index",
     .port_member = "indexHttp",
     .port_member_tls = "indexHttps",
     .port = 9102,
     .port_tls = 19102,
     .health_path = "/"},
});

inline constexpr std::size_t service_count = service_table.size();

/// Whether the client has operations for the service.
constexpr bool is_used_service(const service_facts& facts) noexcept {
    return facts.is_used;
}

/// Whether the client sends HTTP requests to the service.
constexpr bool is_http_service(const service_facts& facts) noexcept {
    return facts.is_used && !facts.health_path.empty();
}

/// Whether the client uses the service and some nodes may not run it.
constexpr bool is_optional_service(const service_facts& facts) noexcept {
    return facts.is_used && !facts.is_on_every_node;
}

/// Returns the services for which `is_wanted` returns true, in table order.
std::vector<service> list_services(bool (*is_wanted)(const service_facts&));

/// Returns their names, for example "management, views, query, search, analytics".
std::string name_services(bool (*is_wanted)(const service_facts&));

/// Returns the row of a service, which must be one of the enumerators.
constexpr const service_facts& facts_of(service which) noexcept {
    return service_table[static_cast<std::size_t>(which)];
}

/// Returns "key_value", "query", and so on, for messages.
constexpr std::string_view to_string(service which) noexcept {
    return facts_of(which).name;
}

/// Returns the name of a service's port in a configuration: `kv`, `kvSSL`, `n1ql`, ...
constexpr std::string_view port_member(service which, transport over) noexcept {
    const service_facts& facts = facts_of(which);
    return over == transport::plain ? facts.port_member : facts.port_member_tls;
}

/// Returns the port on which servers offer the service by default.
constexpr std::uint16_t default_port(service which, transport over) noexcept {
    const service_facts& facts = facts_of(which);
    return over == transport::plain ? facts.port : facts.port_tls;
}

}  // namespace reprise::wire
