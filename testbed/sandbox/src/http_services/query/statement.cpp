#include "http_services/query/statement.hpp"

#include <array>
#include <utility>

#include "http_services/query/parser.hpp"

namespace reprise::sandbox::detail {

bool is_writing(statement_kind what) noexcept {
    switch (what) {
        case statement_kind::select:
        case statement_kind::prepare:
        case statement_kind::execute:
            return false;
        case statement_kind::insert:
        case statement_kind::upsert:
        case statement_kind::update:
        case statement_kind::remove:
        case statement_kind::create_index:
        case statement_kind::drop_index:
        case statement_kind::build_index:
            break;
    }
    return true;
}

namespace {

class statement_parser : public expression_parser {
public:
    using expression_parser::expression_parser;

    std::expected<statement, statement_error> read() {
        statement made = read_statement();
        accept_sign(";");
        if (!has_failed() && peek().kind != token_kind::end) {
            fail();
        }
        if (has_failed()) {
            return std::unexpected(error());
        }
        return made;
    }

private:
    friend std::span<const statement_grammar> detail::statement_grammars() noexcept;

    using reader = void (statement_parser::*)(statement&);
    struct statement_rule {
        statement_grammar grammar;
        reader read;
    };
    static const std::array<statement_rule, 10> rules;

    bool accept_words(std::string_view words) {
        const std::size_t space = words.find(' ');
        return space == std::string_view::npos
                   ? accept({words})
                   : accept({words.substr(0, space), words.substr(space + 1)});
    }

    statement read_statement() {
        note_statement();
        statement made;
        for (const statement_rule& rule : rules) {
            if (accept_words(rule.grammar.words)) {
                (this->*rule.read)(made);
                return made;
            }
        }
        if (is_sign("(")) {
            refuse("A statement in parentheses");
        }
        fail();
        return made;
    }

    // --- reading and changing documents -----------------------------------------------------

    void read_select(statement& made) {
        made.what = statement_kind::select;
        read_projection(made.result);
        if (accept({"from"})) {
            read_source(made.from);
            if (is_sign(",")) {
                refuse("A join by comma");
            }
        }
        if (accept({"where"})) {
            made.where = read_expression();
        }
        if (accept({"order", "by"})) {
            do {
                order_term term{read_expression(), false};
                term.is_descending = accept({"desc"});
                if (!term.is_descending) {
                    accept({"asc"});
                }
                made.order.push_back(std::move(term));
            } while (accept_sign(","));
        }
        read_limits(made);
        // A missing clause explains a projection that is impossible without it.
        if (find_missing().empty()) {
            check_projection(made);
        }
    }

    // In either order.
    void read_limits(statement& made) {
        for (int i = 0; i < 2; ++i) {
            if (!made.limit && accept({"limit"})) {
                made.limit = read_expression();
            } else if (!made.offset && accept({"offset"})) {
                made.offset = read_expression();
            }
        }
    }

    // COUNT(*) must be the only item.
    void check_projection(const statement& made) {
        for (const projection_item& item : made.result.items) {
            const bool is_mixed_count = item.value.what == expression_kind::count_all &&
                                        (made.result.items.size() > 1 || !made.order.empty());
            if (is_mixed_count) {
                refuse("COUNT(*) with other items or ORDER BY");
            }
        }
    }

    void read_projection(projection& into) {
        into.is_distinct = accept({"distinct"});
        if (!into.is_distinct) {
            accept({"all"});
        }
        into.is_raw = accept({"raw"}) || accept({"element"}) || accept({"value"});
        std::size_t unnamed = 0;
        do {
            projection_item item;
            if (accept_sign("*")) {
                item.is_star = item.is_whole = true;
            } else {
                item.value = read_expression();
                item.is_star = is_sign(".") && is_sign("*", 1);
            }
            if (!item.is_whole && item.is_star) {
                accept_sign(".");
                accept_sign("*");
            }
            if (accept({"as"}) || (!item.is_star && is_name())) {
                item.alias = expect_name();
            }
            const bool has_name = item.value.what == expression_kind::name ||
                                  item.value.what == expression_kind::member;
            if (item.alias.empty() && !item.is_star) {
                item.alias = has_name ? item.value.text : "$" + std::to_string(++unnamed);
            }
            if (into.is_raw && item.is_star) {
                fail();
            }
            into.items.push_back(std::move(item));
        } while (!into.is_raw && accept_sign(","));
    }

