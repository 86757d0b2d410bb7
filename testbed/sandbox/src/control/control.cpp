#include <utility>

#include <reprise/base/hex.hpp>
#include <reprise/json/write.hpp>
#include <reprise/sandbox/control.hpp>
#include <reprise/sandbox/services.hpp>
#include <reprise/wire/vbucket.hpp>

#include "control/activity.hpp"
#include "control/answer.hpp"
#include "control/faults.hpp"
#include "control/fields.hpp"
#include "control/topology.hpp"

namespace reprise::sandbox {

namespace {

using detail::control_command;
using detail::control_done;
using detail::control_refusal;
using detail::control_result;
using detail::field_reader;
using detail::status_text;

json::value on_status(cluster& target, field_reader& fields) {
    if (!fields.finish()) {
        return control_refusal(fields.problem());
    }
    json::array nodes;
    for (const node_id id : target.topology().nodes()) {
        const wire::cluster_node& at = *target.topology().endpoints_of(id);
        json::object described{
            {"node", id.value},
            {"state", to_string(*target.topology().state_of(id))},
            {"host", at.hostname},
        };
        detail::set_ports(described, at);
        nodes.push_back(std::move(described));
    }
    json::array buckets;
    for (const std::string& name : target.buckets().names()) {
        buckets.push_back(json::object{
            {"name", name},
            {"manifest_uid", base::to_shortest_hex(target.buckets().manifest(name)->uid)}});
    }
    json::object answer{
        {"ok", true},
        {"nodes", std::move(nodes)},
        {"buckets", std::move(buckets)},
        {"vbuckets", target.options().vbucket_count},
        {"connections", target.connection_count()},
        {"requests", target.audit().request_count()},
        {"service_requests", target.services().audit().request_count()},
        {"faults", target.faults().entries().size()},
        {"service_faults", target.services().faults().entries().size()},
        {"pending_writes", target.durability().pending_write_count()},
    };
    return answer;
}

// --- audit -------------------------------------------------------------------------------------

json::value describe_entry(const audit_entry& entry) {
    json::object described{
        {"number", entry.number},
        {"time_ns", entry.time.time_since_epoch().count()},
        {"node", entry.node.value},
        {"connection", entry.connection.value},
        {"opaque", entry.opaque},
        {"op", to_string(entry.op)},
        {"bucket", entry.bucket},
        {"vbucket", entry.vbucket.value},
        {"collection", entry.collection.value},
        {"key", entry.key},
        {"value_start", entry.value_start},
        {"applied", entry.is_applied},
        {"status", status_text(entry.status)},
        {"cas", base::to_hex(entry.cas, 16)},
        {"seqno", entry.seqno},
        {"answer", to_string(entry.fate)},
        {"fault", entry.fault_id},
    };
    if (entry.client_id && entry.client_connection_id) {
        described.set("client", base::to_hex(*entry.client_id, 16));
        described.set("client_connection", base::to_hex(*entry.client_connection_id, 16));
    }
    return described;
}

json::value on_audit(cluster& target, field_reader& fields) {
    constexpr std::size_t entry_count_default = 100;
    audit_filter filter;
    filter.op = fields.op("op");
    filter.node = fields.node("node");
    filter.status = fields.status("status");
    filter.is_applied = fields.flag("applied");
    filter.bucket = fields.text("bucket").value_or("");
    filter.key_pattern = fields.text("key").value_or("");
    const auto opaque = fields.number("opaque");
    const auto connection = fields.text("connection");
    if (opaque) {
        filter.opaque = static_cast<std::uint32_t>(*opaque);
    }
    if (connection) {
        filter.client_connection_id = base::parse_hex(*connection);
        if (!filter.client_connection_id) {
            fields.wrong("'connection' must be hexadecimal");
        }
    }
    const auto limit = fields.number("limit").value_or(entry_count_default);
    if (!fields.finish()) {
        return control_refusal(fields.problem());
    }
    json::array entries;
    for (const audit_entry& entry : target.audit().entries(filter, limit)) {
        entries.push_back(describe_entry(entry));
    }
    json::array counters;
    for (const audit_counter& counter : target.audit().counters()) {
        counters.push_back(json::object{
            {"op", to_string(counter.op)},
            {"status", status_text(counter.status)},
            {"count", counter.count},
            {"applied", counter.applied_count},
        });
    }
    return json::object{
        {"ok", true},
        {"requests", target.audit().request_count()},
        {"entries", std::move(entries)},
        {"counters", std::move(counters)},
    };
}

json::value on_audit_clear(cluster& target, field_reader& fields) {
    if (!fields.finish()) {
        return control_refusal(fields.problem());
    }
    target.audit().clear();
    target.services().audit().clear();
    return control_done();
}

// --- topology ----------------------------------------------------------------------------------

json::value on_node_state(cluster& target, field_reader& fields, bool is_up) {
    const node_id node = fields.required_node("node");
    return fields.finish() ? control_result(target.topology().set_node_state(node, is_up))
                           : control_refusal(fields.problem());
}

json::value on_node_down(cluster& target, field_reader& fields) {
    return on_node_state(target, fields, false);
}

json::value on_node_up(cluster& target, field_reader& fields) {
    return on_node_state(target, fields, true);
}

json::value on_move_vbucket(cluster& target, field_reader& fields) {
    const std::string bucket = fields.required_text("bucket");
    const std::uint64_t number = fields.required_number("vbucket");
    const node_id to = fields.required_node("to");
    if (number > 0xffff) {
        fields.wrong("'vbucket' is not in the map of any bucket");
    }
    if (!fields.finish()) {
        return control_refusal(fields.problem());
    }
    const wire::vbucket_id vbucket{static_cast<std::uint16_t>(number)};
    return control_result(target.topology().move_vbucket(bucket, vbucket, to));
}

json::value on_forward_map(cluster& target, field_reader& fields) {
    const std::string bucket = fields.required_text("bucket");
    wire::vbucket_rows rows;
    if (const json::value* given = fields.any("rows")) {
        const json::array* list = given->as_array();
        for (std::size_t i = 0; list != nullptr && i < list->size(); ++i) {
            auto& row = rows.emplace_back();
            const json::array* entries = (*list)[i].as_array();
            for (std::size_t k = 0; entries != nullptr && k < entries->size(); ++k) {
                const auto node = (*entries)[k].as_int64().value_or(-2);
                row.push_back(static_cast<std::int16_t>(node < -1 || node > 255 ? -2 : node));
            }
        }
        if (list == nullptr) {
            fields.wrong("'rows' must be a list of lists");
        }
    }
    return fields.finish()
               ? control_result(target.topology().set_forward_map(bucket, std::move(rows)))
               : control_refusal(fields.problem());
}

json::value on_hold(cluster& target, field_reader& fields) {
    const std::string what = fields.required_text("what");
    const bool is_held = fields.flag("held").value_or(true);
    const auto node = fields.node("node");
    const bool is_configuration = what == "configuration";
    if (is_configuration != node.has_value()) {
        fields.wrong("'node' is required for 'configuration' and allowed only there");
    }
    if (!fields.finish()) {
        return control_refusal(fields.problem());
    }
    if (is_configuration) {
        return control_result(target.disturbances().hold_configuration(*node, is_held));
    }
    if (what == "replication") {
        target.durability().hold_replication(is_held);
        return control_done();
    }
    if (what == "persistence") {
        target.durability().hold_persistence(is_held);
        return control_done();
    }
    if (what == "recommit") {
        target.durability().hold_recommit(is_held);
        return control_done();
    }
    return control_refusal("'" + what + "' cannot be held");
}

json::value on_where(cluster& target, field_reader& fields) {
    const std::string bucket = fields.required_text("bucket");
    const std::string key = fields.required_text("key");
    if (!fields.finish()) {
        return control_refusal(fields.problem());
    }
    if (target.buckets().manifest(bucket) == nullptr) {
        return control_refusal(to_string(cluster_errc::unknown_bucket));
    }
    const wire::vbucket_id vbucket = wire::vbucket_of(key, target.options().vbucket_count);
    json::array nodes;
    for (const std::int16_t node : target.topology().copies_of(bucket, vbucket)) {
        nodes.push_back(node);
    }
    return json::object{{"ok", true}, {"vbucket", vbucket.value}, {"nodes", std::move(nodes)}};
}

constexpr control_command commands[] = {
    {"status", on_status},           {"audit", on_audit},     {"audit_clear", on_audit_clear},
    {"node_down", on_node_down},     {"node_up", on_node_up}, {"move_vbucket", on_move_vbucket},
    {"forward_map", on_forward_map}, {"hold", on_hold},       {"where", on_where},
};

}  // namespace

json::value handle_control(cluster& target, const json::value& request, control_front* front) {
    const json::object* object = request.as_object();
    if (object == nullptr) {
        return control_refusal("the request must be a JSON object");
    }
    const json::value* name = object->find("command");
    const auto wanted = name == nullptr ? std::nullopt : name->as_string();
    if (!wanted) {
        return control_refusal("'command' is missing");
    }
    field_reader fields(*object);
    if (auto answer = run_command(commands, target, *wanted, fields)) {
        return *std::move(answer);
    }
    if (auto answer = detail::handle_activity_command(target, *wanted, fields)) {
        return *std::move(answer);
    }
    if (auto answer = detail::handle_rule_command(target, *wanted, fields)) {
        return *std::move(answer);
    }
    if (auto answer = detail::handle_service_command(target, *wanted, fields)) {
        return *std::move(answer);
    }
    if (auto answer = detail::handle_disturbance_command(target, *wanted, fields)) {
        return *std::move(answer);
    }
    if (auto answer = detail::handle_topology_command(target, *wanted, fields, front)) {
        return *std::move(answer);
    }
    return control_refusal("unknown command '" + std::string(*wanted) + "'");
}

}  // namespace reprise::sandbox
