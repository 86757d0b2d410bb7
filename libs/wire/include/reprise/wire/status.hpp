#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace reprise::wire {

// Bytes 6..7 of a response. Any 16-bit value may arrive, so a value outside the list is legal to
// hold; `status_info` tells what we know of it, and the server's error map what the server says of
// it.
enum class status : std::uint16_t {
    success = 0x00,               // done
    key_enoent = 0x01,            // no such document, configuration or bucket
    key_eexists = 0x02,           // document exists, or its CAS differs
    e2big = 0x03,                 // value over the size limit
    einval = 0x04,                // malformed request; context JSON usually says why
    not_stored = 0x05,            // not stored; append/prepend on a missing key
    delta_badval = 0x06,          // incr/decr on a non-numeric value
    not_my_vbucket = 0x07,        // vbucket not served by this node; retried with a newer map
    no_bucket = 0x08,             // no bucket selected on this connection
    locked = 0x09,                // locked by somebody else; retried
    dcp_stream_not_found = 0x0a,  // no such stream; DCP only
    opaque_no_match = 0x0b,       // opaque does not match; DCP only
    ewould_throttle = 0x0c,       // would have been throttled (only with HELLO 0x1b)
    econfig_only = 0x0d,          // bucket is here as configuration only
    not_locked = 0x0e,            // unlock of an unlocked document
    cas_value_invalid = 0x0f,     // CAS value given is not a legal one
    auth_stale = 0x1f,            // credential expired; re-auth needed
    auth_error = 0x20,            // bad credentials / unknown mechanism
    auth_continue = 0x21,         // SASL: send SASL_STEP
    erange = 0x22,                // value out of legal range
    rollback = 0x23,              // rollback needed; DCP only
    eaccess = 0x24,               // not authenticated, or a privilege is missing
    not_initialized = 0x25,       // node still being initialised
    encryption_key_not_available = 0x26,   // encryption key missing
    checksum_mismatch = 0x27,              // checksum mismatch
    expiry_overflow = 0x28,                // expiry does not fit 32 bit
    lock_expiry_overflow = 0x29,           // lock time does not fit 32 bit
    rate_limited_network_ingress = 0x30,   // rate limit: ingress
    rate_limited_network_egress = 0x31,    // rate limit: egress
    rate_limited_max_connections = 0x32,   // rate limit: connections
    rate_limited_max_commands = 0x33,      // rate limit: commands
    scope_size_limit_exceeded = 0x34,      // scope size limit; earlier servers only
    bucket_size_limit_exceeded = 0x35,     // bucket size limit
    bucket_resident_ratio_too_low = 0x36,  // resident ratio too low, writes refused
    bucket_data_size_too_big = 0x37,       // bucket data size too big, writes refused
    bucket_disk_space_too_low = 0x38,      // disk space too low, writes refused
    bucket_paused = 0x50,                  // bucket paused
    cancelled = 0x51,                      // cancelled, nothing changed
    unknown_frame_info = 0x80,             // unknown request frame-info id
    unknown_command = 0x81,                // opcode unknown to server
    enomem = 0x82,                         // server out of memory
    not_supported = 0x83,                  // opcode/feature not supported here
    einternal = 0x84,                      // internal server error
    ebusy = 0x85,                          // busy
    etmpfail = 0x86,                       // temporary failure; retried
    xattr_einval = 0x87,                   // bad xattr blob or key
    unknown_collection = 0x88,       // collection id or path unknown; the id is resolved again
    no_collections_manifest = 0x89,  // no collections manifest; earlier servers only
    cannot_apply_collections_manifest = 0x8a,  // manifest cannot be applied (management only)
    collections_manifest_is_ahead = 0x8b,      // manifest is ahead; earlier servers only
    unknown_scope = 0x8c,                      // scope unknown (0xbb/0xbc)
    dcp_stream_id_invalid = 0x8d,              // stream id not valid; DCP only
    durability_invalid_level = 0xa0,           // durability level illegal here
    durability_impossible = 0xa1,              // not enough replicas for the level
    sync_write_in_progress = 0xa2,             // another sync write pending on the key; retried
    sync_write_ambiguous = 0xa3,               // sync write outcome unknown; never retried
    sync_write_re_commit_in_progress =
        0xa4,                          // sync write being re-committed after failover; retried
    range_scan_cancelled = 0xa5,       // range scan cancelled
    range_scan_more = 0xa6,            // range scan: more data
    range_scan_complete = 0xa7,        // range scan: done
    vb_uuid_not_equal = 0xa8,          // range scan: vbucket uuid differs
    subdoc_path_enoent = 0xc0,         // path missing
    subdoc_path_mismatch = 0xc1,       // path disagrees with document structure
    subdoc_path_einval = 0xc2,         // path syntax
    subdoc_path_e2big = 0xc3,          // path too long
    subdoc_doc_e2deep = 0xc4,          // document too deep
    subdoc_value_cantinsert = 0xc5,    // value cannot be inserted as JSON
    subdoc_doc_not_json = 0xc6,        // document is not JSON
    subdoc_num_erange = 0xc7,          // existing number out of int64
    subdoc_delta_einval = 0xc8,        // delta zero / not integer / out of range
    subdoc_path_eexists = 0xc9,        // path already there
    subdoc_value_etoodeep = 0xca,      // value would make doc too deep
    subdoc_invalid_combo = 0xcb,       // bad command mix or too many paths
    subdoc_multi_path_failure = 0xcc,  // at least one path failed; body has details
    subdoc_success_deleted = 0xcd,     // done on a tombstone
    subdoc_xattr_invalid_flag_combo = 0xce,           // path flags make no sense
    subdoc_xattr_invalid_key_combo = 0xcf,            // more than one xattr key
    subdoc_xattr_unknown_macro = 0xd0,                // unknown macro
    subdoc_xattr_unknown_vattr = 0xd1,                // unknown virtual xattr
    subdoc_xattr_cant_modify_vattr = 0xd2,            // virtual xattrs are read-only
    subdoc_multi_path_failure_deleted = 0xd3,         // subdoc multi on tombstone: some path failed
    subdoc_invalid_xattr_order = 0xd4,                // xattr specs must come first
    subdoc_xattr_unknown_vattr_macro = 0xd5,          // unknown virtual macro
    subdoc_can_only_revive_deleted_documents = 0xd6,  // document is alive, cannot revive
    subdoc_deleted_document_cant_have_value = 0xd7,   // deleted document cannot take a body
    subdoc_field_not_binary_value = 0xd8,             // field is not a binary value
};

