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
    "Correct the path, or look at the document: the path does not match it.";
constexpr std::string_view attribute_advice =
    "Correct the extended attributes of the request; repeating it changes nothing.";

constexpr auto error_table = std::to_array<error_advice>({
    {errc::request_canceled,
     "If it is ambiguous (a write whose connection closed), read the document before you "
     "repeat it; otherwise it was canceled or the client was closed."},
    {errc::invalid_argument, "Correct the argument that the message names."},
    {errc::service_not_available, "Check which services run on which nodes."},
    {errc::internal_server_failure, "Look up the reference in the server's logs."},
    {errc::authentication_failure,
     "Check the user name, the password and the user's roles; see AUTHENTICATION_ERROR."},
    {errc::temporary_failure, "Try again later; look at the node's memory and disk."},
    {errc::parsing_failure, "Correct the statement."},
    {errc::cas_mismatch,
     "Read the document again, apply your change to it, and write it with the new CAS."},
    {errc::bucket_not_found, "Check the bucket's name."},
    {errc::collection_not_found, "Create the collection, or correct its name."},
    {errc::unsupported_operation, "This server does not support it: use another call."},
    {errc::ambiguous_timeout,
     "The write may have happened: read the document, then decide. Never repeat it blindly."},
    {errc::unambiguous_timeout,
     "Nothing was changed: it is safe to repeat. The history shows what took the time."},
    {errc::feature_not_available, "It needs another server version or bucket type."},
    {errc::scope_not_found, "Create the scope, or correct its name."},
    {errc::index_not_found, "Create the index, or wait until it is built."},
    {errc::index_exists, "Nothing, if it is the index you need."},
    {errc::encoding_failure, "Correct the value or its codec."},
    {errc::decoding_failure,
     "Read the document in its own format (see the message), or fix the codec."},
    {errc::rate_limited, "Send fewer requests; the limit is set on the server."},
    {errc::quota_limited, "Free some space, or raise the quota on the server."},
    {errc::document_not_found, "Nothing, if it may be missing; check the key."},
    {errc::document_unretrievable, "No copy answered: look at the nodes that hold it."},
    {errc::document_locked, "Wait for the lock to end; see KV_LOCKED."},
    {errc::value_too_large, "Split the document: servers accept at most 20 MiB."},
    {errc::document_exists, "Use replace or upsert if it may already exist."},
    {errc::durability_level_not_available,
     "Request a lower level: this bucket does not support it (memory-only buckets cannot)."},
    {errc::durability_impossible,
     "Too few copies are up: bring nodes back, or request a lower level."},
    {errc::durability_ambiguous, "The write may still happen: read the document, then decide."},
    {errc::durable_write_in_progress, "Try again; another durable write is pending."},
    {errc::durable_write_re_commit_in_progress, "Try again; the node is completing a failover."},
    {errc::path_not_found, shape_advice},
    {errc::path_mismatch, shape_advice},
    {errc::path_invalid, "Correct the path's syntax: a.b[0].c"},
    {errc::path_too_big, "Use a shorter path."},
    {errc::path_too_deep, "Reduce the nesting of the document: the limit is 32 levels."},
    {errc::value_too_deep, "Reduce the nesting of the value: the limit is 32 levels."},
    {errc::value_invalid, "Pass a value that is valid JSON."},
    {errc::document_not_json, "Paths require a JSON document: read the whole document."},
    {errc::number_too_big, "The number does not fit in 64 bits: replace it."},
    {errc::delta_invalid,
     "Use a delta above zero, and check that the document is a decimal number."},
    {errc::path_exists, "Use upsert or replace for a path that may already exist."},
    {errc::xattr_unknown_macro, attribute_advice},
    {errc::xattr_invalid_key_combo, attribute_advice},
    {errc::xattr_unknown_virtual_attribute, attribute_advice},
    {errc::xattr_cannot_modify_virtual_attribute, attribute_advice},
    {errc::xattr_no_access, "Give the user the role for system attributes."},
    {errc::document_not_locked, "Nothing to unlock: the lock had already expired."},
    {errc::cannot_revive_living_document, attribute_advice},
    {errc::mutation_token_outdated, "Get a new token: a node has been failed over since."},
    {errc::planning_failure, "Correct the statement, or create the index that it needs."},
    {errc::index_failure, "Look at the index service and at the message of the first error."},
    {errc::prepared_statement_failure,
     "Nothing, if it goes away: the client prepares it again; otherwise run it unprepared."},
    {errc::dml_failure, "Look at the first error: the statement may have changed some documents."},
    {errc::compilation_failure, "Correct the statement."},
    {errc::job_queue_full, "Send fewer statements at once; a later retry may succeed."},
    {errc::dataset_not_found, "Create the dataset, or correct its name."},
    {errc::dataverse_not_found, "Create the dataverse, or correct its name."},
    {errc::dataset_exists, "Nothing, if it is the one you need."},
    {errc::dataverse_exists, "Nothing, if it is the one you need."},
    {errc::link_not_found, "Create the link, or correct its name."},
    {errc::link_exists, "Nothing, if it is the one you need."},
    {errc::index_not_ready, "Wait until the index is built."},
    {errc::consistency_mismatch,
     "The token belongs to another history than the index: get a new one."},
    {errc::view_not_found, "Create the view, or correct its name."},
    {errc::design_document_not_found, "Publish the design document, or correct its name."},
    {errc::collection_exists, "Nothing, if it is the one you need."},
    {errc::scope_exists, "Nothing, if it is the one you need."},
    {errc::user_not_found, "Create the user, or correct the name."},
    {errc::group_not_found, "Create the group, or correct its name."},
    {errc::bucket_exists, "Nothing, if it is the one you need."},
    {errc::bucket_not_flushable, "Enable flush in the bucket's settings if you need it."},
    {errc::tls_failure,
     "Check the trusted certificate, the host name and the validity dates; see TLS_ERROR."},
    {errc::bucket_access_failure,
     "Check the bucket's name and the user's roles; see BUCKET_ACCESS_ERROR."},
    {errc::retry_queue_full,
     "More operations wait than cluster_options::parked_count_max: send fewer, or raise it."},
    {errc::strategy_failure, "Fix the retry strategy; the message contains its error."},
    {errc::unknown_server_status,
     "The server may be newer: look up the number in its documentation and update this client."},
    {errc::plain_http_not_allowed,
     "Use couchbases://, or allow it with allow_plain_http (--allow-plain-http)."},
    {errc::blocking_call_in_loop,
     "Use the asynchronous form, or call it on a thread that does not run the client."},
    {errc::submission_queue_full,
     "Start fewer operations at once, or raise cluster_options::submission_count_max."},
    {errc::connection_string_invalid, "Correct the part that the message names."},
    {errc::option_invalid, "Correct the option that the message names."},
    {errc::certificate_unreadable, "Check the file's path, permissions and format."},
    {errc::used_after_fork, "Connect again in the new process."},
    {errc::no_resources, "Raise the system's limits on threads and open files, or close some."},
    {errc::executor_gone, "Let the executor's context live longer than the client."},
    {errc::read_in_progress, "Await a read before you start the next one."},
});

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
