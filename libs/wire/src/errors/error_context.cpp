#include <reprise/wire/error_context.hpp>

#include <reprise/base/hex.hpp>
#include <reprise/json/parse.hpp>
#include <reprise/json/value.hpp>
#include <reprise/json/write.hpp>

#include "cut_utf8.hpp"

namespace reprise::wire {

namespace {

// Copies a text member, truncated to the limit. Returns false if the member is not a text.
bool read_context_text(const json::value& error, std::string_view name, std::string& text) {
    const json::value* member = error.find(name);
    if (member == nullptr) {
        return true;
    }
    const auto found = member->as_string();
    if (!found) {
        return false;
    }
    text = detail::cut_utf8(*found, error_context_text_size_max);
    return true;
}

}  // namespace

std::string encode_error_context(const error_context& context) {
    if (context == error_context{}) {
        return {};
    }
    json::object body;
    if (!context.context.empty() || !context.ref.empty()) {
        json::object error;
        if (!context.context.empty()) {
            error.set("context", json::value(std::string_view(context.context)));
        }
        if (!context.ref.empty()) {
            error.set("ref", json::value(std::string_view(context.ref)));
        }
        body.set("error", json::value(std::move(error)));
    }
    if (context.manifest_uid) {
        body.set("manifest_uid", json::value(base::to_shortest_hex(*context.manifest_uid)));
    }
    return json::serialize(json::value(std::move(body)));
}

std::expected<error_context, wire_errc> parse_error_context(base::byte_view body) {
    error_context context;
    if (body.empty()) {
        return context;
    }
    const auto document = json::parse(base::as_text(body));
    if (!document || document->root.as_object() == nullptr) {
        return std::unexpected(wire_errc::error_body_malformed);
    }
    if (const json::value* error = document->root.find("error")) {
        if (error->as_object() == nullptr ||
            !read_context_text(*error, "context", context.context) ||
            !read_context_text(*error, "ref", context.ref)) {
            return std::unexpected(wire_errc::error_body_malformed);
        }
    }
    if (const json::value* uid = document->root.find("manifest_uid")) {
        const auto text = uid->as_string();
        if (text) {
            context.manifest_uid = base::parse_hex(*text);
        }
        if (!context.manifest_uid) {
            return std::unexpected(wire_errc::error_body_malformed);
        }
    }
    return context;
}

error_context error_context_of(const frame_view& response) {
    if (!response.is_response() || !may_have_error_body(response.status()) ||
        !has(response.datatype(), datatype::json) || has(response.datatype(), datatype::snappy)) {
        return {};
    }
    return parse_error_context(response.value()).value_or(error_context{});
}

}  // namespace reprise::wire