struct status_facts {
    wire::status code{};
    std::string_view name = "Unknown";  // the server's name, e.g. "KeyEnoent"
    std::string_view meaning = "status not in the table";
    // The client decides about this code by itself; the error map is asked about all others.
    bool is_known_to_client = false;
    // The server has the code in its table (it may still be unknown to the client).
    bool is_listed = false;
};

// Never fails: a code outside the table gives `is_listed == false`, `is_known_to_client == false`.
const status_facts& status_info(status code) noexcept;
// Every listed status, ascending by code.
std::span<const status_facts> all_statuses() noexcept;

// The client is the authority on these codes; the error map may not override them.
inline bool is_known_to_client(status code) noexcept {
    return status_info(code).is_known_to_client;
}

// Success of the command as a whole: the body has the shape of a success body. 0xcc and 0xd3 are in
// it (results per path follow), 0xcd (done on a tombstone) too.
constexpr bool is_success(status code) noexcept {
    return code == status::success || code == status::subdoc_multi_path_failure ||
           code == status::subdoc_success_deleted ||
           code == status::subdoc_multi_path_failure_deleted;
}

// Whether the value of such a response may be error JSON: not for successes, SASL continue and
// not-my-vbucket (whose value is a cluster configuration).
constexpr bool may_have_error_body(status code) noexcept {
    return !is_success(code) && code != status::not_my_vbucket && code != status::auth_continue;
}

// The server's name, "Unknown" for codes outside the table.
std::string_view to_string(status code) noexcept;

}  // namespace reprise::wire
