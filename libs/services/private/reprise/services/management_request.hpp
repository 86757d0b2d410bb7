#pragma once

#include <cstdint>
#include <expected>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <reprise/services/http_exchange.hpp>
#include <reprise/services/service_outcome.hpp>

// Requests to the cluster manager: buckets, scopes, collections, and anything else by path. Only
// GET and HEAD requests are idempotent.

namespace reprise::services {

using couchbase::bucket_settings;
using couchbase::collection_settings;

// All of these fail with text_missing for an empty name and with dot_segment for `.` and `..` in
// the path.

/// POST /pools/default/buckets. The server answers 202 when creation has started.
service_call_result make_create_bucket_call(const bucket_settings& bucket);
/// POST /pools/default/buckets/<bucket>. Sends everything that may change later.
service_call_result make_update_bucket_call(const bucket_settings& bucket);
/// DELETE /pools/default/buckets/<bucket>
service_call_result make_drop_bucket_call(std::string_view bucket);
/// POST /pools/default/buckets/<bucket>/controller/doFlush
service_call_result make_flush_bucket_call(std::string_view bucket);
/// GET /pools/default/buckets/<bucket>
service_call_result make_get_bucket_call(std::string_view bucket);
/// GET /pools/default/buckets
service_call make_list_buckets_call();

/// The answers of all but the list are {"uid":"<manifest uid>"}.
service_call_result make_create_scope_call(std::string_view bucket, std::string_view scope);
service_call_result make_drop_scope_call(std::string_view bucket, std::string_view scope);
service_call_result make_create_collection_call(
    std::string_view bucket, const collection_settings& collection);
service_call_result make_drop_collection_call(
    std::string_view bucket, std::string_view scope, std::string_view collection);
/// GET .../scopes. The answer is a manifest; see parse_collections_manifest().
service_call_result make_list_scopes_call(std::string_view bucket);

/// Fails with option_out_of_place (a service without HTTP), text_missing (method), target_invalid
/// (it must start with `/` and be percent-encoded), or dot_segment (even if percent-encoded).
service_call_result make_raw_call(const couchbase::management_request& request);

/// Returns the body of a POST to the cluster manager, for example "a=1&b=x%20y".
std::string encode_form(const std::vector<std::pair<std::string, std::string>>& fields);

/// The largest body that these two parsers accept from a cluster manager.
inline constexpr std::size_t bucket_list_size_max_bytes = std::size_t{16} * 1024 * 1024;

/// Parses one bucket from the answer to GET .../buckets/<bucket>. Members missing in the answer
/// keep the defaults of bucket_settings.
std::expected<bucket_settings, outcome_error> parse_bucket(std::string_view body);
std::expected<std::vector<bucket_settings>, outcome_error> parse_bucket_list(std::string_view body);

/// Classifies an answer of the cluster manager (or to a design document request). `target` is the
/// request's target, because 404 alone does not show what is missing. None of these answers is ever
/// retried. 2xx is a success; 4xx codes without a specific meaning are invalid_argument.
std::optional<errc> classify_management(
    int http_status, std::string_view target, std::string_view body) noexcept;

/// The answer is kept whole, 2xx is success, and no status is retried. Idempotent if it is a GET or
/// HEAD.
[[nodiscard]] service_operation make_management_operation(service_call call);

}  // namespace reprise::services
