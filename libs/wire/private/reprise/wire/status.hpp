#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace reprise::wire {

/// Bytes 6..7 of a response. Any 16-bit value may arrive, so a value may be outside the list.
/// `status_info` returns its meaning in this library; the server's error map has the server's
/// description.
enum class status : std::uint16_t {
    success = 0x00,               ///< done
    key_enoent = 0x01,            ///< no such document, configuration or bucket
    key_eexists = 0x02,           ///< document exists, or its CAS differs
    e2big = 0x03,                 ///< value over the size limit
    einval = 0x04,                ///< malformed request; the error context usually explains it
    not_stored = 0x05,            ///< not stored; append/prepend on a missing key
    delta_badval = 0x06,          ///< incr/decr on a non-numeric value
    not_my_vbucket = 0x07,        ///< vbucket not served by this node; retried with a newer map
    no_bucket = 0x08,             ///< no bucket selected on this connection
    locked = 0x09,                ///< locked by another client; retried
    dcp_stream_not_found = 0x0a,  ///< no such stream; DCP only
    opaque_no_match = 0x0b,       ///< opaque does not match; DCP only
    ewould_throttle = 0x0c,       ///< would have been throttled (only with HELLO 0x1b)
    econfig_only = 0x0d,          ///< the node has only the configuration of the bucket
    not_locked = 0x0e,            ///< unlock of an unlocked document
    cas_value_invalid = 0x0f,     ///< the CAS is not a legal value
    auth_stale = 0x1f,            ///< credentials expired; authenticate again
    auth_error = 0x20,            ///< wrong credentials or unknown mechanism
    auth_continue = 0x21,         ///< SASL: continue with SASL_STEP
    erange = 0x22,                ///< value out of legal range
    rollback = 0x23,              ///< rollback needed; DCP only
    eaccess = 0x24,               ///< not authenticated, or a privilege is missing
    not_initialized = 0x25,       ///< the node is still initialising
    encryption_key_not_available = 0x26,   ///< encryption key missing
    checksum_mismatch = 0x27,              ///< checksum mismatch
    expiry_overflow = 0x28,                ///< expiry does not fit 32 bits
    lock_expiry_overflow = 0x29,           ///< lock time does not fit 32 bits
    rate_limited_network_ingress = 0x30,   ///< rate limit: ingress
    rate_limited_network_egress = 0x31,    ///< rate limit: egress
    rate_limited_max_connections = 0x32,   ///< rate limit: connections
    rate_limited_max_commands = 0x33,      ///< rate limit: commands
    scope_size_limit_exceeded = 0x34,      ///< scope size limit; older servers only
    bucket_size_limit_exceeded = 0x35,     ///< bucket size limit
    bucket_resident_ratio_too_low = 0x36,  ///< resident ratio too low, writes refused
    bucket_data_size_too_big = 0x37,       ///< bucket data size too big, writes refused
    bucket_disk_space_too_low = 0x38,      ///< disk space too low, writes refused
    bucket_paused = 0x50,                  ///< bucket paused
    cancelled = 0x51,                      ///< cancelled, nothing changed
    unknown_frame_info = 0x80,             ///< unknown request frame-info id
    unknown_command = 0x81,                ///< opcode unknown to server
    enomem = 0x82,                         ///< server out of memory
    not_supported = 0x83,                  ///< opcode or feature not supported here
    einternal = 0x84,                      ///< internal server error
    ebusy = 0x85,                          ///< busy
    etmpfail = 0x86,                       ///< temporary failure; retried
    xattr_einval = 0x87,                   ///< bad xattr blob or key
    unknown_collection = 0x88,       ///< collection id or path unknown; the id is resolved again
    no_collections_manifest = 0x89,  ///< no collections manifest; older servers only
    cannot_apply_collections_manifest = 0x8a,  ///< manifest cannot be applied (management only)
    collections_manifest_is_ahead = 0x8b,      ///< manifest is ahead; older servers only
    unknown_scope = 0x8c,                      ///< scope unknown (0xbb/0xbc)
    dcp_stream_id_invalid = 0x8d,              ///< invalid stream id; DCP only
    durability_invalid_level = 0xa0,           ///< durability level illegal here
    durability_impossible = 0xa1,              ///< not enough replicas for the level
    sync_write_in_progress = 0xa2,             ///< another sync write pending on the key; retried
    sync_write_ambiguous = 0xa3,               ///< sync write outcome unknown; never retried
    /// A sync write is being committed again after a failover; retried.
    sync_write_re_commit_in_progress = 0xa4,
    range_scan_cancelled = 0xa5,             ///< range scan cancelled
    range_scan_more = 0xa6,                  ///< range scan: more data
    range_scan_complete = 0xa7,              ///< range scan: done
    vb_uuid_not_equal = 0xa8,                ///< range scan: vbucket uuid differs
    subdoc_path_enoent = 0xc0,               ///< path missing
    subdoc_path_mismatch = 0xc1,             ///< path does not match the structure of the document
    subdoc_path_einval = 0xc2,               ///< invalid path syntax
    subdoc_path_e2big = 0xc3,                ///< path too long
    subdoc_doc_e2deep = 0xc4,                ///< document too deep
    subdoc_value_cantinsert = 0xc5,          ///< value cannot be inserted as JSON
    subdoc_doc_not_json = 0xc6,              ///< document is not JSON
    subdoc_num_erange = 0xc7,                ///< existing number does not fit int64
    subdoc_delta_einval = 0xc8,              ///< delta is zero, not an integer or out of range
    subdoc_path_eexists = 0xc9,              ///< path already exists
    subdoc_value_etoodeep = 0xca,            ///< value would nest the document too deeply
    subdoc_invalid_combo = 0xcb,             ///< invalid mix of commands, or too many paths
    subdoc_multi_path_failure = 0xcc,        ///< at least one path failed; body has details
    subdoc_success_deleted = 0xcd,           ///< done on a tombstone
    subdoc_xattr_invalid_flag_combo = 0xce,  ///< invalid combination of path flags
    subdoc_xattr_invalid_key_combo = 0xcf,   ///< more than one xattr key
    subdoc_xattr_unknown_macro = 0xd0,       ///< unknown macro
    subdoc_xattr_unknown_vattr = 0xd1,       ///< unknown virtual xattr
    subdoc_xattr_cant_modify_vattr = 0xd2,   ///< virtual xattrs are read-only
    subdoc_multi_path_failure_deleted = 0xd3,         ///< on a tombstone: at least one path failed
    subdoc_invalid_xattr_order = 0xd4,                ///< xattr specs must come first
    subdoc_xattr_unknown_vattr_macro = 0xd5,          ///< unknown virtual macro
    subdoc_can_only_revive_deleted_documents = 0xd6,  ///< document is alive, cannot revive
    subdoc_deleted_document_cant_have_value = 0xd7,   ///< a deleted document cannot have a body
    subdoc_field_not_binary_value = 0xd8,             ///< field is not a binary value
};

