#include <utility>

#include <reprise/sandbox/services.hpp>

#include "control/answer.hpp"
#include "control/effects.hpp"
#include "control/faults.hpp"

// The fault rules of key-value requests (fault_*) and of HTTP requests (service_fault_*).

namespace reprise::sandbox::detail {

namespace {

void read_match(field_reader& fields, fault_rule& rule) {
    rule.ops = fields.ops("ops");
    rule.key_pattern = fields.text("key").value_or("");
    rule.bucket = fields.text("bucket").value_or("");
}

void read_match(field_reader& fields, service_fault_rule& rule) {
    rule.service = fields.http_service("service");
    rule.method = fields.text("method").value_or("");
    rule.path_pattern = fields.text("path").value_or("");
    rule.statement_pattern = fields.text("statement").value_or("");
    rule.context_pattern = fields.text("context").value_or("");
}

void describe_match(json::object& out, const fault_rule& rule) {
    json::array ops;
    for (const wire::opcode op : rule.ops) {
        ops.push_back(to_string(op));
    }
    out.set("ops", std::move(ops));
    out.set("key", rule.key_pattern);
    out.set("bucket", rule.bucket);
}

void describe_match(json::object& out, const service_fault_rule& rule) {
    if (rule.service) {
        out.set("service", to_string(*rule.service));
    }
    out.set("method", rule.method);
    out.set("path", rule.path_pattern);
    out.set("statement", rule.statement_pattern);
    out.set("context", rule.context_pattern);
}

fault_list& rules_of(cluster& target, const fault_rule*) {
    return target.faults();
}

service_fault_list& rules_of(cluster& target, const service_fault_rule*) {
    return target.services().faults();
}

template <class Rule>
fault_rule_list<Rule>& rules_of(cluster& target) {
    return rules_of(target, static_cast<const Rule*>(nullptr));
}

template <class Rule>
json::value on_add(cluster& target, field_reader& fields) {
    Rule rule;
    read_match(fields, rule);
    rule.node = fields.node("node");
    rule.when.skip = fields.number("skip").value_or(0);
    rule.when.every = fields.number("every").value_or(1);
    rule.when.probability = fields.share("probability").value_or(1.0);
    rule.when.limit = fields.number("limit");
    auto effect = read_effect<decltype(rule.effect)>(fields);
    if (!fields.finish() || !effect) {
        return control_refusal(fields.problem());
    }
    rule.effect = *std::move(effect);
    return json::object{{"ok", true}, {"id", rules_of<Rule>(target).add(std::move(rule))}};
}

template <class Rule>
json::value on_remove(cluster& target, field_reader& fields) {
    const std::uint64_t id = fields.required_number("id");
    if (!fields.finish()) {
        return control_refusal(fields.problem());
    }
    return rules_of<Rule>(target).remove(id) ? control_done()
                                             : control_refusal("no such fault rule");
}

template <class Rule>
json::array describe_rules(cluster& target) {
    json::array list;
    for (const auto& entry : rules_of<Rule>(target).entries()) {
        json::object described{{"id", entry.id}};
        describe_match(described, entry.rule);
        described.set("skip", entry.rule.when.skip);
        described.set("every", entry.rule.when.every);
        described.set("probability", entry.rule.when.probability);
        described.set("effect", describe_effect(entry.rule.effect));
        described.set("matched", entry.match_count);
        described.set("taken", entry.effect_count);
        if (entry.rule.node) {
            described.set("node", entry.rule.node->value);
        }
        if (entry.rule.when.limit) {
            described.set("limit", *entry.rule.when.limit);
        }
        list.push_back(std::move(described));
    }
    return list;
}

json::value on_list(cluster& target, field_reader& fields) {
    if (!fields.finish()) {
        return control_refusal(fields.problem());
    }
    return json::object{
        {"ok", true},
        {"faults", describe_rules<fault_rule>(target)},
        {"service_faults", describe_rules<service_fault_rule>(target)}};
}

json::value on_clear(cluster& target, field_reader& fields) {
    if (!fields.finish()) {
        return control_refusal(fields.problem());
    }
    target.faults().clear();
    target.services().faults().clear();
    return control_done();
}

constexpr control_command rule_commands[] = {
    {"fault_add", on_add<fault_rule>},
    {"fault_remove", on_remove<fault_rule>},
    {"service_fault_add", on_add<service_fault_rule>},
    {"service_fault_remove", on_remove<service_fault_rule>},
    {"fault_list", on_list},
    {"fault_clear", on_clear},
};

}  // namespace

std::optional<json::value> handle_rule_command(
    cluster& target, std::string_view command, field_reader& fields) {
    return run_command(rule_commands, target, command, fields);
}

}  // namespace reprise::sandbox::detail