    void read_source(row_source& into) {
        if (is_word("array_range") && is_sign("(", 1)) {
            into.what = source_kind::range;
            expect({"array_range"});
            expect_sign("(");
            into.bounds.push_back(read_expression());
            expect_sign(",");
            into.bounds.push_back(read_expression());
            expect_sign(")");
            expect({"as"});
            into.alias = expect_name();
            return;
        }
        if (is_word("system") && is_sign(":", 1)) {
            into.what = source_kind::index_catalogue;
            expect({"system"});
            expect_sign(":");
            into.alias = expect_name();
            if (into.alias != "indexes") {
                refuse("system:" + into.alias);
            }
            return read_alias(into);
        }
        if (is_sign("(") || is_sign("[") || is_sign("{") || peek().kind == token_kind::text ||
            peek().kind == token_kind::parameter) {
            refuse("FROM over an expression or a subquery");
        }
        read_documents(into);
    }

    void read_alias(row_source& into) {
        if (accept({"as"}) || is_name()) {
            into.alias = expect_name();
        }
    }

    // [default:]bucket[.scope.collection]
    void read_keyspace(row_source& into) {
        into.what = source_kind::documents;
        into.path.push_back(expect_name());
        if (accept_sign(":")) {
            if (into.path.back() != "default") {
                fail();
            }
            into.path.back() = expect_name();
        }
        while (into.path.size() < 3 && accept_sign(".")) {
            into.path.push_back(expect_member_name());
        }
        into.alias = into.path.back();
    }

    void read_documents(row_source& into) {
        read_keyspace(into);
        if (is_sign("(")) {
            refuse("FROM over a function");
        }
        if (!is_word("use") && !is_word("set") && !is_word("unset")) {
            read_alias(into);
        }
        if (accept({"use", "keys"}) || accept({"use", "primary", "keys"})) {
            into.keys = read_expression();
        }
    }

    // Reads what follows the documents of DELETE and UPDATE.
    void read_filter(statement& made) {
        if (accept({"where"})) {
            made.where = read_expression();
        }
        if (accept({"limit"})) {
            made.limit = read_expression();
        }
        if (is_word("offset")) {
            refuse("OFFSET of DELETE and UPDATE");
        }
        read_returning(made);
    }

    void read_returning(statement& made) {
        made.has_returning = accept({"returning"});
        if (made.has_returning) {
            if (is_word("distinct")) {
                refuse("RETURNING DISTINCT");
            }
            read_projection(made.result);
        }
    }

    void read_delete(statement& made) {
        made.what = statement_kind::remove;
        read_documents(made.from);
        read_filter(made);
    }

    void read_insert(statement& made) { read_rows(made, statement_kind::insert); }
    void read_upsert(statement& made) { read_rows(made, statement_kind::upsert); }

    void read_rows(statement& made, statement_kind what) {
        made.what = what;
        read_keyspace(made.from);
        if (accept({"as"})) {
            made.from.alias = expect_name();
        }
        bool has_options = false;
        if (accept_sign("(")) {
            accept({"primary"});
            expect({"key"});
            if (!is_sign(",")) {
                refuse("INSERT or UPSERT of a SELECT");
            }
            expect_sign(",");
            expect({"value"});
            has_options = accept_sign(",");
            if (has_options) {
                expect({"options"});
            }
            expect_sign(")");
        }
        if (is_word("select")) {
            refuse("INSERT or UPSERT of a SELECT");
        }
        expect({"values"});
        do {
            accept({"values"});
            expect_sign("(");
            inserted_row row;
            row.key = read_expression();
            expect_sign(",");
            row.value = read_expression();
            if (has_options && accept_sign(",")) {
                row.options = read_expression();
            }
            expect_sign(")");
            made.rows.push_back(std::move(row));
        } while (accept_sign(","));
        read_returning(made);
    }

