#include "services/query/query_body.hpp"

#include <algorithm>
#include <string_view>
#include <utility>

#include <reprise/http/message.hpp>
#include <reprise/json/parse.hpp>
#include <reprise/json/write.hpp>
#include <reprise/wire/connection_string.hpp>

#include "services/http_texts.hpp"
#include "services/query/language.hpp"

namespace reprise::sandbox::detail {

namespace {

// Misspelt members are refused, as by real servers. Members without a limit are implemented, or
// would only tune a real server.
constexpr request_member known_members[] = {
    {"statement", ""},
    {"prepared", ""},
    {"encoded_plan", ""},
    {"auto_execute", ""},
    {"client_context_id", ""},
    {"timeout", ""},
    {"readonly", ""},
    {"args", ""},
    {"scan_consistency", ""},
    {"scan_vector", ""},
    {"scan_vectors", ""},
    {"scan_wait", ""},
    {"scan_cap", ""},
    {"pipeline_cap", ""},
    {"pipeline_batch", ""},
    {"max_parallelism", ""},
    {"profile", ""},
    {"metrics", ""},
    {"query_context", ""},
    {"use_fts", ""},
    {"preserve_expiry", ""},
    {"use_replica", "off unset", true},
    {"signature", ""},
    {"pretty", ""},
    {"namespace", "default", true},
    {"creds", "", true},
    {"format", "json", true},
    {"encoding", "utf-8", true},
    {"compression", "none", true},
    {"controls", ""},
    {"use_cbo", ""},
    {"auto_prepare", ""},
    {"memory_quota", ""},
    {"txid", "", true},
    {"tximplicit", "false", true},
    {"txtimeout", ""},
    {"durability_level", "none", true},
    {"kvtimeout", ""},
};

bool is_accepted(std::string_view accepted, const json::value& given) {
    const std::string text = given.as_string() ? std::string(*given.as_string())
                             : given.as_array() != nullptr && given.as_array()->empty()
                                 ? std::string()
                                 : json::serialize(given);
    while (!accepted.empty() && !text.empty()) {
        const std::string_view word = accepted.substr(0, accepted.find(' '));
        if (http::equal_ignoring_case(word, text)) {
            return true;
        }
        accepted.remove_prefix(std::min(word.size() + 1, accepted.size()));
    }
    return text.empty();
}

// Returns the error for a known member with an unsupported value.
std::optional<statement_error> find_limited(const json::object& members) {
    for (const request_member& each : known_members) {
        const json::value* given = each.is_limited ? members.find(each.name) : nullptr;
        if (given != nullptr && !is_accepted(each.accepted, *given)) {
            return not_in_sandbox(
                "The request parameter " + std::string(each.name) + " with this value");
        }
    }
    return std::nullopt;
}

std::string text_of_member(const json::object& from, std::string_view name) {
    const json::value* found = from.find(name);
    return found == nullptr ? std::string() : std::string(found->as_string().value_or(""));
}

bool flag_of_member(const json::object& from, std::string_view name, bool otherwise) {
    const json::value* found = from.find(name);
    if (found == nullptr) {
        return otherwise;
    }
    return found->as_string() ? *found->as_string() == "true"
                              : found->as_bool().value_or(otherwise);
}

// Converts form fields to members: parameters and `args` are JSON, everything else is text.
json::object members_of_form(std::string_view text) {
    json::object members;
    for (const auto& [name, value] : parse_form(text).fields) {
        const bool is_json = name.starts_with('$') || name == "args";
        auto parsed = is_json ? json::parse(value) : std::unexpected(json::parse_error{});
        members.set(name, parsed ? std::move(parsed->root) : json::value(value));
    }
    return members;
}

// Reads `timeout`. Zero and negative durations mean no limit, as for real servers.
void read_timeout(const json::object& members, query_body& body) {
    body.timeout_text = text_of_member(members, "timeout");
    std::string_view text = body.timeout_text;
    const bool is_negative = text.starts_with('-');
    text.remove_prefix(is_negative ? 1 : 0);
    if (text.empty()) {
        return;
    }
    const auto given = wire::parse_duration(text);
    if (!given) {
        body.problem = {
            1040,
            "Error processing duration - cause: Unable to parse duration: " + body.timeout_text,
            0,
            {}};
    } else if (!is_negative && given->count() > 0) {
        body.timeout = *given;
    }
}

query_body read_members(const json::object& members) {
    query_body body;
    body.statement = text_of_member(members, "statement");
    body.prepared = text_of_member(members, "prepared");
    body.encoded_plan = text_of_member(members, "encoded_plan");
    body.context_id = text_of_member(members, "client_context_id");
    body.query_context = text_of_member(members, "query_context");
    body.is_readonly = flag_of_member(members, "readonly", false);
    body.is_auto_executed = flag_of_member(members, "auto_execute", false);
    body.has_metrics = flag_of_member(members, "metrics", true);
    body.has_signature = flag_of_member(members, "signature", true);
    if (members.find("profile") != nullptr) {
        body.profile = text_of_member(members, "profile");
    }
    for (const json::member& each : members) {
        if (each.name.starts_with('$')) {
            body.parameters.named.set(std::string_view(each.name).substr(1), each.content);
        } else if (
            std::ranges::find(known_members, each.name, &request_member::name) ==
            std::end(known_members)) {
            body.problem = {1065, "Unrecognized parameter in request: " + each.name, 0, {}};
        }
    }
    if (const json::value* list = members.find("args"); list != nullptr) {
        if (list->as_array() == nullptr) {
            body.problem = {1070, "Type mismatch: args should be an array", 0, {}};
        } else {
            body.parameters.positional = *list->as_array();
        }
    }
    body.keeps_expiry = flag_of_member(members, "preserve_expiry", false);
    read_timeout(members, body);
    if (auto limited = find_limited(members)) {
        body.problem = std::move(limited);
    }
    if (body.statement.empty() && body.prepared.empty()) {
        body.problem = {1050, "No statement or prepared value", 0, {}};
    }
    return body;
}

}  // namespace

std::span<const request_member> request_members() noexcept {
    return known_members;
}

query_body read_query_body(const service_request& request) {
    const auto type = find_header(request.headers, "Content-Type").value_or("");
    if (request.method == "GET") {
        const std::size_t at = request.target.find('?');
        query_body body = read_members(members_of_form(
            at == std::string::npos ? "" : std::string_view(request.target).substr(at + 1)));
        body.is_readonly = true;
        return body;
    }
    if (type.starts_with("application/x-www-form-urlencoded")) {
        return read_members(members_of_form(request.body));
    }
    const auto parsed = json::parse(request.body);
    query_body body;
    if (!parsed || parsed->root.as_object() == nullptr) {
        body.problem = {1100, "Error processing JSON request body", 0, {}};
        return body;
    }
    return read_members(*parsed->root.as_object());
}

}  // namespace reprise::sandbox::detail
