#include "faults/server_rules.hpp"

#include <array>
#include <cstdint>
#include <utility>
#include <vector>

#include "scenario/random_choice.hpp"
#include "world/world.hpp"

namespace reprise::sim {

namespace {

using sandbox::node_id;
using wire::opcode;
using wire::status;

template <class Value, std::size_t Count>
Value pick_from(random_stream& random, const std::array<Value, Count>& from) {
    return from[random.below(Count)];
}

// Faults of any request: it is delayed or lost, or the connection breaks.
sandbox::fault_effect lost_or_late(random_stream& random) {
    switch (random.below(4)) {
        case 0:
            return sandbox::fault_delay{random.between(duration{1000}, duration{300'000'000})};
        case 1:
            return sandbox::fault_no_answer{};
        case 2:
            return sandbox::fault_close_before{};
        default:
            return sandbox::fault_close_after{};
    }
}

status operation_status(random_stream& random) {
    constexpr std::array<status, 20> known = {
        status::etmpfail,        status::ebusy,
        status::enomem,          status::locked,
        status::not_my_vbucket,  status::not_my_vbucket,
        status::key_enoent,      status::key_eexists,
        status::einternal,       status::unknown_collection,
        status::eaccess,         status::not_supported,
        status::cancelled,       status::rate_limited_max_commands,
        status::bucket_paused,   status::sync_write_in_progress,
        status::not_initialized, status::sync_write_re_commit_in_progress,
        status::no_bucket,       status::sync_write_ambiguous,
    };
    if (random.percent(60)) {
        return pick_from(random, known);
    }
    // The error map contains these, the first three with a waiting rule, but not the last one.
    return static_cast<status>(0x7ff0 + random.below(random.percent(50) ? 3 : 8));
}

// The opcodes for documents, and two for a single path.
std::vector<opcode> document_ops() {
    std::vector<opcode> ops;
    for (const engine::operation_facts& facts : engine::operation_table) {
        if (wire::opcode_info(facts.op).has_document_key) {
            ops.push_back(facts.op);
        }
    }
    ops.insert(ops.end(), {opcode::subdoc_get, opcode::subdoc_array_push_last});
    return ops;
}

sandbox::fault_rule operation_rule(random_stream& random) {
    sandbox::fault_rule rule;
    for (const opcode op : document_ops()) {
        if (random.percent(70)) {
            rule.ops.push_back(op);
        }
    }
    if (rule.ops.empty()) {
        rule.ops.push_back(opcode::get);
    }
    rule.effect = random.percent(60)
                      ? sandbox::fault_effect{sandbox::fault_status{operation_status(random), {}}}
                      : lost_or_late(random);
    return rule;
}

sandbox::fault_rule bootstrap_rule(random_stream& random) {
    constexpr std::array<opcode, 7> steps = {opcode::hello,
                                             opcode::sasl_list_mechanisms,
                                             opcode::sasl_auth,
                                             opcode::sasl_step,
                                             opcode::select_bucket,
                                             opcode::get_error_map,
                                             opcode::get_cluster_config};
    constexpr std::array<status, 9> refusals = {
        status::etmpfail,   status::eaccess,       status::auth_error,
        status::key_enoent, status::not_supported, status::unknown_command,
        status::einternal,  status::no_bucket,     status::not_initialized};
    sandbox::fault_rule rule;
    rule.ops.push_back(pick_from(random, steps));
    rule.effect =
        random.percent(50)
            ? sandbox::fault_effect{sandbox::fault_status{pick_from(random, refusals), {}}}
            : lost_or_late(random);
    return rule;
}

sandbox::fault_rule own_rule(random_stream& random) {
    constexpr std::array<opcode, 3> requests = {
        opcode::get_cluster_config, opcode::get_collection_id, opcode::noop};
    constexpr std::array<status, 8> refusals = {status::etmpfail,       status::eaccess,
                                                status::key_enoent,     status::unknown_collection,
                                                status::unknown_scope,  status::einternal,
                                                status::not_my_vbucket, status::ebusy};
    sandbox::fault_rule rule;
    rule.ops.push_back(pick_from(random, requests));
    rule.effect =
        random.percent(50)
            ? sandbox::fault_effect{sandbox::fault_status{pick_from(random, refusals), {}}}
            : lost_or_late(random);
    return rule;
}

}  // namespace

sandbox::fault_rule make_server_rule(const planned_fault& fault, node_id node) {
    random_stream random(fault.detail, 3);
    sandbox::fault_rule rule = fault.kind == fault_kind::server_rule      ? operation_rule(random)
                               : fault.kind == fault_kind::bootstrap_rule ? bootstrap_rule(random)
                                                                          : own_rule(random);
    if (random.percent(70)) {
        rule.node = node;
    }
    random_cadence(random, rule);
    return rule;
}

std::optional<sandbox::fault_rule> make_partner_rule(const sandbox::fault_rule& rule) {
    constexpr std::uint16_t first = 0x7ff0;
    constexpr std::uint16_t count = 3;
    const auto* const with_status = std::get_if<sandbox::fault_status>(&rule.effect);
    const auto code =
        with_status == nullptr ? std::uint16_t{0} : static_cast<std::uint16_t>(with_status->status);
    if (code < first || code >= first + count) {
        return std::nullopt;
    }
    sandbox::fault_rule partner;
    partner.ops = rule.ops;
    partner.node = rule.node;
    partner.when.probability = 0.4;
    partner.effect =
        sandbox::fault_status{static_cast<status>(first + (code - first + 1) % count), {}};
    return partner;
}

sandbox::fault_rule make_takeover_rule() {
    sandbox::fault_rule rule;
    rule.bucket = bucket_name;
    rule.ops = document_ops();
    rule.when.probability = 0.6;
    rule.effect = sandbox::fault_status{status::not_my_vbucket, {}};
    return rule;
}

}  // namespace reprise::sim
