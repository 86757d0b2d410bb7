#include <array>
#include <chrono>
#include <string>
#include <utility>
#include <vector>

#include <reprise/base/hex.hpp>

#include "control/answer.hpp"
#include "control/faults.hpp"

namespace reprise::sandbox::detail {

namespace {

constexpr std::uint64_t time_ms_max = 86'400'000;

std::optional<std::chrono::milliseconds> read_time(field_reader& fields, std::string_view name) {
    const auto number = fields.number(name);
    if (number.value_or(0) > time_ms_max) {
        fields.wrong("'" + std::string(name) + "' must not exceed one day");
        return std::nullopt;
    }
    return number ? std::optional(std::chrono::milliseconds(static_cast<std::int64_t>(*number)))
                  : std::nullopt;
}

// --- nodes --------------------------------------------------------------------------------------

std::optional<tls_disturbance> read_tls(field_reader& fields) {
    const auto word = fields.text("tls");
    if (!word) {
        return std::nullopt;
    }
    for (const tls_disturbance kind :
         {tls_disturbance::none, tls_disturbance::untrusted, tls_disturbance::wrong_host,
          tls_disturbance::expired, tls_disturbance::alert, tls_disturbance::reset}) {
        if (to_string(kind) == *word) {
            return kind;
        }
    }
    fields.wrong("'" + *word + "' is not a TLS disturbance");
    return std::nullopt;
}

// A number, or "all".
std::optional<std::uint64_t> read_stale(field_reader& fields) {
    const json::value* given = fields.any("stale_logins");
    if (given == nullptr) {
        return std::nullopt;
    }
    if (given->as_string() == "all") {
        return node_disturbance::no_limit;
    }
    const auto number = given->as_uint64();
    if (!number) {
        fields.wrong("'stale_logins' must be a whole number or \"all\"");
    }
    return number;
}

// The members of a node's disturbance that a command changes. Omitted members keep their values.
struct disturbance_change {
    std::vector<std::pair<bool node_disturbance::*, bool>> flags;
    std::optional<tls_disturbance> tls;
    std::optional<std::uint64_t> stale_logins;

