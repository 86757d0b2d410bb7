#include <cstdint>
#include <utility>

#include <reprise/base/base64.hpp>
#include <reprise/base/hex.hpp>
#include <reprise/http/message.hpp>
#include <reprise/json/parse.hpp>
#include <reprise/json/write.hpp>

#include "http_services/query/language.hpp"
#include "http_services/query/lexer.hpp"
#include "http_services/query/run.hpp"

// Runs statements: directly, prepared, or by name.

namespace reprise::sandbox::detail {

namespace {

std::uint64_t hash_text(std::string_view text, std::uint64_t hash) noexcept {
    for (const char c : text) {
        hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
    }
    return hash;
}

// Equal statements have equal names on every node.
std::string prepared_name(const statement_setting& in, std::string_view text) {
    std::uint64_t hash = hash_text(in.query_context, hash_text(text, 0xcbf29ce484222325u));
    std::string name;
    for (std::size_t i = 0; i < 32; ++i) {
        hash = i == 16 ? hash_text("again", hash) : hash;
        name += base::to_hex_digit(hash >> (4 * (i % 16)));
        name += i == 7 || i == 11 || i == 15 || i == 19 ? "-" : "";
    }
    const wire::cluster_node* at = in.with.cluster.topology().endpoints_of(in.with.node);
    const std::string host =
        at == nullptr
            ? "127.0.0.1:8091"
            : wire::to_host_port(
                  at->hostname, at->ports.port(wire::service::management, wire::transport::plain));
    return "[" + host + "]" + name;
}

// A plan contains everything that is needed to prepare the statement again.
std::string encode_plan(const std::string& name, const prepared_statement& of) {
    return base::encode_base64(json::serialize(
        json::object{{"name", name}, {"text", of.text}, {"query_context", of.query_context}}));
}

std::optional<std::pair<std::string, prepared_statement>> decode_plan(std::string_view plan) {
    const auto bytes = base::decode_base64(plan);
    const auto parsed = bytes ? json::parse(*bytes) : std::unexpected(json::parse_error{});
    if (!parsed) {
        return std::nullopt;
    }
    const json::value* name = parsed->root.find("name");
    const json::value* text = parsed->root.find("text");
    const json::value* context = parsed->root.find("query_context");
    if (name == nullptr || text == nullptr || context == nullptr || !name->as_string() ||
        !text->as_string() || !context->as_string()) {
        return std::nullopt;
    }
    return std::pair{
        std::string(*name->as_string()),
        prepared_statement{std::string(*text->as_string()), std::string(*context->as_string())}};
}

// Removes the first by name to stay within the bound; which one does not matter.
void keep_prepared(service_state& services, const std::string& name, prepared_statement what) {
    if (services.prepared.size() >= prepared_count_max && !services.prepared.contains(name)) {
        services.prepared.erase(services.prepared.begin());
    }
    services.prepared.insert_or_assign(name, std::move(what));
}

struct query_context_names {
    std::string bucket;
    std::string scope;
};

// `[default]:bucket.scope`, with or without backticks around either name. Without them, a bucket's
// name may contain dots and dashes, and the last dot separates the names.
std::optional<query_context_names> parse_query_context(std::string_view text) {
    const std::size_t colon = text.find(':');
    if (colon != std::string_view::npos && !text.substr(0, colon).contains('`')) {
        if (colon != 0 && text.substr(0, colon) != "default") {
            return std::nullopt;
        }
        text.remove_prefix(colon + 1);
    }
    const bool is_quoted = text.starts_with('`');
    const std::size_t dot = is_quoted ? text.find('.', text.find('`', 1)) : text.rfind('.');
    if (dot == std::string_view::npos) {
        return std::nullopt;
    }
    const auto unquoted = [](std::string_view name) {
        const bool has_quotes = name.size() > 2 && name.starts_with('`') && name.ends_with('`');
        return has_quotes ? name.substr(1, name.size() - 2) : name;
    };
    constexpr std::string_view legal =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.-%";
    const std::string_view bucket = unquoted(text.substr(0, dot));
    const std::string_view scope = unquoted(text.substr(dot + 1));
    for (const std::string_view name : {bucket, scope}) {
        if (name.empty() || name.find_first_not_of(legal) != std::string_view::npos) {
            return std::nullopt;
        }
    }
    return query_context_names{std::string(bucket), std::string(scope)};
}

// The privilege that a statement needs, and the role that grants it.
struct needed_role {
    privilege needs;
    std::string_view role;
};

std::vector<needed_role> needed_roles(const statement_setting& in, const statement& what) {
    if (in.is_analytics) {
        return {{privilege::analytics, "analytics_select"}};
    }
    std::vector<needed_role> roles;
    switch (what.what) {
        case statement_kind::insert:
            roles = {{privilege::query_insert, "query_insert"}};
            break;
        case statement_kind::upsert:
            roles = {
                {privilege::query_insert, "query_insert"},
                {privilege::query_update, "query_update"}};
            break;
        case statement_kind::update:
            roles = {{privilege::query_update, "query_update"}};
            break;
        case statement_kind::remove:
            roles = {{privilege::query_delete, "query_delete"}};
            break;
        case statement_kind::create_index:
        case statement_kind::drop_index:
        case statement_kind::build_index:
            return {{privilege::query_index, "query_manage_index"}};
        case statement_kind::select:
        case statement_kind::prepare:
        case statement_kind::execute:
            return {{privilege::query_select, "query_select"}};
    }
    if (what.has_returning) {
        roles.push_back({privilege::query_select, "query_select"});
    }
    return roles;
}

// Returns the error for a user who may not run the statement on the keyspace of 1 or 3 names.
std::optional<statement_error> find_missing_role(
    const statement_setting& in, const statement& what, const std::vector<std::string>& names) {
    const bool is_default = names.size() == 1;
    const privilege given = in.with.rights.in_collection(
        names[0], is_default ? "_default" : names[1], is_default ? "_default" : names[2]);
    for (const auto& [needs, role] : needed_roles(in, what)) {
        if (in.with.can_see(names[0]) && has_all(given, needs)) {
            continue;
        }
        std::string place = "default:" + names[0];
        for (std::size_t i = 1; i < names.size(); ++i) {
            place.append(".").append(names[i]);
        }
        std::string text = "User does not have credentials to run queries on " + place;
        text.append(". Add role ").append(role).append(" on ").append(place);
        text += " to allow the statement to run.";
        return statement_error{in.is_analytics ? 20001 : 13014, std::move(text), 0, {}};
    }
    return std::nullopt;
}

statement_result run_execute(const statement_setting& in, const statement& what) {
    statement_setting inner = in;
    if (what.arguments) {
        evaluator evaluate(in.parameters);
        const maybe_value given = evaluate.value_of(*what.arguments, {});
        if (evaluate.error()) {
            return refuse_statement(*evaluate.error());
        }
        if (const json::array* list = given ? given->as_array() : nullptr) {
            inner.parameters.positional = *list;
        } else if (const json::object* map = given ? given->as_object() : nullptr) {
            inner.parameters.named = *map;
        }
    }
    return run_prepared(inner, what.name, {});
}

}  // namespace

statement_result run_prepare(const statement_setting& in, const statement& what) {
    const std::string name = what.name.empty() ? prepared_name(in, what.body) : what.name;
    const prepared_statement made{what.body, in.query_context};
    // The plan must be valid, so the keyspace must exist: preparing it checks that.
    auto parsed = parse_statement(what.body);
    if (!parsed) {
        return refuse_statement(std::move(parsed.error()));
    }
    if (parsed->from.what == source_kind::documents) {
        if (const auto on = resolve_keyspace(in, *parsed); !on) {
            return refuse_statement(on.error());
        }
    }
    statement_result result;
    result.signature = "json";
    const auto known = in.with.services.prepared.find(name);
    if (known != in.with.services.prepared.end() && known->second.text != what.body) {
        result.errors.push_back(
            {4060, "Unable to add name: duplicate name: " + name, 0, {}, false, true});
        return result;
    }
    keep_prepared(in.with.services, name, made);
    if (in.is_auto_executed) {
        result = run_parsed(in, *std::move(parsed));
        result.prepared = name;
        return result;
    }
    result.add_row(json::serialize(json::object{
        {"encoded_plan", encode_plan(name, made)},
        {"name", name},
        {"namespace", "default"},
        {"operator", json::object{{"#operator", "Sequence"}}},
        {"queryContext", in.query_context},
        {"signature", signature_of(parsed->result)},
        {"text", "PREPARE " + what.body}}));
    return result;
}

statement_result run_prepared(
    const statement_setting& in, const std::string& name, std::string_view encoded_plan) {
    auto& known = in.with.services.prepared;
    auto found = known.find(name);
    if (found == known.end() && !encoded_plan.empty()) {
        auto plan = decode_plan(encoded_plan);
        if (!plan) {
            return refuse_statement({4070, "Unable to decode prepared statement", 0, {}});
        }
        if (plan->first != name) {
            return refuse_statement(
                {4080, "Prepared name in encoded plan parameter is not " + name, 0, {}});
        }
        keep_prepared(in.with.services, name, std::move(plan->second));
        found = known.find(name);
    }
    if (found == known.end()) {
        return refuse_statement(
            {4040, "No such prepared statement: " + name + ", context: unset", 0, {}});
    }
    auto parsed = parse_statement(found->second.text);
    if (!parsed) {
        return refuse_statement({4070, "Unable to decode prepared statement", 0, {}});
    }
    statement_setting inner = in;
    inner.query_context = found->second.query_context;
    return run_parsed(inner, *std::move(parsed));
}

statement_result run_parsed(const statement_setting& in, statement what) {
    if (in.is_analytics && what.what != statement_kind::select) {
        return refuse_statement(not_in_sandbox("A statement other than SELECT in analytics"));
    }
    if (in.is_readonly && is_writing(what.what)) {
        return refuse_statement(
            {1000,
             "The server or request is read-only and cannot accept this write statement.",
             0,
             {}});
    }
    switch (what.what) {
        case statement_kind::select:
            return run_select(in, std::move(what));
        case statement_kind::insert:
        case statement_kind::upsert:
        case statement_kind::update:
        case statement_kind::remove:
            return run_change(in, what);
        case statement_kind::prepare:
            return run_prepare(in, what);
        case statement_kind::execute:
            return run_execute(in, what);
        case statement_kind::create_index:
        case statement_kind::drop_index:
        case statement_kind::build_index:
            return run_index_statement(in, what);
    }
    return {};
}

statement_result run_statement(const statement_setting& in, std::string_view text) {
    auto parsed = parse_statement(text);
    if (!parsed && in.is_analytics && parsed.error().code == 3000) {
        // Analytics has another syntax for most statements. What cannot be read may well be right.
        const auto words = tokenize(text);
        if (!http::equal_ignoring_case(words.front().text, "select") && words.size() > 2) {
            return refuse_statement(not_in_sandbox(words[0].text + " " + words[1].text));
        }
    }
    if (!parsed) {
        return refuse_statement(std::move(parsed.error()));
    }
    return run_parsed(in, *std::move(parsed));
}

std::expected<keyspace, statement_error> resolve_keyspace(
    const statement_setting& in, const statement& what) {
    const std::vector<std::string>& path = what.from.path;
    std::vector<std::string> names = path;
    if (names.size() == 1 && !in.query_context.empty()) {
        auto context = parse_query_context(in.query_context);
        if (!context) {
            return std::unexpected(statement_error{
                1040, "Invalid value for query_context: " + in.query_context, 0, {}});
        }
        names = {std::move(context->bucket), std::move(context->scope), path.front()};
    }
    names.resize(names.size() < 3 ? 1 : 3);
    auto found = names.size() == 1 ? find_keyspace(in.cluster(), names[0])
                                   : find_keyspace(in.cluster(), names[0], names[1], names[2]);
    if (auto refused = find_missing_role(in, what, names)) {
        return std::unexpected(*std::move(refused));
    }
    if (found && path.size() != 2) {
        return *std::move(found);
    }
    std::string text = "default:" + names[0];
    for (std::size_t i = 1; i < names.size(); ++i) {
        text += "." + names[i];
    }
    if (in.is_analytics) {
        return std::unexpected(statement_error{
            24045,
            "Cannot find analytics collection " + path.back() +
                " in analytics scope Default nor an alias with name " + path.back(),
            0,
            {}});
    }
    if (!found && found.error() == keyspace_errc::unknown_scope) {
        return std::unexpected(
            statement_error{12021, "Scope not found in CB datastore " + text, 0, {}});
    }
    return std::unexpected(
        statement_error{12003, "Keyspace not found in CB datastore: " + text, 0, {}});
}

}  // namespace reprise::sandbox::detail
