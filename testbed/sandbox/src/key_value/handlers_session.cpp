#include <reprise/wire/session_messages.hpp>

#include "key_value/handlers.hpp"

namespace reprise::sandbox::detail {

namespace {

using wire::hello_feature;
using wire::hello_feature_set;
using wire::status;

constexpr std::string_view no_bucket_name = "@no bucket@";

// Features of real servers that the sandbox does not implement, or that only other deployments
// have.
constexpr hello_feature_set not_offered{
    hello_feature::report_unit_usage,        hello_feature::non_blocking_throttling_mode,
    hello_feature::range_scan_include_xattr, hello_feature::get_random_key_include_xattr,
    hello_feature::mutate_with_meta,         hello_feature::dcp_skip_deletes_in_initial_backfill,
};

hello_feature_set grant(const conversation& conv, hello_feature_set asked) {
    hello_feature_set granted;
    for (const wire::hello_feature_facts& facts : wire::all_hello_features()) {
        if (asked.contains(facts.feature) && is_offered_feature(facts)) {
            granted.insert(facts.feature);
        }
    }
    if (conv.bucket != nullptr && !conv.bucket->options.has_collections) {
        granted.erase(hello_feature::collections);
    }
    if (granted.contains(hello_feature::clustermap_change_notification_brief)) {
        granted.erase(hello_feature::clustermap_change_notification);
    }
    return granted;
}

// HELLO and SELECT_BUCKET change how other commands are interpreted, so none may be in flight.
bool is_disturbing(const request& current) noexcept {
    return current.conv.has_commands_in_flight &&
           current.conv.has(hello_feature::unordered_execution);
}

void answer_sasl(request& current, const sasl_step_result& result) {
    if (result.winner) {
        conversation& conv = current.conv;
        conv.user = result.winner;
        if (conv.bucket != nullptr && !conv.user->rights.can_see(conv.bucket->options.name)) {
            conv.bucket = nullptr;
            conv.local = nullptr;
        }
        conv.note_rights();
    }
    if (result.status == status::success || result.status == status::auth_continue) {
        current.answer({.status = result.status, .value = base::as_bytes(result.data)});
    } else {
        current.reject(result.status, result.data);
    }
}

// Rejects the request if the connection has logged in with a certificate.
bool is_sasl_enabled(request& current) {
    if (current.conv.is_certificate_login) {
        current.reject(status::not_supported, "SASL is disabled: authenticated by certificate");
    }
    return !current.conv.is_certificate_login;
}

// The status that every login gets, whatever its credentials; empty: they are checked.
std::optional<status> disturbed_login(request& current, std::string_view mechanism) {
    node_disturbance& how = current.node.disturbance;
    if (how.rejects_credentials) {
        return status::auth_error;
    }
    if (how.stale_login_count == 0 || current.conv.over != wire::transport::tls ||
        wire::parse_sasl_mechanism(mechanism) != wire::sasl_mechanism::oauthbearer) {
        return std::nullopt;
    }
    how.stale_login_count -= how.stale_login_count == node_disturbance::no_limit ? 0 : 1;
    return status::auth_stale;
}

}  // namespace

bool is_offered_feature(const wire::hello_feature_facts& facts) noexcept {
    return facts.is_acknowledged && !not_offered.contains(facts.feature);
}

void handle_hello(request& current) {
    if (is_disturbing(current)) {
        return current.reject(status::not_supported, "Other commands are in flight");
    }
    const auto hello = wire::hello_request::decode(current.frame);
    if (!hello) {
        return current.reject(hello.error());
    }
    // Servers do not validate the name that a client reports: the ids of the C++ SDK, for example,
    // are longer than the documented 16 digits.
    auto agent = wire::parse_agent_key(hello->agent);
    if (!agent) {
        agent = wire::agent_identity{std::string(hello->agent), {}, {}};
    }
    if (const auto missing = wire::find_missing_prerequisite(hello->features)) {
        return current.reject(
            status::einval, std::string(to_string(missing->feature)) + " needs " +
                                std::string(to_string(missing->prerequisite)));
    }
    conversation& conv = current.conv;
    conv.agent = std::move(*agent);
    current.audit.client_id = conv.agent.client_id;
    current.audit.client_connection_id = conv.agent.connection_id;
    // A HELLO replaces all features; its own answer uses the framing from before it.
    const hello_feature_set granted = grant(conv, hello->features);
    std::vector<std::byte> list;
    base::byte_writer writer(list);
    for (const wire::hello_feature_facts& facts : wire::all_hello_features()) {
        if (granted.contains(facts.feature)) {
            writer.write_u16(static_cast<std::uint16_t>(facts.feature));
        }
    }
    current.answer({.value = list});
    conv.features = granted;
    if (granted.contains(hello_feature::snappy_everywhere)) {
        conv.features.insert(hello_feature::snappy);
    }
    conv.global_progress.restart(current.node.global_configuration);
    if (conv.local != nullptr) {
        conv.bucket_progress.restart(conv.local->configuration);
    }
}

void handle_sasl_list(request& current, const wire::empty_request& /*message*/) {
    if (!is_sasl_enabled(current)) {
        return;
    }
    const std::string list =
        wire::to_mechanism_list(offered_mechanisms(current.cluster.options, current.conv.over));
    current.answer({.value = base::as_bytes(list)});
}

void handle_sasl_auth(request& current, const wire::sasl_request& message) {
    if (!is_sasl_enabled(current)) {
        return;
    }
    // An earlier login ends even if this one fails.
    current.conv.user.reset();
    if (const auto refusal = disturbed_login(current, message.mechanism)) {
        current.conv.sasl = {};
        return current.reject(*refusal);
    }
    answer_sasl(
        current,
        current.conv.sasl.on_auth(
            current.cluster, current.conv.over, message.mechanism, base::as_text(message.data)));
}

void handle_sasl_step(request& current, const wire::sasl_request& message) {
    if (!is_sasl_enabled(current)) {
        return;
    }
    if (current.node.disturbance.rejects_credentials) {
        current.conv.sasl = {};
        return current.reject(status::auth_error);
    }
    answer_sasl(
        current,
        current.conv.sasl.on_step(current.cluster, message.mechanism, base::as_text(message.data)));
}

void handle_select_bucket(request& current, const wire::select_bucket_request& message) {
    conversation& conv = current.conv;
    if (is_disturbing(current)) {
        return current.reject(status::not_supported, "Other commands are in flight");
    }
    if (message.bucket == no_bucket_name) {
        conv.bucket = nullptr;
        conv.local = nullptr;
        return current.answer({});
    }
    if (current.now < current.node.silent_until) {
        current.audit.fate = answer_fate::withheld;
        return;
    }
    bucket_record* bucket = current.cluster.find_bucket(message.bucket);
    // Nobody learns this way whether a bucket exists: an unknown one is refused like one that the
    // user may not see.
    if (bucket == nullptr || !conv.user->rights.can_see(message.bucket) ||
        bucket->is_denied(conv.user->name)) {
        return current.reject(status::eaccess, "No access to the bucket");
    }
    node_bucket* local = current.cluster.find_present(current.node, message.bucket);
    if (local == nullptr || current.now < current.node.absent_until) {
        return current.fail(status::key_enoent);
    }
    if (!bucket->options.has_collections && conv.has(hello_feature::collections)) {
        return current.fail(status::not_supported, "The bucket has no collections");
    }
    conv.bucket = bucket;
    conv.local = local;
    conv.note_rights();
    conv.bucket_progress.restart(local->configuration);
    current.audit.bucket.assign(message.bucket);
    current.answer({});
}

void handle_error_map(request& current, const wire::get_error_map_request& message) {
    if (message.version_max == 0) {
        return current.fail(status::key_enoent);
    }
    std::string_view text = current.cluster.error_codes.text(message.version_max);
    if (current.node.disturbance.is_error_map_corrupt) {
        text = corrupted(text);
    }
    current.answer({.datatype = wire::datatype::json, .value = base::as_bytes(text)});
}

void handle_noop(request& current, const wire::empty_request& /*message*/) {
    current.answer({});
}

void handle_quit(request& current, const wire::empty_request& /*message*/) {
    current.answer({});
    current.close();
}

void handle_version(request& current, const wire::empty_request& /*message*/) {
    current.answer({.value = base::as_bytes(version_shown)});
}

void handle_verbosity(request& current, const wire::verbosity_request& /*message*/) {
    current.answer({});
}

}  // namespace reprise::sandbox::detail
