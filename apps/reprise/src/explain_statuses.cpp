#include <array>

#include "explain_table.hpp"

namespace reprise::app {

namespace {

using couchbase::errc;
using couchbase::retry_reason;
using wire::status;

// What the client tells its user for a status; the advice is that of the error or reason.
struct told_as {
    status code;
    errc error;
};
constexpr std::array told_table{
    told_as{status::key_enoent, errc::document_not_found},
    told_as{status::key_eexists, errc::cas_mismatch},
    told_as{status::e2big, errc::value_too_large},
    told_as{status::einval, errc::invalid_argument},
    told_as{status::not_stored, errc::document_not_found},
    told_as{status::delta_badval, errc::delta_invalid},
    told_as{status::no_bucket, errc::bucket_not_found},
    told_as{status::not_locked, errc::document_not_locked},
    told_as{status::auth_stale, errc::authentication_failure},
    told_as{status::auth_error, errc::authentication_failure},
    told_as{status::eaccess, errc::authentication_failure},
    told_as{status::not_initialized, errc::temporary_failure},
    told_as{status::rate_limited_network_ingress, errc::rate_limited},
    told_as{status::rate_limited_network_egress, errc::rate_limited},
    told_as{status::rate_limited_max_connections, errc::rate_limited},
    told_as{status::rate_limited_max_commands, errc::rate_limited},
    told_as{status::scope_size_limit_exceeded, errc::quota_limited},
    told_as{status::bucket_size_limit_exceeded, errc::quota_limited},
    told_as{status::unknown_command, errc::unsupported_operation},
    told_as{status::enomem, errc::temporary_failure},
    told_as{status::not_supported, errc::unsupported_operation},
    told_as{status::einternal, errc::internal_server_failure},
    told_as{status::ebusy, errc::temporary_failure},
    told_as{status::xattr_einval, errc::invalid_argument},
    told_as{status::unknown_scope, errc::scope_not_found},
    told_as{status::durability_invalid_level, errc::durability_level_not_available},
    told_as{status::durability_impossible, errc::durability_impossible},
    told_as{status::sync_write_ambiguous, errc::durability_ambiguous},
    told_as{status::range_scan_cancelled, errc::request_canceled},
    told_as{status::vb_uuid_not_equal, errc::mutation_token_outdated},
    told_as{status::subdoc_path_enoent, errc::path_not_found},
    told_as{status::subdoc_path_mismatch, errc::path_mismatch},
    told_as{status::subdoc_path_einval, errc::path_invalid},
    told_as{status::subdoc_path_e2big, errc::path_too_big},
    told_as{status::subdoc_doc_e2deep, errc::path_too_deep},
    told_as{status::subdoc_value_cantinsert, errc::value_invalid},
    told_as{status::subdoc_doc_not_json, errc::document_not_json},
    told_as{status::subdoc_num_erange, errc::number_too_big},
    told_as{status::subdoc_delta_einval, errc::delta_invalid},
    told_as{status::subdoc_path_eexists, errc::path_exists},
    told_as{status::subdoc_value_etoodeep, errc::value_too_deep},
    told_as{status::subdoc_invalid_combo, errc::invalid_argument},
    told_as{status::subdoc_xattr_invalid_flag_combo, errc::xattr_invalid_key_combo},
    told_as{status::subdoc_xattr_invalid_key_combo, errc::xattr_invalid_key_combo},
    told_as{status::subdoc_xattr_unknown_macro, errc::xattr_unknown_macro},
    told_as{status::subdoc_xattr_unknown_vattr, errc::xattr_unknown_virtual_attribute},
    told_as{status::subdoc_xattr_cant_modify_vattr, errc::xattr_cannot_modify_virtual_attribute},
    told_as{status::subdoc_invalid_xattr_order, errc::invalid_argument},
    told_as{status::subdoc_xattr_unknown_vattr_macro, errc::xattr_unknown_macro},
    told_as{status::subdoc_can_only_revive_deleted_documents, errc::cannot_revive_living_document},
    told_as{status::subdoc_deleted_document_cant_have_value, errc::invalid_argument},
};

struct status_advice {
    status code;
    std::string_view text;
};
constexpr std::string_view replication_advice =
    "Nothing: part of the replication protocol, which this client does not speak.";
constexpr std::string_view full_advice =
    "Make room in the bucket, or give it more memory or disk; writes are refused until then.";
constexpr std::array status_table{
    status_advice{status::success, "Nothing."},
    status_advice{status::dcp_stream_not_found, replication_advice},
    status_advice{status::opaque_no_match, replication_advice},
    status_advice{status::rollback, replication_advice},
    status_advice{status::dcp_stream_id_invalid, replication_advice},
    status_advice{status::ewould_throttle, "Send fewer requests."},
    status_advice{
        status::econfig_only, "Nothing: the node has no data of the bucket; others are asked."},
    status_advice{status::cas_value_invalid, "Use a CAS that came from a read or a write."},
    status_advice{status::auth_continue, "Nothing: a step of every login."},
    status_advice{status::erange, "Correct the number in the request."},
    status_advice{status::encryption_key_not_available, "Give the node its encryption key again."},
    status_advice{
        status::checksum_mismatch, "Look at the node's disk and memory: data is damaged."},
    status_advice{status::expiry_overflow, "Use a nearer expiry."},
    status_advice{status::lock_expiry_overflow, "Use a shorter lock time."},
    status_advice{status::bucket_resident_ratio_too_low, full_advice},
    status_advice{status::bucket_data_size_too_big, full_advice},
    status_advice{status::bucket_disk_space_too_low, full_advice},
    status_advice{status::bucket_paused, "Resume the bucket on the server."},
    status_advice{status::cancelled, "Nothing was changed: try again if you still want it."},
    status_advice{status::unknown_frame_info, "Ask for less: the server is too old for it."},
    status_advice{
        status::no_collections_manifest, "Use the default collection, or a newer server."},
    status_advice{
        status::cannot_apply_collections_manifest, "Read the manifest again, then change it."},
    status_advice{status::collections_manifest_is_ahead, "Nothing: the node catches up."},
    status_advice{status::range_scan_more, "Nothing: more of the scan follows."},
    status_advice{status::range_scan_complete, "Nothing: the scan is over."},
    status_advice{
        status::subdoc_multi_path_failure,
        "Look at the result of each path: the others are there."},
    status_advice{status::subdoc_success_deleted, "Nothing: done on a removed document."},
    status_advice{
        status::subdoc_multi_path_failure_deleted,
        "Look at the result of each path: the others are there."},
    status_advice{
        status::subdoc_field_not_binary_value, "Read the field as JSON: it is not binary."},
};

}  // namespace

std::optional<errc> error_of(status code) noexcept {
    for (const told_as& row : told_table) {
        if (row.code == code) {
            return row.error;
        }
    }
    return std::nullopt;
}

std::optional<retry_reason> reason_of(status code) noexcept {
    switch (code) {
        case status::not_my_vbucket:
            return retry_reason::kv_not_my_vbucket;
        case status::unknown_collection:
            return retry_reason::kv_collection_outdated;
        case status::locked:
            return retry_reason::kv_locked;
        case status::etmpfail:
            return retry_reason::kv_temporary_failure;
        case status::sync_write_in_progress:
            return retry_reason::kv_sync_write_in_progress;
        case status::sync_write_re_commit_in_progress:
            return retry_reason::kv_sync_write_re_commit_in_progress;
        default:
            return std::nullopt;
    }
}

std::string_view advice_on(status code) noexcept {
    if (const auto reason = reason_of(code)) {
        return advice_on(*reason);
    }
    if (const auto error = error_of(code)) {
        return advice_on(*error);
    }
    for (const status_advice& row : status_table) {
        if (row.code == code) {
            return row.text;
        }
    }
    return {};
}

}  // namespace reprise::app
