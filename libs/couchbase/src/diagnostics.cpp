#include <reprise/couchbase/diagnostics.hpp>

#include <algorithm>
#include <chrono>
#include <utility>

#include <reprise/base/enum_table.hpp>
#include <reprise/base/hex.hpp>
#include <reprise/json/write.hpp>
#include <reprise/services/service_kind.hpp>

#include "session.hpp"

namespace reprise::couchbase {
namespace {

static_assert(
    static_cast<int>(endpoint_state::disconnecting) ==
    static_cast<int>(engine::endpoint_state::disconnecting));

endpoint_report to_report(net::connection_report&& from, const std::string& client) {
    endpoint_report to;
    to.service = services::to_kind(from.endpoint.service);
    to.state = static_cast<endpoint_state>(from.endpoint.state);
    if (from.endpoint.connection.value != 0) {
        to.id = client + "/" + base::to_hex(from.endpoint.connection.value, 16);
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
    return static_cast<std::size_t>(service) < services::service_kind_count
               ? wire::facts_of(services::to_wire(service)).report_name
               : "unknown";
}

std::string_view to_string(endpoint_state state) noexcept {
    return base::name_of(state);
}

std::string_view to_string(cluster_state state) noexcept {
    return base::name_of(state);
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
    for (std::size_t index = 0; index < services::service_kind_count; ++index) {
        const auto service = static_cast<service_kind>(index);
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

namespace {

diagnostics_report to_report(net::client_report&& seen) {
    diagnostics_report report;
    report.id = base::to_hex(seen.client, 16);
    report.endpoints.reserve(seen.connections.size());
    for (net::connection_report& each : seen.connections) {
        report.endpoints.push_back(to_report(std::move(each), report.id));
    }
    report.state = state_of(report.endpoints);
    return report;
}

cluster_statistics to_report(engine::engine_statistics&& seen) {
    return {seen.operations_open,  seen.operations_parked, seen.operations_on_wire,
            seen.connections_open, seen.retries,           seen.orphans};
}

// Passes figures on as `Report`.
template <class Report, class Figures>
std::move_only_function<void(Figures&&)> pass_to(const detail::result_receiver<Report>& receiver) {
    return [receiver](Figures&& seen) { receiver.complete(to_report(std::move(seen)), false); };
}

template <class Report>
void refuse(const detail::result_receiver<Report>& receiver, net::refusal refused) {
    if (refused != net::refusal::none) {
        receiver.complete(std::unexpected(detail::to_error(refused)), true);
    }
}

}  // namespace

namespace detail {

void statistics_start::operator()(
    const result_receiver<cluster_statistics>& receiver,
    const step_cancellation& /*cancellation*/) const {
    refuse(
        receiver, client->client().start_statistics(
                      pass_to<cluster_statistics, engine::engine_statistics>(receiver)));
}

void diagnostics_start::operator()(
    const result_receiver<diagnostics_report>& receiver,
    const step_cancellation& /*cancellation*/) const {
    refuse(
        receiver,
        client->client().start_describe(pass_to<diagnostics_report, net::client_report>(receiver)));
}

}  // namespace detail

std::expected<cluster_statistics, error> cluster::statistics() const {
    auto seen = client_->client().statistics();
    if (!seen) {
        return std::unexpected(detail::to_error(seen.error()));
    }
    return to_report(*std::move(seen));
}

std::expected<diagnostics_report, error> cluster::diagnostics() const {
    auto seen = client_->client().describe();
    if (!seen) {
        return std::unexpected(detail::to_error(seen.error()));
    }
    return to_report(*std::move(seen));
}

}  // namespace reprise::couchbase
