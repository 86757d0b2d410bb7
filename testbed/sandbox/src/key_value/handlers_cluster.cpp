#include <algorithm>

#include <reprise/wire/cluster_messages.hpp>
#include <reprise/wire/session_messages.hpp>

#include "key_value/data_access.hpp"
#include "key_value/handlers.hpp"

namespace reprise::sandbox::detail {

namespace {

using wire::status;

// Returns false, after answering the request, if the connection has no bucket with collections.
bool has_named_bucket(request& current) {
    if (current.conv.bucket == nullptr) {
        current.fail(status::no_bucket, "No bucket selected");
        return false;
    }
    if (!current.conv.bucket->options.has_collections) {
        current.fail(status::not_supported, "The bucket has no collections");
        return false;
    }
    return true;
}

const wire::collections_manifest& manifest_here(const request& current) noexcept {
    return current.conv.local->manifest(*current.conv.bucket);
}

bool is_name_or_empty(std::string_view name) noexcept {
    return name.empty() || wire::is_valid_collection_name(name, wire::name_origin::server);
}

void answer_id(request& current, std::uint64_t manifest_uid, std::uint32_t id) {
    std::vector<std::byte> extras;
    base::byte_writer writer(extras);
    writer.write_u64(manifest_uid);
    writer.write_u32(id);
    current.answer({.extras = extras});
}

void answer_stat(request& current, std::string_view name, const std::string& value) {
    current.answer({.key = base::as_bytes(name), .value = base::as_bytes(value)});
}

void answer_main_stats(request& current) {
    const cluster_state& cluster = current.cluster;
    answer_stat(current, "curr_connections", std::to_string(cluster.sessions.size()));
    answer_stat(current, "cmd_total", std::to_string(cluster.audit.request_count()));
    answer_stat(current, "node", std::to_string(current.node.id.value));
    if (current.conv.bucket == nullptr) {
        return;
    }
    std::size_t item_count = 0;
    for (const auto& copy : current.conv.local->vbuckets) {
        if (copy && copy->state == vbucket_state::active) {
            item_count += static_cast<std::size_t>(std::ranges::count_if(
                copy->documents, [](const auto& entry) { return !entry.second.is_deleted; }));
        }
    }
    answer_stat(current, "curr_items", std::to_string(item_count));
}

void answer_vbucket_stats(request& current, bool with_seqnos) {
    const auto& copies = current.conv.local->vbuckets;
    for (std::size_t number = 0; number < copies.size(); ++number) {
        if (!copies[number]) {
            continue;
        }
        const std::string name = "vb_" + std::to_string(number);
        if (!with_seqnos) {
            answer_stat(
                current, name,
                copies[number]->state == vbucket_state::active ? "active" : "replica");
            continue;
        }
        answer_stat(current, name + ":high_seqno", std::to_string(copies[number]->seqno_high));
        answer_stat(current, name + ":uuid", std::to_string(copies[number]->uuid()));
    }
}

}  // namespace

void handle_cluster_config(request& current, const wire::get_cluster_config_request& message) {
    conversation& conv = current.conv;
    if (conv.local != nullptr) {
        current.answer_configuration(
            conv.local->configuration, conv.bucket_progress, message.known);
    } else {
        current.answer_configuration(
            current.node.global_configuration, conv.global_progress, message.known);
    }
}

void handle_manifest(request& current, const wire::empty_request& /*message*/) {
    if (!has_named_bucket(current)) {
        return;
    }
    const std::string text = wire::encode_collections_manifest(manifest_here(current));
    current.answer({.datatype = wire::datatype::json, .value = base::as_bytes(text)});
}

void handle_collection_id(request& current, const wire::get_collection_id_request& message) {
    if (!has_named_bucket(current)) {
        return;
    }
    const std::string_view path = message.path;
    const std::size_t dot = path.find('.');
    const std::string_view scope = path.substr(0, dot);
    const std::string_view name =
        dot == std::string_view::npos ? std::string_view(".") : path.substr(dot + 1);
    // A second dot is not allowed in a name.
    if (!is_name_or_empty(scope) || !is_name_or_empty(name)) {
        return current.fail(status::einval, "Not a collection path");
    }
    const wire::collections_manifest& manifest = manifest_here(current);
    if (manifest.find_scope(scope) == nullptr) {
        return current.unknown_name(status::unknown_scope);
    }
    const wire::manifest_collection* found = manifest.find_collection(scope, name);
    const bool can_know = current.conv.user->rights.in_collection(
                              current.conv.bucket->options.name, scope, name) != privilege::none;
    if (found == nullptr || !can_know) {
        return current.unknown_name(status::unknown_collection);
    }
    answer_id(current, manifest.uid, found->id);
}

void handle_scope_id(request& current, const wire::get_scope_id_request& message) {
    if (!has_named_bucket(current)) {
        return;
    }
    const std::string_view scope = message.scope.substr(0, message.scope.find('.'));
    if (!is_name_or_empty(scope)) {
        return current.fail(status::einval, "Not a scope name");
    }
    const wire::collections_manifest& manifest = manifest_here(current);
    const wire::manifest_scope* found = manifest.find_scope(scope);
    if (found == nullptr) {
        return current.unknown_name(status::unknown_scope);
    }
    answer_id(current, manifest.uid, found->id);
}

void handle_stat(request& current, const wire::stat_request& message) {
    const bool needs_bucket = message.group.starts_with("vbucket");
    if (needs_bucket && current.conv.bucket == nullptr) {
        return current.fail(status::no_bucket, "No bucket selected");
    }
    if (message.group.empty()) {
        answer_main_stats(current);
    } else if (message.group == "vbucket") {
        answer_vbucket_stats(current, false);
    } else if (message.group == "vbucket-seqno") {
        answer_vbucket_stats(current, true);
    } else {
        return current.fail(status::key_enoent);
    }
    current.answer({});
}

}  // namespace reprise::sandbox::detail
