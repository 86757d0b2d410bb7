#pragma once

/// The errors of the client: the taxonomy that all Couchbase SDKs share, with its numbers, and our
/// own additions from 1101.

#include <string_view>
#include <system_error>

#include <reprise/retry/failure_facts.hpp>

namespace reprise::couchbase {

/// The error of an operation. Its category is "reprise.couchbase". A name describes the condition;
/// the comment gives the server's status or code, and whether a retry may help.
enum class errc : int {
    // Common to all services.
    request_canceled = 2,         ///< Stopped or lost, maybe ambiguous; 0x07; of scans 0x01, 0xa5.
    invalid_argument = 3,         ///< Refused by the client, or 0x04, 0x87, 0xcb, 0xd4, 0xd7.
    service_not_available = 4,    ///< No node of the cluster offers the service.
    internal_server_failure = 5,  ///< 0x84.
    authentication_failure = 6,   ///< 0x20, 0x24, 0x1f.
    temporary_failure = 7,        ///< 0x86, 0x85, 0x82, 0x25; a retry may help.
    parsing_failure = 8,          ///< A statement or an answer cannot be parsed.
    cas_mismatch = 9,             ///< 0x02 except on insert; 0x09 on unlock.
    bucket_not_found = 10,        ///< 0x08.
    collection_not_found = 11,    ///< 0x88.
    unsupported_operation = 12,   ///< 0x81, 0x83.
    ambiguous_timeout = 13,       ///< The deadline passed; the server may have acted.
    unambiguous_timeout = 14,     ///< The deadline passed; the server did nothing.
    feature_not_available = 15,   ///< The server or bucket lacks a feature that is needed.
    scope_not_found = 16,         ///< 0x8c.
    index_not_found = 17,         ///< No such index.
    index_exists = 18,            ///< The index exists already.
    encoding_failure = 19,        ///< A value cannot be encoded.
    decoding_failure = 20,        ///< An answer or a document has an unexpected shape.
    rate_limited = 21,            ///< 0x30..0x33.
    quota_limited = 22,           ///< 0x34.
    // Key-value.
    document_not_found = 101,                     ///< 0x01; 0x05 on append and prepend.
    document_unretrievable = 102,                 ///< No copy could be read.
    document_locked = 103,                        ///< 0x09; 0x02 without XERROR; a retry may help.
    value_too_large = 104,                        ///< 0x03.
    document_exists = 105,                        ///< 0x02, 0x05 on insert.
    durability_level_not_available = 107,         ///< 0xa0.
    durability_impossible = 108,                  ///< 0xa1.
    durability_ambiguous = 109,                   ///< 0xa3; the write may have happened.
    durable_write_in_progress = 110,              ///< 0xa2; a retry may help.
    durable_write_re_commit_in_progress = 111,    ///< 0xa4; a retry may help.
    path_not_found = 113,                         ///< 0xc0.
    path_mismatch = 114,                          ///< 0xc1.
    path_invalid = 115,                           ///< 0xc2.
    path_too_big = 116,                           ///< 0xc3.
    path_too_deep = 117,                          ///< 0xc4.
    value_too_deep = 118,                         ///< 0xca.
    value_invalid = 119,                          ///< 0xc5.
    document_not_json = 120,                      ///< 0xc6.
    number_too_big = 121,                         ///< 0xc7.
    delta_invalid = 122,                          ///< 0xc8, 0x06.
    path_exists = 123,                            ///< 0xc9.
    xattr_unknown_macro = 124,                    ///< 0xd0, 0xd5.
    xattr_invalid_key_combo = 126,                ///< 0xcf, 0xce.
    xattr_unknown_virtual_attribute = 127,        ///< 0xd1.
    xattr_cannot_modify_virtual_attribute = 128,  ///< 0xd2.
    xattr_no_access = 130,                        ///< 0x24 on a system attribute.
    document_not_locked = 131,                    ///< 0x0e.
    cannot_revive_living_document = 132,          ///< 0xd6.
    mutation_token_outdated = 133,                ///< 0xa8.
    // Query.
    planning_failure = 201,            ///< 4xxx.
    index_failure = 202,               ///< 12xxx, 14xxx.
    prepared_statement_failure = 203,  ///< 4040..4090.
    dml_failure = 204,                 ///< 12009.
    // Analytics.
    compilation_failure = 301,  ///< 24xxx.
    job_queue_full = 302,       ///< 23007; a retry may help.
    dataset_not_found = 303,    ///< No such dataset.
    dataverse_not_found = 304,  ///< No such dataverse.
    dataset_exists = 305,       ///< The dataset exists already.
    dataverse_exists = 306,     ///< The dataverse exists already.
    link_not_found = 307,       ///< No such link.
    link_exists = 308,          ///< The link exists already.
    // Search.
    index_not_ready = 401,       ///< The search index cannot answer yet; a retry may help.
    consistency_mismatch = 402,  ///< The index cannot reach the requested consistency.
    // Views.
    view_not_found = 501,             ///< No such view.
    design_document_not_found = 502,  ///< No such design document.
    // Management.
    collection_exists = 601,     ///< The collection exists already.
    scope_exists = 602,          ///< The scope exists already.
    user_not_found = 603,        ///< No such user.
    group_not_found = 604,       ///< No such group.
    bucket_exists = 605,         ///< The bucket exists already.
    bucket_not_flushable = 607,  ///< The bucket does not allow flush.
    // Ours.
    tls_failure = 1101,            ///< The client or the server refused the TLS handshake.
    bucket_access_failure = 1102,  ///< The bucket does not exist or the user may not use it.
    retry_queue_full = 1103,       ///< Too many operations wait for a retry.
    strategy_failure = 1104,       ///< The retry strategy threw an exception or never answered.
    unknown_server_status = 1105,  ///< The status is unknown to this client and to the error map.
    /// HTTP without TLS to another machine would reveal the credentials, so nothing was sent. A
    /// retry does not help: use TLS, or allow it with `allow_plain_http`.
    plain_http_not_allowed = 1106,
    // Refusals of the client itself, before anything is sent; see error_condition::not_started.
    /// A blocking call on the thread that would have to complete it. Use the asynchronous form.
    blocking_call_in_loop = 1201,
    /// Too many operations wait for the client's thread to take them; see
    /// cluster_options::submission_count_max. A retry may help.
    submission_queue_full = 1202,
    /// The connection string cannot be parsed, or sets an option that this client does not have.
    /// The message names the wrong part.
    connection_string_invalid = 1203,
    /// An option contradicts another one or cannot be used. The message names it.
    option_invalid = 1204,
    /// A certificate or key could not be read. The message names it and the cause.
    certificate_unreadable = 1205,
    /// This process was forked from the one that made the client, so thread and connections belong
    /// to the parent. Make a new client here.
    used_after_fork = 1206,
    /// The system has no thread or file descriptor for a client. The message has the system's
    /// error. A retry may help.
    no_resources = 1207,
    /// The context of the executor that the client runs on was destroyed.
    executor_gone = 1208,
    /// A row was requested while another read of the same stream waits for its row.
    read_in_progress = 1209,
};

/// Groups of errors, for programs that do not need the exact one:
/// `error.code() == error_condition::timeout`.
enum class error_condition : int {
    client_error =
        1,    ///< tls_failure, bucket_access_failure: neither document nor request is wrong.
    timeout,  ///< ambiguous_timeout, unambiguous_timeout.
    /// The client refused the call and sent nothing: blocking_call_in_loop to read_in_progress.
    not_started,
};

/// The category of errc.
[[nodiscard]] const std::error_category& couchbase_category() noexcept;
/// The category of error_condition.
[[nodiscard]] const std::error_category& condition_category() noexcept;
/// Found by the constructor of std::error_code.
[[nodiscard]] std::error_code make_error_code(errc error) noexcept;
/// Found by the constructor of std::error_condition.
[[nodiscard]] std::error_condition make_error_condition(error_condition condition) noexcept;

/// Returns the enumerator's name, for example "document_not_found", and "unknown_error" for other
/// numbers.
[[nodiscard]] std::string_view to_string(errc error) noexcept;

/// Facts of an error for retries of the whole operation, from outside the client. Ambiguous
/// errors are `maybe` safe, errors that left the server unchanged are safe, and errors that only
/// another request can fix are not.
[[nodiscard]] failure_facts describe(errc error) noexcept;
/// The same; reprise::retry finds this one.
[[nodiscard]] failure_facts retry_facts(errc error) noexcept;

}  // namespace reprise::couchbase

template <>
struct std::is_error_code_enum<reprise::couchbase::errc> : std::true_type {};
template <>
struct std::is_error_condition_enum<reprise::couchbase::error_condition> : std::true_type {};
