#include <reprise/services/view_request.hpp>

#include <utility>

#include <reprise/base/percent_encoding.hpp>
#include <reprise/json/parse.hpp>

#include "path_segment.hpp"

namespace reprise::services {

namespace {

// Builds `?a=1&b=2`. The first key that is not JSON is a sticky error.
class view_query {
public:
    void text(std::string_view name, std::string_view value) {
        if (value.empty()) {
            return;
        }
        if (!json::is_valid_utf8(value)) {
            fail(service_call_errc::text_not_utf8, name);
        }
        text_ += text_.empty() ? '?' : '&';
        text_ += name;
        text_ += '=';
        base::append_percent_encoded(text_, value);
    }

    void json_text(std::string_view name, std::string_view value) {
        if (!value.empty() && !json::parse(value)) {
            fail(service_call_errc::value_not_json, name);
        }
        text(name, value);
    }

    void number(std::string_view name, std::optional<std::uint64_t> value) {
        if (value) {
            text(name, std::to_string(*value));
        }
    }

    void flag(std::string_view name, std::optional<bool> value) {
        if (value) {
            text(name, *value ? "true" : "false");
        }
    }

    void fail(service_call_errc code, std::string_view what) {
        if (!failure_) {
            failure_ = service_call_error{code, std::string(what)};
        }
    }

    const std::optional<service_call_error>& failure() const noexcept { return failure_; }
    const std::string& str() const noexcept { return text_; }

private:
    std::string text_;
    std::optional<service_call_error> failure_;
};

std::string_view stale_text(view_stale stale) noexcept {
    switch (stale) {
        case view_stale::ok:
            return "ok";
        case view_stale::update_after:
            return "update_after";
        case view_stale::no:
            break;
    }
    return "false";
}

void write_view_options(view_query& query, const view_request& request) {
    query.number("limit", request.limit);
    query.number("skip", request.skip);
    if (request.stale) {
        query.text("stale", stale_text(*request.stale));
    }
    query.json_text("key", request.key);
    query.json_text("startkey", request.start_key);
    query.json_text("endkey", request.end_key);
    query.text("startkey_docid", request.start_key_doc_id);
    query.text("endkey_docid", request.end_key_doc_id);
    query.flag("inclusive_end", request.is_end_inclusive);
    query.flag("reduce", request.is_reduced);
    query.flag("group", request.is_grouped);
    query.number("group_level", request.group_level);
    query.flag("descending", request.is_descending);
    if (request.on_error) {
        query.text("on_error", *request.on_error == view_on_error::stop ? "stop" : "continue");
    }
    query.text("debug", request.has_debug ? "true" : "");
    query.text("full_set", request.is_full_set ? "true" : "");
}

void check_view_names(view_query& query, const view_request& request) {
    if (request.bucket.empty()) {
        query.fail(service_call_errc::text_missing, "bucket");
    }
    if (request.design_document.empty()) {
        query.fail(service_call_errc::text_missing, "design_document");
    }
    if (request.view.empty()) {
        query.fail(service_call_errc::text_missing, "view");
    }
    if (detail::is_dot_segment(request.bucket)) {
        query.fail(service_call_errc::dot_segment, "bucket");
    }
    if (!request.is_development && detail::is_dot_segment(request.design_document)) {
        query.fail(service_call_errc::dot_segment, "design_document");
    }
    if (detail::is_dot_segment(request.view)) {
        query.fail(service_call_errc::dot_segment, "view");
    }
}

std::string make_keys_body(view_query& query, const std::vector<std::string>& keys) {
    std::string body = R"({"keys":[)";
    for (std::size_t i = 0; i < keys.size(); ++i) {
        if (!json::parse(keys[i])) {
            query.fail(service_call_errc::value_not_json, "keys[" + std::to_string(i) + ']');
        }
        body += (i == 0 ? "" : ",") + keys[i];
    }
    return body + "]}";
}

}  // namespace

service_call_result make_view_call(const view_request& request) {
    view_query query;
    check_view_names(query, request);
    write_view_options(query, request);
    service_call call;
    call.service = wire::service::views;
    call.is_idempotent = true;
    call.rows_member = "rows";
    call.target = '/' + base::percent_encode(request.bucket) + "/_design/" +
                  (request.is_development ? "dev_" : "") +
                  base::percent_encode(request.design_document) + "/_view/" +
                  base::percent_encode(request.view) + query.str();
    if (!request.keys.empty()) {
        call.method = "POST";
        call.content_type = "application/json";
        call.body = make_keys_body(query, request.keys);
    }
    if (query.failure()) {
        return std::unexpected(*query.failure());
    }
    return call;
}

}  // namespace reprise::services