    void read_update(statement& made) {
        made.what = statement_kind::update;
        if (is_word("statistics")) {
            fail();
        }
        read_documents(made.from);
        if (accept({"set"})) {
            do {
                changed_field field{read_field_path(made.from.alias), {}};
                expect_sign("=");
                field.value = read_expression();
                made.fields.push_back(std::move(field));
            } while (accept_sign(","));
        }
        if (accept({"unset"})) {
            do {
                made.fields.push_back({read_field_path(made.from.alias), {}});
            } while (accept_sign(","));
        }
        if (made.fields.empty()) {
            fail();
        }
        read_filter(made);
    }

    std::vector<std::string> read_field_path(const std::string& alias) {
        std::vector<std::string> path{expect_name()};
        while (accept_sign(".")) {
            path.push_back(expect_member_name());
        }
        if (is_sign("(") && is_word("expiration", 3)) {
            refuse("SET of META()");
        }
        if (is_sign("[")) {
            refuse("SET and UNSET of an array element");
        }
        if (path.size() > 1 && path.front() == alias) {
            path.erase(path.begin());
        }
        return path;
    }

    // --- prepared statements -----------------------------------------------------------------

    void read_prepare(statement& made) {
        made.what = statement_kind::prepare;
        accept({"force"});
        const bool is_named = (is_name() || peek().kind == token_kind::text) &&
                              (is_word("from", 1) || is_word("as", 1));
        if (is_named) {
            made.name = expect_statement_name();
            if (!accept({"from"})) {
                expect({"as"});
            }
        }
        const std::size_t begin = position();
        if (is_word("prepare") || is_word("execute")) {
            fail();
        }
        read_statement();
        made.body = text_between(begin, position());
    }

    void read_execute(statement& made) {
        made.what = statement_kind::execute;
        made.name = expect_statement_name();
        if (accept({"using"})) {
            made.arguments = read_expression();
        }
    }

    // A name or a string: names assigned by the service contain brackets and colons.
    std::string expect_statement_name() {
        if (peek().kind != token_kind::text || has_failed()) {
            return expect_name();
        }
        expression text = read_expression();
        const auto name = text.literal.as_string();
        if (text.what != expression_kind::literal || !name) {
            fail();
            return {};
        }
        return std::string(*name);
    }

    // --- indexes -----------------------------------------------------------------------------

    bool read_tolerance(bool is_create) {
        return is_create ? accept({"if", "not", "exists"}) : accept({"if", "exists"});
    }

    // USING GSI WITH {...}
    void read_index_options(index_clause& index) {
        if (accept({"using"}) && !accept({"gsi"})) {
            refuse("An index that is not USING GSI");
        }
        if (!accept({"with"})) {
            return;
        }
        const expression options = read_expression();
        for (std::size_t i = 0; i < options.names.size(); ++i) {
            const json::value& given = options.operands[i].literal;
            const auto count = given.as_uint64();
            if (options.names[i] == "defer_build" && given.as_bool()) {
                index.is_deferred = *given.as_bool();
            } else if (options.names[i] == "num_replica" && count && *count <= 255) {
                index.replica_count = static_cast<std::uint32_t>(*count);
            } else {
                refuse("The index option " + options.names[i] + " with this value");
            }
        }
    }

    void read_create_index(statement& made) {
        made.what = statement_kind::create_index;
        index_clause& index = made.index;
        index.is_primary = accept({"primary", "index"});
        if (!index.is_primary) {
            expect({"index"});
        }
        index.is_tolerant = read_tolerance(true);
        if (!index.is_primary || !is_word("on")) {
            index.name = expect_name();
        }
        index.name = index.name.empty() ? "#primary" : index.name;
        index.is_tolerant = read_tolerance(true) || index.is_tolerant;
        expect({"on"});
        read_keyspace(made.from);
        if (!index.is_primary) {
            expect_sign("(");
            do {
                const std::size_t begin = position();
                if (is_word("distinct") || is_word("all")) {
                    refuse("An array index");
                }
                read_expression();
                index.keys.emplace_back(text_between(begin, position()));
                if (!accept({"asc"})) {
                    accept({"desc"});
                }
            } while (accept_sign(","));
            expect_sign(")");
            if (accept({"where"})) {
                const std::size_t begin = position();
                read_expression();
                index.condition = text_between(begin, position());
            }
        }
        read_index_options(index);
    }

