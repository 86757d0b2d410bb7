#include <algorithm>
#include <cstdio>
#include <fstream>
#include <iostream>
#include <iterator>
#include <sstream>
#include <string>
#include <string_view>

#include <reprise/wire/opcode.hpp>

#include "http_services/missing_paths.hpp"
#include "http_services/query/language.hpp"
#include "http_services/query/query_body.hpp"
#include "http_services/query/statement.hpp"
#include "http_services/routes.hpp"
#include "http_services/search/search_query.hpp"
#include "http_services/views/view_design.hpp"
#include "key_value/dispatcher.hpp"
#include "key_value/handlers.hpp"
#include "management/bucket_settings.hpp"
#include "management/roles.hpp"
#include "management/routes.hpp"

// Prints docs/sandbox.md from the tables that the sandbox uses:
//
//     sandbox_page > docs/sandbox.md
//     sandbox_page docs/sandbox.md      fails if the page is out of date

namespace reprise::sandbox::detail {

namespace {

// Escapes bars, which would end the cell.
std::string cell(std::string_view text) {
    std::string made;
    for (const char c : text) {
        made += c == '|' ? "\\|" : std::string(1, c);
    }
    return made;
}

void add_row(std::string& page, std::initializer_list<std::string> cells) {
    page += "|";
    for (const std::string& each : cells) {
        page += " " + cell(each) + " |";
    }
    page += "\n";
}

void add_head(std::string& page, std::initializer_list<std::string> names) {
    add_row(page, names);
    page += "|";
    for (std::size_t i = 0; i < names.size(); ++i) {
        page += "---|";
    }
    page += "\n";
}

std::string code(std::string_view text) {
    return "`" + std::string(text) + "`";
}

// Adds names as one wrapped paragraph.
void add_names(std::string& page, const std::vector<std::string>& names) {
    std::string line;
    for (std::size_t i = 0; i < names.size(); ++i) {
        const std::string word = names[i] + (i + 1 < names.size() ? "," : ".");
        if (!line.empty() && line.size() + 1 + word.size() > 100) {
            page += line + "\n";
            line.clear();
        }
        line += (line.empty() ? "" : " ") + word;
    }
    page += line + "\n";
}

void add_statements(std::string& page) {
    page += "## Statements\n\n";
    add_head(page, {"statement"});
    for (const statement_grammar& each : statement_grammars()) {
        add_row(page, {code(each.syntax)});
    }
    page +=
        "\n"
        "*item*: `*`, `a.*` or an expression. *source*: a keyspace\n"
        "(`[default:]bucket[.scope.collection]`, or a collection's name under `query_context`) "
        "with\n"
        "`[AS] alias` and `USE KEYS e`; `system:indexes`; `ARRAY_RANGE(from, to) AS n`, which "
        "produces\n"
        "its rows while the peer reads. *e*: an expression:\n\n";
    add_head(page, {"expression", "spelling"});
    for (const grammar_line& each : expression_grammar()) {
        add_row(page, {std::string(each.what), std::string(each.syntax)});
    }
    page +=
        "\n"
        "Without `USE KEYS` a keyspace is read only if it has an index that is online: a "
        "primary\n"
        "one, or any with a `WHERE`. Analytics reads the same documents, needs no index and "
        "runs\n"
        "`SELECT` only. Every read sees every write before it, whatever the scan consistency.\n"
        "A prepared statement exists on all nodes until `service_host::forget_prepared`; an\n"
        "`encoded_plan` restores it. An error in the middle of `ARRAY_RANGE` follows its rows.\n"
        "Statements take no time unless a rule delays them. One that is delayed beyond its\n"
        "`timeout` ends with 200, 1080 and `retry: true`, and its changes stay.\n\n"
        "Errors that occur on their own: 1000, 1030, 1040, 1050, 1065, 1070, 1080, 2120, 3000, "
        "3080, 4000,\n"
        "4040, 4060, 4070, 4080, 4300, 4310, 5000, 5010, 5030, 5070, 5411, 12003, 12004, 12008, "
        "12009\n"
        "(reasons 17012, 17014), 12016, 12021, 13014; analytics 20000, 20001, 24000, 24001, "
        "24045. For\n"
        "every other code, use a `service_fault_rule`.\n\n"
        "### Refused by name\n\n"
        "Query and analytics refuse these with code 90000 and `... is not in the "
        "sandbox`, as\n"
        "well as every function that is not listed above.\n\n";
    std::vector<std::string> names;
    names.reserve(missing_constructs().size());
    for (const missing_construct& each : missing_constructs()) {
        names.push_back(code(each.name()));
    }
    add_names(page, names);
    page += "\n### Members of a request\n\n";
    std::vector<std::string> free;
    std::vector<std::string> limited;
    for (const request_member& each : request_members()) {
        const std::string accepted = each.accepted.empty() ? "empty" : code(each.accepted);
        each.type == member_type::limited
            ? limited.push_back(code(each.name) + " (" + accepted + ")")
            : free.push_back(code(each.name));
    }
    add_names(page, free);
    page += "\nRefused by name unless they have the value in parentheses:\n\n";
    add_names(page, limited);
    page += "\n";
}

void add_views_and_search(std::string& page) {
    page +=
        "## Views\n\n"
        "A view runs over a bucket's default collection. There is no JavaScript: `map` is "
        "`_by_id` or the\n"
        "function that emits `meta.id` and null, and there is no `reduce`. A design document with "
        "anything\n"
        "else is refused when it is created.\n\n";
    add_head(page, {"parameter", "meaning"});
    for (const view_parameter& each : view_parameters()) {
        const std::string other = each.other_name.empty() ? "" : ", " + code(each.other_name);
        add_row(page, {code(each.name) + other, std::string(each.meaning)});
    }
    page +=
        "\n"
        "## Search queries\n\n"
        "All texts of a document are indexed as lower-case words; all hits have the same score. "
        "Other\n"
        "queries and other members of these are refused by name.\n\n";
    add_head(page, {"query", "other members", "finds"});
    for (const search_kind& each : search_kinds()) {
        add_row(
            page,
            {code(each.name), each.has_field ? code("field") : "", std::string(each.meaning)});
    }
    page += "\nRefused by name in requests; unknown members are ignored:\n\n";
    std::vector<std::string> names;
    std::ranges::transform(missing_search_members(), std::back_inserter(names), code);
    add_names(page, names);
    page += "\n";
}

void add_routes(std::string& page, std::string_view title, std::span<const service_route> routes) {
    page += "### " + std::string(title) + "\n\n";
    add_head(page, {"method", "path", "what", "needs"});
    for (const service_route& each : routes) {
        add_row(
            page, {std::string(each.method), code(each.path), std::string(each.what),
                   to_text(each.needs)});
    }
    page += "\n";
}

void add_administration(std::string& page) {
    page += "## Buckets\n\nOther fields are refused by name.\n\n";
    add_head(page, {"field", "values", "effect"});
    for (const setting_facts& each : bucket_setting_table()) {
        add_row(page, {code(each.name), std::string(each.values), std::string(each.effect)});
    }
    constexpr std::string_view reaches[] = {
        "", "[bucket]", "[bucket:scope]", "[bucket:scope:collection]"};
    page +=
        "\n"
        "## Roles\n\n"
        "A user without roles is an administrator only if it was created by\n"
        "`user_options` without buckets. Roles of groups count like the user's own. Changes "
        "take effect\n"
        "at once, even on open connections.\n\n";
    add_head(page, {"role", "allows"});
    for (const role_facts& each : known_roles()) {
        const auto reach = static_cast<std::size_t>(each.reach);
        add_row(
            page,
            {code(std::string(each.name) + std::string(reaches[reach])), to_text(each.privileges)});
    }
    page += "\nRefused by name:\n\n";
    std::vector<std::string> names;
    names.reserve(roles_elsewhere().size());
    for (const std::string_view each : roles_elsewhere()) {
        names.push_back(code(each));
    }
    add_names(page, names);
    page += "\n";
}

void add_key_value(std::string& page) {
    page += "## Key-value\n\n";
    add_head(page, {"opcode", "command", "needs"});
    for (const command_facts& each : known_commands()) {
        char number[8];
        std::snprintf(number, sizeof number, "0x%02x", static_cast<unsigned>(each.op));
        add_row(page, {number, std::string(to_string(each.op)), to_text(each.needs)});
    }
    page +=
        "\n"
        "Other known opcodes are answered with 0x83, unknown ones with 0x81. HELLO grants:\n\n";
    std::vector<std::string> names;
    for (const wire::hello_feature_facts& each : wire::all_hello_features()) {
        if (is_offered_feature(each)) {
            names.emplace_back(each.name);
        }
    }
    add_names(page, names);
}

std::string make_page() {
    std::string page =
        "# What the sandbox supports\n\n"
        "<!-- Printed by the program sandbox_page: `build/dev/bin/sandbox_page > "
        "docs/sandbox.md` -->\n\n"
        "The sandbox refuses by name what is not listed here, and ignores nothing. What it "
        "accepts it\n"
        "stores, returns and enforces. This page is printed from the tables that the sandbox "
        "itself\n"
        "uses. How to start and disturb it:\n"
        "[testbed/sandbox/README.md](../testbed/sandbox/README.md).\n\n";
    add_statements(page);
    add_views_and_search(page);
    add_administration(page);
    page += "## Paths\n\n";
    add_routes(page, "Query", query_routes());
    add_routes(page, "Analytics", analytics_routes());
    add_routes(page, "Search", search_routes());
    add_routes(page, "Views", views_routes());
    add_routes(page, "Management", management_routes());
    page +=
        "### Not in the sandbox\n\n"
        "Requests for these paths of real servers are answered with status 400 and `... is not "
        "in the\n"
        "sandbox`; other unknown paths with 404.\n\n";
    add_head(page, {"what", "paths"});
    for (std::span<const missing_path> rest = missing_paths(); !rest.empty();) {
        const auto is_other = [&rest](const missing_path& each) {
            return each.shown != rest.front().shown || each.service != rest.front().service;
        };
        const auto end = std::ranges::find_if(rest, is_other);
        std::string paths;
        for (const missing_path& each : std::span(rest.begin(), end)) {
            paths += (paths.empty() ? "" : ", ") + code(each.path);
        }
        add_row(page, {std::string(rest.front().shown), paths});
        rest = std::span(end, rest.end());
    }
    page += "\n";
    add_key_value(page);
    return page;
}

int check_page(const char* path) {
    std::ifstream file(path);
    std::ostringstream text;
    text << file.rdbuf();
    if (file && text.str() == make_page()) {
        return 0;
    }
    std::cerr << path << " is out of date: sandbox_page > docs/sandbox.md\n";
    return 1;
}

}  // namespace

}  // namespace reprise::sandbox::detail

int main(int argc, char** argv) {
    if (argc == 2) {
        return reprise::sandbox::detail::check_page(argv[1]);
    }
    std::cout << reprise::sandbox::detail::make_page();
    return std::cout ? 0 : 1;
}
