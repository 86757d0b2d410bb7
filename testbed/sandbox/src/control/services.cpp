#include <utility>

#include <reprise/sandbox/services.hpp>

#include "control/answer.hpp"
#include "control/faults.hpp"

// The commands for the HTTP services, except their fault rules.

namespace reprise::sandbox::detail {

namespace {

json::value on_forget_prepared(cluster& target, field_reader& fields) {
    if (!fields.finish()) {
        return control_refusal(fields.problem());
    }
    const std::size_t count = target.services().prepared_count();
    target.services().forget_prepared();
    return json::object{{"ok", true}, {"forgotten", count}};
}

json::value describe_request(const service_audit_entry& entry) {
    return json::object{
        {"number", entry.number},
        {"time_ns", entry.time.time_since_epoch().count()},
        {"node", entry.node.value},
        {"service", to_string(entry.service)},
        {"method", entry.method},
        {"path", entry.path},
        {"context", entry.context_id},
        {"statement", entry.statement_start},
        {"user", entry.user},
        {"applied", entry.is_applied},
        {"mutations", entry.mutation_count},
        {"status", entry.status},
        {"code", entry.error_code},
        {"answer", to_string(entry.fate)},
        {"fault", entry.fault_id},
    };
}

json::value on_service_audit(cluster& target, field_reader& fields) {
    constexpr std::size_t entry_count_default = 100;
    service_audit_filter filter;
    filter.service = fields.http_service("service");
    filter.node = fields.node("node");
    filter.status = fields.http_status("status");
    filter.is_applied = fields.flag("applied");
    filter.context_id = fields.text("context").value_or("");
    filter.path_pattern = fields.text("path").value_or("");
    filter.statement_pattern = fields.text("statement").value_or("");
    const auto limit = fields.number("limit").value_or(entry_count_default);
    if (!fields.finish()) {
        return control_refusal(fields.problem());
    }
    const service_audit_log& audit = target.services().audit();
    json::array entries;
    for (const service_audit_entry& entry : audit.entries(filter, limit)) {
        entries.push_back(describe_request(entry));
    }
    return json::object{
        {"ok", true}, {"requests", audit.request_count()}, {"entries", std::move(entries)}};
}

json::value on_service_contexts(cluster& target, field_reader& fields) {
    const std::uint64_t count_min = fields.number("count_min").value_or(2);
    if (!fields.finish()) {
        return control_refusal(fields.problem());
    }
    const service_audit_log& audit = target.services().audit();
    json::array contexts;
    for (const service_context_count& each : audit.contexts(count_min)) {
        contexts.push_back(json::object{
            {"context", each.context_id},
            {"requests", each.request_count},
            {"applied", each.applied_count},
        });
    }
    return json::object{
        {"ok", true}, {"requests", audit.request_count()}, {"contexts", std::move(contexts)}};
}

constexpr control_command service_commands[] = {
    {"forget_prepared", on_forget_prepared},
    {"service_audit", on_service_audit},
    {"service_contexts", on_service_contexts},
};

}  // namespace

std::optional<json::value> handle_service_command(
    cluster& target, std::string_view command, field_reader& fields) {
    return run_command(service_commands, target, command, fields);
}

}  // namespace reprise::sandbox::detail
