#include "control/activity.hpp"

#include <map>
#include <utility>

#include <reprise/sandbox/services.hpp>
#include <reprise/wire/status.hpp>

#include "audit/retry_count.hpp"
#include "control/answer.hpp"

namespace reprise::sandbox::detail {

namespace {

json::array describe_counts(const std::map<wire::status, std::uint64_t>& counts) {
    json::array list;
    for (const auto& [status, count] : counts) {
        list.push_back(json::object{
            {"status", status_text(status)},
            {"name", wire::status_info(status).name},
            {"count", count},
        });
    }
    return list;
}

json::value on_activity(cluster& target, field_reader& fields) {
    const std::uint64_t since = fields.number("since").value_or(0);
    if (!fields.finish()) {
        return control_refusal(fields.problem());
    }
    std::map<wire::status, std::uint64_t> statuses;
    for (const audit_counter& counter : target.audit().counters()) {
        statuses[counter.status] += counter.count;
    }
    json::array connections;
    for (const node_id node : target.topology().nodes()) {
        connections.push_back(
            json::object{{"node", node.value}, {"count", target.connection_count(node)}});
    }
    const retry_count retries = count_retries(target.audit(), since);
    return json::object{
        {"ok", true},
        {"requests", target.audit().request_count()},
        {"statuses", describe_counts(statuses)},
        {"retries", retries.total},
        {"retries_after", describe_counts(retries.after)},
        {"service_requests", target.services().audit().request_count()},
        {"connections", std::move(connections)},
    };
}

json::value on_vbucket_map(cluster& target, field_reader& fields) {
    const auto typed = fields.text("bucket");
    if (!fields.finish()) {
        return control_refusal(fields.problem());
    }
    const std::vector<std::string> buckets = target.buckets().names();
    const std::string bucket = typed ? std::string(*typed) : buckets.empty() ? "" : buckets.front();
    if (target.buckets().manifest(bucket) == nullptr) {
        return control_refusal(to_string(cluster_errc::unknown_bucket));
    }
    json::array rows;
    for (std::size_t i = 0; i < target.options().vbucket_count; ++i) {
        json::array row;
        for (const std::int16_t node :
             target.topology().copies_of(bucket, wire::vbucket_id{static_cast<std::uint16_t>(i)})) {
            row.push_back(node);
        }
        rows.push_back(std::move(row));
    }
    json::array names;
    for (const std::string& name : buckets) {
        names.push_back(name);
    }
    return json::object{
        {"ok", true},
        {"bucket", bucket},
        {"buckets", std::move(names)},
        {"rows", std::move(rows)},
    };
}

}  // namespace

std::optional<json::value> handle_activity_command(
    cluster& target, std::string_view command, field_reader& fields) {
    if (command == "activity") {
        return on_activity(target, fields);
    }
    return command == "vbucket_map" ? std::optional(on_vbucket_map(target, fields)) : std::nullopt;
}

}  // namespace reprise::sandbox::detail
