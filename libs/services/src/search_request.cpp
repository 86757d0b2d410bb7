#include <reprise/services/search_request.hpp>

#include <reprise/base/percent_encoding.hpp>

#include "path_segment.hpp"
#include "request_body.hpp"

namespace reprise::services {

namespace {

using detail::request_body;

void write_search_texts(
    request_body& body, std::string_view name, const std::vector<std::string>& texts) {
    if (texts.empty()) {
        return;
    }
    json::writer& out = body.key(name);
    out.begin_array();
    for (const std::string& text : texts) {
        out.value(text);
    }
    out.end_array();
}

// Writes {"timeout":75000,"consistency":{"level":"at_plus","vectors":{"index":{"12/1234":7}}}}.
void write_search_control(
    request_body& body, std::string_view index, const search_options& options,
    const request_context& context) {
    const auto limit = detail::server_limit(options.timeout, context);
    const auto newest = detail::newest_of(options.consistent_with);
    if (!limit && newest.empty()) {
        return;
    }
    json::writer& out = body.key("ctl");
    out.begin_object();
    if (limit) {
        out.member("timeout", limit->count());
    }
    if (!newest.empty()) {
        out.key("consistency").begin_object().member("level", "at_plus");
        out.key("vectors").begin_object().key(index).begin_object();
        for (const couchbase::mutation_token& token : newest) {
            out.member(
                std::to_string(token.vbucket) + '/' + std::to_string(token.vbucket_uuid),
                token.seqno);
        }
        out.end_object().end_object().end_object();
    }
    out.end_object();
}

// Checked as a whole, so that no value can end the object early.
void write_facets(request_body& body, std::span<const couchbase::named_value> facets) {
    if (facets.empty()) {
        return;
    }
    request_body object;
    object.members(facets);
    if (auto text = object.finish(); text) {
        body.json("facets", *text);
    } else {
        body.fail(text.error().code, "facets." + text.error().what);
    }
}

void check_search_names(
    request_body& body, std::string_view index, const request_context& context) {
    if (index.empty()) {
        body.fail(service_call_errc::text_missing, "index");
    }
    if (context.bucket.empty() != context.scope.empty()) {
        body.fail(service_call_errc::option_out_of_place, "scope");
    }
    const std::pair<std::string_view, std::string_view> names[] = {
        {"bucket", context.bucket}, {"scope", context.scope}, {"index", index}};
    for (const auto& [what, name] : names) {
        if (detail::is_dot_segment(name)) {
            body.fail(service_call_errc::dot_segment, what);
        }
    }
}

std::string make_search_target(std::string_view index, const request_context& context) {
    std::string target = "/api";
    if (!context.bucket.empty()) {
        target += "/bucket/" + base::percent_encode(context.bucket) + "/scope/" +
                  base::percent_encode(context.scope);
    }
    return target + "/index/" + base::percent_encode(index) + "/query";
}

}  // namespace

service_call_result make_search_call(
    std::string_view index, const search_query& query, const search_options& options,
    const request_context& context) {
    request_body body;
    check_search_names(body, index, context);
    if (query.json.empty()) {
        body.fail(service_call_errc::text_missing, "query");
    } else {
        body.json("query", query.json);
    }
    write_search_control(body, index, options, context);
    if (options.limit) {
        body.number("size", *options.limit);
    }
    if (options.skip) {
        body.number("from", *options.skip);
    }
    body.flag_if_set("explain", options.explain);
    body.text("score", options.disable_scoring ? "none" : "");
    body.flag_if_set("includeLocations", options.include_locations);
    write_search_texts(body, "fields", options.fields);
    write_search_texts(body, "collections", options.collections);
    body.list("sort", options.sort);
    write_facets(body, options.facets);
    body.members(options.raw);
    auto call =
        detail::make_post(wire::service::search, make_search_target(index, context), body, "hits");
    if (call) {
        call->is_idempotent = true;
    }
    return call;
}

}  // namespace reprise::services
