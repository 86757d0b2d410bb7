#include <string>
#include <utility>

#include <reprise/sandbox/services.hpp>

#include "control/answer.hpp"
#include "control/faults.hpp"
#include "control/rule_fields.hpp"

namespace reprise::sandbox::detail {

namespace {

std::optional<fault_effect> effect_of_word(std::string_view word) {
    if (word == "no_answer") {
        return fault_no_answer{};
    }
    if (word == "close_before") {
        return fault_close_before{};
    }
    if (word == "close_after") {
        return fault_close_after{};
    }
    if (word == "answer_twice") {
        return fault_answer_twice{};
    }
    if (word == "wrong_opaque") {
        return fault_wrong_opaque{};
    }
    return std::nullopt;
}

std::optional<fault_effect> read_effect_object(field_reader& fields) {
    const auto code = fields.status("status");
    const auto delay = fields.bounded("delay_ms", rule_delay_ms_max);
    const auto truncate = fields.bounded("truncate", rule_size_max);
    const auto garbage = fields.bounded("garbage", fault_garbage::size_max_bytes);
    const auto trickle = fields.bounded("trickle_ms", rule_delay_ms_max);
    fault_status status{code.value_or(wire::status{}), {}};
    status.context.context = fields.text("context").value_or("");
    status.context.ref = fields.text("ref").value_or("");
    const int count = int{code.has_value()} + int{delay.has_value()} + int{truncate.has_value()} +
                      int{garbage.has_value()} + int{trickle.has_value()};
    if (count != 1) {
        fields.wrong(
            "'effect' must have one of 'status', 'delay_ms', 'truncate', 'garbage', 'trickle_ms'");
    }
    if (garbage == 0u || trickle == 0u) {
        fields.wrong("'garbage' and 'trickle_ms' must not be 0");
    }
    if (!fields.finish()) {
        return std::nullopt;
    }
    if (delay) {
        return fault_delay{std::chrono::milliseconds(static_cast<std::int64_t>(*delay))};
    }
    if (truncate) {
        return fault_truncate{static_cast<std::size_t>(*truncate)};
    }
    if (garbage) {
        return fault_garbage{static_cast<std::size_t>(*garbage)};
    }
    if (trickle) {
        return fault_trickle{std::chrono::milliseconds(static_cast<std::int64_t>(*trickle))};
    }
    return status;
}

json::value on_fault_add(cluster& target, field_reader& fields) {
    fault_rule rule;
    rule.ops = fields.ops("ops");
    rule.key_pattern = fields.text("key").value_or("");
    rule.bucket = fields.text("bucket").value_or("");
    read_cadence(fields, rule);
    const auto effect = read_rule_effect<fault_effect>(fields, effect_of_word, read_effect_object);
    if (!fields.finish() || !effect) {
        return control_refusal(fields.problem());
    }
    rule.effect = *effect;
    return json::object{{"ok", true}, {"id", target.faults().add(std::move(rule))}};
}

json::value milliseconds_of(std::chrono::nanoseconds time) {
    return std::chrono::duration_cast<std::chrono::milliseconds>(time).count();
}

json::value describe_effect(const fault_effect& effect) {
    if (const auto* status = std::get_if<fault_status>(&effect)) {
        json::object described{{"status", status_text(status->status)}};
        if (!status->context.context.empty()) {
            described.set("context", status->context.context);
        }
        if (!status->context.ref.empty()) {
            described.set("ref", status->context.ref);
        }
        return described;
    }
    if (const auto* delay = std::get_if<fault_delay>(&effect)) {
        return json::object{{"delay_ms", milliseconds_of(delay->delay)}};
    }
    if (const auto* cut = std::get_if<fault_truncate>(&effect)) {
        return json::object{{"truncate", cut->size}};
    }
    if (const auto* garbage = std::get_if<fault_garbage>(&effect)) {
        return json::object{{"garbage", garbage->size}};
    }
    if (const auto* trickle = std::get_if<fault_trickle>(&effect)) {
        return json::object{{"trickle_ms", milliseconds_of(trickle->interval)}};
    }
    if (std::holds_alternative<fault_no_answer>(effect)) {
        return "no_answer";
    }
    if (std::holds_alternative<fault_answer_twice>(effect)) {
        return "answer_twice";
    }
    if (std::holds_alternative<fault_wrong_opaque>(effect)) {
        return "wrong_opaque";
    }
    return std::holds_alternative<fault_close_before>(effect) ? "close_before" : "close_after";
}

json::value on_fault_list(cluster& target, field_reader& fields) {
    if (!fields.finish()) {
        return control_refusal(fields.problem());
    }
    json::array list;
    for (const fault_entry& entry : target.faults().entries()) {
        json::array ops;
        for (const wire::opcode op : entry.rule.ops) {
            ops.push_back(to_string(op));
        }
        json::object described{
            {"id", entry.id},
            {"ops", std::move(ops)},
            {"key", entry.rule.key_pattern},
            {"bucket", entry.rule.bucket},
            {"skip", entry.rule.skip},
            {"every", entry.rule.every},
            {"probability", entry.rule.probability},
            {"effect", describe_effect(entry.rule.effect)},
            {"matched", entry.match_count},
            {"taken", entry.effect_count},
        };
        if (entry.rule.node) {
            described.set("node", entry.rule.node->value);
        }
        if (entry.rule.limit) {
            described.set("limit", *entry.rule.limit);
        }
        list.push_back(std::move(described));
    }
    return json::object{
        {"ok", true},
        {"faults", std::move(list)},
        {"service_faults", describe_service_faults(target)}};
}

json::value on_fault_remove(cluster& target, field_reader& fields) {
    const std::uint64_t id = fields.required_number("id");
    if (!fields.finish()) {
        return control_refusal(fields.problem());
    }
    return target.faults().remove(id) ? control_done() : control_refusal("no such fault rule");
}

json::value on_fault_clear(cluster& target, field_reader& fields) {
    if (!fields.finish()) {
        return control_refusal(fields.problem());
    }
    target.faults().clear();
    target.services().faults().clear();
    return control_done();
}

}  // namespace

std::optional<json::value> handle_rule_command(
    cluster& target, std::string_view command, field_reader& fields) {
    if (command == "fault_add") {
        return on_fault_add(target, fields);
    }
    if (command == "fault_list") {
        return on_fault_list(target, fields);
    }
    if (command == "fault_remove") {
        return on_fault_remove(target, fields);
    }
    if (command == "fault_clear") {
        return on_fault_clear(target, fields);
    }
    return std::nullopt;
}

}  // namespace reprise::sandbox::detail
