#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <reprise/json/value.hpp>
#include <reprise/sandbox/services.hpp>

#include "cluster_state.hpp"
#include "http_services/documents.hpp"
#include "http_services/query/value.hpp"
#include "http_services/views/view_design.hpp"

namespace reprise::sandbox::detail {

// A secondary or primary index. It does not order anything; it only determines which plans are
// possible.
struct query_index {
    std::string name;
    keyspace on;
    std::string id;                 // 16 hexadecimal digits
    std::vector<std::string> keys;  // texts of the indexed expressions; none for a primary index
    std::string condition;
    bool is_primary = false;
    bool is_online = true;
    std::uint32_t replica_count = 0;  // shown in the catalogue only
};

struct prepared_statement {
    std::string text;  // of the statement itself
    std::string query_context;
};

struct search_index {
    std::string uuid;
    std::string bucket;
    std::string scope;  // empty: over the whole bucket, created through the older paths
    json::object definition;
};

inline constexpr std::size_t prepared_count_max = 16'384;
inline constexpr std::size_t definition_count_max = 10'000;

struct query_body;

struct service_state {
    explicit service_state(cluster_state& owner);

    cluster_state& cluster;
    service_fault_list faults;
    service_audit_log audit;
    // Separate from the cluster's generator, so that statements do not change its uuids.
    random_generator random;
    std::map<std::string, prepared_statement, std::less<>> prepared;  // by name
    std::vector<query_index> indexes;
    std::map<std::string, search_index, std::less<>> search_indexes;  // by name or b.s.name
    // By bucket and name.
    std::map<std::pair<std::string, std::string>, design_document> design_documents;

    std::string random_hex(std::size_t digit_count);
    std::string random_uuid_text();
    // Removes everything that belonged to a dropped bucket.
    void forget_bucket(std::string_view bucket);
};

// One request while it is answered.
struct service_exchange {
    service_state& services;
    sandbox::cluster& cluster;
    node_id node;
    const service_request& request;
    time_point now;
    std::vector<std::string> parts;  // of the path, decoded
    const user_options* user = nullptr;
    detail::rights rights{};            // of the user
    const query_body* query = nullptr;  // of requests to the query and analytics ports
    // The entry that the audit will record.
    service_audit_entry& audit;
    // The statement runs longer than its request allows.
    bool is_out_of_time = false;

    bool is(std::string_view method) const noexcept { return request.method == method; }
    // Null: no user.
    void log_in(const user_options* who);
    // Whether the bucket is visible to the user. A missing bucket is visible to users who can see
    // all buckets.
    bool can_see(std::string_view bucket) const;
    bool can_see(std::string_view bucket, privilege needs) const {
        return can_see(bucket) && has_all(rights.somewhere_in(bucket), needs);
    }
};

service_response make_service_response(
    int status, std::string body, std::string_view content_type = "application/json");

}  // namespace reprise::sandbox::detail
