#include <reprise/wire/status.hpp>

#include <array>
#include <cstddef>

namespace reprise::wire {

namespace {

// A code is interpreted by the client on its own, or through the server's error map. The map also
// covers the codes of DCP and of management, which no request of ours can get.
constexpr bool known_status = true;  // the default of a row
constexpr bool mapped_status = false;

struct status_row {
    wire::status code;
    std::string_view name;
    std::string_view meaning;
    bool is_known_to_client = known_status;
};

constexpr auto status_rows = std::to_array<status_row>({
    {status::success, "Success", "done"},
    {status::key_enoent, "KeyEnoent", "no such document, no configuration yet, or unknown bucket"},
    {status::key_eexists, "KeyEexists",
     "document exists (add) or CAS differs (set/replace/delete with CAS)"},
    {status::e2big, "E2big", "value over the size limit"},
    {status::einval, "Einval", "malformed request; the error context usually explains it"},
    {status::not_stored, "NotStored", "not stored; append/prepend on a missing key"},
    {status::delta_badval, "DeltaBadval", "incr/decr on a non-numeric value"},
    {status::not_my_vbucket, "NotMyVbucket",
     "vbucket not active (or not replica for replica reads) on this node"},
    {status::no_bucket, "NoBucket", "no bucket selected on this connection"},
    {status::locked, "Locked", "document locked by get-and-lock, caller's CAS does not own it"},
    {status::dcp_stream_not_found, "DcpStreamNotFound", "no such stream; DCP only", mapped_status},
    {status::opaque_no_match, "OpaqueNoMatch", "opaque does not match; DCP only", mapped_status},
    {status::ewould_throttle, "EWouldThrottle", "would have been throttled (only with HELLO 0x1b)",
     mapped_status},
    {status::econfig_only, "EConfigOnly",
     "bucket is config-only on this node (no data service for it)", mapped_status},
    {status::not_locked, "NotLocked", "unlock of an unlocked document"},
    {status::cas_value_invalid, "CasValueInvalid", "the CAS is not a legal value", mapped_status},
    {status::auth_stale, "AuthStale", "credential expired; re-auth needed"},
    {status::auth_error, "AuthError", "wrong credentials or unknown mechanism"},
    {status::auth_continue, "AuthContinue", "SASL: send SASL_STEP"},
    {status::erange, "Erange", "value out of legal range", mapped_status},
    {status::rollback, "Rollback", "rollback needed; DCP only", mapped_status},
    {status::eaccess, "Eaccess",
     "not authenticated yet, or privilege missing, or bucket not visible"},
    {status::not_initialized, "NotInitialized", "the node is still initialising"},
    {status::encryption_key_not_available, "EncryptionKeyNotAvailable", "encryption key missing",
     mapped_status},
    {status::checksum_mismatch, "ChecksumMismatch", "checksum mismatch", mapped_status},
    {status::expiry_overflow, "ExpiryOverflow", "expiry does not fit 32 bits", mapped_status},
    {status::lock_expiry_overflow, "LockExpiryOverflow", "lock time does not fit 32 bits",
     mapped_status},
    {status::rate_limited_network_ingress, "RateLimitedNetworkIngress", "rate limit: ingress"},
    {status::rate_limited_network_egress, "RateLimitedNetworkEgress", "rate limit: egress"},
    {status::rate_limited_max_connections, "RateLimitedMaxConnections", "rate limit: connections"},
    {status::rate_limited_max_commands, "RateLimitedMaxCommands", "rate limit: commands"},
    {status::scope_size_limit_exceeded, "ScopeSizeLimitExceeded",
     "scope size limit; older servers only"},
    {status::bucket_size_limit_exceeded, "BucketSizeLimitExceeded", "bucket size limit",
     mapped_status},
    {status::bucket_resident_ratio_too_low, "BucketResidentRatioTooLow",
     "resident ratio too low, writes refused", mapped_status},
    {status::bucket_data_size_too_big, "BucketDataSizeTooBig",
     "bucket data size too big, writes refused", mapped_status},
    {status::bucket_disk_space_too_low, "BucketDiskSpaceTooLow",
     "disk space too low, writes refused", mapped_status},
    {status::bucket_paused, "BucketPaused", "bucket paused", mapped_status},
    {status::cancelled, "Cancelled", "cancelled, nothing changed", mapped_status},
    {status::unknown_frame_info, "UnknownFrameInfo", "unknown request frame-info id",
     mapped_status},
    {status::unknown_command, "UnknownCommand", "opcode unknown to server"},
    {status::enomem, "Enomem", "server out of memory"},
    {status::not_supported, "NotSupported", "opcode or feature not supported here"},
    {status::einternal, "Einternal", "internal server error"},
    {status::ebusy, "Ebusy", "busy"},
    {status::etmpfail, "Etmpfail", "temporary failure"},
    {status::xattr_einval, "XattrEinval", "bad xattr blob or key"},
    {status::unknown_collection, "UnknownCollection", "collection id or path unknown"},
    {status::no_collections_manifest, "NoCollectionsManifest",
     "no collections manifest; older servers only", mapped_status},
    {status::cannot_apply_collections_manifest, "CannotApplyCollectionsManifest",
     "manifest cannot be applied (management only)", mapped_status},
    {status::collections_manifest_is_ahead, "CollectionsManifestIsAhead",
     "manifest is ahead; older servers only", mapped_status},
    {status::unknown_scope, "UnknownScope", "scope unknown (0xbb/0xbc)"},
    {status::dcp_stream_id_invalid, "DcpStreamIdInvalid", "invalid stream id; DCP only",
     mapped_status},
    {status::durability_invalid_level, "DurabilityInvalidLevel", "durability level illegal here"},
    {status::durability_impossible, "DurabilityImpossible", "not enough replicas for the level"},
    {status::sync_write_in_progress, "SyncWriteInProgress",
     "another sync write pending on the key"},
    {status::sync_write_ambiguous, "SyncWriteAmbiguous", "sync write outcome unknown"},
    {status::sync_write_re_commit_in_progress, "SyncWriteReCommitInProgress",
     "sync write is being committed again after a failover"},
    {status::range_scan_cancelled, "RangeScanCancelled", "range scan cancelled"},
    {status::range_scan_more, "RangeScanMore", "range scan: more data"},
    {status::range_scan_complete, "RangeScanComplete", "range scan: done"},
    {status::vb_uuid_not_equal, "VbUuidNotEqual", "range scan: vbucket uuid differs"},
    {status::subdoc_path_enoent, "SubdocPathEnoent", "subdoc: path missing"},
    {status::subdoc_path_mismatch, "SubdocPathMismatch",
     "subdoc: path does not match the structure of the document"},
    {status::subdoc_path_einval, "SubdocPathEinval", "subdoc: path syntax"},
    {status::subdoc_path_e2big, "SubdocPathE2big", "subdoc: path too long"},
    {status::subdoc_doc_e2deep, "SubdocDocE2deep", "subdoc: document too deep"},
    {status::subdoc_value_cantinsert, "SubdocValueCantinsert",
     "subdoc: value cannot be inserted as JSON"},
    {status::subdoc_doc_not_json, "SubdocDocNotJson", "subdoc: document is not JSON"},
    {status::subdoc_num_erange, "SubdocNumErange", "subdoc: existing number does not fit int64"},
    {status::subdoc_delta_einval, "SubdocDeltaEinval",
     "subdoc: delta is zero, not an integer or out of range"},
    {status::subdoc_path_eexists, "SubdocPathEexists", "subdoc: path already exists"},
    {status::subdoc_value_etoodeep, "SubdocValueEtoodeep", "subdoc: value would nest too deeply"},
    {status::subdoc_invalid_combo, "SubdocInvalidCombo",
     "subdoc: invalid mix of commands, or too many paths"},
    {status::subdoc_multi_path_failure, "SubdocMultiPathFailure",
     "subdoc multi: at least one path failed; body has details"},
    {status::subdoc_success_deleted, "SubdocSuccessDeleted", "subdoc: done on a tombstone"},
    {status::subdoc_xattr_invalid_flag_combo, "SubdocXattrInvalidFlagCombo",
     "subdoc: invalid combination of path flags"},
    {status::subdoc_xattr_invalid_key_combo, "SubdocXattrInvalidKeyCombo",
     "subdoc: more than one xattr key"},
    {status::subdoc_xattr_unknown_macro, "SubdocXattrUnknownMacro", "subdoc: unknown macro"},
    {status::subdoc_xattr_unknown_vattr, "SubdocXattrUnknownVattr",
     "subdoc: unknown virtual xattr"},
    {status::subdoc_xattr_cant_modify_vattr, "SubdocXattrCantModifyVattr",
     "subdoc: virtual xattrs are read-only"},
    {status::subdoc_multi_path_failure_deleted, "SubdocMultiPathFailureDeleted",
     "subdoc multi on a tombstone: at least one path failed"},
    {status::subdoc_invalid_xattr_order, "SubdocInvalidXattrOrder",
     "subdoc: xattr specs must come first"},
    {status::subdoc_xattr_unknown_vattr_macro, "SubdocXattrUnknownVattrMacro",
     "subdoc: unknown virtual macro"},
    {status::subdoc_can_only_revive_deleted_documents, "SubdocCanOnlyReviveDeletedDocuments",
     "subdoc: document is alive, cannot revive"},
    {status::subdoc_deleted_document_cant_have_value, "SubdocDeletedDocumentCantHaveValue",
     "subdoc: a deleted document cannot have a body"},
    {status::subdoc_field_not_binary_value, "SubdocFieldNotBinaryValue",
     "subdoc: field is not a binary value", mapped_status},
});

constexpr auto make_status_table() {
    std::array<status_facts, status_rows.size()> table{};
    for (std::size_t i = 0; i < table.size(); ++i) {
        const status_row& row = status_rows[i];
        table[i] = {row.code, row.name, row.meaning, row.is_known_to_client, true};
    }
    return table;
}

constexpr auto status_table = make_status_table();

// The position in the table by code. All listed codes are below 256.
constexpr std::uint8_t not_listed = 0xff;
static_assert(status_table.size() < not_listed);

constexpr auto make_status_index() {
    std::array<std::uint8_t, 256> index{};
    index.fill(not_listed);
    for (std::size_t i = 0; i < status_table.size(); ++i) {
        index[static_cast<std::size_t>(status_table[i].code)] = static_cast<std::uint8_t>(i);
    }
    return index;
}

constexpr auto status_index = make_status_index();
constexpr status_facts unlisted_status{};

}  // namespace

const status_facts& status_info(status code) noexcept {
    const auto number = static_cast<std::size_t>(code);
    if (number >= status_index.size() || status_index[number] == not_listed) {
        return unlisted_status;
    }
    return status_table[status_index[number]];
}

std::span<const status_facts> all_statuses() noexcept {
    return status_table;
}

std::string_view to_string(status code) noexcept {
    return status_info(code).name;
}

}  // namespace reprise::wire