struct status_facts {
    wire::status code{};
    std::string_view name = "Unknown";  ///< the server's name, for example "KeyEnoent"
    std::string_view meaning = "status not in the table";
    /// The client decides on its own about this code. For all others it consults the error map.
    bool is_known_to_client = false;
    /// The server has the code in its table. It may still be unknown to the client.
    bool is_listed = false;
};

/// Never fails. For a code outside the table `is_listed` and `is_known_to_client` are false.
const status_facts& status_info(status code) noexcept;
/// All listed statuses, in ascending order of code.
std::span<const status_facts> all_statuses() noexcept;

/// Whether the client decides about the code. The error map cannot override it.
inline bool is_known_to_client(status code) noexcept {
    return status_info(code).is_known_to_client;
}

/// Whether the command as a whole succeeded, so that the body has the shape of a success. This
/// includes 0xcc and 0xd3, where results per path follow, and 0xcd, which means success on a
/// tombstone.
constexpr bool is_success(status code) noexcept {
    return code == status::success || code == status::subdoc_multi_path_failure ||
           code == status::subdoc_success_deleted ||
           code == status::subdoc_multi_path_failure_deleted;
}

/// Whether the value of such a response may be error JSON. It is not for successes, SASL continue
/// and not-my-vbucket, whose value is a cluster configuration.
constexpr bool may_have_error_body(status code) noexcept {
    return !is_success(code) && code != status::not_my_vbucket && code != status::auth_continue;
}

/// Returns the server's name, or "Unknown" for codes outside the table.
std::string_view to_string(status code) noexcept;

}  // namespace reprise::wire
