#include "service_statement.hpp"

#include <utility>

#include "service_parser.hpp"

namespace reprise::sandbox::detail {

bool is_writing(statement_kind what) noexcept {
    switch (what) {
        case statement_kind::select:
        case statement_kind::prepare:
        case statement_kind::execute:
            return false;
        default:
            return true;
    }
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
    statement read_statement() {
        statement made;
        if (accept({"select"})) {
            read_select(made);
        } else if (accept({"insert", "into"})) {
            read_insert(made, statement_kind::insert);
        } else if (accept({"upsert", "into"})) {
            read_insert(made, statement_kind::upsert);
        } else if (accept({"delete", "from"})) {
            made.what = statement_kind::remove;
            read_documents(made.from);
            read_filter(made);
        } else if (accept({"update"})) {
            read_update(made);
        } else if (accept({"prepare"})) {
            read_prepare(made);
        } else if (accept({"execute"})) {
            read_execute(made);
        } else if (accept({"create"})) {
            read_create_index(made);
        } else if (accept({"drop"})) {
            read_drop_index(made);
        } else if (accept({"build", "index", "on"})) {
            read_build_index(made);
        } else {
            fail();
        }
        return made;
    }

    // --- reading and changing documents -----------------------------------------------------

    void read_select(statement& made) {
        made.what = statement_kind::select;
        read_projection(made.result);
        if (accept({"from"})) {
            read_source(made.from);
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
        check_projection(made);
    }

    void read_limits(statement& made) {
        if (accept({"limit"})) {
            made.limit = read_expression();
        }
        if (accept({"offset"})) {
            made.offset = read_expression();
        }
    }

    // A star wants rows, and COUNT(*) stands alone.
    void check_projection(const statement& made) {
        for (const projection_item& item : made.result.items) {
            const bool is_lonely_star = item.is_star && made.from.what == source_kind::none;
            const bool is_mixed_count = item.value.what == expression_kind::count_all &&
                                        (made.result.items.size() > 1 || !made.order.empty());
            if (is_lonely_star || is_mixed_count) {
                fail();
            }
        }
    }

    void read_projection(projection& into) {
        into.is_raw = accept({"raw"}) || accept({"element"}) || accept({"value"});
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
            if (item.alias.empty()) {
                item.alias = default_alias(item.value, into.items.size() + 1);
            }
            if (into.is_raw && item.is_star) {
                fail();
            }
            into.items.push_back(std::move(item));
        } while (!into.is_raw && accept_sign(","));
    }

    static std::string default_alias(const expression& of, std::size_t number) {
        const bool has_name =
            of.what == expression_kind::name || of.what == expression_kind::member;
        return has_name ? of.text : "$" + std::to_string(number);
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
                fail();
            }
            read_alias(into);
            return;
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
        if (!is_word("use") && !is_word("set") && !is_word("unset")) {
            read_alias(into);
        }
        if (accept({"use", "keys"}) || accept({"use", "primary", "keys"})) {
            into.keys = read_expression();
        }
    }

    // What follows the documents of DELETE and UPDATE.
    void read_filter(statement& made) {
        if (accept({"where"})) {
            made.where = read_expression();
        }
        if (accept({"limit"})) {
            made.limit = read_expression();
        }
        read_returning(made);
    }

    void read_returning(statement& made) {
        made.has_returning = accept({"returning"});
        if (made.has_returning) {
            read_projection(made.result);
        }
    }

    void read_insert(statement& made, statement_kind what) {
        made.what = what;
        read_keyspace(made.from);
        if (accept({"as"})) {
            made.from.alias = expect_name();
        }
        bool has_options = false;
        if (accept_sign("(")) {
            accept({"primary"});
            expect({"key"});
            expect_sign(",");
            expect({"value"});
            has_options = accept_sign(",");
            if (has_options) {
                expect({"options"});
            }
            expect_sign(")");
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

    // A name, or a text: names given by the service hold brackets and colons.
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

    // USING GSI WITH {...}; only defer_build is looked at.
    void read_index_options(index_clause& index) {
        if (accept({"using"})) {
            expect({"gsi"});
        }
        if (accept({"with"})) {
            const expression options = read_expression();
            for (std::size_t i = 0; i < options.names.size(); ++i) {
                if (options.names[i] == "defer_build") {
                    index.is_deferred = options.operands[i].literal.as_bool().value_or(false);
                }
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

    // `name ON keyspace`, or in the older way `keyspace.name`.
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

}  // namespace

std::expected<statement, statement_error> parse_statement(std::string_view text) {
    return statement_parser(text).read();
}

}  // namespace reprise::sandbox::detail
