#include <string>
#include <utility>

#include <reprise/sandbox/services.hpp>

#include "control/answer.hpp"
#include "control/faults.hpp"
#include "control/rule_fields.hpp"

// The commands for the HTTP services: rules and audit.

namespace reprise::sandbox::detail {

namespace {

constexpr std::uint64_t continue_count_max = 1000;

std::optional<wire::service> read_service(field_reader& fields) {
    const auto word = fields.text("service");
    if (!word) {
        return std::nullopt;
    }
    for (const wire::service each : wire::list_services(wire::is_http_service)) {
        if (to_string(each) == *word) {
            return each;
        }
    }
    fields.wrong("'service' must be one of " + wire::name_services(wire::is_http_service));
    return std::nullopt;
}

// --- effects ------------------------------------------------------------------------------------

std::optional<service_fault_effect> service_effect_of_word(std::string_view word) {
    if (word == "no_answer") {
        return service_fault_no_answer{};
    }
    if (word == "close_before") {
        return service_fault_close_before{};
    }
    if (word == "close_after") {
        return service_fault_close_after{};
    }
    if (word == "close_after_headers") {
        return service_fault_close_after_headers{};
    }
    if (word == "bad_chunk") {
        return service_fault_bad_chunk{};
    }
    return std::nullopt;
}

std::optional<std::int64_t> read_difference(field_reader& fields) {
    const json::value* given = fields.any("wrong_length");
    if (given == nullptr) {
        return std::nullopt;
    }
    const auto number = given->as_int64();
    const auto most = static_cast<std::int64_t>(rule_size_max);
    if (!number || *number == 0 || *number < -most || *number > most) {
        fields.wrong("'wrong_length' must be a whole number, not 0");
    }
    return number;
}

std::optional<int> read_http_status(field_reader& fields) {
    const auto number = fields.number("status");
    if (number && (*number < 100 || *number > 999)) {
        fields.wrong("'status' must be 100 to 999");
        return std::nullopt;
    }
    return number ? std::optional(static_cast<int>(*number)) : std::nullopt;
}

// {"Retry-After":"1"}
service_header_list read_headers(field_reader& fields) {
    service_header_list headers;
    const json::value* given = fields.any("headers");
    if (given == nullptr) {
        return headers;
    }
    const json::object* members = given->as_object();
    if (members == nullptr) {
        fields.wrong("'headers' must be an object of strings");
        return headers;
    }
    headers.reserve(members->size());
    for (const json::member& each : *members) {
        const auto text = each.content.as_string();
        if (!text) {
            fields.wrong("'headers' must be an object of strings");
            break;
        }
        headers.push_back({each.name, std::string(*text)});
    }
    return headers;
}

// {"bytes_before":"\r\n","bytes_after":"x","pause_ms":10}
std::optional<service_fault_stray_bytes> read_stray_bytes(field_reader& fields) {
    const auto before = fields.text("bytes_before");
    const auto after = fields.text("bytes_after");
    const auto pause = fields.bounded("pause_ms", rule_delay_ms_max);
    if (pause && !after) {
        fields.wrong("'pause_ms' requires 'bytes_after'");
    }
    if (!before && !after) {
        return std::nullopt;
    }
    return service_fault_stray_bytes{
        before.value_or(""), after.value_or(""),
        std::chrono::milliseconds(static_cast<std::int64_t>(pause.value_or(0)))};
}

std::optional<service_fault_effect> read_effect_members(field_reader& fields) {
    const auto status = read_http_status(fields);
    const auto body = fields.text("body");
    service_header_list headers = read_headers(fields);
    const auto is_applied = fields.flag("applied");
    const auto delay = fields.bounded("delay_ms", rule_delay_ms_max);
    const auto middle = fields.bounded("close_mid_body", rule_size_max);
    const auto difference = read_difference(fields);
    const auto encoding = fields.text("encoding");
    const auto redirect = fields.text("redirect");
    const auto continues = fields.bounded("continue_first", continue_count_max);
    auto stray = read_stray_bytes(fields);
    const bool is_answer = status && !redirect;
    const int count = int{is_answer} + int{delay.has_value()} + int{middle.has_value()} +
                      int{difference.has_value()} + int{encoding.has_value()} +
                      int{redirect.has_value()} + int{continues.has_value()} +
                      int{stray.has_value()};
    if (count != 1) {
        fields.wrong(
            "'effect' must have one of 'status', 'delay_ms', 'close_mid_body', 'wrong_length', "
            "'encoding', 'redirect', 'continue_first', 'bytes_before', 'bytes_after'");
    }
    if ((body || !headers.empty() || is_applied) && !is_answer) {
        fields.wrong("'body', 'headers' and 'applied' require 'status'");
    }
    if (status && !is_answer && (*status < 300 || *status > 399)) {
        fields.wrong("'status' of a redirect must be 300 to 399");
    }
    if (!fields.finish()) {
        return std::nullopt;
    }
    if (delay) {
        return service_fault_delay{std::chrono::milliseconds(static_cast<std::int64_t>(*delay))};
    }
    if (middle) {
        return service_fault_close_mid_body{static_cast<std::size_t>(*middle)};
    }
    if (difference) {
        return service_fault_wrong_length{*difference};
    }
    if (encoding) {
        return service_fault_unasked_encoding{*encoding};
    }
    if (redirect) {
        return service_fault_redirect{status.value_or(302), *redirect};
    }
    if (continues) {
        return service_fault_continue_first{static_cast<std::size_t>(*continues)};
    }
    if (stray) {
        return *std::move(stray);
    }
    return service_fault_answer{
        *status, std::move(headers), body.value_or(""), is_applied.value_or(false)};
}

json::value describe_answer(const service_fault_answer& answer) {
    json::object described{{"status", answer.status}};
    if (!answer.headers.empty()) {
        json::object headers;
        for (const service_header& each : answer.headers) {
            headers.set(each.name, each.value);
        }
        described.set("headers", std::move(headers));
    }
    if (!answer.body.empty()) {
        described.set("body", answer.body);
    }
    if (answer.is_applied) {
        described.set("applied", true);
    }
    return described;
}

json::value describe_service_effect(const service_fault_effect& effect) {
    if (const auto* answer = std::get_if<service_fault_answer>(&effect)) {
        return describe_answer(*answer);
    }
    if (const auto* delay = std::get_if<service_fault_delay>(&effect)) {
        const auto time = std::chrono::duration_cast<std::chrono::milliseconds>(delay->delay);
        return json::object{{"delay_ms", time.count()}};
    }
    if (const auto* middle = std::get_if<service_fault_close_mid_body>(&effect)) {
        return json::object{{"close_mid_body", middle->size_bytes}};
    }
    if (const auto* wrong = std::get_if<service_fault_wrong_length>(&effect)) {
        return json::object{{"wrong_length", wrong->difference}};
    }
    if (const auto* unasked = std::get_if<service_fault_unasked_encoding>(&effect)) {
        return json::object{{"encoding", unasked->encoding}};
    }
    if (const auto* redirect = std::get_if<service_fault_redirect>(&effect)) {
        return json::object{{"redirect", redirect->location}, {"status", redirect->status}};
    }
    if (const auto* first = std::get_if<service_fault_continue_first>(&effect)) {
        return json::object{{"continue_first", first->count}};
    }
    if (const auto* stray = std::get_if<service_fault_stray_bytes>(&effect)) {
        const auto time = std::chrono::duration_cast<std::chrono::milliseconds>(stray->pause);
        return json::object{
            {"bytes_before", stray->before},
            {"bytes_after", stray->after},
            {"pause_ms", time.count()}};
    }
    if (std::holds_alternative<service_fault_no_answer>(effect)) {
        return "no_answer";
    }
    if (std::holds_alternative<service_fault_close_after_headers>(effect)) {
        return "close_after_headers";
    }
    if (std::holds_alternative<service_fault_bad_chunk>(effect)) {
        return "bad_chunk";
    }
    return std::holds_alternative<service_fault_close_before>(effect) ? "close_before"
                                                                      : "close_after";
}

// --- commands -----------------------------------------------------------------------------------

json::value on_service_fault_add(cluster& target, field_reader& fields) {
    service_fault_rule rule;
    rule.service = read_service(fields);
    rule.method = fields.text("method").value_or("");
    rule.path_pattern = fields.text("path").value_or("");
    rule.statement_pattern = fields.text("statement").value_or("");
    rule.context_pattern = fields.text("context").value_or("");
    read_cadence(fields, rule);
    auto effect =
        read_rule_effect<service_fault_effect>(fields, service_effect_of_word, read_effect_members);
    if (!fields.finish() || !effect) {
        return control_refusal(fields.problem());
    }
    rule.effect = *std::move(effect);
    return json::object{{"ok", true}, {"id", target.services().faults().add(std::move(rule))}};
}

json::value on_service_fault_remove(cluster& target, field_reader& fields) {
    const std::uint64_t id = fields.required_number("id");
    if (!fields.finish()) {
        return control_refusal(fields.problem());
    }
    return target.services().faults().remove(id) ? control_done()
                                                 : control_refusal("no such fault rule");
}

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
    filter.service = read_service(fields);
    filter.node = fields.node("node");
    filter.status = read_http_status(fields);
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

struct service_command {
    std::string_view name;
    json::value (*run)(cluster&, field_reader&);
};

constexpr service_command service_commands[] = {
    {"service_fault_add", on_service_fault_add}, {"service_fault_remove", on_service_fault_remove},
    {"forget_prepared", on_forget_prepared},     {"service_audit", on_service_audit},
    {"service_contexts", on_service_contexts},
};

}  // namespace

json::array describe_service_faults(cluster& target) {
    json::array list;
    for (const service_fault_entry& entry : target.services().faults().entries()) {
        json::object described{
            {"id", entry.id},
            {"method", entry.rule.method},
            {"path", entry.rule.path_pattern},
            {"statement", entry.rule.statement_pattern},
            {"context", entry.rule.context_pattern},
            {"skip", entry.rule.skip},
            {"every", entry.rule.every},
            {"probability", entry.rule.probability},
            {"effect", describe_service_effect(entry.rule.effect)},
            {"matched", entry.match_count},
            {"taken", entry.effect_count},
        };
        if (entry.rule.service) {
            described.set("service", to_string(*entry.rule.service));
        }
        if (entry.rule.node) {
            described.set("node", entry.rule.node->value);
        }
        if (entry.rule.limit) {
            described.set("limit", *entry.rule.limit);
        }
        list.push_back(std::move(described));
    }
    return list;
}

std::optional<json::value> handle_service_command(
    cluster& target, std::string_view command, field_reader& fields) {
    for (const service_command& known : service_commands) {
        if (known.name == command) {
            return known.run(target, fields);
        }
    }
    return std::nullopt;
}

}  // namespace reprise::sandbox::detail
