#include <reprise/services/query_request.hpp>

#include "request_body.hpp"

namespace reprise::services {

namespace {

using detail::request_body;

void check_query_shape(request_body& body, const query_request& request) {
    const bool is_prepared = !request.prepared_name.empty();
    if (!is_prepared && request.statement.empty()) {
        body.fail(service_call_errc::text_missing, "statement");
    }
    if (is_prepared && !request.statement.empty()) {
        body.fail(service_call_errc::option_out_of_place, "prepared");
    }
    if (!is_prepared && !request.encoded_plan.empty()) {
        body.fail(service_call_errc::option_out_of_place, "encoded_plan");
    }
    if (is_prepared && request.is_auto_execute) {
        body.fail(service_call_errc::option_out_of_place, "auto_execute");
    }
    if ((request.consistency == scan_consistency::at_plus) == request.consistent_with.empty()) {
        body.fail(service_call_errc::option_out_of_place, "scan_vectors");
    }
    const bool is_waiting = request.consistency == scan_consistency::at_plus ||
                            request.consistency == scan_consistency::request_plus;
    if (request.scan_wait && !is_waiting) {
        body.fail(service_call_errc::option_out_of_place, "scan_wait");
    }
}

// Writes {"bucket":{"12":[7,"1234"]}}: the vbucket and its uuid are decimal strings, and the seqno
// is a number.
void write_scan_vectors(request_body& body, const std::vector<mutation_mark>& marks) {
    json::writer& out = body.key("scan_vectors");
    out.begin_object();
    std::string_view bucket;
    bool is_open = false;
    const std::vector<mutation_mark> newest = detail::newest_marks(marks);
    for (const mutation_mark& mark : newest) {
        if (!is_open || mark.bucket != bucket) {
            if (is_open) {
                out.end_object();
            }
            bucket = mark.bucket;
            is_open = true;
            out.key(bucket).begin_object();
        }
        out.key(std::to_string(mark.vbucket.value)).begin_array();
        out.value(mark.token.seqno).value(std::to_string(mark.token.vbucket_uuid));
        out.end_array();
    }
    if (is_open) {
        out.end_object();
    }
    out.end_object();
}

void write_query_tuning(request_body& body, const query_request& request) {
    body.number_text("scan_cap", request.scan_cap);
    body.number_text("pipeline_cap", request.pipeline_cap);
    body.number_text("pipeline_batch", request.pipeline_batch);
    body.number_text("max_parallelism", request.max_parallelism);
    if (request.profile) {
        body.text("profile", to_string(*request.profile));
    }
    if (request.metrics) {
        body.flag("metrics", *request.metrics);
    }
    body.flag_if_set("use_fts", request.use_search_index);
    body.flag_if_set("preserve_expiry", request.preserve_expiry);
    if (request.use_replica) {
        body.text("use_replica", *request.use_replica ? "on" : "off");
    }
}

}  // namespace

service_call_result make_query_call(const query_request& request) {
    request_body body;
    check_query_shape(body, request);
    body.text("statement", request.statement);
    body.text("prepared", request.prepared_name);
    body.text("encoded_plan", request.encoded_plan);
    body.flag_if_set("auto_execute", request.is_auto_execute);
    body.text("client_context_id", request.client_context_id);
    body.duration("timeout", request.timeout);
    body.flag_if_set("readonly", request.is_readonly);
    body.args(request.args);
    body.parameters(request.parameters);
    if (request.consistency != scan_consistency::server_default) {
        body.text("scan_consistency", to_string(request.consistency));
    }
    if (!request.consistent_with.empty()) {
        write_scan_vectors(body, request.consistent_with);
    }
    body.duration("scan_wait", request.scan_wait);
    body.text("query_context", request.query_context);
    write_query_tuning(body, request);
    body.members(request.raw);
    auto call = detail::make_post(wire::service::query, "/query/service", body, "results");
    if (call) {
        call->is_idempotent = request.is_readonly;
    }
    return call;
}

std::string make_prepare_statement(std::string_view statement) {
    return "PREPARE " + std::string(statement);
}

std::string_view to_string(scan_consistency consistency) noexcept {
    switch (consistency) {
        case scan_consistency::server_default:
            return "server_default";
        case scan_consistency::not_bounded:
            return "not_bounded";
        case scan_consistency::request_plus:
            return "request_plus";
        case scan_consistency::at_plus:
            return "at_plus";
    }
    return "unknown";
}

std::string_view to_string(query_profile profile) noexcept {
    switch (profile) {
        case query_profile::off:
            return "off";
        case query_profile::phases:
            return "phases";
        case query_profile::timings:
            return "timings";
    }
    return "unknown";
}

}  // namespace reprise::services
