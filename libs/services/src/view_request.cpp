#include <reprise/services/view_request.hpp>

#include <reprise/base/percent_encoding.hpp>
#include <reprise/json/parse.hpp>

#include "path_segment.hpp"
#include "request_body.hpp"

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

    // Returns the user's JSON after checking it.
    const std::string& checked(std::string_view name, const couchbase::json_fragment& value) {
        if (auto problem = detail::problem_of(name, value)) {
            fail(problem->code, problem->what);
        } else if (!json::parse(value.text())) {
            fail(service_call_errc::value_not_json, name);
        }
        return value.text();
    }

    void key(std::string_view name, const std::optional<couchbase::json_fragment>& value) {
        if (value) {
            text(name, checked(name, *value));
        }
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

std::string_view stale_text(couchbase::view_stale stale) noexcept {
    switch (stale) {
        case couchbase::view_stale::ok:
            return "ok";
        case couchbase::view_stale::update_after:
            return "update_after";
        case couchbase::view_stale::no:
            break;
    }
    return "false";
}

void write_view_options(view_query& query, const view_options& options) {
    query.number("limit", options.limit);
    query.number("skip", options.skip);
    if (options.stale) {
        query.text("stale", stale_text(*options.stale));
    }
    query.key("key", options.key);
    query.key("startkey", options.start_key);
    query.key("endkey", options.end_key);
    query.text("startkey_docid", options.start_key_doc_id);
    query.text("endkey_docid", options.end_key_doc_id);
    query.flag("inclusive_end", options.inclusive_end);
    query.flag("reduce", options.reduce);
    query.flag("group", options.group);
    query.number("group_level", options.group_level);
    query.flag("descending", options.descending);
    if (options.on_error) {
        query.text(
            "on_error", *options.on_error == couchbase::view_on_error::stop ? "stop" : "continue");
    }
    query.text("debug", options.debug ? "true" : "");
    query.text("full_set", options.full_set ? "true" : "");
}

void check_view_name(view_query& query, std::string_view what, std::string_view name) {
    if (name.empty()) {
        query.fail(service_call_errc::text_missing, what);
    }
    if (detail::is_dot_segment(name)) {
        query.fail(service_call_errc::dot_segment, what);
    }
}

std::string make_keys_body(view_query& query, const std::vector<couchbase::json_fragment>& keys) {
    std::string body = R"({"keys":[)";
    for (std::size_t i = 0; i < keys.size(); ++i) {
        body += i == 0 ? "" : ",";
        body += query.checked("keys[" + std::to_string(i) + ']', keys[i]);
    }
    return body + "]}";
}

}  // namespace

service_call_result make_view_call(
    std::string_view bucket, std::string_view design_document, std::string_view view,
    const view_options& options) {
    std::string design(options.is_development && !design_document.empty() ? "dev_" : "");
    design += design_document;
    view_query query;
    check_view_name(query, "bucket", bucket);
    check_view_name(query, "design_document", design);
    check_view_name(query, "view", view);
    write_view_options(query, options);
    service_call call;
    call.service = wire::service::views;
    call.is_idempotent = true;
    call.rows_member = "rows";
    call.target = '/' + base::percent_encode(bucket) + "/_design/" + base::percent_encode(design) +
                  "/_view/" + base::percent_encode(view) + query.str();
    if (!options.keys.empty()) {
        call.method = "POST";
        call.content_type = "application/json";
        call.body = make_keys_body(query, options.keys);
    }
    if (query.failure()) {
        return std::unexpected(*query.failure());
    }
    return call;
}

}  // namespace reprise::services
