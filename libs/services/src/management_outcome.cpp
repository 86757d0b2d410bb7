#include <limits>
#include <utility>

#include <reprise/json/parse.hpp>
#include <reprise/services/management_request.hpp>

#include "outcome_reader.hpp"

namespace reprise::services {

namespace {

constexpr json::parse_options bucket_list_options{.size_max_bytes = bucket_list_size_max_bytes};

std::expected<bucket_settings, outcome_error> read_bucket(
    const json::value& shown, const std::string& path) {
    bucket_settings bucket;
    bucket.name = detail::text_or_empty(shown, "name");
    if (bucket.name.empty()) {
        return detail::outcome_failure(outcome_errc::missing_member, path + "name", "missing");
    }
    const std::string type = detail::text_or_empty(shown, "bucketType");
    bucket.kind = type == "ephemeral"   ? couchbase::bucket_kind::ephemeral
                  : type == "memcached" ? couchbase::bucket_kind::memcached
                                        : couchbase::bucket_kind::couchbase;
    if (const json::value* const quota = shown.find("quota"); quota != nullptr) {
        bucket.ram_quota_mb =
            detail::number_or_zero(*quota, "rawRAM") / (std::uint64_t{1024} * 1024);
    }
    if (const json::value* const replicas = shown.find("replicaNumber"); replicas != nullptr) {
        const auto count = replicas->as_uint64();
        if (count && *count <= std::numeric_limits<std::uint32_t>::max()) {
            bucket.replica_count = static_cast<std::uint32_t>(*count);
        }
    }
    if (const json::value* const controllers = shown.find("controllers"); controllers != nullptr) {
        bucket.is_flush_enabled = controllers->find("flush") != nullptr;
    }
    if (const json::value* const index = shown.find("replicaIndex"); index != nullptr) {
        bucket.has_replica_index = index->as_bool();
    }
    if (const json::value* const expiry = shown.find("maxTTL"); expiry != nullptr) {
        const auto seconds = expiry->as_int64();
        if (seconds && *seconds >= 0 && *seconds <= std::numeric_limits<std::int32_t>::max()) {
            bucket.expiry_max = std::chrono::seconds(*seconds);
        }
    }
    bucket.eviction_policy = detail::text_or_empty(shown, "evictionPolicy");
    bucket.compression_mode = detail::text_or_empty(shown, "compressionMode");
    bucket.durability_min_level = detail::text_or_empty(shown, "durabilityMinLevel");
    bucket.conflict_resolution = detail::text_or_empty(shown, "conflictResolutionType");
    bucket.storage_backend = detail::text_or_empty(shown, "storageBackend");
    return bucket;
}

std::expected<json::value, outcome_error> parse_managed(std::string_view body) {
    auto document = json::parse(body, bucket_list_options);
    if (!document) {
        return detail::outcome_failure(outcome_errc::not_json, {}, to_string(document.error()));
    }
    return std::move(document->root);
}

bool managed_body_has(std::string_view body, std::string_view part) noexcept {
    return body.find(part) != std::string_view::npos;
}

errc classify_managed_refusal(std::string_view body) noexcept {
    if (managed_body_has(body, "Bucket with given name already exists")) {
        return errc::bucket_exists;
    }
    if (managed_body_has(body, "Flush is disabled")) {
        return errc::bucket_not_flushable;
    }
    // Any name may be in between. Checks "Collection" first, because its text may also contain the
    // scope.
    if (detail::contains_in_order(body, "Collection with name", "already exists")) {
        return errc::collection_exists;
    }
    if (detail::contains_in_order(body, "Scope with name", "already exists")) {
        return errc::scope_exists;
    }
    return errc::invalid_argument;
}

errc classify_managed_absence(std::string_view target, std::string_view body) noexcept {
    if (detail::contains_in_order(body, "Collection with name", "not found")) {
        return errc::collection_not_found;
    }
    if (detail::contains_in_order(body, "Scope with name", "not found")) {
        return errc::scope_not_found;
    }
    if (managed_body_has(body, "Unknown user.") || managed_body_has(body, "User was not found.")) {
        return errc::user_not_found;
    }
    if (managed_body_has(body, "Unknown group.")) {
        return errc::group_not_found;
    }
    if (managed_body_has(target, "/_design/")) {
        return errc::design_document_not_found;
    }
    for (const std::string_view path :
         {"/pools/default/buckets/", "/pools/default/b/", "/pools/default/bs/"}) {
        if (target.starts_with(path)) {
            return errc::bucket_not_found;
        }
    }
    return errc::feature_not_available;  // this server does not offer the path
}

}  // namespace

std::expected<bucket_settings, outcome_error> parse_bucket(std::string_view body) {
    const auto shown = parse_managed(body);
    if (!shown) {
        return std::unexpected(shown.error());
    }
    return read_bucket(*shown, {});
}

std::expected<std::vector<bucket_settings>, outcome_error> parse_bucket_list(
    std::string_view body) {
    const auto shown = parse_managed(body);
    if (!shown) {
        return std::unexpected(shown.error());
    }
    const json::array* const list = shown->as_array();
    if (list == nullptr) {
        return detail::outcome_failure(outcome_errc::wrong_type, {}, "not an array");
    }
    std::vector<bucket_settings> buckets;
    for (std::size_t i = 0; i < list->size(); ++i) {
        auto bucket = read_bucket((*list)[i], '[' + std::to_string(i) + "].");
        if (!bucket) {
            return std::unexpected(std::move(bucket.error()));
        }
        buckets.push_back(*std::move(bucket));
    }
    return buckets;
}

std::optional<errc> classify_management(
    int http_status, std::string_view target, std::string_view body) noexcept {
    if (http_status >= 200 && http_status < 300) {
        return std::nullopt;
    }
    switch (http_status) {
        case 400:
            return classify_managed_refusal(body);
        case 401:
        case 403:
            return errc::authentication_failure;
        case 404:
            return classify_managed_absence(target, body);
        case 429:
            if (managed_body_has(
                    body, "Maximum number of collections has been reached for scope")) {
                return errc::quota_limited;
            }
            return errc::rate_limited;
        case 503:
            return errc::service_not_available;
        default:
            break;
    }
    return http_status >= 400 && http_status < 500 ? errc::invalid_argument
                                                   : errc::internal_server_failure;
}

}  // namespace reprise::services
