#include <reprise/services/query_request.hpp>

#include <reprise/base/enum_table.hpp>

#include "request_body.hpp"

namespace reprise::services {

namespace {

using couchbase::query_profile;
using couchbase::scan_consistency;
using detail::request_body;

bool is_at_plus(const query_options& options) noexcept {
    return !options.consistent_with.tokens.empty();
}

void check_query_shape(
    request_body& body, std::string_view statement, const query_options& options) {
    if (statement.empty()) {
        body.fail(service_call_errc::text_missing, "statement");
    }
    if (is_at_plus(options) && options.consistency != scan_consistency::server_default) {
        body.fail(service_call_errc::option_out_of_place, "scan_vectors");
    }
    const bool is_waiting =
        is_at_plus(options) || options.consistency == scan_consistency::request_plus;
    if (options.scan_wait && !is_waiting) {
        body.fail(service_call_errc::option_out_of_place, "scan_wait");
    }
    if (!options.adhoc) {
        // The names of the members that a prepared statement has instead of its text.
        for (const std::string_view name : {"prepared", "encoded_plan", "auto_execute"}) {
            body.reserve(name);
        }
    }
}

// Writes {"bucket":{"12":[7,"1234"]}}: the vbucket and its uuid are decimal strings, and the seqno
// is a number.
void write_scan_vectors(request_body& body, const couchbase::mutation_state& state) {
    json::writer& out = body.key("scan_vectors");
    out.begin_object();
    std::string_view bucket;
    bool is_open = false;
    const auto newest = detail::newest_of(state);
    for (const couchbase::mutation_token& token : newest) {
        if (!is_open || token.bucket != bucket) {
            if (is_open) {
                out.end_object();
            }
            bucket = token.bucket;
            is_open = true;
            out.key(bucket).begin_object();
        }
        out.key(std::to_string(token.vbucket)).begin_array();
        out.value(token.seqno).value(std::to_string(token.vbucket_uuid));
        out.end_array();
    }
    if (is_open) {
        out.end_object();
    }
    out.end_object();
}

std::string_view text_of(query_profile profile) noexcept {
    return base::name_of(profile);
}

void write_query_tuning(request_body& body, const query_options& options) {
    body.number_text("scan_cap", options.scan_cap);
    body.number_text("pipeline_cap", options.pipeline_cap);
    body.number_text("pipeline_batch", options.pipeline_batch);
    body.number_text("max_parallelism", options.max_parallelism);
    if (options.profile) {
        body.text("profile", text_of(*options.profile));
    }
    body.flag("metrics", options.metrics);
    body.flag_if_set("use_fts", options.use_search_index);
    body.flag_if_set("preserve_expiry", options.preserve_expiry);
    if (options.use_replica) {
        body.text("use_replica", *options.use_replica ? "on" : "off");
    }
}

}  // namespace

void detail::write_consistency(request_body& body, scan_consistency consistency) {
    switch (consistency) {
        case scan_consistency::server_default:
            return;
        case scan_consistency::not_bounded:
            return body.text("scan_consistency", "not_bounded");
        case scan_consistency::request_plus:
            return body.text("scan_consistency", "request_plus");
    }
}

service_call_result make_query_call(
    std::string_view statement, const query_options& options, const request_context& context) {
    request_body body;
    check_query_shape(body, statement, options);
    body.text("statement", statement);
    body.statement_options(options, context);
    detail::write_consistency(body, options.consistency);
    if (is_at_plus(options)) {
        body.text("scan_consistency", "at_plus");
        write_scan_vectors(body, options.consistent_with);
    }
    body.duration("scan_wait", options.scan_wait);
    body.text("query_context", detail::query_context(context));
    write_query_tuning(body, options);
    body.members(options.raw);
    auto call = detail::make_post(wire::service::query, "/query/service", body, "results");
    if (call) {
        call->is_idempotent = options.readonly;
    }
    return call;
}

}  // namespace reprise::services
