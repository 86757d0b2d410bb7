#include "http_services/query/query_body.hpp"

#include <algorithm>
#include <string_view>
#include <utility>

#include <reprise/base/duration_text.hpp>
#include <reprise/http/message.hpp>
#include <reprise/json/parse.hpp>
#include <reprise/json/write.hpp>

#include "http_services/http_texts.hpp"
#include "http_services/query/language.hpp"

namespace reprise::sandbox::detail {

namespace {

// Misspelt members are refused, as by real servers. Members without a limit are implemented, or
// would only tune a real server.
constexpr request_member known_members[] = {
    {"statement"},
    {"prepared"},
    {"encoded_plan"},
    {"auto_execute", member_type::flag},
    {"client_context_id"},
    {"timeout"},
    {"readonly", member_type::flag},
    {"args", member_type::list},
    {"scan_consistency"},
    {"scan_vector"},
    {"scan_vectors"},
    {"scan_wait"},
    {"scan_cap", member_type::number},
    {"pipeline_cap", member_type::number},
    {"pipeline_batch", member_type::number},
    {"max_parallelism", member_type::number},
    {"profile"},
    {"metrics", member_type::flag},
    {"query_context"},
    {"use_fts", member_type::flag},
    {"preserve_expiry", member_type::flag},
    {"use_replica", member_type::limited, "off unset"},
    {"signature", member_type::flag},
    {"pretty", member_type::flag},
    {"namespace", member_type::limited, "default"},
    {"creds", member_type::limited},
    {"format", member_type::limited, "json"},
    {"encoding", member_type::limited, "utf-8"},
    {"compression", member_type::limited, "none"},
    {"controls"},
    {"use_cbo"},
    {"auto_prepare"},
    {"memory_quota"},
    {"txid", member_type::limited},
    {"tximplicit", member_type::limited, "false"},
    {"txtimeout"},
    {"durability_level", member_type::limited, "none"},
    {"kvtimeout"},
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

// Returns the error for a known member with a wrong or unsupported value.
std::optional<statement_error> find_wrong_value(
    const request_member& of, const json::value& given) {
    const std::string name(of.name);
    const std::string_view text = given.as_string().value_or("");
    switch (of.type) {
        case member_type::free:
            break;
        case member_type::flag:
            if (!given.as_bool() && text != "true" && text != "false") {
                return statement_error{1070, name + " has to be of type boolean", 0, {}};
            }
            break;
        case member_type::number:
            if (!given.is_number() &&
                (text.empty() || text.find_first_not_of("0123456789", text.starts_with('-')) !=
                                     std::string_view::npos)) {
                std::string message = "Error processing " + name;
                message += " - cause: " + name + " is invalid";
                return statement_error{1040, std::move(message), 0, {}};
            }
            break;
        case member_type::list:
            if (given.as_array() == nullptr) {
                return statement_error{1070, name + " has to be of type array", 0, {}};
            }
            break;
        case member_type::limited:
            if (!is_accepted(of.accepted, given)) {
                return not_in_sandbox("The request parameter " + name + " with this value");
            }
            break;
    }
    return std::nullopt;
}

// Every read sees every write, so the consistency is only checked.
std::optional<statement_error> find_wrong_consistency(const json::object& members) {
    const json::value* given = members.find("scan_consistency");
    const std::string text(given == nullptr ? "" : given->as_string().value_or("?"));
    constexpr std::string_view known[] = {
        "", "not_bounded", "request_plus", "statement_plus", "at_plus"};
    if (std::ranges::none_of(
            known, [&text](auto each) { return http::equal_ignoring_case(each, text); })) {
        return statement_error{1030, "Unknown scan_consistency value: " + text, 0, {}};
    }
    if (http::equal_ignoring_case(text, "at_plus") && members.find("scan_vector") == nullptr &&
        members.find("scan_vectors") == nullptr) {
        return statement_error{1050, "No scan_vector value", 0, {}};
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
    const auto given = base::parse_milliseconds(text);
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
            continue;
        }
        const auto known = std::ranges::find(known_members, each.name, &request_member::name);
        if (known == std::end(known_members)) {
            body.problem = {1065, "Unrecognized parameter in request: " + each.name, 0, {}};
        } else if (auto wrong = find_wrong_value(*known, each.content)) {
            body.problem = std::move(wrong);
        }
    }
    if (const json::value* list = members.find("args"); list != nullptr && !body.problem) {
        body.parameters.positional = *list->as_array();
    }
    body.keeps_expiry = flag_of_member(members, "preserve_expiry", false);
    read_timeout(members, body);
    if (auto wrong = find_wrong_consistency(members)) {
        body.problem = std::move(wrong);
    }
    if (members.find("statement") == nullptr && body.prepared.empty()) {
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
        body.problem = {1040, "Error processing JSON request body", 0, {}};
        return body;
    }
    return read_members(*parsed->root.as_object());
}

}  // namespace reprise::sandbox::detail
