#include <cstdint>
#include <utility>
#include <vector>

#include <reprise/wire/error_map.hpp>
#include <reprise/wire/status.hpp>

namespace reprise::wire {

namespace {

struct status_attributes {
    wire::status code;
    error_attributes attributes;
};

// The revision of the table below. Increase it with each change.
constexpr std::int64_t default_map_revision = 1;

using mark = error_attribute;

constexpr status_attributes status_attribute_table[] = {
    {status::success, {mark::success}},
    {status::key_enoent, {mark::item_only}},
    {status::key_eexists, {mark::item_only}},
    {status::e2big, {mark::item_only, mark::invalid_input}},
    {status::einval, {mark::internal, mark::invalid_input}},
    {status::not_stored, {mark::internal, mark::item_only}},
    {status::delta_badval, {mark::item_only, mark::invalid_input}},
    {status::not_my_vbucket, {mark::fetch_config, mark::invalid_input}},
    {status::no_bucket, {mark::conn_state_invalidated}},
    {status::locked, {mark::item_locked, mark::item_only, mark::retry_now}},
    {status::dcp_stream_not_found, {mark::conn_state_invalidated}},
    {status::opaque_no_match, {mark::conn_state_invalidated}},
    {status::ewould_throttle, {mark::temp, mark::retry_later, mark::rate_limit}},
    {status::econfig_only, {mark::fetch_config, mark::retry_now}},
    {status::not_locked, {mark::item_only}},
    {status::cas_value_invalid, {mark::item_only}},
    {status::auth_stale, {mark::conn_state_invalidated, mark::auth}},
    {status::auth_error, {mark::conn_state_invalidated, mark::auth}},
    {status::auth_continue, {mark::special_handling}},
    {status::erange, {mark::invalid_input}},
    {status::rollback, {mark::dcp, mark::special_handling}},
    {status::eaccess, {mark::support}},
    {status::not_initialized, {mark::conn_state_invalidated}},
    {status::encryption_key_not_available, {mark::special_handling}},
    {status::checksum_mismatch, {mark::special_handling}},
    {status::expiry_overflow, {mark::item_only, mark::system_constraint, mark::no_retry}},
    {status::lock_expiry_overflow, {mark::item_only, mark::system_constraint, mark::no_retry}},
    {status::rate_limited_network_ingress, {mark::temp, mark::retry_later, mark::rate_limit}},
    {status::rate_limited_network_egress, {mark::temp, mark::retry_later, mark::rate_limit}},
    {status::rate_limited_max_connections, {mark::conn_state_invalidated, mark::rate_limit}},
    {status::rate_limited_max_commands, {mark::temp, mark::retry_later, mark::rate_limit}},
    {status::bucket_size_limit_exceeded,
     {mark::item_only, mark::system_constraint, mark::no_retry}},
    {status::bucket_resident_ratio_too_low,
     {mark::item_only, mark::system_constraint, mark::no_retry}},
    {status::bucket_data_size_too_big, {mark::item_only, mark::system_constraint, mark::no_retry}},
    {status::bucket_disk_space_too_low, {mark::item_only, mark::system_constraint, mark::no_retry}},
    {status::bucket_paused, {mark::support}},
    {status::cancelled, {mark::item_only, mark::retry_now}},
    {status::unknown_frame_info, {mark::support}},
    {status::unknown_command, {mark::support}},
    {status::enomem, {mark::temp, mark::retry_later}},
    {status::not_supported, {mark::support}},
    {status::einternal, {mark::internal, mark::conn_state_invalidated}},
    {status::ebusy, {mark::temp, mark::retry_now}},
    {status::etmpfail, {mark::temp, mark::retry_now}},
    {status::xattr_einval, {mark::invalid_input}},
    {status::unknown_collection, {mark::invalid_input}},
    {status::cannot_apply_collections_manifest, {mark::invalid_input}},
    {status::unknown_scope, {mark::invalid_input}},
    {status::dcp_stream_id_invalid, {mark::invalid_input}},
    {status::durability_invalid_level, {mark::invalid_input}},
    {status::durability_impossible, {mark::item_only, mark::invalid_input}},
    {status::sync_write_in_progress, {mark::item_only, mark::retry_later}},
    {status::sync_write_ambiguous, {mark::item_only}},
    {status::sync_write_re_commit_in_progress, {mark::item_only, mark::retry_later}},
    {status::range_scan_cancelled, {mark::success}},
    {status::range_scan_more, {mark::success}},
    {status::range_scan_complete, {mark::success}},
    {status::vb_uuid_not_equal, {mark::invalid_input}},
    {status::subdoc_path_enoent, {mark::subdoc, mark::item_only}},
    {status::subdoc_path_mismatch, {mark::subdoc, mark::item_only}},
    {status::subdoc_path_einval, {mark::subdoc, mark::invalid_input}},
    {status::subdoc_path_e2big, {mark::subdoc, mark::invalid_input}},
    {status::subdoc_doc_e2deep, {mark::subdoc, mark::invalid_input}},
    {status::subdoc_value_cantinsert, {mark::subdoc, mark::invalid_input}},
    {status::subdoc_doc_not_json, {mark::subdoc, mark::item_only}},
    {status::subdoc_num_erange, {mark::subdoc, mark::item_only}},
    {status::subdoc_delta_einval, {mark::subdoc, mark::item_only}},
    {status::subdoc_path_eexists, {mark::subdoc, mark::item_only}},
    {status::subdoc_value_etoodeep, {mark::subdoc, mark::invalid_input, mark::item_only}},
    {status::subdoc_invalid_combo, {mark::subdoc, mark::invalid_input}},
    {status::subdoc_multi_path_failure, {mark::subdoc, mark::special_handling}},
    {status::subdoc_success_deleted, {mark::item_deleted, mark::success, mark::subdoc}},
    {status::subdoc_xattr_invalid_flag_combo, {mark::subdoc, mark::invalid_input}},
    {status::subdoc_xattr_invalid_key_combo, {mark::subdoc, mark::invalid_input}},
    {status::subdoc_xattr_unknown_macro, {mark::subdoc, mark::invalid_input}},
    {status::subdoc_xattr_unknown_vattr, {mark::subdoc, mark::invalid_input}},
    {status::subdoc_xattr_cant_modify_vattr, {mark::subdoc, mark::invalid_input}},
    {status::subdoc_multi_path_failure_deleted,
     {mark::item_deleted, mark::subdoc, mark::special_handling}},
    {status::subdoc_invalid_xattr_order, {mark::subdoc, mark::invalid_input}},
    {status::subdoc_xattr_unknown_vattr_macro, {mark::subdoc, mark::invalid_input}},
    {status::subdoc_can_only_revive_deleted_documents, {mark::subdoc, mark::item_only}},
    {status::subdoc_deleted_document_cant_have_value, {mark::subdoc, mark::item_only}},
    {status::subdoc_field_not_binary_value, {mark::subdoc, mark::item_only}},
};

error_map make_default_error_map() {
    std::vector<error_map_entry> entries;
    for (const status_attributes& each : status_attribute_table) {
        const status_facts& facts = status_info(each.code);
        error_map_entry entry;
        entry.code = static_cast<std::uint16_t>(each.code);
        entry.name = facts.name;
        entry.description = facts.meaning;
        entry.attributes = each.attributes;
        entries.push_back(std::move(entry));
    }
    return error_map(2, default_map_revision, std::move(entries));
}

}  // namespace

const error_map& default_error_map() {
    static const error_map map = make_default_error_map();
    return map;
}

}  // namespace reprise::wire