    void read_drop_index(statement& made) {
        made.what = statement_kind::drop_index;
        index_clause& index = made.index;
        index.is_primary = accept({"primary", "index"});
        if (index.is_primary) {
            index.name = "#primary";
            index.is_tolerant = read_tolerance(false);
            expect({"on"});
            read_keyspace(made.from);
        } else {
            expect({"index"});
            index.is_tolerant = read_tolerance(false);
            read_dropped_name(made);
        }
        index.is_tolerant = read_tolerance(false) || index.is_tolerant;
        read_index_options(index);
    }

    // `name ON keyspace`, or the older form `keyspace.name`.
    void read_dropped_name(statement& made) {
        row_source& from = made.from;
        from.what = source_kind::documents;
        from.path.push_back(expect_name());
        if (accept_sign(":")) {
            from.path.back() = expect_name();
        }
        while (accept_sign(".")) {
            from.path.push_back(expect_member_name());
        }
        made.index.name = from.path.back();
        made.index.is_tolerant = read_tolerance(false) || made.index.is_tolerant;
        from.path.pop_back();
        if (accept({"on"})) {
            from.path.clear();
            read_keyspace(from);
        } else if (from.path.empty()) {
            fail();
        }
    }

    void read_build_index(statement& made) {
        made.what = statement_kind::build_index;
        expect({"on"});
        read_keyspace(made.from);
        expect_sign("(");
        do {
            made.index.built.push_back(
                peek().kind == token_kind::text ? expect_statement_name() : expect_name());
        } while (accept_sign(","));
        expect_sign(")");
        read_index_options(made.index);
    }
};

// Longer prefixes must precede shorter ones.
const std::array<statement_parser::statement_rule, 10> statement_parser::rules{{
    {{"select",
      "SELECT [ALL|DISTINCT] [RAW|ELEMENT|VALUE] item [AS name], ... [FROM source] [WHERE e] "
      "[ORDER BY e [ASC|DESC], ...] [LIMIT e] [OFFSET e]"},
     &statement_parser::read_select},
    {{"insert into",
      "INSERT INTO keyspace (KEY, VALUE [, OPTIONS]) VALUES (k, v [, {\"expiration\": s}]), ... "
      "[RETURNING item, ...]"},
     &statement_parser::read_insert},
    {{"upsert into",
      "UPSERT INTO keyspace (KEY, VALUE [, OPTIONS]) VALUES (k, v [, {\"expiration\": s}]), ... "
      "[RETURNING item, ...]"},
     &statement_parser::read_upsert},
    {{"update",
      "UPDATE keyspace [[AS] a] [USE KEYS e] SET path = e, ... [UNSET path, ...] [WHERE e] "
      "[LIMIT e] [RETURNING item, ...]"},
     &statement_parser::read_update},
    {{"delete from",
      "DELETE FROM keyspace [[AS] a] [USE KEYS e] [WHERE e] [LIMIT e] [RETURNING item, ...]"},
     &statement_parser::read_delete},
    {{"prepare", "PREPARE [FORCE] [name FROM|AS] statement"}, &statement_parser::read_prepare},
    {{"execute", "EXECUTE name [USING list or object]"}, &statement_parser::read_execute},
    {{"create",
      "CREATE [PRIMARY] INDEX [IF NOT EXISTS] [name] ON keyspace [(e, ...)] [WHERE e] [USING GSI] "
      "[WITH {\"defer_build\": b, \"num_replica\": n}]"},
     &statement_parser::read_create_index},
    {{"drop",
      "DROP PRIMARY INDEX [IF EXISTS] ON keyspace, DROP INDEX [IF EXISTS] name ON keyspace, "
      "DROP INDEX keyspace.name"},
     &statement_parser::read_drop_index},
    {{"build index", "BUILD INDEX ON keyspace (name, ...)"}, &statement_parser::read_build_index},
}};

}  // namespace

std::span<const statement_grammar> statement_grammars() noexcept {
    static const auto grammars = [] {
        std::vector<statement_grammar> all;
        all.reserve(statement_parser::rules.size());
        for (const auto& rule : statement_parser::rules) {
            all.push_back(rule.grammar);
        }
        return all;
    }();
    return grammars;
}

std::expected<statement, statement_error> parse_statement(std::string_view text) {
    return statement_parser(text).read();
}

}  // namespace reprise::sandbox::detail
