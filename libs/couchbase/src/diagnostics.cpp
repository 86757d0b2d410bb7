#include <reprise/couchbase/diagnostics.hpp>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <utility>

#include <reprise/json/write.hpp>

#include "session.hpp"

namespace reprise::couchbase {
namespace {

// In the order in which reports name them.
constexpr std::array<service_kind, 6> reported_services{
    service_kind::key_value, service_kind::management, service_kind::query,
    service_kind::analytics, service_kind::search,     service_kind::views};

std::string to_hex(std::uint64_t number) {
    std::array<char, 20> text{};
    std::snprintf(text.data(), text.size(), "%016llx", static_cast<unsigned long long>(number));
    return text.data();
}

service_kind to_kind(wire::service service) noexcept {
    switch (service) {
        case wire::service::key_value:
            return service_kind::key_value;
        case wire::service::query:
            return service_kind::query;
        case wire::service::analytics:
            return service_kind::analytics;
        case wire::service::search:
            return service_kind::search;
        case wire::service::views:
            return service_kind::views;
        default:
            return service_kind::management;
    }
}

static_assert(
    static_cast<int>(endpoint_state::disconnecting) ==
    static_cast<int>(engine::endpoint_state::disconnecting));

endpoint_report to_report(net::connection_report&& from, const std::string& client) {
    endpoint_report to;
    to.service = to_kind(from.endpoint.service);
    to.state = static_cast<endpoint_state>(from.endpoint.state);
    if (from.endpoint.connection.value != 0) {
        to.id = client + "/" + to_hex(from.endpoint.connection.value);
    }
    to.remote = std::move(from.endpoint.remote);
    to.local = std::move(from.local);
    to.bucket = std::move(from.endpoint.bucket);
    to.last_activity = from.idle_for;
    to.problem = std::move(from.endpoint.problem);
    return to;
}

void write_endpoint(json::writer& out, const endpoint_report& each) {
    out.begin_object();
    out.member("id", each.id);
    if (each.last_activity) {
        out.member(
            "last_activity_us",
            std::chrono::duration_cast<std::chrono::microseconds>(*each.last_activity).count());
    }
    out.member("remote", each.remote);
    out.member("local", each.local);
    out.member("state", to_string(each.state));
    if (!each.bucket.empty()) {
        out.member("namespace", each.bucket);
    }
    if (!each.problem.empty()) {
        out.member("details", each.problem);
    }
    out.end_object();
}

}  // namespace

std::string_view to_string(service_kind service) noexcept {
    switch (service) {
        case service_kind::key_value:
            return "kv";
        case service_kind::management:
            return "mgmt";
        case service_kind::query:
            return "query";
        case service_kind::analytics:
            return "analytics";
        case service_kind::search:
            return "search";
        case service_kind::views:
            return "views";
    }
    return "unknown";
}

std::string_view to_string(endpoint_state state) noexcept {
    switch (state) {
        case endpoint_state::disconnected:
            return "disconnected";
        case endpoint_state::connecting:
            return "connecting";
        case endpoint_state::connected:
            return "connected";
        case endpoint_state::disconnecting:
            return "disconnecting";
    }
    return "unknown";
}

std::string_view to_string(cluster_state state) noexcept {
    switch (state) {
        case cluster_state::online:
            return "online";
        case cluster_state::degraded:
            return "degraded";
        case cluster_state::offline:
            return "offline";
    }
    return "unknown";
}

cluster_state state_of(const std::vector<endpoint_report>& endpoints) noexcept {
    const auto count = [&](endpoint_state state) {
        return std::ranges::count(endpoints, state, &endpoint_report::state);
    };
    const auto connected = count(endpoint_state::connected);
    const auto missing = count(endpoint_state::disconnected) + count(endpoint_state::connecting);
    if (connected == 0) {
        return cluster_state::offline;
    }
    return missing == 0 ? cluster_state::online : cluster_state::degraded;
}

std::string to_json(const diagnostics_report& report) {
    std::string text;
    json::writer out(text, json::layout::indented);
    out.begin_object();
    out.member("version", 2);
    out.member("id", report.id);
    out.member("sdk", "reprise");
    out.member("state", to_string(report.state));
    out.key("services").begin_object();
    for (const service_kind service : reported_services) {
        if (std::ranges::find(report.endpoints, service, &endpoint_report::service) ==
            report.endpoints.end()) {
            continue;
        }
        out.key(to_string(service)).begin_array();
        for (const endpoint_report& each : report.endpoints) {
            if (each.service == service) {
                write_endpoint(out, each);
            }
        }
        out.end_array();
    }
    out.end_object().end_object();
    return text;
}

std::expected<diagnostics_report, error> cluster::diagnostics() const {
    auto seen = client_->client().describe();
    if (!seen) {
        return std::unexpected(detail::to_error(seen.error()));
    }
    diagnostics_report report;
    report.id = to_hex(seen->client);
    report.endpoints.reserve(seen->connections.size());
    for (net::connection_report& each : seen->connections) {
        report.endpoints.push_back(to_report(std::move(each), report.id));
    }
    report.state = state_of(report.endpoints);
    return report;
}

}  // namespace reprise::couchbase
