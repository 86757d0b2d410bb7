#include <reprise/services/management_request.hpp>

#include <utility>

#include <reprise/base/percent_encoding.hpp>
#include <reprise/services/service_kind.hpp>

#include "path_segment.hpp"

namespace reprise::services {

namespace {

using form_fields = std::vector<std::pair<std::string, std::string>>;

constexpr std::string_view buckets_path = "/pools/default/buckets";

struct path_part {
    std::string_view what;  // the name used in the error
    std::string_view name;
    std::string_view before;  // for example "/scopes/"
};

// Returns /pools/default/buckets/<bucket>[/scopes/<scope>...].
std::expected<std::string, service_call_error> make_bucket_path(
    std::initializer_list<path_part> parts) {
    std::string path(buckets_path);
    for (const path_part& part : parts) {
        if (part.name.empty()) {
            return std::unexpected(
                service_call_error{service_call_errc::text_missing, std::string(part.what)});
        }
        if (detail::is_dot_segment(part.name)) {
            return std::unexpected(
                service_call_error{service_call_errc::dot_segment, std::string(part.what)});
        }
        path += part.before;
        base::append_percent_encoded(path, part.name);
    }
    return path;
}

service_call_result make_managed(
    std::string method, std::expected<std::string, service_call_error> path,
    std::string_view suffix = {}, const form_fields& form = {}) {
    if (!path) {
        return std::unexpected(std::move(path.error()));
    }
    service_call call;
    call.is_idempotent = method == "GET";
    call.method = std::move(method);
    call.target = *std::move(path);
    call.target += suffix;
    if (!form.empty()) {
        call.content_type = "application/x-www-form-urlencoded";
        call.body = encode_form(form);
    }
    return call;
}

std::string_view bucket_type_text(couchbase::bucket_kind kind) noexcept {
    switch (kind) {
        case couchbase::bucket_kind::couchbase:
            return "membase";  // the server's historical name for it
        case couchbase::bucket_kind::ephemeral:
            return "ephemeral";
        case couchbase::bucket_kind::memcached:
            break;
    }
    return "memcached";
}

// The fields that may be sent both when a bucket is created and later.
form_fields make_bucket_form(const bucket_settings& bucket) {
    form_fields form;
    const auto flag = [&](std::string_view name, std::optional<bool> value) {
        if (value) {
            form.emplace_back(name, *value ? "1" : "0");
        }
    };
    const auto word = [&](std::string_view name, const std::string& value) {
        if (!value.empty()) {
            form.emplace_back(name, value);
        }
    };
    form.emplace_back("ramQuotaMB", std::to_string(bucket.ram_quota_mb));
    if (bucket.replica_count) {
        form.emplace_back("replicaNumber", std::to_string(*bucket.replica_count));
    }
    flag("flushEnabled", bucket.is_flush_enabled);
    if (bucket.expiry_max) {
        form.emplace_back("maxTTL", std::to_string(bucket.expiry_max->count()));
    }
    word("evictionPolicy", bucket.eviction_policy);
    word("compressionMode", bucket.compression_mode);
    word("durabilityMinLevel", bucket.durability_min_level);
    word("storageBackend", bucket.storage_backend);
    return form;
}

constexpr bool is_target_letter(char letter) noexcept {
    return letter > 0x20 && letter < 0x7f;
}

}  // namespace

std::string encode_form(const std::vector<std::pair<std::string, std::string>>& fields) {
    std::string out;
    for (const auto& [name, value] : fields) {
        if (!out.empty()) {
            out += '&';
        }
        base::append_percent_encoded(out, name);
        out += '=';
        base::append_percent_encoded(out, value);
    }
    return out;
}

service_call_result make_create_bucket_call(const bucket_settings& bucket) {
    if (bucket.name.empty()) {
        return std::unexpected(service_call_error{service_call_errc::text_missing, "bucket"});
    }
    form_fields form = make_bucket_form(bucket);
    form.emplace_back("name", bucket.name);
    form.emplace_back("bucketType", bucket_type_text(bucket.kind));
    if (bucket.has_replica_index) {
        form.emplace_back("replicaIndex", *bucket.has_replica_index ? "1" : "0");
    }
    if (!bucket.conflict_resolution.empty()) {
        form.emplace_back("conflictResolutionType", bucket.conflict_resolution);
    }
    return make_managed("POST", std::string(buckets_path), {}, form);
}

service_call_result make_update_bucket_call(const bucket_settings& bucket) {
    return make_managed(
        "POST", make_bucket_path({{"bucket", bucket.name, "/"}}), {}, make_bucket_form(bucket));
}

service_call_result make_drop_bucket_call(std::string_view bucket) {
    return make_managed("DELETE", make_bucket_path({{"bucket", bucket, "/"}}));
}

service_call_result make_flush_bucket_call(std::string_view bucket) {
    return make_managed("POST", make_bucket_path({{"bucket", bucket, "/"}}), "/controller/doFlush");
}

service_call_result make_get_bucket_call(std::string_view bucket) {
    return make_managed("GET", make_bucket_path({{"bucket", bucket, "/"}}));
}

service_call make_list_buckets_call() {
    service_call call;
    call.target = buckets_path;
    call.is_idempotent = true;
    return call;
}

service_call_result make_create_scope_call(std::string_view bucket, std::string_view scope) {
    if (scope.empty()) {
        return std::unexpected(service_call_error{service_call_errc::text_missing, "scope"});
    }
    return make_managed(
        "POST", make_bucket_path({{"bucket", bucket, "/"}}), "/scopes",
        {{"name", std::string(scope)}});
}

service_call_result make_drop_scope_call(std::string_view bucket, std::string_view scope) {
    return make_managed(
        "DELETE", make_bucket_path({{"bucket", bucket, "/"}, {"scope", scope, "/scopes/"}}));
}

service_call_result make_create_collection_call(
    std::string_view bucket, const collection_settings& collection) {
    if (collection.name.empty()) {
        return std::unexpected(service_call_error{service_call_errc::text_missing, "collection"});
    }
    form_fields form{{"name", collection.name}};
    if (collection.expiry_max) {
        form.emplace_back("maxTTL", std::to_string(collection.expiry_max->count()));
    }
    if (collection.has_history) {
        form.emplace_back("history", *collection.has_history ? "true" : "false");
    }
    return make_managed(
        "POST",
        make_bucket_path({{"bucket", bucket, "/"}, {"scope", collection.scope, "/scopes/"}}),
        "/collections", form);
}

service_call_result make_drop_collection_call(
    std::string_view bucket, std::string_view scope, std::string_view collection) {
    return make_managed(
        "DELETE", make_bucket_path(
                      {{"bucket", bucket, "/"},
                       {"scope", scope, "/scopes/"},
                       {"collection", collection, "/collections/"}}));
}

service_call_result make_list_scopes_call(std::string_view bucket) {
    return make_managed("GET", make_bucket_path({{"bucket", bucket, "/"}}), "/scopes");
}

service_call_result make_raw_call(const couchbase::management_request& request) {
    if (request.service == service_kind::key_value) {
        return std::unexpected(service_call_error{
            service_call_errc::option_out_of_place, "service: key_value does not speak HTTP"});
    }
    if (request.method.empty()) {
        return std::unexpected(service_call_error{service_call_errc::text_missing, "method"});
    }
    bool is_good = request.target.starts_with('/');
    for (const char letter : request.target) {
        is_good = is_good && is_target_letter(letter);
    }
    if (!is_good) {
        return std::unexpected(
            service_call_error{service_call_errc::target_invalid, request.target});
    }
    if (detail::has_dot_segment(request.target)) {
        return std::unexpected(service_call_error{service_call_errc::dot_segment, request.target});
    }
    service_call call;
    call.is_idempotent = request.method == "GET" || request.method == "HEAD";
    call.service = to_wire(request.service);
    call.method = request.method;
    call.target = request.target;
    call.content_type = request.content_type;
    call.body = request.body;
    return call;
}

}  // namespace reprise::services
