#include <array>

#include <reprise/engine/status_meaning.hpp>

#include "explain/table.hpp"

namespace reprise::app {

namespace {

using couchbase::errc;
using couchbase::retry_reason;
using wire::status;

struct status_advice {
    status code;
    std::string_view text;
};
constexpr std::string_view replication_advice =
    "Nothing: it belongs to the replication protocol, which this client does not use.";
constexpr std::string_view full_advice =
    "Free space in the bucket, or give it more memory or disk; until then it refuses writes.";
constexpr auto status_table = std::to_array<status_advice>({
    {status::success, "Nothing."},
    {status::dcp_stream_not_found, replication_advice},
    {status::opaque_no_match, replication_advice},
    {status::rollback, replication_advice},
    {status::dcp_stream_id_invalid, replication_advice},
    {status::econfig_only,
     "Nothing: this node does not hold the bucket's data, and the client follows "
     "the error map."},
    {status::ewould_throttle, "Send fewer requests."},
    {status::cas_value_invalid, "Use a CAS returned by a read or a write."},
    {status::auth_continue, "Nothing: it is a step of every login."},
    {status::erange, "Correct the number in the request."},
    {status::encryption_key_not_available, "Provide the node with its encryption key again."},
    {status::checksum_mismatch, "Check the node's disk and memory: data is corrupt."},
    {status::expiry_overflow, "Use an earlier expiry."},
    {status::lock_expiry_overflow, "Use a shorter lock time."},
    {status::bucket_size_limit_exceeded, full_advice},
    {status::bucket_resident_ratio_too_low, full_advice},
    {status::bucket_data_size_too_big, full_advice},
    {status::bucket_disk_space_too_low, full_advice},
    {status::bucket_paused, "Resume the bucket on the server."},
    {status::cancelled, "Nothing was changed: try again if you still need it."},
    {status::unknown_frame_info, "Omit the option: the server is too old for it."},
    {status::no_collections_manifest, "Use the default collection, or a newer server."},
    {status::cannot_apply_collections_manifest, "Read the manifest again, then change it."},
    {status::collections_manifest_is_ahead, "Nothing: the node catches up."},
    {status::range_scan_more, "Nothing: more of the scan follows."},
    {status::range_scan_complete, "Nothing: the scan is over."},
    {status::subdoc_multi_path_failure,
     "Look at the result of each path: the other paths succeeded."},
    {status::subdoc_success_deleted, "Nothing: it succeeded on a deleted document."},
    {status::subdoc_multi_path_failure_deleted,
     "Look at the result of each path: the other paths succeeded."},
    {status::subdoc_field_not_binary_value, "Read the field as JSON: it is not binary."},
});

}  // namespace

std::optional<errc> error_of(status code) noexcept {
    const auto meaning = engine::usual_meaning(code);
    return meaning && meaning->reason == retry_reason::unknown ? std::optional(meaning->error)
                                                               : std::nullopt;
}

std::optional<retry_reason> reason_of(status code) noexcept {
    const auto meaning = engine::usual_meaning(code);
    return meaning && meaning->reason != retry_reason::unknown ? std::optional(meaning->reason)
                                                               : std::nullopt;
}

std::string_view advice_on(status code) noexcept {
    if (const auto reason = reason_of(code)) {
        return info(*reason).advice;
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
