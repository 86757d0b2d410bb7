#include <array>

#include "explain/table.hpp"

namespace reprise::app {

namespace {

using couchbase::errc;

struct error_advice {
    errc name;
    std::string_view text;
};

constexpr std::string_view shape_advice =
    "Correct the path, or look at the document: the two do not fit.";
constexpr std::string_view attribute_advice =
    "Correct the extended attributes of the request; repeating it changes nothing.";

constexpr std::array error_table{
    error_advice{
        errc::request_canceled,
        "If it is ambiguous (a write whose connection closed), read the document before you "
        "repeat it; otherwise somebody stopped it or closed the client."},
    error_advice{errc::invalid_argument, "Correct the argument that the message names."},
    error_advice{errc::service_not_available, "Check which services run on which nodes."},
    error_advice{errc::internal_server_failure, "Look up the reference in the server's logs."},
    error_advice{
        errc::authentication_failure,
        "Check user name, password and the roles of the user; see AUTHENTICATION_ERROR."},
    error_advice{errc::temporary_failure, "Try again later; look at the node's memory and disk."},
    error_advice{errc::parsing_failure, "Correct the statement."},
    error_advice{
        errc::cas_mismatch,
        "Read the document again, apply your change to it, write with its CAS."},
    error_advice{errc::bucket_not_found, "Check the bucket's name."},
    error_advice{errc::collection_not_found, "Make the collection, or correct its name."},
    error_advice{errc::unsupported_operation, "This server does not have it: use another call."},
    error_advice{
        errc::ambiguous_timeout,
        "The write may have happened: read the document, then decide. Never repeat it blindly."},
    error_advice{
        errc::unambiguous_timeout,
        "Nothing was changed: safe to repeat. The history tells what took the time."},
    error_advice{errc::feature_not_available, "Needs another server version or kind of bucket."},
    error_advice{errc::scope_not_found, "Make the scope, or correct its name."},
    error_advice{errc::index_not_found, "Make the index, or wait until it is built."},
    error_advice{errc::index_exists, "Nothing, if it is the index you want."},
    error_advice{errc::encoding_failure, "Correct the value or its codec."},
    error_advice{
        errc::decoding_failure,
        "Read the document as what it is (its format is in the message), or mend the codec."},
    error_advice{errc::rate_limited, "Send fewer requests; the limit is set on the server."},
    error_advice{errc::quota_limited, "Make room, or raise the quota on the server."},
    error_advice{errc::document_not_found, "Nothing, if it may be missing; check the key."},
    error_advice{errc::document_unretrievable, "No copy answered: look at the nodes that hold it."},
    error_advice{errc::document_locked, "Wait for the lock to end; see KV_LOCKED."},
    error_advice{errc::value_too_large, "Split the document: servers take 20 MiB at most."},
    error_advice{errc::document_exists, "Use replace or upsert if it may be there."},
    error_advice{
        errc::durability_level_not_available,
        "Ask for a lower level: this bucket cannot do it (memory-only buckets do not persist)."},
    error_advice{
        errc::durability_impossible,
        "Too few copies are up: bring nodes back, or ask for a lower level."},
    error_advice{
        errc::durability_ambiguous, "The write may happen yet: read the document, then decide."},
    error_advice{errc::durable_write_in_progress, "Try again; another writer is at it."},
    error_advice{
        errc::durable_write_re_commit_in_progress, "Try again; a failover is being finished."},
    error_advice{errc::path_not_found, shape_advice},
    error_advice{errc::path_mismatch, shape_advice},
    error_advice{errc::path_invalid, "Correct the path's syntax: a.b[0].c"},
    error_advice{errc::path_too_big, "Use a shorter path."},
    error_advice{errc::path_too_deep, "Nest the document less: 32 levels are the limit."},
    error_advice{errc::value_too_deep, "Nest the value less: 32 levels are the limit."},
    error_advice{errc::value_invalid, "Give a value that is JSON."},
    error_advice{errc::document_not_json, "Paths need a JSON document: read it as a whole."},
    error_advice{errc::number_too_big, "The number there does not fit 64 bits: replace it."},
    error_advice{
        errc::delta_invalid,
        "Give a delta above zero, and check that the document is a number in digits."},
    error_advice{errc::path_exists, "Use upsert or replace for a path that may be there."},
    error_advice{errc::xattr_unknown_macro, attribute_advice},
    error_advice{errc::xattr_invalid_key_combo, attribute_advice},
    error_advice{errc::xattr_unknown_virtual_attribute, attribute_advice},
    error_advice{errc::xattr_cannot_modify_virtual_attribute, attribute_advice},
    error_advice{errc::xattr_no_access, "The user needs the role for system attributes."},
    error_advice{errc::document_not_locked, "Nothing to unlock: the lock's time was over."},
    error_advice{errc::cannot_revive_living_document, attribute_advice},
    error_advice{
        errc::mutation_token_outdated, "Read a fresh token: a node was failed over since."},
    error_advice{errc::planning_failure, "Correct the statement, or make the index that it needs."},
    error_advice{
        errc::index_failure, "Look at the index service and at the message of the first error."},
    error_advice{
        errc::prepared_statement_failure,
        "Nothing, if it passes: the statement is prepared again; else run it unprepared."},
    error_advice{
        errc::dml_failure,
        "Look at the first error: the statement may have changed some documents."},
    error_advice{errc::compilation_failure, "Correct the statement."},
    error_advice{errc::job_queue_full, "Send fewer statements at once; a retry later may pass."},
    error_advice{errc::dataset_not_found, "Make the dataset, or correct its name."},
    error_advice{errc::dataverse_not_found, "Make the dataverse, or correct its name."},
    error_advice{errc::dataset_exists, "Nothing, if it is the one you want."},
    error_advice{errc::dataverse_exists, "Nothing, if it is the one you want."},
    error_advice{errc::link_not_found, "Make the link, or correct its name."},
    error_advice{errc::link_exists, "Nothing, if it is the one you want."},
    error_advice{errc::index_not_ready, "Wait until the index is built."},
    error_advice{
        errc::consistency_mismatch,
        "The index has another history than the token: read a fresh one."},
    error_advice{errc::view_not_found, "Make the view, or correct its name."},
    error_advice{
        errc::design_document_not_found, "Publish the design document, or correct its name."},
    error_advice{errc::collection_exists, "Nothing, if it is the one you want."},
    error_advice{errc::scope_exists, "Nothing, if it is the one you want."},
    error_advice{errc::user_not_found, "Make the user, or correct the name."},
    error_advice{errc::group_not_found, "Make the group, or correct its name."},
    error_advice{errc::bucket_exists, "Nothing, if it is the one you want."},
    error_advice{errc::user_exists, "Nothing, if it is the one you want."},
    error_advice{errc::bucket_not_flushable, "Allow it in the bucket's settings, if you mean it."},
    error_advice{
        errc::tls_failure,
        "Check the trusted certificate, the host name and the dates; see TLS_ERROR."},
    error_advice{
        errc::bucket_access_failure,
        "Check the bucket's name and the roles of the user; see BUCKET_ACCESS_ERROR."},
    error_advice{
        errc::retry_queue_full,
        "More waits than cluster_options::parked_count_max allows: send less, or raise it."},
    error_advice{errc::strategy_failure, "Mend the retry strategy; the message has its words."},
    error_advice{
        errc::unknown_server_status,
        "A newer server, perhaps: look the number up there, and update this client."},
    error_advice{
        errc::plain_http_not_allowed,
        "Use couchbases://; or allow it with allow_plain_http (--allow-plain-http)."},
};

}  // namespace

std::string_view advice_on(errc error) noexcept {
    for (const error_advice& row : error_table) {
        if (row.name == error) {
            return row.text;
        }
    }
    return {};
}

}  // namespace reprise::app
