#pragma once

#include <string_view>
#include <system_error>

#include <reprise/retry/failure_facts.hpp>

// The errors of the client: the taxonomy all Couchbase SDKs share, with its numbers, and our own
// additions from 1101. Needs the standard library and reprise::retry only; part of the vocabulary
// that users see.

namespace reprise::couchbase {

// Category "reprise.couchbase". Each name says the condition, not who is to blame.
enum class errc : int {
    // Common to all services.
    request_canceled = 2,         // stopped, or its connection closed in flight; may be ambiguous
    invalid_argument = 3,         // refused by a check here or by the server: 0x04, 0x87, 0xcb, ...
    service_not_available = 4,    // no node of the cluster offers the service
    internal_server_failure = 5,  // 0x84
    authentication_failure = 6,   // 0x20, 0x24, 0x1f
    temporary_failure = 7,        // 0x86, 0x85, 0x82, 0x25; a later attempt may pass
    parsing_failure = 8,          // a statement or an answer that cannot be read
    cas_mismatch = 9,             // 0x02 except on insert; 0x09 on unlock
    bucket_not_found = 10,        // 0x08
    collection_not_found = 11,    // 0x88
    unsupported_operation = 12,   // 0x81, 0x83
    ambiguous_timeout = 13,       // deadline passed; the server may have acted
    unambiguous_timeout = 14,     // deadline passed; the server did nothing
    feature_not_available = 15,   // needs something this server or bucket does not have
    scope_not_found = 16,         // 0x8c
    index_not_found = 17,
    index_exists = 18,
    encoding_failure = 19,
    decoding_failure = 20,  // an answer of the wrong shape
    rate_limited = 21,      // 0x30..0x33
    quota_limited = 22,     // 0x34
    // Key-value.
    document_not_found = 101,                     // 0x01; 0x05 on append and prepend
    document_unretrievable = 102,                 // no copy could be read
    document_locked = 103,                        // 0x09; a retry may help
    value_too_large = 104,                        // 0x03
    document_exists = 105,                        // 0x02 on insert
    durability_level_not_available = 107,         // 0xa0
    durability_impossible = 108,                  // 0xa1
    durability_ambiguous = 109,                   // 0xa3; the write may have happened
    durable_write_in_progress = 110,              // 0xa2; a retry may help
    durable_write_re_commit_in_progress = 111,    // 0xa4; a retry may help
    path_not_found = 113,                         // 0xc0
    path_mismatch = 114,                          // 0xc1
    path_invalid = 115,                           // 0xc2
    path_too_big = 116,                           // 0xc3
    path_too_deep = 117,                          // 0xc4
    value_too_deep = 118,                         // 0xca
    value_invalid = 119,                          // 0xc5
    document_not_json = 120,                      // 0xc6
    number_too_big = 121,                         // 0xc7
    delta_invalid = 122,                          // 0xc8, 0x06
    path_exists = 123,                            // 0xc9
    xattr_unknown_macro = 124,                    // 0xd0, 0xd5
    xattr_invalid_key_combo = 126,                // 0xcf, 0xce
    xattr_unknown_virtual_attribute = 127,        // 0xd1
    xattr_cannot_modify_virtual_attribute = 128,  // 0xd2
    xattr_no_access = 130,                        // 0x24 on a system attribute
    document_not_locked = 131,                    // 0x0e
    cannot_revive_living_document = 132,          // 0xd6
    mutation_token_outdated = 133,                // 0xa8
    // Query.
    planning_failure = 201,            // 4xxx
    index_failure = 202,               // 12xxx, 14xxx
    prepared_statement_failure = 203,  // 4040..4090
    dml_failure = 204,                 // 12009
    // Analytics.
    compilation_failure = 301,  // 24xxx
    job_queue_full = 302,       // 23007; a retry may help
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
    bucket_not_flushable = 607,
    // Ours.
    tls_failure = 1101,            // the TLS handshake was refused, by either side
    bucket_access_failure = 1102,  // the bucket does not exist or the user may not use it
    retry_queue_full = 1103,       // too many operations wait for a retry
    strategy_failure = 1104,       // the retry strategy threw or never answered
    unknown_server_status = 1105,  // a status neither this client nor the error map explains
    // HTTP without TLS to another machine would show the credentials; nothing was sent. A retry
    // does not help: use TLS, or allow it with `allow_plain_http`.
    plain_http_not_allowed = 1106,
};

// What programs ask for when they do not care for the exact error.
enum class error_condition : int {
    client_error =
        1,    // tls_failure, bucket_access_failure: neither the document's nor the request's
    timeout,  // ambiguous_timeout, unambiguous_timeout
};

[[nodiscard]] const std::error_category& couchbase_category() noexcept;
[[nodiscard]] const std::error_category& condition_category() noexcept;
[[nodiscard]] std::error_code make_error_code(errc error) noexcept;
[[nodiscard]] std::error_condition make_error_condition(error_condition condition) noexcept;

// The enumerator's name: "document_not_found"; "unknown_error" for other numbers.
[[nodiscard]] std::string_view to_string(errc error) noexcept;

// What the retry library sees: may the call be repeated from outside, was it a timeout, whose
// fault. Ambiguous errors say `maybe`, errors that leave the server untouched `yes`, errors that
// only another request mends `no`.
[[nodiscard]] failure_facts describe(errc error) noexcept;
[[nodiscard]] failure_facts retry_facts(errc error) noexcept;

}  // namespace reprise::couchbase

template <>
struct std::is_error_code_enum<reprise::couchbase::errc> : std::true_type {};
template <>
struct std::is_error_condition_enum<reprise::couchbase::error_condition> : std::true_type {};