    void apply_to(node_disturbance& how) const {
        for (const auto& [member, value] : flags) {
            how.*member = value;
        }
        how.tls = tls.value_or(how.tls);
        how.stale_login_count = stale_logins.value_or(how.stale_login_count);
    }
};

struct disturbance_flag {
    std::string_view name;
    bool node_disturbance::* member;
};

constexpr std::array<disturbance_flag, 6> disturbance_flags{{
    {"frozen", &node_disturbance::is_frozen},
    {"refuse_connections", &node_disturbance::refuses_connections},
    {"partitioned", &node_disturbance::is_partitioned},
    {"reject_credentials", &node_disturbance::rejects_credentials},
    {"corrupt_error_map", &node_disturbance::is_error_map_corrupt},
    {"corrupt_configuration", &node_disturbance::is_configuration_corrupt},
}};

json::value on_disturb(cluster& target, field_reader& fields) {
    const auto node = fields.node("node");
    const bool is_cleared = fields.flag("clear").value_or(false);
    disturbance_change change;
    for (const disturbance_flag& each : disturbance_flags) {
        if (const auto value = fields.flag(each.name)) {
            change.flags.emplace_back(each.member, *value);
        }
    }
    change.tls = read_tls(fields);
    change.stale_logins = read_stale(fields);
    if (!fields.finish()) {
        return control_refusal(fields.problem());
    }
    const std::vector<node_id> nodes = node ? std::vector{*node} : target.topology().nodes();
    for (const node_id each : nodes) {
        node_disturbance how = is_cleared ? node_disturbance{} : target.disturbances().of(each);
        change.apply_to(how);
        if (const auto done = target.disturbances().set(each, how); !done) {
            return control_result(done);
        }
    }
    return control_done();
}

json::value on_disturbances(cluster& target, field_reader& fields) {
    if (!fields.finish()) {
        return control_refusal(fields.problem());
    }
    json::array list;
    for (const node_id node : target.topology().nodes()) {
        const node_disturbance how = target.disturbances().of(node);
        json::object described{{"node", node.value}};
        for (const disturbance_flag& each : disturbance_flags) {
            described.set(each.name, how.*each.member);
        }
        described.set("tls", to_string(how.tls));
        if (how.stale_login_count == node_disturbance::no_limit) {
            described.set("stale_logins", "all");
        } else {
            described.set("stale_logins", how.stale_login_count);
        }
        list.push_back(std::move(described));
    }
    return json::object{{"ok", true}, {"nodes", std::move(list)}};
}

json::value on_node_kill(cluster& target, field_reader& fields) {
    const node_id node = fields.required_node("node");
    return fields.finish() ? control_result(target.topology().kill(node))
                           : control_refusal(fields.problem());
}

json::value on_replay_configuration(cluster& target, field_reader& fields) {
    const node_id node = fields.required_node("node");
    return fields.finish() ? control_result(target.disturbances().replay_configuration(node))
                           : control_refusal(fields.problem());
}

// --- codes --------------------------------------------------------------------------------------

std::optional<wire::retry_spec_kind> parse_spec_kind(std::string_view word) noexcept {
    if (word == "constant") {
        return wire::retry_spec_kind::constant;
    }
    if (word == "linear") {
        return wire::retry_spec_kind::linear;
    }
    return word == "exponential" ? std::optional(wire::retry_spec_kind::exponential) : std::nullopt;
}

std::optional<wire::retry_spec> read_retry_spec(field_reader& fields) {
    const json::value* given = fields.any("retry");
    if (given == nullptr) {
        return std::nullopt;
    }
    const json::object* object = given->as_object();
    if (object == nullptr) {
        fields.wrong("'retry' must be an object");
        return std::nullopt;
    }
    field_reader inner(*object);
    wire::retry_spec spec;
    const auto kind = parse_spec_kind(inner.required_text("strategy"));
    if (!kind) {
        inner.wrong("'strategy' must be constant, linear or exponential");
    }
    spec.kind = kind.value_or(wire::retry_spec_kind::constant);
    spec.interval = read_time(inner, "interval_ms").value_or(std::chrono::milliseconds(0));
    spec.after = read_time(inner, "after_ms").value_or(std::chrono::milliseconds(0));
    spec.ceil = read_time(inner, "ceil_ms");
    spec.max_duration = read_time(inner, "max_duration_ms");
    if (spec.interval < std::chrono::milliseconds(1)) {
        inner.wrong("'interval_ms' must be 1 or more");
    }
    if (!inner.finish()) {
        fields.wrong(inner.problem());
    }
    return spec;
}

wire::error_attributes read_attributes(field_reader& fields) {
    wire::error_attributes attributes;
    const json::value* given = fields.any("attributes");
    const json::array* list = given == nullptr ? nullptr : given->as_array();
    if (given != nullptr && list == nullptr) {
        fields.wrong("'attributes' must be a list");
    }
    for (std::size_t i = 0; list != nullptr && i < list->size(); ++i) {
        const std::string_view name = (*list)[i].as_string().value_or("?");
        const auto attribute = wire::parse_error_attribute(name);
        if (!attribute) {
            fields.wrong("'" + std::string(name) + "' is not an attribute of an error code");
            break;
        }
        attributes.add(*attribute);
    }
    return attributes;
}

json::value on_error_code(cluster& target, field_reader& fields) {
    const auto code = fields.status("code");
    const bool is_dropped = fields.flag("drop").value_or(false);
    wire::error_map_entry entry;
    entry.code = static_cast<std::uint16_t>(code.value_or(wire::status{}));
    entry.name = fields.text("name").value_or("TEST_CODE");
    entry.description = fields.text("description").value_or("a code for tests");
    entry.attributes = read_attributes(fields);
    entry.retry = read_retry_spec(fields);
    if (!code) {
        fields.wrong("'code' is missing");
    }
    if (!fields.finish()) {
        return control_refusal(fields.problem());
    }
    if (is_dropped) {
        return control_result(target.error_codes().drop(entry.code));
    }
    target.error_codes().put(std::move(entry));
    return json::object{{"ok", true}, {"revision", target.error_codes().map().revision()}};
}

// --- users, buckets, collections ----------------------------------------------------------------

json::value on_user_put(cluster& target, field_reader& fields) {
    const std::string name = fields.required_text("name");
    const user_options* known = target.accounts().find_user(name);
    user_options user = known != nullptr ? *known : user_options{};
    user.name = name;
    user.password = fields.text("password").value_or(user.password);
    user.bearer_token = fields.text("token").value_or(user.bearer_token);
    if (const json::value* given = fields.any("buckets")) {
        const json::array* list = given->as_array();
        user.buckets.clear();
        for (std::size_t i = 0; list != nullptr && i < list->size(); ++i) {
            user.buckets.emplace_back((*list)[i].as_string().value_or(""));
        }
        if (list == nullptr) {
            fields.wrong("'buckets' must be a list");
        }
    }
    if (name.empty()) {
        fields.wrong("'name' is empty");
    }
    if (!fields.finish()) {
        return control_refusal(fields.problem());
    }
    target.accounts().put_user(std::move(user));
    return control_done();
}

json::value on_user_drop(cluster& target, field_reader& fields) {
    const std::string name = fields.required_text("name");
    return fields.finish() ? control_result(target.accounts().drop_user(name))
                           : control_refusal(fields.problem());
}

json::value on_bucket_deny(cluster& target, field_reader& fields) {
    const std::string bucket = fields.required_text("bucket");
    const std::string user = fields.text("user").value_or("");
    const bool is_denied = fields.flag("denied").value_or(true);
    return fields.finish() ? control_result(target.buckets().deny(bucket, user, is_denied))
                           : control_refusal(fields.problem());
}

json::value on_bucket_presence(cluster& target, field_reader& fields) {
    const std::string bucket = fields.required_text("bucket");
    const node_id node = fields.required_node("node");
    const std::string word = fields.required_text("presence");
    std::optional<bucket_presence> presence;
    for (const bucket_presence each :
         {bucket_presence::full, bucket_presence::absent, bucket_presence::config_only}) {
        if (to_string(each) == word) {
            presence = each;
        }
    }
    if (!presence) {
        fields.wrong("'presence' must be full, absent or config_only");
    }
    if (!fields.finish()) {
        return control_refusal(fields.problem());
    }
    return control_result(target.buckets().set_presence(node, bucket, *presence));
}

json::value on_collection_hide(cluster& target, field_reader& fields) {
    const std::string bucket = fields.required_text("bucket");
    const std::string scope = fields.required_text("scope");
    const std::string name = fields.required_text("collection");
    const node_id node = fields.required_node("node");
    const bool is_hidden = fields.flag("hidden").value_or(true);
    if (!fields.finish()) {
        return control_refusal(fields.problem());
    }
    return control_result(target.buckets().hide_collection(node, bucket, scope, name, is_hidden));
}

json::value on_collection_recreate(cluster& target, field_reader& fields) {
    const std::string bucket = fields.required_text("bucket");
    const std::string scope = fields.required_text("scope");
    const std::string name = fields.required_text("collection");
    if (!fields.finish()) {
        return control_refusal(fields.problem());
    }
    const auto uid = target.buckets().recreate_collection(bucket, scope, name);
    if (!uid) {
        return control_refusal(to_string(uid.error()));
    }
    return json::object{{"ok", true}, {"manifest_uid", base::to_shortest_hex(*uid)}};
}

json::value on_durability(cluster& target, field_reader& fields) {
    const auto replication = read_time(fields, "replication_delay_ms");
    const auto recommit = read_time(fields, "recommit_delay_ms");
    if (!fields.finish()) {
        return control_refusal(fields.problem());
    }
    if (replication) {
        target.durability().set_replication_delay(*replication);
    }
    if (recommit) {
        target.durability().set_recommit_delay(*recommit);
    }
    return json::object{{"ok", true}, {"pending", target.durability().pending_write_count()}};
}

constexpr control_command disturbance_commands[] = {
    {"disturb", on_disturb},
    {"disturbances", on_disturbances},
    {"node_kill", on_node_kill},
    {"replay_configuration", on_replay_configuration},
    {"error_code", on_error_code},
    {"user_put", on_user_put},
    {"user_drop", on_user_drop},
    {"bucket_deny", on_bucket_deny},
    {"bucket_presence", on_bucket_presence},
    {"collection_hide", on_collection_hide},
    {"collection_recreate", on_collection_recreate},
    {"durability", on_durability},
};

}  // namespace

std::optional<json::value> handle_disturbance_command(
    cluster& target, std::string_view command, field_reader& fields) {
    return run_command(disturbance_commands, target, command, fields);
}

}  // namespace reprise::sandbox::detail
