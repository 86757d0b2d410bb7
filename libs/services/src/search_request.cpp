#include <reprise/services/search_request.hpp>

#include <reprise/base/percent_encoding.hpp>
#include <reprise/json/write.hpp>

#include "path_segment.hpp"
#include "request_body.hpp"

namespace reprise::services {

namespace {

using detail::request_body;

// Writes {"match":"text","field":"name"}.
std::string write_search_query(
    std::string_view kind, std::string_view text, std::string_view field = {}) {
    std::string out;
    json::writer writer(out);
    writer.begin_object().member(kind, text);
    if (!field.empty()) {
        writer.member("field", field);
    }
    writer.end_object();
    return out;
}

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
void write_search_control(request_body& body, const search_request& request) {
    if (!request.timeout && request.consistent_with.empty()) {
        return;
    }
    json::writer& out = body.key("ctl");
    out.begin_object();
    if (request.timeout) {
        out.member("timeout", request.timeout->count());
    }
    if (!request.consistent_with.empty()) {
        out.key("consistency").begin_object().member("level", "at_plus");
        out.key("vectors").begin_object().key(request.index).begin_object();
        for (const mutation_mark& mark : detail::newest_marks(request.consistent_with)) {
            out.member(
                std::to_string(mark.vbucket.value) + '/' + std::to_string(mark.token.vbucket_uuid),
                mark.token.seqno);
        }
        out.end_object().end_object().end_object();
    }
    out.end_object();
}

// Writes lists of the user's JSON values. Each list is checked as a whole, so that no value can end
// it early.
void write_search_lists(request_body& body, const search_request& request) {
    if (!request.sort.empty()) {
        std::string list = "[";
        for (const std::string& order : request.sort) {
            list += (list.size() > 1 ? "," : "") + order;
        }
        body.json("sort", list + ']');
    }
    if (!request.facets.empty()) {
        request_body facets;
        facets.members(request.facets);
        if (auto text = facets.finish(); text) {
            body.json("facets", *text);
        } else {
            body.fail(text.error().code, "facets." + text.error().what);
        }
    }
}

void check_search_names(request_body& body, const search_request& request) {
    const std::pair<std::string_view, std::string_view> names[] = {
        {"bucket", request.bucket}, {"scope", request.scope}, {"index", request.index}};
    for (const auto& [what, name] : names) {
        if (detail::is_dot_segment(name)) {
            body.fail(service_call_errc::dot_segment, what);
        }
    }
}

std::string make_search_target(const search_request& request) {
    std::string target = "/api";
    if (!request.bucket.empty()) {
        target += "/bucket/" + base::percent_encode(request.bucket) + "/scope/" +
                  base::percent_encode(request.scope);
    }
    return target + "/index/" + base::percent_encode(request.index) + "/query";
}

}  // namespace

std::string make_match_query(std::string_view text, std::string_view field) {
    return write_search_query("match", text, field);
}

std::string make_term_query(std::string_view term, std::string_view field) {
    return write_search_query("term", term, field);
}

std::string make_query_string_query(std::string_view text) {
    return write_search_query("query", text);
}

std::string make_match_all_query() {
    return R"({"match_all":{}})";
}

service_call_result make_search_call(const search_request& request) {
    request_body body;
    if (request.index.empty()) {
        body.fail(service_call_errc::text_missing, "index");
    }
    if (request.query.empty()) {
        body.fail(service_call_errc::text_missing, "query");
    }
    if (request.bucket.empty() != request.scope.empty()) {
        body.fail(service_call_errc::option_out_of_place, "scope");
    }
    check_search_names(body, request);
    if (!request.query.empty()) {
        body.json("query", request.query);
    }
    write_search_control(body, request);
    if (request.size) {
        body.number("size", *request.size);
    }
    if (request.from) {
        body.number("from", *request.from);
    }
    body.flag_if_set("explain", request.is_explained);
    body.text("score", request.is_unscored ? "none" : "");
    body.flag_if_set("includeLocations", request.has_locations);
    write_search_texts(body, "fields", request.fields);
    write_search_texts(body, "collections", request.collections);
    write_search_lists(body, request);
    body.members(request.raw);
    auto call = detail::make_post(wire::service::search, make_search_target(request), body, "hits");
    if (call) {
        call->is_idempotent = true;
    }
    return call;
}

}  // namespace reprise::services
