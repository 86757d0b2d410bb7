#pragma once

#include <string_view>

namespace reprise::services {

// What the answer of an HTTP service means: the names and numbers all Couchbase SDKs share. The
// classifiers of the services give these; whether a retry may help is theirs to say, not the
// name's.
enum class service_errc : int {
    none = 0,  // success
    // Common to all services.
    invalid_argument = 3,         // the service refused a parameter
    service_not_available = 4,    // HTTP 503 without a word
    internal_server_failure = 5,  // the service failed, or answered with an unlisted code
    authentication_failure = 6,   // HTTP 401, or the service's own code
    temporary_failure = 7,        // the service asks to come back
    parsing_failure = 8,          // the statement cannot be read
    cas_mismatch = 9,
    bucket_not_found = 10,
    collection_not_found = 11,
    unambiguous_timeout = 14,    // the service gave up in time and did nothing
    feature_not_available = 15,  // this server does not know what was asked for
    scope_not_found = 16,
    index_not_found = 17,
    index_exists = 18,
    decoding_failure = 20,  // an answer that is not of the promised shape
    rate_limited = 21,      // a limit of the user's requests or bytes in a time
    quota_limited = 22,     // a limit of how much the user may have
    // Key-value, as reported by query.
    document_not_found = 101,
    document_exists = 105,
    // Query.
    planning_failure = 201,
    index_failure = 202,
    prepared_statement_failure = 203,
    dml_failure = 204,
    // Analytics.
    compilation_failure = 301,
    job_queue_full = 302,
    dataset_not_found = 303,
    dataverse_not_found = 304,
    dataset_exists = 305,
    dataverse_exists = 306,
    link_not_found = 307,
    link_exists = 308,
    // Search.
    index_not_ready = 401,
    consistency_mismatch = 402,
    // Views.
    view_not_found = 501,
    design_document_not_found = 502,
    // Management.
    collection_exists = 601,
    scope_exists = 602,
    user_not_found = 603,
    group_not_found = 604,
    bucket_exists = 605,
    user_exists = 606,
    bucket_not_flushable = 607
};

// The enumerator's name, e.g. "planning_failure"; "unknown" for other numbers.
std::string_view to_string(service_errc error) noexcept;

}  // namespace reprise::services
