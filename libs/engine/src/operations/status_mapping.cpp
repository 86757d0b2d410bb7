#include "operations/status_mapping.hpp"

#include <optional>

namespace reprise::engine {
namespace {

using wire::error_attribute;
using wire::status;

response_outcome mapped_error(errc error) noexcept {
    response_outcome outcome;
    outcome.kind = outcome_kind::error;
    outcome.error = error;
    return outcome;
}

response_outcome mapped_retry(retry_reason reason, errc own_error) noexcept {
    response_outcome outcome;
    outcome.kind = outcome_kind::retry;
    outcome.reason = reason;
    outcome.error = own_error;
    return outcome;
}

// Statuses whose meaning does not depend on the operation. 0 if it is not in this list.
errc plain_errc(status code) noexcept {
    switch (code) {
        case status::e2big:
            return errc::value_too_large;
        case status::einval:
        case status::xattr_einval:
        case status::subdoc_invalid_combo:
        case status::subdoc_invalid_xattr_order:
        case status::subdoc_deleted_document_cant_have_value:
            return errc::invalid_argument;
        case status::delta_badval:
        case status::subdoc_delta_einval:
            return errc::delta_invalid;
        case status::no_bucket:
            return errc::bucket_not_found;
        case status::not_locked:
            return errc::document_not_locked;
        case status::auth_stale:
        case status::auth_error:
        case status::eaccess:
            return errc::authentication_failure;
        case status::not_initialized:
        case status::enomem:
        case status::ebusy:
            return errc::temporary_failure;
        case status::rate_limited_network_ingress:
        case status::rate_limited_network_egress:
        case status::rate_limited_max_connections:
        case status::rate_limited_max_commands:
            return errc::rate_limited;
        case status::scope_size_limit_exceeded:
            return errc::quota_limited;
        case status::unknown_command:
        case status::not_supported:
            return errc::unsupported_operation;
        case status::einternal:
            return errc::internal_server_failure;
        case status::unknown_scope:
            return errc::scope_not_found;
        case status::durability_invalid_level:
            return errc::durability_level_not_available;
        case status::durability_impossible:
            return errc::durability_impossible;
        case status::sync_write_ambiguous:
            return errc::durability_ambiguous;
        case status::range_scan_cancelled:
            return errc::request_canceled;
        case status::vb_uuid_not_equal:
            return errc::mutation_token_outdated;
        default:  // the error map is asked about all others
            return errc{};
    }
}

// Statuses of a sub-document path. 0 if it is not in this list.
errc path_errc(status code) noexcept {
    switch (code) {
        case status::subdoc_path_enoent:
            return errc::path_not_found;
        case status::subdoc_path_mismatch:
            return errc::path_mismatch;
        case status::subdoc_path_einval:
            return errc::path_invalid;
        case status::subdoc_path_e2big:
            return errc::path_too_big;
        case status::subdoc_doc_e2deep:
            return errc::path_too_deep;
        case status::subdoc_value_cantinsert:
            return errc::value_invalid;
        case status::subdoc_doc_not_json:
            return errc::document_not_json;
        case status::subdoc_num_erange:
            return errc::number_too_big;
        case status::subdoc_path_eexists:
            return errc::path_exists;
        case status::subdoc_value_etoodeep:
            return errc::value_too_deep;
        case status::subdoc_xattr_invalid_flag_combo:
        case status::subdoc_xattr_invalid_key_combo:
            return errc::xattr_invalid_key_combo;
        case status::subdoc_xattr_unknown_macro:
        case status::subdoc_xattr_unknown_vattr_macro:
            return errc::xattr_unknown_macro;
        case status::subdoc_xattr_unknown_vattr:
            return errc::xattr_unknown_virtual_attribute;
        case status::subdoc_xattr_cant_modify_vattr:
            return errc::xattr_cannot_modify_virtual_attribute;
        case status::subdoc_can_only_revive_deleted_documents:
            return errc::cannot_revive_living_document;
        case status::eaccess:
            return errc::xattr_no_access;
        default:  // all others mean the same for a path
            return plain_errc(code);
    }
}

// The closest error to a status that is only in the error map.
errc error_by_attributes(wire::error_attributes attributes) noexcept {
    if (attributes.has(error_attribute::rate_limit)) {
        return errc::rate_limited;
    }
    if (attributes.has(error_attribute::item_locked)) {
        return errc::document_locked;
    }
    if (attributes.has(error_attribute::auth)) {
        return errc::authentication_failure;
    }
    if (attributes.has(error_attribute::temp)) {
        return errc::temporary_failure;
    }
    if (attributes.has(error_attribute::support)) {
        return errc::unsupported_operation;
    }
    if (attributes.has(error_attribute::invalid_input)) {
        return errc::invalid_argument;
    }
    if (attributes.has(error_attribute::internal)) {
        return errc::internal_server_failure;
    }
    return errc::unknown_server_status;
}

response_outcome classify_unknown(const response_facts& facts) noexcept {
    const wire::error_map_entry* entry =
        facts.error_map == nullptr
            ? nullptr
            : facts.error_map->find(static_cast<std::uint16_t>(facts.status));
    if (entry == nullptr) {
        return mapped_error(errc::unknown_server_status);
    }
    const wire::error_attributes attributes = entry->attributes;
    response_outcome outcome = mapped_error(error_by_attributes(attributes));
    const bool is_retried = entry->is_retry_indicated();
    if (attributes.has(error_attribute::success)) {
        outcome.kind = outcome_kind::success;
    } else if (is_retried) {
        outcome.kind = outcome_kind::retry;
        outcome.reason = retry_reason::kv_error_map_retry_indicated;
    }
    outcome.entry = entry;
    outcome.fetch_configuration = attributes.has(error_attribute::fetch_config);
    outcome.drop_connection = attributes.has(error_attribute::special_handling) ||
                              attributes.has(error_attribute::conn_state_invalidated);
    return outcome;
}

bool has_insert_semantics(const response_facts& facts) noexcept {
    return facts.kind == operation_kind::insert ||
           (facts.kind == operation_kind::mutate_in &&
            wire::has(facts.doc_flags, wire::doc_flags::add));
}

// 0x02 means that the document exists, that it changed or, without XERROR, that it is locked.
response_outcome classify_exists(const response_facts& facts) noexcept {
    if (has_insert_semantics(facts)) {
        return mapped_error(errc::document_exists);
    }
    const bool is_store = facts.kind == operation_kind::upsert ||
                          facts.kind == operation_kind::replace ||
                          facts.kind == operation_kind::remove;
    const bool is_locked = !facts.has_xerror && is_store && facts.request_cas == 0;
    if (is_locked) {
        return mapped_retry(retry_reason::kv_locked, errc::document_locked);
    }
    return mapped_error(errc::cas_mismatch);
}

std::optional<response_outcome> classify_retried(const response_facts& facts) noexcept {
    const bool is_unlock = facts.kind == operation_kind::unlock;
    switch (facts.status) {
        case status::not_my_vbucket:
            return mapped_retry(retry_reason::kv_not_my_vbucket, errc::request_canceled);
        case status::unknown_collection:
            return mapped_retry(retry_reason::kv_collection_outdated, errc::collection_not_found);
        case status::locked:
            return is_unlock ? mapped_error(errc::cas_mismatch)
                             : mapped_retry(retry_reason::kv_locked, errc::document_locked);
        case status::etmpfail:
            return is_unlock && !facts.has_xerror
                       ? mapped_error(errc::temporary_failure)
                       : mapped_retry(retry_reason::kv_temporary_failure, errc::temporary_failure);
        case status::sync_write_in_progress:
            return mapped_retry(
                retry_reason::kv_sync_write_in_progress, errc::durable_write_in_progress);
        case status::sync_write_re_commit_in_progress:
            return mapped_retry(
                retry_reason::kv_sync_write_re_commit_in_progress,
                errc::durable_write_re_commit_in_progress);
        default:  // all others end the operation
            return std::nullopt;
    }
}

// The answers that mean something else for a range scan. Its server may lose it at any time; a new
// one then continues.
std::optional<response_outcome> classify_scan(const response_facts& facts) noexcept {
    switch (facts.status) {
        case status::range_scan_more:
        case status::range_scan_complete:
            return response_outcome{};
        case status::ebusy:
            return mapped_retry(retry_reason::kv_temporary_failure, errc::temporary_failure);
        case status::range_scan_cancelled:
            return mapped_retry(retry_reason::kv_temporary_failure, errc::request_canceled);
        case status::key_enoent:
            return facts.is_scan_created
                       ? mapped_retry(retry_reason::kv_temporary_failure, errc::request_canceled)
                       : response_outcome{};
        default:  // all others mean the same as elsewhere
            return std::nullopt;
    }
}

}  // namespace

response_outcome classify(const response_facts& facts) noexcept {
    if (wire::is_success(facts.status)) {
        return {};
    }
    if (facts.kind == operation_kind::range_scan) {
        if (const auto known = classify_scan(facts)) {
            return *known;
        }
    }
    if (const auto retried = classify_retried(facts)) {
        return *retried;
    }
    switch (facts.status) {
        case status::key_enoent:
            return mapped_error(errc::document_not_found);
        case status::key_eexists:
            return classify_exists(facts);
        case status::not_stored:
            return mapped_error(
                facts.kind == operation_kind::insert ? errc::document_exists
                                                     : errc::document_not_found);
        default:  // all others mean the same for every operation
            break;
    }
    const errc error = path_errc(facts.status);
    if (error == errc{} || !wire::is_known_to_client(facts.status)) {
        return classify_unknown(facts);
    }
    const bool is_subdoc = facts.kind == operation_kind::lookup_in ||
                           facts.kind == operation_kind::mutate_in ||
                           facts.kind == operation_kind::lookup_in_replica;
    response_outcome outcome = mapped_error(
        facts.status == status::eaccess && !is_subdoc ? errc::authentication_failure : error);
    // The server has dropped the connection's identity or bucket: reconnect.
    outcome.drop_connection =
        facts.status == status::auth_stale || facts.status == status::no_bucket;
    return outcome;
}

std::error_code path_error(status code, const wire::error_map* error_map) noexcept {
    if (code == status::success) {
        return {};
    }
    if (const errc error = path_errc(code); error != errc{} && wire::is_known_to_client(code)) {
        return error;
    }
    const response_outcome outcome = classify_unknown({.status = code, .error_map = error_map});
    return outcome.kind == outcome_kind::success ? std::error_code{}
                                                 : make_error_code(outcome.error);
}

}  // namespace reprise::engine
